package stage

import (
	"fmt"
	"slices"
	"time"

	"player/codec"
	"player/devices"
)

// publishPeriod is the report interval of a robot, in simulated time: none of
// the real sensors is faster than 10 Hz (manual 3.6, note 9).
const publishPeriod = 100 * time.Millisecond

// Driver provides one robot of a world to the server: all devices that it
// carries, on one link. The robots of one world have one clock.
type Driver struct {
	schedule

	// The devices, nil if the robot has none.
	position, misc, sonar *devices.Device

	// The others, in the order of the robot's devices.
	lasers   []scanned[codec.LaserData]
	rangers  []scanned[codec.RangerData]
	cameras  []watching
	grippers []*devices.Device
	navigating

	opened bool // a device of the microcontroller is open (manual 3.6)

	sonarSeen moment // of sonarData
	sonarBuf  []byte // its payload

	buf []byte
	// Payloads are kept, so that a report does not allocate.
	positionData codec.PositionData
	miscData     codec.MiscData
	sonarData    codec.SonarData
	visionData   codec.VisionData
	ptzData      codec.PTZData
	gripperData  codec.GripperData
}

// watching is the devices of a camera.
type watching struct {
	vision, ptz *devices.Device
	aimed       bool // its head is open
}

// NewDriver returns the driver of a robot of the world.
func NewDriver(world *World, robot *Robot) *Driver {
	never := moment{sim: -1}
	d := &Driver{
		schedule:   schedule{world: world, robot: robot},
		lasers:     make([]scanned[codec.LaserData], len(robot.lasers)),
		rangers:    make([]scanned[codec.RangerData], len(robot.rangers)),
		cameras:    make([]watching, len(robot.cameras)),
		grippers:   make([]*devices.Device, len(robot.grippers)),
		navigating: newNavigating(robot),
		sonarSeen:  never,
		sonarBuf:   make([]byte, 0, codec.SonarSize),
		buf:        make([]byte, 0, codec.MaxVisionSize),
	}
	for i := range d.lasers {
		d.lasers[i].seen = never
	}
	for i := range d.rangers {
		d.rangers[i].seen = never
	}
	d.scans = d
	return d
}

// phase returns the offset of the reports about a robot. Reports of different robots come at
// different times, so that no client waits for the scans of all robots. In a world that is Fast
// they come at the same time: in lockstep a program may wait for one robot after the other, and
// several processors compute the scans of that time.
func (w *World) phase(robot *Robot) time.Duration {
	if w.Fast() {
		return 0
	}
	return publishPeriod * time.Duration(robot.body.number-1) / time.Duration(len(w.robots))
}

// Instances returns a new driver for each robot of the world, in order, and then for
// each overhead camera. It provides the devices that the robot carries.
func (w *World) Instances() (made []devices.Instance) {
	for _, r := range w.robots {
		made = append(made, devices.Instance{Driver: NewDriver(w, r), Name: "stage " + r.Name, Provides: r.provides(), Port: r.Port})
	}
	for _, o := range w.overheads {
		made = append(made, devices.Instance{Driver: newTracking(w, o), Name: "stage " + o.name, Provides: []devices.Spec{trackedPosition()}, Port: o.port})
	}
	return made
}

// Source implements devices.Sourced: the files of the world.
func (d *Driver) Source() string { return d.world.Source() }

// Setup is done at once.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.opened = false
	for _, device := range link.Devices() {
		number := ordinal(device)
		switch device.Letter() {
		case codec.Position:
			d.position = device
		case codec.Misc:
			d.misc = device
		case codec.Sonar:
			d.sonar = device
		case codec.Laser:
			d.lasers[number].device = device
		case codec.Ranger:
			d.rangers[number].device = device
		case codec.Vision:
			d.cameras[number].vision = device
		case codec.PTZ:
			d.cameras[number].ptz, d.cameras[number].aimed = device, false
		case codec.Gripper:
			d.grippers[number] = device
		case codec.GPS:
			d.receivers[number] = device
		case codec.IMU:
			d.inertials[number], d.motions[number] = device, motion{}
		}
	}
	d.robot.drive.halt()
	d.join(now, link)
}

// Shutdown stops the robot and sends the heads of its cameras home.
func (d *Driver) Shutdown(now time.Duration) {
	d.robot.drive.halt()
	for _, c := range d.robot.cameras {
		c.head.command(codec.PTZCommand{})
	}
	d.world.leave(now, &d.schedule)
	d.link.Stopped(now)
}

// Command moves wheels, camera or gripper, from now on: the world is brought to
// the present first, or a robot would obey before it got the command.
func (d *Driver) Command(now time.Duration, device *devices.Device) {
	d.noticeOpening()
	if d.world.speed != 0 {
		d.world.Advance(now)
	}
	switch device.Letter() {
	case codec.Position:
		var c codec.PositionCommand
		if c.Decode(device.Command()) == nil {
			d.robot.drive.command(c.Speed, c.TurnRate)
		}
	case codec.PTZ:
		var c codec.PTZCommand
		if c.Decode(device.Command()) == nil {
			d.robot.cameras[ordinal(device)].head.command(c)
		}
	case codec.Gripper:
		var c codec.GripperCommand
		if c.Decode(device.Command()) == nil {
			d.robot.grippers[ordinal(device)].command(c)
		}
	}
}

// Configure carries out the requests of the microcontroller (manual table 8), addressed to
// any of its devices.
func (d *Driver) Configure(_ time.Duration, device *devices.Device, payload []byte) error {
	if !slices.Contains([]*devices.Device{d.position, d.misc, d.sonar}, device) && !slices.Contains(d.grippers, device) {
		return fmt.Errorf("device %q takes no configuration", device.Letter())
	}
	c, err := codec.DecodeRobotConfig(payload)
	if err != nil {
		return err
	}
	if d.noticeOpening(); !d.opened {
		return devices.ErrNotOpen
	}
	r := d.robot
	switch c.Code {
	case codec.ConfigMotors:
		r.drive.motors = c.Arg != 0
	case codec.ConfigVelocity:
		r.drive.separate = c.Arg != 0
	case codec.ConfigOdometry:
		r.odometry.reset(r.body.pose)
	}
	return nil
}

// MotorsOff implements devices.Motored.
func (d *Driver) MotorsOff(time.Duration) bool { return !d.robot.drive.motors }

// Tick advances the world to now and reports when the robot's report is due.
func (d *Driver) Tick(now time.Duration) time.Duration {
	d.noticeOpening()
	return d.tick(now, d.publish)
}

// noticeOpening resets the odometry when the first of the microcontroller's devices was
// opened; other open devices do not matter. When a camera's head was closed, it returns to
// its home position, like the real one.
func (d *Driver) noticeOpening() {
	for i := range d.cameras {
		c := &d.cameras[i]
		aimed := d.subscribed(c.ptz)
		if c.aimed && !aimed {
			d.robot.cameras[i].head.command(codec.PTZCommand{})
		}
		c.aimed = aimed
	}
	open := d.subscribed(d.position) || d.subscribed(d.sonar) || d.subscribed(d.misc) || slices.ContainsFunc(d.grippers, d.subscribed)
	if open && !d.opened {
		d.robot.open()
	}
	d.opened = open
}

func (d *Driver) subscribed(device *devices.Device) bool {
	return device != nil && d.link.Subscribed(device)
}

// publish publishes the data of the open devices. Data without readers is not
// computed.
func (d *Driver) publish(now time.Duration) {
	r := d.robot
	d.updateScans()
	if d.subscribed(d.position) {
		r.readPosition(&d.positionData)
		d.send(now, d.position, d.positionData.Append)
	}
	if d.subscribed(d.misc) {
		r.readBumpers(&d.miscData)
		d.miscData.Battery = r.battery.decivolt()
		d.send(now, d.misc, d.miscData.Append)
	}
	if d.subscribed(d.sonar) {
		d.sonar.Publish(now, d.sonarBuf)
	}
	for i := range d.lasers {
		d.lasers[i].publish(d, now)
	}
	for i := range d.rangers {
		d.rangers[i].publish(d, now)
	}
	for i, device := range d.grippers {
		if d.subscribed(device) {
			r.grippers[i].read(&d.gripperData)
			d.send(now, device, d.gripperData.Append)
		}
	}
	d.publishNavigation(now)
	for i, c := range d.cameras {
		if d.subscribed(c.ptz) {
			r.cameras[i].head.read(&d.ptzData)
			d.send(now, c.ptz, d.ptzData.Append)
		}
		if d.subscribed(c.vision) {
			r.drawTracked(r.cameras[i], d.world.tracker.pixels)
			d.world.tracker.find(&d.visionData)
			d.send(now, c.vision, d.visionData.Append)
		}
	}
}

func (d *Driver) send(now time.Duration, device *devices.Device, encode func([]byte) []byte) {
	d.buf = encode(d.buf[:0])
	device.Publish(now, d.buf)
}
