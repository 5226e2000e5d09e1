package subsumption

import (
	"cmp"
	"time"
)

// bumps remembers which bumpers were pressed, and derives a bumper from
// blocked wheels.
type bumps struct {
	pressed Bumpers
	stalled bool
	virtual Bumpers // while the wheels are blocked
}

// newlyPressed returns the bumpers that are pressed now and were not in the last
// cycle. If the wheels are blocked and no bumper is pressed, the robot has hit
// something in its direction of motion: jBot's virtual bumper.
func (b *bumps) newlyPressed(s *Sensors, last Command) Bumpers {
	switch {
	case !s.Stalled || s.Bumpers != 0 && !b.stalled:
		b.virtual = 0
	case b.stalled:
	case last.Speed < 0:
		b.virtual = BumpRear
	default:
		b.virtual = BumpLeft | BumpRight
	}
	b.stalled = s.Stalled
	now := s.Bumpers | b.virtual
	fresh := now &^ b.pressed
	b.pressed = now
	return fresh
}

// Defaults of Bump: the article's times.
const (
	bumpBack    = time.Second
	bumpSwing   = 500 * time.Millisecond
	bumpForward = 250 * time.Millisecond
)

// Bump recovers from a collision: it backs up, turns away while moving, then
// drives straight for a moment. A newly pressed bumper aborts the recovery and
// starts another; so does a bumper that is still pressed at the end. After a
// bump from behind it first drives forward. Between two obstacles, also if it
// backs into the second, it turns first. Blocked wheels count as a bumper.
// Subsumed, it aborts.
type Bump struct {
	Speed   int           // full speed, mm/s; zero: 300. It backs up and turns at half of it
	Turn    int           // deg/s; zero: 80
	Back    time.Duration // zero: 1 s
	Swing   time.Duration // zero: 0.5 s
	Forward time.Duration // zero: 0.25 s

	ballistic ballistic
	bumps     bumps
	at        Bumpers // bumpers of this recovery
}

func (b *Bump) Act(now time.Duration, s *Sensors, to Signals) Output {
	fresh := b.bumps.newlyPressed(s, to.Command)
	if to.Subsumed {
		b.ballistic.abort()
	}
	out := b.ballistic.act(now)
	if fresh != 0 || b.bumps.pressed != 0 && !out.Flag {
		if b.ballistic.running != 1 {
			b.at = 0
		}
		b.at |= b.bumps.pressed
		b.ballistic.start(now, b.recovery(fresh))
		out = b.ballistic.act(now)
	}
	return out
}

// recovery returns the segments after all bumps of b.at. The newest bumps
// decide the direction.
func (b *Bump) recovery(newest Bumpers) [3]segment {
	top, turn := cmp.Or(b.Speed, topSpeed), cmp.Or(b.Turn, swing)
	front := b.at & (BumpLeft | BumpRight)
	if front == BumpLeft {
		turn = -turn
	}
	first := segment{-top / 2, 0, cmp.Or(b.Back, bumpBack)}
	if b.at&BumpRear != 0 && front != 0 { // between two obstacles
		first.speed, first.turn = -top/squeeze, turn
	}
	if b.at == BumpRear || newest == BumpRear {
		first.speed = -first.speed
	}
	return [3]segment{
		first,
		{top / 2, turn, cmp.Or(b.Swing, bumpSwing)},
		{top, 0, cmp.Or(b.Forward, bumpForward)},
	}
}

// squeeze divides full speed for a robot between two obstacles that moves away
// from the one it touches while it turns: its corners need some centimetres.
const squeeze = 6
