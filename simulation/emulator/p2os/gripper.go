package p2os

import "time"

// Arguments of the GRIPPER command (Pioneer 2 Gripper Manual).
const (
	gripOpen    = 1
	gripClose   = 2
	gripStop    = 3
	liftUp      = 4
	liftDown    = 5
	liftStop    = 6
	gripStore   = 7
	gripDeploy  = 8
	gripHalt    = 15
	gripPress   = 16 // GRIPPERVAL follows: strength
	gripCarry   = 17 // GRIPPERVAL follows: lift time in carrySteps, negative moves down
	carryStep   = 20 * time.Millisecond
	liftTravel  = 3500 * time.Millisecond // from bottom to top
	paddleTime  = 1 * time.Second         // from closed to open: assumed, no published figure
	paddlesOpen = 0x01
	paddlesShut = 0x02
	paddlesMove = 0x04
	liftIsUp    = 0x10
	liftIsDown  = 0x20
	liftMoves   = 0x40
)

// A travel is one motor between two ends, 0 and 1. It moves to its target at
// constant speed.
type travel struct {
	full      time.Duration // from end to end
	pos, want float64
}

func (t *travel) advance(dt time.Duration) {
	most := dt.Seconds() / t.full.Seconds()
	t.pos += max(-most, min(most, t.want-t.pos))
}

func (t *travel) stop() { t.want = t.pos }

// A gripper is paddles (0 closed, 1 open) on a lift (0 down, 1 up).
type gripper struct {
	paddles, lift travel
	carrying      bool // the last GRIPPER command was carry
	at            time.Duration
}

// newGripper returns the gripper of a robot that was just switched on: open
// and up.
func newGripper() gripper {
	return gripper{
		paddles: travel{full: paddleTime, pos: 1, want: 1},
		lift:    travel{full: liftTravel, pos: 1, want: 1},
	}
}

func (g *gripper) advance(now time.Duration) {
	g.paddles.advance(now - g.at)
	g.lift.advance(now - g.at)
	g.at = now
}

func (g *gripper) command(code int) {
	g.carrying = code == gripCarry
	switch code {
	case gripOpen:
		g.paddles.want = 1
	case gripClose, gripPress:
		g.paddles.want = 0
	case gripStop:
		g.paddles.stop()
	case liftUp:
		g.lift.want = 1
	case liftDown:
		g.lift.want = 0
	case liftStop:
		g.lift.stop()
	case gripStore:
		g.paddles.want, g.lift.want = 0, 1
	case gripDeploy:
		g.paddles.want, g.lift.want = 1, 0
	case gripHalt:
		g.paddles.stop()
		g.lift.stop()
	}
}

// value handles GRIPPERVAL. The strength after press has no effect here.
func (g *gripper) value(v int) {
	if g.carrying {
		way := (time.Duration(v) * carryStep).Seconds() / liftTravel.Seconds()
		g.lift.want = max(0, min(1, g.lift.pos+way))
	}
}

// state returns the byte in the SIP. Both end bits at once, without moving,
// means in between.
func (g *gripper) state() byte {
	return g.paddles.state(paddlesShut, paddlesOpen, paddlesMove) | g.lift.state(liftIsDown, liftIsUp, liftMoves)
}

func (t *travel) state(at0, at1, moving byte) byte {
	switch {
	case t.pos != t.want:
		return moving
	case t.pos == 0:
		return at0
	case t.pos == 1:
		return at1
	}
	return at0 | at1
}
