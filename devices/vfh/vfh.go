// Package vfh plans how a robot drives to a point around obstacles, from its odometry and its
// lasers, rangers or sonars. It is pure: devices/driveto is the driver that asks it.
//
//	way.Aim(3000, 1500) // mm, as the odometry counts
//	way.Report(&position, beams)      // ten times a second
//	for !way.Plan(portion) {          // a few times a second there is something to plan
//	}
//	speed, turn := way.Command()
//
// It is the Vector Field Histogram of I. Ulrich and J. Borenstein ("VFH+: Reliable Obstacle
// Avoidance for Fast Mobile Robots", ICRA 1998) for a robot that turns on the spot, so
// directions are not masked by a turning circle. The map that the beams draw is kept, and
// the histogram steers to the next corner of the shortest way through it: alone it is
// trapped in dead ends. Unseen cells count as free.
package vfh

import (
	"errors"
	"math"

	"player/codec"
)

// The commands.
const (
	pivot   = 45  // degrees: the robot turns on the spot
	near    = 500 // mm from the goal, below which it turns on the spot
	nearBy  = 20  // degrees
	front   = 30  // degrees to each side, in which obstacles slow it down
	creep   = 40  // mm/s, the least speed towards a free direction
	retreat = 10  // rounds backwards, after a stall
	back    = 150 // mm/s
	aligned = 1   // degrees from the heading at the goal, which odometry has: it rounds to one. Programs of Player 2 and 3 wait for 0.03 rad
	slowest = 5   // deg/s towards that heading, so that the robot gets there
)

// Config is a robot and how it is to drive.
type Config struct {
	Radius    int // mm: half of the narrowest gap that it is to pass, 0 to 4000
	Front     int // mm from the centre of rotation to the front
	MaxSpeed  int // mm/s
	MaxTurn   int // deg/s
	Tolerance int // mm from the goal, where the robot has arrived
}

// Pioneer returns the configuration of a Pioneer 2-DX, which is 380 mm wide.
func Pioneer() Config {
	return Config{Radius: 250, Front: 180, MaxSpeed: 400, MaxTurn: 60, Tolerance: 50}
}

// Of returns the configuration of a robot whose body has these parts (PROTOCOL 8.9.3), or, if they have no size, of a
// Pioneer.
func Of(body []codec.Part) Config {
	c := Pioneer()
	for _, p := range body {
		if p.Width > 0 && p.Length > 0 {
			c.Radius, c.Front = int(p.Width/2)+margin, int(p.X+p.Length/2)
		}
	}
	return c
}

// ErrWide is the error of a robot that has no room in a map.
var ErrWide = errors.New("a robot that is wider than 8 m has no room in a map of 40 m")

// check returns ErrWide unless a robot has room.
func (c Config) check() error {
	if c.Radius < 0 || c.Radius > widest {
		return ErrWide
	}
	return nil
}

// margin is how far from obstacles a robot is to pass, in mm. Cells are made of echoes, so a
// door seems up to two cells narrower than it is: with 100 mm a door of 1 m closes at times.
const margin = 60

// Way is the way of a robot to its goals. Its map takes 2.1 MB.
type Way struct {
	c            Config
	goalX, goalY int // mm
	cos          [720]int

	begun    bool
	x, y     int // mm, of the robot
	heading  int
	x0, y0   int // mm, of the map's corner
	horizon  int // mm: sight, or the area near a wide robot
	room     int // cells between an obstacle and the edge of the map, for the area near it
	cells    []uint8
	hard     []uint16 // obstacles within the radius of a cell: for the widest robot there are 5025
	soft     []uint16 // and within soft of that
	inner    []int    // offsets of cells within the radius
	outer    []int    // and beyond it
	aimX     int      // mm: the point steered for
	aimY     int
	wait     int // rounds until the next plan
	blocked  [sectors]bool
	last     int // direction
	pivoting bool
	backing  int // rounds

	planning    bool // a plan is not complete
	noWay       bool // the last one has found none
	start, goal int  // cells of the plan
	checked     int  // cells that it has checked
	cost        []int32
	parent      []int32 // of the way to a cell
	open        queue
}

// New returns a Way for a robot. ErrWide is the error of one that is too wide.
func New(c Config) (*Way, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	reach := (c.Radius + soft) / cell
	w := &Way{c: c, horizon: max(sight, c.Radius+soft), room: reach}
	w.cells, w.hard, w.soft = make([]uint8, side*side), make([]uint16, side*side), make([]uint16, side*side)
	w.cost, w.parent = make([]int32, side*side), make([]int32, side*side)
	for i := range w.cos {
		w.cos[i] = whole(math.Cos(float64(i)*math.Pi/360) * 65536)
	}
	for y := -reach; y <= reach; y++ {
		for x := -reach; x <= reach; x++ {
			switch d := (x*x + y*y) * cell * cell; {
			case d <= c.Radius*c.Radius:
				w.inner = append(w.inner, y*side+x)
			case d <= (c.Radius+soft)*(c.Radius+soft):
				w.outer = append(w.outer, y*side+x)
			}
		}
	}
	return w, nil
}

// Radius returns the radius of the robot, which never changes.
func (w *Way) Radius() int { return w.c.Radius }

// Limit changes the other numbers of the robot.
func (w *Way) Limit(maxSpeed, maxTurn, tolerance int) {
	w.c.MaxSpeed, w.c.MaxTurn, w.c.Tolerance = maxSpeed, maxTurn, tolerance
}

// CanAim reports whether a point is near enough to be a goal.
func CanAim(x, y int) bool { return max(abs(x), abs(y)) <= furthest }

// Aim sets the goal, in mm as the odometry counts. CanAim must be true. The map is kept.
func (w *Way) Aim(x, y int) {
	w.goalX, w.goalY = x, y
	w.wait, w.planning, w.noWay = 0, false, false
	w.aimX, w.aimY = x, y
}

// Forget has the next report begin a new map: the robot was somewhere else meanwhile, or things have moved.
func (w *Way) Forget() {
	w.begun, w.backing, w.last, w.pivoting, w.blocked = false, 0, 0, false, [sectors]bool{}
}

// Report takes the robot's odometry and the beams of its sensors. It expects ten reports in a second. It is done in
// a time that has a bound, and may begin a plan.
func (w *Way) Report(p *codec.PositionData, beams []Beam) {
	w.x, w.y, w.heading = int(p.X), int(p.Y), int(p.Heading)
	if i := w.index(w.x, w.y); i < 0 || !w.begun || w.atBorder(i) {
		w.begin()
	}
	w.see(beams)
	if w.Arrived() {
		w.planning, w.noWay = false, false
		return
	}
	if w.backing > 0 {
		w.backing--
	}
	if p.Stall != 0 && w.backing == 0 { // it has met something that the beams do not show
		w.backing = retreat
		cx, cy := w.turned(w.c.Front+cell, 2*w.heading)
		w.set(w.index(w.x+cx, w.y+cy), certain)
	}
	if w.backing > 0 {
		w.wait = 0
		return
	}
	if w.planning {
		return
	}
	if w.wait--; w.wait < 0 || !w.pivoting && w.wait < turning-period {
		w.beginPlan()
		w.wait = turning - 1
	}
}

// Distance returns how far the robot is from its goal, mm.
func (w *Way) Distance() int { return distance(w.goalX-w.x, w.goalY-w.y) }

// Arrived reports whether the robot is at its goal.
func (w *Way) Arrived() bool { return w.Distance() <= w.c.Tolerance }

// Blocked reports whether the last plan has found no way: obstacles are all around the robot or its goal, or each way
// is so long that it has given up. The robot then aims at the goal.
func (w *Way) Blocked() bool { return w.noWay }

// Command returns the next command after a report: a speed in mm/s and a turn rate in deg/s. While a plan is not complete
// the robot steers for the point of the one before.
func (w *Way) Command() (speed, turn int) {
	switch {
	case w.Arrived():
		return 0, 0
	case w.backing > 0:
		return -min(back, w.c.MaxSpeed), 0
	}
	return w.steer()
}

// Turn returns the turn rate, deg/s, with which the robot turns to a heading on the spot. It is 0 when the robot has it.
func (w *Way) Turn(heading int) int {
	wrong := wrap(heading - w.heading)
	switch {
	case abs(wrong) <= aligned:
		return 0
	case wrong < 0:
		return -min(max(-wrong*3/2, slowest), w.c.MaxTurn)
	}
	return min(max(wrong*3/2, slowest), w.c.MaxTurn)
}

func abs(v int) int { return max(v, -v) }

// whole rounds a number.
func whole(v float64) int { return int(math.Floor(v + 0.5)) }

// distance returns the length of a vector, rounded down.
func distance(x, y int) int { return int(math.Sqrt(float64(x)*float64(x) + float64(y)*float64(y))) }

// direction returns the angle of a vector, 0 to 359 degrees.
func direction(x, y int) int {
	return (whole(math.Atan2(float64(y), float64(x))*180/math.Pi) + 360) % 360
}

// wrap returns an angle as -180 to 179 degrees.
func wrap(d int) int { return ((d+180)%360+360)%360 - 180 }
