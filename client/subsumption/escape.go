package subsumption

import (
	"cmp"
	"time"
)

// Defaults of Escape. The article gives none.
const (
	escapeBack    = time.Second
	escapeSwing   = 1500 * time.Millisecond // at 80 deg/s: 120 degrees, out of any corner
	escapeForward = time.Second
	// escapePatience is longer than the 4.5 s at 40 deg/s that IR takes to
	// turn around in a dead end.
	escapePatience = 6 * time.Second
	escapeProgress = 250 // mm, half a robot
	// escapeTurned in degrees is more than a robot swings back and forth in a
	// corner, and less than a robot turns that scans or goes back.
	escapeTurned = 120
)

// Escape frees a trapped robot: one that tries to move and gets nowhere,
// because its wheels are blocked, or because it is in a corner where one
// reflex drives it into the other. It backs up, turns around towards the side
// with more room, and drives off. It belongs above Bump, to handle the cases
// in which Bump fails. A bump while it drives ends that segment; being
// subsumed aborts it.
type Escape struct {
	Speed    int           // full speed, mm/s; it drives at half of it; zero: 300
	Turn     int           // deg/s; zero: 80
	Back     time.Duration // zero: 1 s
	Swing    time.Duration // zero: 1.5 s
	Forward  time.Duration // zero: 1 s
	Patience time.Duration // zero: 6 s
	Progress int           // distance that counts as getting away, mm; zero: 250. Turning by 120 degrees also counts

	ballistic ballistic
	bumps     bumps
	anchor    Pose          // where the robot last got to
	since     time.Duration // time of anchor
	anchored  bool          // anchor and since are valid
}

func (e *Escape) Act(now time.Duration, s *Sensors, to Signals) Output {
	if to.Subsumed {
		e.ballistic.abort()
	}
	if fresh := e.bumps.newlyPressed(s, to.Command); fresh != 0 && e.ballistic.running != 2 {
		e.ballistic.cut(now)
		e.ballistic.segments[1].speed = cmp.Or(e.Speed, topSpeed) / squeeze // away from an obstacle behind
	}
	out := e.ballistic.act(now)
	if e.caught(now, s, to.Command) && !out.Flag {
		e.ballistic.start(now, e.flight(s))
		e.anchored = false
		out = e.ballistic.act(now)
	}
	return out
}

// caught reports whether the robot has tried to get away for too long.
func (e *Escape) caught(now time.Duration, s *Sensors, last Command) bool {
	moved, _ := LocateTarget(s.Pose, Target{e.anchor.X, e.anchor.Y})
	turned := between(s.Pose.Heading - e.anchor.Heading)
	away := moved >= cmp.Or(e.Progress, escapeProgress) || max(turned, -turned) >= escapeTurned
	if !e.anchored || last == (Command{}) || away {
		e.anchor, e.since, e.anchored = s.Pose, now, true
	}
	return now-e.since >= cmp.Or(e.Patience, escapePatience)
}

func (e *Escape) flight(s *Sensors) [3]segment {
	half, turn := cmp.Or(e.Speed, topSpeed)/2, cmp.Or(e.Turn, swing)
	if min(s.Left(), s.Range[0]) < min(s.Right(), s.Range[7]) {
		turn = -turn
	}
	return [3]segment{
		{-half, 0, cmp.Or(e.Back, escapeBack)},
		{0, turn, cmp.Or(e.Swing, escapeSwing)},
		{half, 0, cmp.Or(e.Forward, escapeForward)},
	}
}
