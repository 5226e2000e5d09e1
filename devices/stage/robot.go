package stage

import (
	"math"
	"time"

	"player/codec"
	"player/devices/stage/floor"
)

const (
	// stallHold is how long a stall is reported after the wheels were blocked.
	// Blocked wheels try again at once, so without it the flag would flicker
	// between reports at 10 Hz.
	stallHold = 200 * time.Millisecond
	// pressings is how often a blocked move is halved: the robot ends within
	// 0.2 mm of the obstacle.
	pressings = 5
)

// Robot is one simulated robot.
type Robot struct {
	Name string
	Port int // TCP port in the world file, zero if there is none

	world    *World
	body     *body
	drive    drive
	odometry odometry
	battery  battery
	feelers  []feeler
	noise    noise

	// The sensors and actuators; nil if missing.
	sonars   *sonars
	lasers   []*laser
	rangers  []*ranger
	cameras  []*camera
	grippers []*gripper
	finder   *finder

	receivers []*receiver
	inertials []*inertial

	sight float64    // how far sonars, lasers and rangers see, metres from the robot's position
	seen  neighbours // within sight

	start         beginning
	motorsAtStart bool
	stalledUntil  time.Duration // simulated time
}

// step advances the robot by StepTime, to the simulated time now.
func (r *Robot) step(now time.Duration) {
	const dt = StepTime
	r.charge(dt)
	if r.battery.empty() {
		r.drive.speed, r.drive.turn = 0, 0
		return
	}
	forward, turned := r.drive.step(dt)
	if forward != 0 || turned != 0 {
		r.move(now, forward, turned)
	}
	r.battery.drain(dt, r.drive.speed, r.drive.turn)
	for _, c := range r.cameras {
		c.head.step(dt)
	}
	for _, g := range r.grippers {
		g.step(dt)
	}
}

// move moves the robot by the travel of its wheels until it meets something.
// An obstacle that it cannot push stops the wheels: a robot never penetrates anything.
func (r *Robot) move(now time.Duration, forward, turned float64) {
	if r.tryMove(forward, turned) {
		return
	}
	r.stalledUntil = now + stallHold
	r.drive.speed = 0
	if turned != 0 && r.tryMove(0, turned) { // it can still rotate on the spot
		return
	}
	r.drive.turn = 0
	if r.wedged(forward / (1 << pressings)) {
		return // longer moves are also blocked: a robot that pushes against a wall ends here in each step
	}
	for range pressings {
		forward /= 2
		r.tryMove(forward, 0)
	}
}

// tryMove reports whether it could move: if the move ends in a collision, the robot stays
// where it is.
func (r *Robot) tryMove(forward, turned float64) bool {
	start, step := r.body.pose, floor.Arc(forward, turned)
	r.body.place(r.body.carry(step))
	if r.body.inWall() || !r.world.makeRoom(r.body) {
		r.body.place(start)
		return false
	}
	r.odometry.add(step)
	return true
}

// wedged reports whether an immovable thing is in the way of a move forward.
func (r *Robot) wedged(forward float64) bool {
	start := r.body.pose
	defer r.body.place(start)
	r.body.place(r.body.carry(floor.Arc(forward, 0)))
	if r.body.inWall() {
		return true
	}
	o := r.world.hit(r.body)
	return o != nil && !o.pushable
}

// stalled reports whether the wheels are blocked.
func (r *Robot) stalled() bool { return r.world.sim < r.stalledUntil }

// open is called when the first client opens the microcontroller (manual 3.6).
func (r *Robot) open() {
	r.odometry.opened()
	r.drive.separate = false
	r.drive.motors = r.motorsAtStart
	r.drive.halt()
}

// readPosition reports the odometry.
func (r *Robot) readPosition(out *codec.PositionData) {
	*out = r.positionData(r.odometry.at(r.body.pose))
	if r.stalled() {
		out.Stall = 1
	}
}

// positionData returns the robot's motion with a pose that was measured.
func (r *Robot) positionData(at Pose) codec.PositionData {
	return codec.PositionData{
		Time:     uint32(r.world.Stamp().Milliseconds()),
		X:        int32(math.Round(at.X * 1000)),
		Y:        int32(math.Round(at.Y * 1000)),
		Heading:  floor.Degrees(at.Heading),
		Speed:    int16(math.Round(r.drive.speed * 1000)),
		TurnRate: int16(math.Round(r.drive.turn * 180 / math.Pi)),
		Compass:  floor.Degrees(r.body.pose.Heading),
	}
}
