// Package driveto is the driver "goto": a virtual device that drives a robot to a goal around
// obstacles (PROTOCOL 5.6, docs/GOTO.md). Package vfh plans; this package gives it data, carries its
// commands to the wheels, and ends a goal when anything else moves them.
//
// To the wheels the driver is a client: it commands the same device, so its command is overwritten,
// passed through reflexes, and stopped as any other. It works only while the goto device is open, and plans only
// while there is a goal.
package driveto

import (
	"errors"
	"math"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/vfh"
)

const (
	// period is the time between two steps, 95 % of the tenth of a second that vfh expects: clocks of hardware and of the
	// server differ, and with 100 ms every second report of a robot that sends ten in a second could be skipped.
	period = 95 * time.Millisecond
	// portion is how many cells of the map are checked at once, about 0.4 ms on a fast computer and 5 ms on a small one:
	// the loop has other work. pause is the time until the next portion. A plan of most cells takes 20.
	portion = 2000
	pause   = time.Millisecond
	// whole is a portion in which every plan is complete.
	whole = 1 << 20
	// maxAge is how old ranges may be, and maxOdometry the odometry. A laser scanner that has fallen back to 9600 baud needs
	// most of a second for a scan, and the map remembers its obstacles.
	maxAge, maxOdometry = 1500 * time.Millisecond, time.Second
	// watching is the time between two checks of the ages while no data comes.
	watching = 250 * time.Millisecond
	// patience is how many steps a robot may have no way, or make none: two minutes. With half a minute or one it gives up
	// in one of 300 trials in which it finds the way afterwards (docs/GOTO.md, cave, seed 68). The data say at once that it
	// is blocked, so a client that waits less may stop it.
	patience = 1200
	// straying is how many steps a robot may drive about without coming nearer to its goal than it was before: five
	// minutes. A goal inside an obstacle has no way, but the robot circles the obstacle and so makes way. The longest of
	// 600 trials took less than three minutes.
	straying = 3000
	// ground is how far a robot must get to make way, or to have come nearer, mm, and turned by how many degrees at the
	// goal.
	ground, turned = 300, 30
	// leap is the longest way between two steps, mm, and spin the largest turn, deg. More is no movement: the odometry
	// was reset.
	leap, spin = 2000, 120
	// gone is how far a robot may get from its goal while it turns to the heading there, mm beyond the tolerance.
	gone = 200
)

var errBlind = errors.New("it needs something to see with: requires laser, ranger or sonar")

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name:       "goto",
		Doc:        "drives to a goal around obstacles, by laser, else by rangers, else by sonars",
		Provides:   []devices.Spec{devices.Goto()},
		Requires:   []devices.Spec{devices.Position()},
		Accepts:    []devices.Spec{devices.Laser(), devices.Ranger(), devices.Sonar()},
		Several:    true,
		SetupLimit: devices.VirtualSetupLimit,
		Options: []devices.Option{
			{Name: "speed", Default: 400, Min: 40, Max: 5000, Unit: "mm/s", Doc: "highest speed, unless a goal has its own"},
			{Name: "turnrate", Default: 60, Min: 5, Max: 360, Unit: "deg/s", Doc: "highest turn rate, unless a goal has its own"},
			{Name: "tolerance", Default: 50, Min: 10, Max: 2000, Unit: "mm", Doc: "how far from its goal a robot has arrived, unless the goal has its own"},
			{Name: "radius", Default: 0, Min: 0, Max: 4000, Unit: "mm", Doc: "half of the narrowest gap that the robot is to pass; 0: half of its width and 60 mm"},
		},
		New: func(a devices.Args) (devices.Driver, error) {
			return New(a.Requires[0], a.Requires[1:], Limits{a.Int("speed"), a.Int("turnrate"), a.Int("tolerance"), a.Int("radius")})
		},
	}
}

// Limits are the limits of goals that have none of their own.
type Limits struct {
	Speed     int // mm/s
	TurnRate  int // deg/s
	Tolerance int // mm
	Radius    int // mm; 0: by the width of the robot
}

// Driver implements devices.CommandObserver.
type Driver struct {
	wheels   *devices.Device
	eyes     []*devices.Device // of one interface
	limits   Limits
	required devices.Required

	link   *devices.Link
	device *devices.Device

	goal    codec.GotoCommand
	data    codec.GotoData
	since   time.Duration // when the goal was given
	turning bool          // the robot is at the goal, and turns to the heading
	sending bool          // the driver commands the wheels
	given   uint64        // Commands of the wheels after the driver's newest; 0: they have the command of another

	position codec.PositionData // newest
	stepAt   time.Duration      // Stamp of the odometry of the latest step
	due      bool               // there is odometry for a step
	planning bool               // the latest step waits for a plan
	blocked  int                // steps without a way
	still    int                // steps since the robot has made way
	stood    codec.PositionData // where it was then
	nearest  int                // mm, the distance to the goal when the robot came nearer last
	strayed  int                // steps since then

	sight sight
	way   *vfh.Way // nil: there was no goal since the device was opened
	out   []byte
}

// New returns a driver that commands wheels. It sees with the lasers among eyes, else with the rangers, else with
// the sonars. Without any it returns an error.
func New(wheels *devices.Device, eyes []*devices.Device, limits Limits) (*Driver, error) {
	d := &Driver{wheels: wheels, eyes: best(eyes), limits: limits}
	if len(d.eyes) == 0 {
		return nil, errBlind
	}
	d.required = devices.Required{Devices: append([]*devices.Device{wheels}, d.eyes...), Observer: d}
	return d, nil
}

func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.device, d.way = link, link.Device(codec.Goto), nil
	d.due, d.planning, d.sending, d.given = false, false, false, 0
	d.data = codec.GotoData{X: codec.Unknown, Y: codec.Unknown, Heading: codec.AnyHeading, Distance: codec.UnknownAmount}
	d.publish(now)
	d.required.Open(now, link)
}

func (d *Driver) Shutdown(now time.Duration) {
	d.end(now, codec.GotoByCommand)
	d.required.Close(now)
	d.way = nil
	d.link.Stopped(now)
}

// Command takes a goal, or gives it up.
func (d *Driver) Command(now time.Duration, device *devices.Device) {
	var c codec.GotoCommand
	if err := c.Decode(device.Command()); err != nil {
		d.link.Log().Warn("command dropped", zap.Error(err))
		return
	}
	if c.X == codec.Unknown || c.Y == codec.Unknown {
		d.end(now, codec.GotoByCommand)
		return
	}
	if c.Heading != codec.AnyHeading {
		c.Heading %= 360
	}
	active, was := d.data.State.Active(), d.goal
	same := c.X == was.X && c.Y == was.Y && c.Heading == was.Heading && c.Tag == was.Tag
	if same && !active && d.data.State != codec.GotoIdle {
		return // the goal has ended: its client repeats it for its lifetime's sake, and has not heard of the end
	}
	goesOn := same && active
	d.goal = c
	if !goesOn || c.Radius != was.Radius {
		if why := d.prepare(c); why != codec.GotoNoReason {
			d.end(now, why) // of the goal before
			d.begin(now, c, codec.GotoStopped, why)
			return
		}
	}
	d.way.Limit(first(int(c.Speed), d.limits.Speed), first(int(c.TurnRate), d.limits.TurnRate), d.tolerance())
	if goesOn {
		return
	}
	if !active { // otherwise the map is still true
		d.way.Forget()
		d.given = 0
	}
	d.turning, d.blocked, d.still, d.since, d.due = false, 0, 0, now, true
	d.nearest, d.strayed = math.MaxInt, 0
	d.begin(now, c, codec.GotoDriving, codec.GotoNoReason)
	if d.wheels.Steps() { // the client's next request makes a step of the simulation
		d.step(now)
	}
	d.link.WakeAt(d.next(now))
}

// prepare makes the way to a goal. It returns why there can be none.
func (d *Driver) prepare(c codec.GotoCommand) codec.GotoReason {
	if !vfh.CanAim(int(c.X), int(c.Y)) {
		return codec.GotoRefused
	}
	if !d.sight.survey(d.eyes) {
		return codec.GotoBlind
	}
	robot := vfh.Of(d.wheels.AppendParts(nil))
	robot.Radius = first(first(int(c.Radius), d.limits.Radius), robot.Radius)
	if d.way == nil || d.way.Radius() != robot.Radius {
		way, err := vfh.New(robot)
		if err != nil {
			return codec.GotoRefused
		}
		d.way = way
	}
	d.way.Aim(int(c.X), int(c.Y))
	return codec.GotoNoReason
}

// tolerance returns how far from the goal the robot has arrived, mm.
func (d *Driver) tolerance() int { return first(int(d.goal.Tolerance), d.limits.Tolerance) }

// first returns a number, or another one if it is 0.
func first(value, otherwise int) int {
	if value == 0 {
		return otherwise
	}
	return value
}

// begin publishes the state of a new goal.
func (d *Driver) begin(now time.Duration, c codec.GotoCommand, state codec.GotoState, why codec.GotoReason) {
	d.data = codec.GotoData{State: state, Reason: why, Tag: c.Tag, X: c.X, Y: c.Y, Heading: c.Heading, Distance: codec.UnknownAmount}
	d.publish(now)
}

// end gives the goal up, if there is one, and stops the wheels unless they have a command of another.
func (d *Driver) end(now time.Duration, why codec.GotoReason) {
	if !d.data.State.Active() {
		return
	}
	if why == codec.GotoByCommand && d.link.Halted() {
		why = codec.GotoEmergency
	}
	d.finish(now, codec.GotoStopped, why)
}

// finish ends the goal in a state. The wheels stop unless they have a command of another.
func (d *Driver) finish(now time.Duration, state codec.GotoState, why codec.GotoReason) {
	d.data.State, d.data.Reason = state, why
	d.due, d.planning = false, false
	if d.wheels.Commands() == d.given {
		d.send(now, 0, 0)
	}
	d.publish(now)
}

// Published implements devices.Observer.
func (d *Driver) Published(device *devices.Device) {
	if device != d.wheels {
		return
	}
	var p codec.PositionData
	if p.Decode(device.Data()) != nil {
		return
	}
	// A simulation has the time of its reports; a device may also have no time.
	if time.Duration(p.Time-d.position.Time)*time.Millisecond < period && device.Stamp()-d.stepAt < period {
		return
	}
	d.stepAt = device.Stamp()
	if !d.data.State.Active() {
		d.position = p
		d.publish(device.Stamp()) // so that it does not look silent
		return
	}
	if leapt(&d.position, &p) {
		d.way.Forget()
	}
	d.position, d.due = p, true
	d.link.WakeAt(device.Stamp())
}

// leapt reports whether there is no movement from one pose to another in one step.
func leapt(from, to *codec.PositionData) bool {
	return distance(from, to) > leap || apart(from, to) > spin
}

// Commanded implements devices.CommandObserver: any other command of the wheels ends the goal.
func (d *Driver) Commanded(now time.Duration, device *devices.Device) {
	if device != d.wheels || d.sending {
		return
	}
	d.given = 0 // the wheels are another's
	why := codec.GotoByOther
	if d.link.Halted() {
		why = codec.GotoEmergency
	}
	d.end(now, why)
}

// Configured implements devices.CommandObserver.
func (d *Driver) Configured(time.Duration, *devices.Device, []byte) {}

// Tick makes a step if there is odometry for it, and goes on with its plan.
func (d *Driver) Tick(now time.Duration) time.Duration {
	switch {
	case !d.data.State.Active():
		return 0
	case d.isLost(now):
		d.end(now, codec.GotoLost)
	case d.wheels.MotorsOff(now):
		d.end(now, codec.GotoMotors)
	case d.isBlind(now):
		d.end(now, codec.GotoBlind)
	case d.due:
		d.step(now)
	case d.planning:
		if d.planning = !d.way.Plan(d.portion()); !d.planning {
			d.drive(now)
		}
	}
	return d.next(now)
}

// next returns the deadline, zero for none.
func (d *Driver) next(now time.Duration) time.Duration {
	switch {
	case !d.data.State.Active():
		return 0
	case d.due:
		return now
	case d.planning:
		return now + pause
	}
	return now + watching
}

// isLost reports whether the wheels give no odometry, or have forgotten their command: their hardware was lost.
func (d *Driver) isLost(now time.Duration) bool {
	return d.isOld(now, d.wheels, maxOdometry) || d.given != 0 && d.wheels.Command() == nil
}

// isBlind reports whether a sensor gives no data.
func (d *Driver) isBlind(now time.Duration) bool {
	return slices.ContainsFunc(d.eyes, func(e *devices.Device) bool { return d.isOld(now, e, maxAge) })
}

// isOld reports whether a device has sent nothing for too long since there is the goal. In step, data are as old as
// clients are slow.
func (d *Driver) isOld(now time.Duration, device *devices.Device, most time.Duration) bool {
	newest := d.since
	if device.HasData() {
		newest = max(newest, device.Stamp())
	}
	return now-newest > most && !d.wheels.Steps()
}

// step gives the planner the newest data, and drives when the plan is complete. A plan of the step before that is still
// not complete is not waited for.
func (d *Driver) step(now time.Duration) {
	d.due = false
	if d.position.Decode(d.wheels.Data()) != nil || !d.sight.look(d.eyes) { // nothing yet
		d.send(now, 0, 0)
		return
	}
	d.way.Report(&d.position, d.sight.beams)
	d.data.Distance = uint32(d.way.Distance())
	waited := d.planning
	if d.planning = !d.way.Plan(d.portion()); waited || !d.planning {
		d.drive(now)
	}
}

// portion returns how many cells a plan may check at once. In step, time stands still meanwhile.
func (d *Driver) portion() int {
	if d.wheels.Steps() {
		return whole
	}
	return portion
}

// drive commands the wheels, or ends the goal.
func (d *Driver) drive(now time.Duration) {
	speed, turn := d.way.Command()
	if d.turning = d.way.Arrived() || d.turning && d.way.Distance() < d.tolerance()+gone; d.turning {
		if speed, turn = 0, 0; d.goal.Heading != codec.AnyHeading {
			turn = d.way.Turn(int(d.goal.Heading))
		}
		if turn == 0 {
			d.finish(now, codec.GotoArrived, codec.GotoNoReason)
			return
		}
	}
	if d.isStuck() {
		d.end(now, codec.GotoNoWay)
		return
	}
	d.data.State = codec.GotoDriving
	if d.way.Blocked() {
		d.data.State = codec.GotoBlocked
	}
	d.send(now, speed, turn)
	if d.data.State.Active() { // the wheels have taken the command
		d.publish(now)
	}
}

// isStuck counts steps without a way, without movement, and without coming nearer. It reports whether there are too many.
func (d *Driver) isStuck() bool {
	d.blocked++
	if !d.way.Blocked() {
		d.blocked = 0
	}
	d.still++
	if d.still == 1 || distance(&d.stood, &d.position) > ground || d.turning && apart(&d.stood, &d.position) > turned {
		d.still, d.stood = 1, d.position
	}
	d.strayed++
	if away := d.way.Distance(); away < d.nearest-ground {
		d.nearest, d.strayed = away, 0
	}
	return max(d.blocked, d.still) > patience || d.strayed > straying
}

// send commands the wheels. A command that they do not take ends the goal.
func (d *Driver) send(now time.Duration, speed, turn int) {
	before := d.wheels.Commands()
	d.out = codec.PositionCommand{Speed: int16(speed), TurnRate: int16(turn)}.Append(d.out[:0])
	d.sending = true
	d.wheels.SetCommand(now, d.out)
	d.sending = false
	if d.given = d.wheels.Commands(); d.given == before {
		d.given = 0
		d.end(now, codec.GotoLost)
	}
}

func (d *Driver) publish(now time.Duration) {
	d.out = d.data.Append(d.out[:0])
	d.device.Publish(now, d.out)
}
