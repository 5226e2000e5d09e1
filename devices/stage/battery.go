package stage

import (
	"math"
	"slices"
	"time"

	"player/devices/stage/floor"
	"player/formats/syntax"
)

const (
	// fullVolts and emptyVolts are the voltages of three full and empty 12 V
	// lead batteries under load. In between the voltage falls linearly with
	// the charge.
	fullVolts  = 12.6
	emptyVolts = 11.0
	// capacity is the energy of three batteries of 7 Ah at 12 V, in joules. It lasts half a
	// day for a stopped robot, and three hours for a driving one.
	capacity = 3 * 7 * 12 * 3600.0
	// idleWatts is the power of the computer and its sensors; driveWatts is
	// added at full speed of both wheels.
	idleWatts  = 20
	driveWatts = 60
)

// dockReach is how near to a dock a robot is charged, metres from cell to cell: a robot
// that drives against it stops within a cell.
const dockReach = 0.03

// battery is a store of energy.
type battery struct {
	joules, capacity float64
	idle             float64 // watts
	takes            float64 // watts from a dock at most, 0: any
	finite           bool    // without energy nothing moves
}

// dock charges robots that touch it. It is never empty.
type dock struct {
	watts   float64
	outline []Vec // convex, counterclockwise
}

// charging reads the power that a model with these parts gives to the robots that touch it,
// and the power that it takes for its own robot r.
func (l *loader) charging(s *syntax.Section, b *body, parts []part, r *Robot) {
	if r != nil {
		r.battery.takes = s.Float("take_watts", r.battery.takes)
		return
	}
	watts := s.Float("give_watts", 0)
	if watts <= 0 {
		return
	}
	s.Ignore("joules", "joules_capacity") // Stage writes -1 for a dock that is never empty
	if b.grasp || b.pushable {
		l.fail(s, "give_watts", "only what does not move can charge robots")
	}
	for i := range parts {
		for _, outline := range parts[i].shapes {
			l.world.docks = append(l.world.docks, &dock{watts, floor.ConvexHull(slices.Clone(outline))})
		}
	}
}

// charge charges the robot's battery for dt if it is at a dock.
func (r *Robot) charge(dt time.Duration) {
	for _, d := range r.world.docks {
		if floor.Touch(r.body.here, d.outline).Depth < -dockReach-r.world.resolution {
			continue
		}
		watts, b := d.watts, &r.battery
		if b.takes > 0 && b.takes < watts {
			watts = b.takes
		}
		b.joules = min(b.capacity, b.joules+watts*dt.Seconds())
	}
}

// empty reports whether there is no energy to move.
func (b *battery) empty() bool { return b.finite && b.joules == 0 }

// drain consumes the energy for dt at the given speeds, m/s and rad/s.
func (b *battery) drain(dt time.Duration, speed, turn float64) {
	wheels := (math.Abs(speed) + math.Abs(turn)*axle/2) / maxWheel
	b.joules = max(0, b.joules-(b.idle+driveWatts*wheels)*dt.Seconds())
}

// decivolt returns the voltage in 0.1 V.
func (b *battery) decivolt() uint8 {
	return uint8(math.Round(10 * (emptyVolts + (fullVolts-emptyVolts)*b.joules/b.capacity)))
}
