package create

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
	// setupTime bounds the handshake: the search takes 2.2 s, after listenTime.
	setupTime = 2750 * time.Millisecond

	// listenTime is how long the driver listens before it sends anything to a lost robot. One that was not switched off
	// still streams every 15 ms, and a busy computer may deliver that late. Without its stream the distance that it has
	// driven since would be unknown.
	listenTime = 500 * time.Millisecond
	// pulse is how long the wake line is pulled, and released before. The
	// specification allows 50 to 500 ms.
	pulse = 100 * time.Millisecond
	// modeTime is the pause between Start, a mode and further commands: the
	// specification asks for 20 ms.
	modeTime = 20 * time.Millisecond
	// answerTime is how long the first report may take. Then the next speed is tried.
	answerTime = 300 * time.Millisecond
	// commandGap is the shortest time between two commands of clients that send
	// more: the robot reads its input every 15 ms.
	commandGap = 20 * time.Millisecond
	// repeatTime is from a command to its repetition. The robot has no watchdog, and its commands have no checksum: a
	// stop that noise has damaged is carried out so much later. More often would take a line of 19200 baud from clients'
	// commands.
	repeatTime = 250 * time.Millisecond
	// obeyTime is when a robot that was commanded to switch its motors on must have done so: the line may delay reports
	// of an earlier mode for so long.
	obeyTime = 2 * time.Second
	// staleReports is how many reports of an earlier mode may still come, however late, because this program has paused:
	// the kernel keeps 4096 bytes of a line.
	staleReports = 4096 / frameSize
)

// speeds are the interface's speeds in baud: the first after power-up, the second after
// holding the robot's button.
var speeds = []int{115200, 19200}

var errSilent = errors.New("no robot answers at 115200 or 19200 baud: press its CLEAN button, and check the cable")

const (
	listening transport.Phase = iota // does it still stream?
	releasing                        // the wake line is high
	pulling                          // the wake line is low
	starting                         // Start was sent
	setting                          // the mode was sent
	asking                           // the stream was requested
)

// steps is the handshake. Start also stops the motors.
func (d *Driver) steps() []transport.Step {
	return []transport.Step{
		listening: {Wait: listenTime, Late: d.wasOff},
		releasing: {Send: d.wakeLine(false), Wait: pulse, Late: d.Then(pulling)},
		pulling:   {Send: d.wakeLine(true), Wait: pulse, Late: d.Then(starting)},
		starting: {
			Send: func(dst []byte) []byte { return append(d.wakeLine(false)(dst), byte(Start)) },
			Wait: modeTime, Late: d.Then(setting),
		},
		setting: {Send: func(dst []byte) []byte { return append(dst, byte(d.mode.command())) }, Wait: modeTime, Late: d.ask},
		asking: {
			Send: func(dst []byte) []byte { return AppendStream(AppendDrive(dst, 0, 0), d.isNamed()) },
			Wait: answerTime,
		},
	}
}

// search tries both speeds three times. The first try wakes the robot.
var search = []transport.Attempt{{}, {Speed: 1, First: starting}, {First: starting}, {Speed: 1, First: starting}, {First: starting}, {Speed: 1, First: starting}}

// Driver drives the robot.
type Driver struct {
	transport.Transport

	mode               Mode // that the robot is to be in
	position, misc, io *devices.Device
	parser             Parser

	odometry wheels.Counts
	on       bool          // the motors are to be on
	obeys    bool          // the newest report is of its mode: it obeys commands to its LEDs
	due      time.Duration // from when on the robot must be in its mode
	stale    int           // reports that may still be of an earlier mode, if they come together
	reported time.Duration // when the newest report came
	free     time.Duration // when the next command may go out
	moving   bool          // a command is to be sent
	repeat   time.Duration // when it is to be sent again
	leds     leds
	ioData   codec.IOData
	out      []byte
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "create", Doc: "iRobot Create 2 and Roomba (Open Interface)", SetupLimit: setupTime + transport.Grace,
		Probe:    probe(),
		Provides: []devices.Spec{devices.Position(), devices.Misc(), devices.IO().At(devices.Hidden)},
		Options: []devices.Option{
			{Name: "port", Default: devices.SerialPort("/dev/ttyUSB0"), Doc: "serial port, or HOST:PORT"},
			{Name: "full", Default: false, Doc: "obey also at cliffs and with a wheel off the floor (mode Full)"},
		},
		New: func(a devices.Args) (devices.Driver, error) { return New(a.String("port"), a.Bool("full")), nil },
	}
}

// New returns the driver of the robot on a serial port, in mode Full or Safe.
func New(port string, full bool) *Driver {
	d := &Driver{mode: ModeSafe}
	if full {
		d.mode = ModeFull
	}
	d.Protocol = transport.Protocol{
		Address: port, Name: "a Create or Roomba", Speeds: speeds, Search: search,
		Begin: d.begin, Steps: d.steps(), Limit: setupTime,
		Framing: &d.parser.Framing, Receive: d.receive, Wake: d.flush,
		// Mode Passive lets the robot sleep and charge.
		Bye: func(dst []byte) []byte { return append(AppendDrive(dst, 0, 0), byte(PauseStream), 0, byte(Start)) },
		// Twice: if a command was cut off before them, the robot takes the first bytes for
		// the rest of that command. Start ends the mode in which the motors have power.
		LastWords: append(AppendDrive(AppendDrive(nil, 0, 0), 0, 0), byte(Start)),
		Silent:    errSilent,
	}
	return d
}

func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.position, d.misc, d.io = link.Device(codec.Position), link.Device(codec.Misc), link.Device(codec.IO)
	d.odometry, d.free = newOdometry(), 0
	d.Transport.Setup(now, link)
	d.odometry.Log = d.Log()
}

func (d *Driver) begin(time.Duration) transport.Phase {
	d.on, d.obeys, d.moving, d.leds = true, true, false, leds{}
	if d.WasLost() {
		return listening
	}
	return releasing
}

// wasOff continues with a robot that no longer streams: it was switched off.
func (d *Driver) wasOff(now time.Duration) {
	d.odometry.Restart()
	d.Enter(now, releasing)
}

// ask asks for the stream. Earlier packets, of a robot that was not switched off, are
// dropped: they report its old mode.
func (d *Driver) ask(now time.Duration) {
	d.Discard()
	d.parser.Reset()
	d.due, d.stale = now+obeyTime, staleReports
	d.Enter(now, asking)
}

func (d *Driver) receive(now time.Duration, p []byte) {
	for r, rest, ok := d.parser.Next(p); ok && d.IsOpen(); r, rest, ok = d.parser.Next(rest) {
		switch {
		case d.IsUp(), d.Phase() == asking:
			d.report(now, r)
		case d.Phase() == listening: // it was not switched off
			d.odometry.Update(now, r.Left, r.Right, math.NaN())
			d.Enter(now, releasing)
		}
	}
}

func (d *Driver) report(now time.Duration, r Report) {
	d.Heard(now)
	if !d.odometry.Update(now, r.Left, r.Right, math.NaN()) {
		d.parser.Stats.Broken++ // impossible counts
		return
	}
	d.stale--
	if gap := now - d.reported; now >= d.due && gap >= period/2 && gap < 4*period {
		d.stale = 0 // it is not one of many that were kept
	}
	d.reported = now
	if d.obeys = r.Mode == d.mode; !d.obeys {
		d.leds = leds{} // the robot has them
	} else if d.on {
		d.stale = 0
	}
	if d.on && !d.obeys && now >= d.due && d.stale <= 0 {
		d.on = false
		d.position.ForgetCommand()
		d.moving = true // stop
		d.flush(now)
		d.Log().Warn("the robot has switched its motors off: at a cliff, with a wheel off the floor, at the charger, or by its button;" +
			" put it right, then switch the motors on")
	}

	position := codec.PositionData{Time: uint32(now.Milliseconds())}
	d.odometry.Fill(&position)
	if r.Stalled {
		position.Stall = 1
	}
	d.out = position.Append(d.out[:0])
	d.position.Publish(now, d.out)
	misc := codec.MiscData{FrontBumpers: r.bumpers(), Battery: uint8(min((int(r.Battery)+50)/100, 255))}
	d.out = misc.Append(d.out[:0])
	d.misc.Publish(now, d.out)
	d.publishIO(now, r)
	d.Up(now)
	if d.on && d.obeys && d.position.Command() != nil && now >= d.repeat {
		d.moving = true
		d.flush(now)
	}
}

// bumpers returns the bits of misc: the causes that keep the robot from driving forward. Bit
// 0 bumper right, bit 1 bumper left, bit 2 cliff right, bit 3 cliff left, bit 4 a wheel has
// dropped.
func (r Report) bumpers() (bits uint8) {
	bits = r.Bumps & 3
	for i, set := range [...]bool{r.Cliffs&12 != 0, r.Cliffs&3 != 0, r.Bumps&12 != 0} {
		if set {
			bits |= 4 << i
		}
	}
	return bits
}

// Command implements devices.Commanded. The robot gets the newest command at once
// if commandGap has passed, else when it has.
func (d *Driver) Command(now time.Duration, device *devices.Device) {
	switch {
	case !d.IsUp():
		return
	case device == d.io:
		d.light(device.Command())
	default:
		d.moving = true
	}
	d.flush(now)
}

// flush sends the newest commands when the line is free.
func (d *Driver) flush(now time.Duration) {
	if !d.moving && !d.leds.due {
		return
	}
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
		left, right := WheelSpeeds(c)
		d.moving, d.repeat = false, now+repeatTime
		d.out = AppendDrive(d.out, left, right)
	}
	if d.leds.due {
		d.leds.due = false
		d.out = AppendLEDs(d.out, d.leds.bits, d.leds.colour, d.leds.intensity)
	}
	d.free = now + commandGap
	d.Port().Write(d.out)
}

func (d *Driver) MotorsOff(time.Duration) bool { return !d.on }

func (d *Driver) Configure(now time.Duration, device *devices.Device, payload []byte) error {
	c, err := d.RobotConfig(payload)
	switch {
	case err != nil:
		return err
	case device == d.io && c.Code == codec.ConfigOdometry: // PROTOCOL 6.8
		d.leds = leds{known: d.obeys, due: d.obeys}
		d.flush(now)
		return nil
	case device == d.io:
		return devices.ErrNoConfiguration
	}
	switch c.Code {
	case codec.ConfigMotors:
		d.position.ForgetCommand() // nothing moves by itself
		d.out = AppendDrive(d.out[:0], 0, 0)
		d.on, d.due, d.stale = c.Arg != 0, now+obeyTime, staleReports
		command := Start
		if d.on {
			command = d.mode.command()
		}
		d.out = append(d.out, byte(command))
		d.Port().Write(d.out)
	case codec.ConfigOdometry:
		d.odometry.Reset()
	case codec.ConfigVelocity:
		return fmt.Errorf("configuration %q: the robot controls its wheels itself", c.Code)
	}
	return nil
}

// command returns the command that leads to a mode.
func (m Mode) command() Command {
	if m == ModeFull {
		return Full
	}
	return Safe
}

// wakeLine returns a function that pulls or releases the line that wakes the robot (BRC, pin
// 5). Cables connect it to RTS or DTR; ports without these lines need no waking.
func (d *Driver) wakeLine(low bool) func(dst []byte) []byte {
	return func(dst []byte) []byte {
		d.SetModemLines(low, low)
		return dst
	}
}
