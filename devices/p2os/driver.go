package p2os

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/transport"
	"player/timers/limited"
)

// Messages of the log, by which tests find lines.
const (
	LogMissing    = "a movement is missing in the odometry"
	LogUnknown    = "this model is not known: it is taken for another one; its options correct that"
	LogOpenedAnew = "the connection was opened anew: the movement meanwhile is missing in the odometry"
	LogUnsettled  = "the connection was lost during a reset of the odometry: the movement meanwhile is missing"
)

const (
	// setupTime bounds the handshake of a robot that answers.
	setupTime = 4500 * time.Millisecond

	// commandGap is the shortest time between two commands of clients that send more. It is
	// also at least twice the time that the line needs for the command: half of the line is
	// left for configuration.
	commandGap = 20 * time.Millisecond
	// maxBacklog bounds the time that queued configuration requests take on the line: a
	// command to stop must not wait long behind them.
	maxBacklog = 200 * time.Millisecond
	// pulsePeriod is the longest time without a command: the robot's watchdog stops the
	// motors after 2 s, and one PULSE may get lost.
	pulsePeriod = time.Second
	// stopTime is the time to brake between STOP and CLOSE, which switches the motors off.
	// The original server waits as long.
	stopTime = 100 * time.Millisecond
	// enableTime is how long after ENABLE a SIP may still have the earlier state: two
	// periods, since one SIP may be under way.
	enableTime = 200 * time.Millisecond
)

// errBusy is an error of Driver.Configure.
var errBusy = errors.New("the serial line is busy: too many requests at once")

// Driver drives the microcontroller: Player's position, sonar, gripper and misc
// devices. The states of the connection are in handshake.go.
type Driver struct {
	transport.Transport

	overrides Overrides
	model     Model // in use, of the robot that was found last

	position, sonar, gripper, misc *devices.Device
	ranger, io, imu                *devices.Device

	originBy time.Duration // when the robot counts as ignoring SETO
	closed   bool          // CLOSE was sent in this handshake: a SIP that comes later was under way

	parser   transport.Parser
	sip      SIP
	odometry Odometry
	gyro     gyro
	gyroBy   time.Duration // when a silent gyroscope counts as missing; 0: the robot has one, or is not asked
	compass  int           // the last reading, in degrees
	motors   bool          // they have power, or were just switched on
	motorsBy time.Duration // when SIPs report again whether they have power
	separate bool          // VEL and RVEL always (PROTOCOL 6.2)
	found    bool          // a robot has reported its type
	sonars   []placed      // of the ranger
	silent   bool          // no input and no output since the port was opened
	direct   direct
	fastest  float64 // mm/s that the robot was given since the last SIP
	opened   bool    // a client has one of the devices open (manual 3.6)

	outputs outputs // that are to be sent
	initial int     // the user outputs of the first SIP; -1: it has not come

	moving, gripping bool          // a command is to be sent
	sent             time.Duration // time of the last output
	steered          time.Duration // time of the last output to the running robot
	rested           time.Duration // how long its watchdog has stopped it since the last SIP, because nothing was sent
	free             time.Duration // when the next command may go out

	jumps        limited.Line
	guard        guard
	out          []byte
	positionData codec.PositionData
	sonarData    codec.SonarData
	rangerData   codec.RangerData
	ioData       codec.IOData
}

// New returns the driver of the robot on a serial port.
func New(port string, o Overrides) *Driver {
	d := &Driver{overrides: o, parser: transport.NewParser(inspect, MaxPacket), guard: newGuard()}
	d.Protocol = d.protocol(port)
	_, _ = d.setModel("") // the default model is known
	return d
}

// setModel takes the model of a subclass, or of the overrides. nearest is the name of the
// model used in its place. It returns an error for an unknown subclass, unless the overrides
// have its unit.
func (d *Driver) setModel(subclass string) (nearest string, err error) {
	subclass = cmp.Or(d.overrides.Subclass, subclass, defaultModel)
	nearest, m, ok := findModel(subclass)
	if !ok {
		if d.overrides.Distance == 0 {
			return "", fmt.Errorf("the robot says that it is a %.40q, whose units are not known: name a model that has the same with model, of %s; or its unit with distance",
				subclass, modelNames())
		}
		nearest, m, _ = findModel(defaultModel)
	}
	d.model = d.overrides.apply(m)
	d.odometry.Model = &d.model
	if !d.WasLost() { // a ranger keeps its readings
		d.sonars = d.model.ring(nearest, d.overrides.Sonars != nil)
	}
	return nearest, nil
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "p2os", Doc: "Pioneer robots with a P2OS, AROS or ARCOS microcontroller", SetupLimit: setupTime + transport.Grace,
		Provides: []devices.Spec{devices.Position(), devices.Sonar(), devices.Gripper(), devices.Misc(),
			devices.Ranger().At(devices.Hidden), devices.IO().At(devices.Hidden), devices.IMU().At(devices.Hidden)},
		Options: append([]devices.Option{{Name: "port", Default: devices.SerialPort("/dev/ttyS0"), Doc: "serial port, or HOST:PORT"}}, options()...),
		Probe:   probe(),
		New: func(a devices.Args) (devices.Driver, error) {
			o, err := overrides(a)
			if err != nil {
				return nil, err
			}
			d := New(a.String("port"), o)
			d.guard.place = a.Place
			return d, nil
		},
	}
}

// AppendParts implements devices.Surveyed: the body and the sonars of the robot that was
// found last, nothing before.
func (d *Driver) AppendParts(dst []codec.Part, device *devices.Device) []codec.Part {
	if !d.isKnown() {
		return dst
	}
	body := d.model.Body
	switch device.Letter() {
	case codec.Position:
		dst = append(dst, codec.Part{X: body.Front - body.Length/2, Length: body.Length, Width: body.Width})
	case codec.Sonar:
		for i, m := range body.Sonars {
			if d.model.Sonars[i] != noSonar {
				dst = append(dst, codec.Part{Number: i, X: m.X, Y: m.Y, Heading: m.Heading, Range: sonarRange, View: sonarCone})
			}
		}
	}
	if device.Letter() == codec.Ranger {
		for i, s := range d.sonars {
			dst = append(dst, codec.Part{Number: i, X: s.X, Y: s.Y, Heading: s.Heading, Range: sonarRange, View: sonarCone})
		}
	}
	return dst
}

// isKnown reports whether the shape of the robot is known, from its last connection or from the owner.
func (d *Driver) isKnown() bool { return d.found || d.overrides.Subclass != "" }

// AppendRays implements devices.Ranged: all sonars of the robot.
func (d *Driver) AppendRays(dst []codec.Rays, _ *devices.Device) []codec.Rays {
	if !d.isKnown() {
		return dst
	}
	for i, s := range d.sonars {
		dst = append(dst, codec.Rays{First: i, Count: 1, X: s.X, Y: s.Y, Heading: s.Heading,
			Far: sonarRange, Cone: sonarCone})
	}
	return dst
}

// Setup implements devices.Driver. Wheels are controlled directly at first;
// the motors are off until a client switches them on.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.position, d.sonar = link.Device(codec.Position), link.Device(codec.Sonar)
	d.gripper, d.misc = link.Device(codec.Gripper), link.Device(codec.Misc)
	d.ranger, d.io, d.imu = link.Device(codec.Ranger), link.Device(codec.IO), link.Device(codec.IMU)
	d.initial = -1
	d.sip, d.compass, d.separate, d.direct = SIP{}, 0, false, direct{}
	d.motorsBy = 0
	d.jumps = limited.Line{}
	d.Transport.Setup(now, link)
}

// Shutdown implements devices.Driver. It stops the robot even in the middle of
// a handshake: the robot may have been left open, and moving.
func (d *Driver) Shutdown(now time.Duration) {
	if !d.Leave(now) {
		return
	}
	d.out = d.appendVelocities(d.out[:0], codec.PositionCommand{})
	d.out = AppendCommand(d.out, Stop)
	d.write(now)
	d.WakeAt(now + stopTime)
}

// Command implements devices.Commanded. The robot gets the command at once if the
// line is free, else as soon as it is.
func (d *Driver) Command(now time.Duration, device *devices.Device) {
	if !d.IsUp() {
		return
	}
	switch device {
	case d.gripper:
		d.gripping = true
	case d.io:
		d.setOutput(device.Command())
	default:
		d.moving = true
	}
	d.flush(now)
}

// isPending reports whether a command is to be sent.
func (d *Driver) isPending() bool { return d.moving || d.gripping || d.outputs.mask != 0 }

// MotorsOff implements devices.Motored. A moving robot has power, whatever it reports.
func (d *Driver) MotorsOff(time.Duration) bool {
	return !d.motors && d.sip.Left == 0 && d.sip.Right == 0
}

func (d *Driver) Configure(now time.Duration, device *devices.Device, payload []byte) error {
	c, err := d.RobotConfig(payload)
	switch {
	case err != nil:
		return err
	case d.free > now+maxBacklog:
		return errBusy
	case device == d.ranger, device == d.imu, device == d.io && c.Code != codec.ConfigOdometry:
		return devices.ErrNoConfiguration
	case device == d.io: // PROTOCOL 6.8
		d.outputs = outputs{0xFF, byte(d.initial)}
		d.flush(now)
		return nil
	}
	switch c.Code {
	case codec.ConfigMotors:
		d.out = AppendInt(d.out[:0], Enable, int16(min(c.Arg, 1)))
		d.write(now)
		d.motors, d.motorsBy = c.Arg != 0, now+enableTime
	case codec.ConfigVelocity:
		d.separate = c.Arg != 0 // from the next command on
	case codec.ConfigOdometry:
		d.resetOdometry(now)
	}
	return nil
}

func (d *Driver) resetOdometry(now time.Duration) {
	d.odometry.Reset(now)
	d.gyro.turn(0) // drop the readings from before
	d.out = AppendSetOrigin(d.out[:0])
	d.write(now)
}

// report handles a SIP of the running robot: it answers with the velocities and
// publishes everything.
func (d *Driver) report(now time.Duration) {
	d.Heard(now)
	fastest, rested := d.fastest, d.rested
	d.fastest, d.rested = 0, 0
	d.moving = true
	d.WakeAt(now) // another command may have come already

	s := &d.sip
	if now >= d.motorsBy {
		d.motors = s.Motors()
	}
	if open := d.anyOpen(); open && !d.opened {
		d.opened = open
		d.resetOdometry(now) // this SIP is from before
	} else {
		d.opened = open
		turned, ok := d.gyro.turn(now - d.odometry.at)
		if d.overrides.Gyro && (ok || d.odometry.late > 0 && d.gyro.centre != 0) { // headings of before SETO cancel out
			d.odometry.Turn(s, turned)
		} else if d.gyroBy != 0 && now >= d.gyroBy {
			d.gyroBy = 0
			d.Log().Warn("the robot sends nothing of a gyroscope: the heading is from its wheels, unless its HasGyro is 2")
		}
		if err := d.odometry.Update(s, now, fastest, d.steered, rested); err != nil {
			d.jumps.Warn(now, d.Log(), LogMissing, zap.Error(err))
		}
	}
	d.guard.judge(now, d)
	d.publish(now)
}

func (d *Driver) Charge() string { return d.sip.ChargeState() }

func (d *Driver) publish(now time.Duration) {
	s := &d.sip
	d.compass = s.CompassDegrees(d.compass)
	d.positionData = codec.PositionData{
		Time:     uint32(now.Milliseconds()),
		X:        int32(d.odometry.X()),
		Y:        int32(d.odometry.Y()),
		Heading:  uint16(d.odometry.Heading(s)),
		Speed:    int16(d.model.Speed(s)),
		TurnRate: int16(d.model.TurnRate(s)),
		Compass:  uint16(d.compass),
	}
	if s.LeftStall() || s.RightStall() {
		d.positionData.Stall = 1
	}
	for i := range d.sonarData {
		d.sonarData[i] = d.model.RangeMM(s, i)
	}
	misc := codec.MiscData{FrontBumpers: s.FrontBumpers(), RearBumpers: s.RearBumpers(), Battery: s.Battery}
	grip := codec.GripperData{State: s.GripperState, Beams: s.Digital}

	d.out = d.positionData.Append(d.out[:0])
	d.position.Publish(now, d.out)
	d.out = d.sonarData.Append(d.out[:0])
	d.sonar.Publish(now, d.out)
	d.out = misc.Append(d.out[:0])
	d.misc.Publish(now, d.out)
	d.out = grip.Append(d.out[:0])
	d.gripper.Publish(now, d.out)
	d.publishRing(now)
	d.publishIO(now)
}

// anyOpen reports whether a client has a device of the microcontroller open. An always-on
// link runs without.
func (d *Driver) anyOpen() bool { return slices.ContainsFunc(d.Link().Devices(), d.Link().Subscribed) }

// flush sends the commands that are due, when the line is free.
func (d *Driver) flush(now time.Duration) {
	if d.Port().Buffered() > 0 {
		d.free = now + commandGap // the line's buffer is full: try again
	}
	if now < d.free {
		d.WakeAt(d.free)
		return
	}
	d.out = d.out[:0]
	if d.moving {
		var c codec.PositionCommand
		if b := d.position.Command(); b != nil {
			_ = c.Decode(b) // its size was checked
		}
		d.out = d.appendVelocities(d.out, c)
	}
	if b := d.gripper.Command(); d.gripping && b != nil {
		d.out = AppendGripper(d.out, b[0], b[1])
	}
	if o := d.outputs; o.mask != 0 {
		d.out = AppendDigOut(d.out, o.mask, o.values)
	}
	d.moving, d.gripping, d.outputs = false, false, outputs{}
	d.write(now)
}

// appendVelocities appends the packets of a speed and turn rate in the mode
// that the clients chose.
func (d *Driver) appendVelocities(dst []byte, c codec.PositionCommand) []byte {
	d.fastest = max(d.fastest, min(math.Abs(float64(c.Speed)), maxWheelSpeed))
	if d.separate {
		vel, rvel := SeparateVelocities(c.Speed, c.TurnRate)
		return AppendInt(AppendInt(dst, Vel, vel), RVel, rvel)
	}
	return d.direct.append(dst, &d.model, c.Speed, c.TurnRate)
}

// write sends d.out and computes when the line will have sent it: bytes in the line's
// buffers are not sent yet.
func (d *Driver) write(now time.Duration) {
	const bitsPerByte = 10 // 8N1
	d.Port().Write(d.out)
	d.sent = now
	if d.IsUp() {
		d.rested += max(0, now-max(d.steered, d.odometry.at)-coast)
		d.steered = now
	}
	takes := time.Duration(len(d.out)*bitsPerByte) * time.Second / time.Duration(d.Baud())
	d.free = max(d.free+takes, now+2*takes, now+commandGap)
}
