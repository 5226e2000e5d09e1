package kobuki

import (
	"errors"
	"fmt"
	"math"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/transport"
	"player/devices/wheels"
)

const (
	// setupTime bounds the wait for a report: a robot that is switched on sends one every
	// 20 ms.
	setupTime = 2 * time.Second
	// drift bounds the difference of the robot's clock and ours after an outage: if its
	// clock has begun anew, it was switched off, and its counters have also begun anew. A
	// line may delay reports by 2 s.
	drift = 3 * time.Second
	// period is the time between two reports.
	period = 20 * time.Millisecond
	// overdue is the age of the newest report from which on commands do not wait for the next one: three periods.
	overdue = 60 * time.Millisecond
)

// speeds has the robot's only speed in baud.
var speeds = []int{115200}

var (
	errSilent    = errors.New("no Kobuki sends at 115200 baud: switch it on, and check the cable")
	errRestarted = errors.New("the robot was switched off and on")
)

// stop stops the wheels.
var stop = appendDrive(nil, codec.PositionCommand{})

// Driver drives the robot, which reports without being asked.
type Driver struct {
	transport.Transport

	position, misc, io, imu *devices.Device
	parser                  transport.Parser

	odometry wheels.Counts
	latest   report        // that the odometry has taken
	at       time.Duration // when it came
	known    bool          // latest is valid: the robot was not switched off since
	on       bool          // the motors are to be on
	outputs  outputs
	ioData   codec.IOData
	out      []byte
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "kobuki", Doc: "Yujin Kobuki, the base of the TurtleBot 2", SetupLimit: setupTime + transport.Grace,
		Probe: &devices.Probe{
			Speeds: speeds,
			Recognise: func(heard []byte) devices.Answer {
				return devices.Answer{Found: reports(heard) > 1}
			},
		},
		Provides: []devices.Spec{devices.Position(), devices.Misc(),
			devices.IO().At(devices.Hidden), devices.IMU().At(devices.Hidden)},
		Options: []devices.Option{
			{Name: "port", Default: devices.SerialPort("/dev/ttyUSB0"), Doc: "serial port, or HOST:PORT"}},
		New: func(a devices.Args) (devices.Driver, error) {
			d := &Driver{parser: transport.NewParser(inspect, maxPacket)}
			d.Protocol = transport.Protocol{
				Address: a.String("port"), Name: "a Kobuki", Speeds: speeds,
				Begin: d.begin, Limit: setupTime, Framing: &d.parser.Framing, Receive: d.receive, Wake: d.wake,
				Bye: func(dst []byte) []byte { return append(dst, stop...) },
				// Twice: if a command was cut off before them, the robot takes the first bytes
				// for the rest of that command.
				LastWords: append(append([]byte(nil), stop...), stop...),
				Silent:    errSilent,
			}
			return d, nil
		},
	}
}

// reports counts the reports in b.
func reports(b []byte) (n int) {
	for p := range transport.Packets(b, inspect, maxPacket) {
		if _, ok := decode(p); ok {
			n++
		}
	}
	return n
}

func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.position, d.misc = link.Device(codec.Position), link.Device(codec.Misc)
	d.io, d.imu = link.Device(codec.IO), link.Device(codec.IMU)
	d.odometry = wheels.Counts{Odometry: wheels.Odometry{Base: wheelBase}, MMPerCount: mmPerCount, Fastest: fastest, Period: period}
	d.known = false
	d.Transport.Setup(now, link)
	d.odometry.Log = d.Log()
}

// begin is Protocol.Begin. There is one phase: the driver listens.
func (d *Driver) begin(time.Duration) transport.Phase {
	d.on = true
	d.outputs.forget()
	return 0
}

func (d *Driver) receive(now time.Duration, p []byte) {
	for b, rest := d.parser.Next(p); b != nil && d.IsOpen(); b, rest = d.parser.Next(rest) {
		if r, ok := decode(b); ok {
			d.report(now, r)
		}
	}
}

// report publishes a report and answers it with the newest command, like the vendor's
// driver: whether the robot stops by itself without commands is undocumented.
func (d *Driver) report(now time.Duration, r report) {
	d.Heard(now)
	if d.known {
		d.known = d.agrees(now-d.at, r.Time-d.latest.Time) || d.IsUp() && !d.begun(r)
		if !d.known && d.IsUp() {
			d.Down(now, errRestarted)
			return
		}
	}
	if !d.known {
		d.odometry.Restart()
		d.latest = r
	}
	turn := math.NaN()
	if r.Gyro && d.latest.Gyro {
		turn = math.Remainder(float64(r.Angle)-float64(d.latest.Angle), fullTurn) * 2 * math.Pi / fullTurn
	}
	if !d.odometry.Update(now, r.Left, r.Right, turn) {
		d.parser.Stats.Broken++ // impossible counts
		return
	}
	d.latest, d.at, d.known = r, now, true

	position := codec.PositionData{Time: uint32(now.Milliseconds())}
	d.odometry.Fill(&position)
	if r.Stalled {
		position.Stall = 1
	}
	d.out = position.Append(d.out[:0])
	d.position.Publish(now, d.out)
	misc := codec.MiscData{FrontBumpers: r.bumpers(), Battery: r.Battery}
	d.out = misc.Append(d.out[:0])
	d.misc.Publish(now, d.out)
	d.publishIO(now)
	d.publishIMU(now)
	d.Up(now)
	if d.IsUp() && d.Port().Buffered() == 0 { // otherwise the line's buffer is full
		d.drive()
		d.output()
	}
}

// agrees reports whether the robot's clock may have gone on by so many ms while this computer's has gone on by elapsed. They
// are compared modulo 2^16 ms, but a clock that has begun anew just behind that has gone back: no line makes it gain a minute.
func (d *Driver) agrees(elapsed time.Duration, ms uint16) bool {
	apart := int(int16(uint16(elapsed.Milliseconds()) - ms))
	gone := time.Duration(ms) * time.Millisecond
	return max(apart, -apart) < int(drift.Milliseconds()) && gone < elapsed+drift
}

// begun reports whether the robot's clock has just begun anew. It has not when a pause of this computer has made reports
// old or some of them lost.
func (d *Driver) begun(r report) bool {
	const short = uint16(drift / time.Millisecond)
	return r.Time < short && r.Time-d.latest.Time > short
}

// bumpers returns the bits of misc: the causes that keep the robot from driving forward.
func (r report) bumpers() (bits uint8) {
	bits = r.Bumpers
	if r.Cliffs != 0 {
		bits |= 8
	}
	if r.Dropped != 0 {
		bits |= 16
	}
	return bits
}

// Command implements devices.Commanded. The answer to the next report has the command. A robot whose reports do not
// come may hear nevertheless, so it is sent the command when the report is overdue. Outputs are set at once.
func (d *Driver) Command(now time.Duration, device *devices.Device) {
	if device == d.io {
		d.setOutput(device.Command())
		return
	}
	if now < d.at+overdue && d.IsUp() {
		d.WakeAt(d.at + overdue)
		return
	}
	d.wake(now)
}

// wake is Protocol.Wake: the next report may be overdue.
func (d *Driver) wake(now time.Duration) {
	if d.IsUp() && now >= d.at+overdue && d.Port().Buffered() == 0 {
		d.drive()
	}
}

// drive sends the newest command, or the stop.
func (d *Driver) drive() {
	var c codec.PositionCommand
	if b := d.position.Command(); b != nil && d.on {
		_ = c.Decode(b) // its size was checked
	}
	d.out = appendDrive(d.out[:0], c)
	d.Port().Write(d.out)
}

func (d *Driver) MotorsOff(time.Duration) bool { return !d.on }

func (d *Driver) Configure(_ time.Duration, device *devices.Device, payload []byte) error {
	c, err := d.RobotConfig(payload)
	switch {
	case err != nil:
		return err
	case device == d.io && c.Code == codec.ConfigOdometry: // PROTOCOL 6.8
		d.outputs = outputs{known: true, due: true, bits: firstOutputs}
		d.output()
		return nil
	case device == d.io, device == d.imu:
		return devices.ErrNoConfiguration
	}
	switch c.Code {
	case codec.ConfigMotors:
		d.position.ForgetCommand() // nothing moves by itself
		d.on = c.Arg != 0
		d.drive()
	case codec.ConfigOdometry:
		d.odometry.Reset()
	case codec.ConfigVelocity:
		return fmt.Errorf("configuration %q: the robot controls its wheels itself", c.Code)
	}
	return nil
}
