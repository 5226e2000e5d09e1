package stage

import (
	"math"
	"time"

	"player/codec"
	"player/devices/stage/floor"
)

const (
	// liftTime is the time of the lift from end to end, a figure that later
	// versions of Player use. liftHeight is its travel, metres.
	liftTime   = 3500 * time.Millisecond
	liftHeight = 0.10
	// paddleTime is the time of the paddles from end to end: an estimate, no
	// figure is published.
	paddleTime = time.Second
	// carryStep is the unit of the argument of LiftCarry.
	carryStep = 20 * time.Millisecond
	// innerBeam and outerBeam are the positions of the break beams, as
	// fractions of the paddles' length.
	innerBeam, outerBeam = 0.25, 0.75
)

// travel is the position of one motor between its ends, 0 and 1.
type travel struct{ at, want float64 }

func (t *travel) stop()        { t.want = t.at }
func (t *travel) moving() bool { return t.at != t.want }
func (t *travel) atEnd() bool  { return t.at == 0 || t.at == 1 }

func (t *travel) step(dt, full time.Duration) {
	t.at = approach(t.at, t.want, dt.Seconds()/full.Seconds())
}

// gripper is two paddles, 1 open and 0 closed, on a lift, 1 up and 0 down. The
// paddles extend forward from its pose and stay parallel.
type gripper struct {
	robot   *Robot
	pose    Pose    // on the robot
	length  float64 // of the paddles, metres
	opening float64 // between the open paddles, metres
	height  float64 // of the beams above the floor, lift down
	paddles travel
	lift    travel

	gripped *body   // between the paddles, nil if empty
	grasp   Pose    // pose of gripped in the gripper's frame
	held    float64 // between the paddles that grip it, metres
}

// command starts a gripper command (manual table 5).
func (g *gripper) command(c codec.GripperCommand) {
	switch c.Code {
	case codec.GripOpen:
		g.paddles.want = 1
	case codec.GripClose, codec.GripPress:
		g.paddles.want = 0
	case codec.GripStop:
		g.paddles.stop()
	case codec.LiftRaise:
		g.lift.want = 1
	case codec.LiftLower:
		g.lift.want = 0
	case codec.LiftStop:
		g.lift.stop()
	case codec.GripStore:
		g.paddles.want, g.lift.want = 0, 1
	case codec.GripDeploy:
		g.paddles.want, g.lift.want = 1, 0
	case codec.GripHalt:
		g.paddles.stop()
		g.lift.stop()
	case codec.LiftCarry: // negative moves down
		way := (time.Duration(int8(c.Arg)) * carryStep).Seconds() / liftTime.Seconds()
		g.lift.want = max(0, min(1, g.lift.at+way))
	}
}

// step moves the paddles and the lift, and the thing between the paddles.
func (g *gripper) step(dt time.Duration) {
	if g.paddles.moving() {
		g.paddles.step(dt, paddleTime)
		g.squeeze()
	}
	if g.lift.moving() {
		g.lift.step(dt, liftTime)
	}
	g.carry()
}

// at returns the gripper's pose in the world.
func (g *gripper) at() Pose { return g.robot.body.pose.Then(g.pose) }

// carry moves the things in the grippers with the robot. A thing is no robot, and carries nothing.
func (r *Robot) carry() {
	if r != nil {
		for _, g := range r.grippers {
			g.carry()
		}
	}
}

// carry moves the gripped body with the gripper.
func (g *gripper) carry() {
	if g.gripped != nil {
		g.gripped.lifted = g.lift.at * liftHeight
		g.gripped.place(g.at().Then(g.grasp))
	}
}

func (g *gripper) gap() float64 { return g.paddles.at * g.opening }

// squeeze lets the paddles push a body between them. They stop when both touch
// it, and release it when they open.
func (g *gripper) squeeze() {
	if g.gripped != nil {
		if g.gap() > g.held {
			g.drop()
		}
		return
	}
	if g.paddles.want > g.paddles.at {
		return
	}
	thing := g.between(innerBeam)
	if thing == nil {
		thing = g.between(outerBeam)
	}
	if thing == nil || !thing.grasp || thing.holder != nil {
		return
	}
	middle, width := g.across(thing)
	fits := width <= g.opening
	if !fits && thing.hull != nil { // only a thing that is not solid can be there
		return
	}
	at := thing.pose.From(g.at())
	if margin := max(0, g.gap()-width) / 2; fits && math.Abs(middle) > margin {
		at.Y += max(-margin, min(margin, middle)) - middle
		thing.place(g.at().Then(at))
	}
	if g.gap() <= width {
		if fits {
			g.paddles.at = width / g.opening
		}
		g.paddles.stop()
		g.gripped, g.grasp, g.held, thing.holder = thing, at, g.gap(), g
	}
}

// drop releases the gripped body. It falls to the floor.
func (g *gripper) drop() { g.gripped.lifted, g.gripped.holder, g.gripped = 0, nil, nil }

// across returns the middle and the width of a body across the paddles, in
// metres from the centre line.
func (g *gripper) across(b *body) (middle, width float64) {
	base := g.at()
	low, high := math.Inf(1), math.Inf(-1)
	for i := range b.parts {
		for _, outline := range b.parts[i].shapes {
			for _, v := range outline {
				p := b.pose.Apply(v).Sub(base.Position()).RotateBack(floor.Direction(base.Heading))
				low, high = min(low, p.Y), max(high, p.Y)
			}
		}
	}
	return (low + high) / 2, high - low
}

// between returns the body that breaks a beam, or nil.
func (g *gripper) between(beam float64) *body {
	from, ahead := g.beam(beam)
	best, found := g.gap(), (*body)(nil)
	for _, near := range g.robot.world.nearby(g.robot, from, best) {
		b := near.body
		// From both sides: a ray that starts within a body misses its near
		// face.
		d := b.cast(from, ahead, g.beamHeight(), best)
		if d == best && b.cast(from.Add(ahead.Scale(best)), ahead.Scale(-1), g.beamHeight(), best) < best {
			d = 0
		}
		if d < best {
			best, found = d, b
		}
	}
	return found
}

// beam returns the start of a beam, at the right paddle, and its direction.
func (g *gripper) beam(at float64) (from, d Vec) {
	base := g.at()
	return base.Apply(Vec{X: at * g.length, Y: -g.gap() / 2}), floor.Direction(base.Heading + math.Pi/2)
}

func (g *gripper) beamHeight() float64 { return g.height + g.lift.at*liftHeight }

// broken reports whether a beam is interrupted, by a body or by a wall.
func (g *gripper) broken(beam float64) bool {
	if g.between(beam) != nil {
		return true
	}
	from, d := g.beam(beam)
	return g.robot.body.walls.Cast(from, d, g.gap()) < g.gap()
}

// read reports the state as the microcontroller does (manual table 7).
func (g *gripper) read(out *codec.GripperData) {
	*out = codec.GripperData{}
	set := func(to *uint8, bit uint8, on bool) {
		if on {
			*to |= bit
		}
	}
	full := g.gripped != nil
	set(&out.State, codec.PaddlesOpen, g.paddles.at == 1 && !full)
	set(&out.State, codec.PaddlesClosed, g.paddles.at == 0 || full && !g.paddles.moving())
	set(&out.State, codec.PaddlesMoving, g.paddles.moving())
	set(&out.State, codec.LiftUp, g.lift.at == 1)
	set(&out.State, codec.LiftDown, g.lift.at == 0)
	set(&out.State, codec.LiftMoving, g.lift.moving())
	set(&out.Beams, codec.GripLimit, g.paddles.atEnd() || full)
	set(&out.Beams, codec.LiftLimit, g.lift.atEnd())
	set(&out.Beams, codec.OuterBeam, g.broken(outerBeam))
	set(&out.Beams, codec.InnerBeam, g.broken(innerBeam))
	set(&out.Beams, codec.LeftPaddleOpen|codec.RightPaddleOpen, g.paddles.at > 0 && !full)
}
