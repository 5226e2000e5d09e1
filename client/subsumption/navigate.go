package subsumption

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
)

// Target is a place to drive to, in odometry coordinates: mm.
type Target struct{ X, Y int }

// ParseTargets reads targets as people write them: in metres, "3,0 3,3 0,0".
func ParseTargets(text string) (targets []Target, err error) {
	for _, field := range strings.Fields(text) {
		var x, y float64
		var rest string
		if n, _ := fmt.Sscanf(field, "%g,%g%s", &x, &y, &rest); n != 2 || !(math.Abs(x) < 1e6 && math.Abs(y) < 1e6) {
			return nil, fmt.Errorf("%.40q is not a target: write x,y in metres", field)
		}
		targets = append(targets, Target{int(math.Round(x * 1000)), int(math.Round(y * 1000))})
	}
	return targets, nil
}

// LocateTarget returns the distance to a target, mm, and its bearing relative
// to the robot's heading: -180 to 180 degrees, positive to the left. It is the
// article's appendix.
func LocateTarget(at Pose, target Target) (distance, headingError int) {
	x, y := float64(target.X)-float64(at.X), float64(target.Y)-float64(at.Y)
	bearing := math.Round(math.Atan2(y, x) * 180 / math.Pi)
	return int(math.Round(math.Hypot(x, y))), between(int(bearing) - at.Heading)
}

// Navigate turns the robot towards a target and drops its flag when the robot
// heads there. It does not detect arrival: Prowl does.
type Navigate struct {
	Target   Target
	Speed    int // mm/s; zero: 300
	Turn     int // deg/s; zero: 40
	Deadzone int // degrees on either side of straight ahead; zero: 5
}

func (n *Navigate) Act(_ time.Duration, s *Sensors, _ Signals) Output {
	_, off := LocateTarget(s.Pose, n.Target)
	turn := towards(off, cmp.Or(n.Deadzone, deadzone), cmp.Or(n.Turn, steer))
	return Output{cmp.Or(n.Speed, topSpeed), turn, turn != 0}
}

// towards returns the turn rate that reduces a heading error, zero within the
// dead zone.
func towards(off, deadzone, rate int) int {
	switch {
	case off > deadzone:
		return rate
	case off < -deadzone:
		return -rate
	}
	return 0
}

// Defaults of Prowl: the article's inches and percentages.
const (
	targetRadius = 254 // mm, 10 inches
	downRamp     = 914 // mm, 36 inches
	minSpeed     = 15  // mm/s, 5 per cent of full speed
)

// Prowl is the default layer of SR04 and jBot: it drives to its targets, one after another,
// and slows down and stops at each. With no target left it cruises; inverted, it then stops.
type Prowl struct {
	Targets []Target // still to be reached; reached targets are removed

	Speed    int // mm/s; zero: 300
	Turn     int // deg/s; zero: 40
	Deadzone int // degrees; zero: 5
	Radius   int // distance at which a target is reached, mm; zero: 254
	Ramp     int // distance before a target at which it starts to slow down, mm; zero: 914
	MinSpeed int // mm/s on the way; zero: 15
}

func (p *Prowl) Act(now time.Duration, s *Sensors, to Signals) Output {
	if len(p.Targets) == 0 {
		return Cruise{p.Speed}.Act(now, s, to)
	}
	distance, off := LocateTarget(s.Pose, p.Targets[0])
	if distance < cmp.Or(p.Radius, targetRadius) {
		p.Targets = p.Targets[1:]
		return want(0, 0)
	}
	speed := cmp.Or(p.Speed, topSpeed)
	if ramp := cmp.Or(p.Ramp, downRamp); distance < ramp {
		speed = max(speed*distance/ramp, cmp.Or(p.MinSpeed, minSpeed))
	}
	return want(speed, towards(off, cmp.Or(p.Deadzone, deadzone), cmp.Or(p.Turn, steer)))
}
