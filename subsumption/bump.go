package subsumption

import (
	"cmp"
	"time"
)

// bumps remembers which bumpers were pressed, and makes one of blocked wheels.
type bumps struct {
	pressed Bumpers
	stalled bool
	virtual Bumpers // as long as the wheels are blocked
}

// anew returns the bumpers that are pressed and were not in the last cycle. A
// robot whose wheels are blocked without a bumper being pressed has hit
// something where it was going: jBot's virtual bumper.
func (b *bumps) anew(s *Sensors, last Command) Bumpers {
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
	anew := now &^ b.pressed
	b.pressed = now
	return anew
}

// Defaults of Bump: the article's times.
const (
	bumpBack    = time.Second
	bumpSwing   = 500 * time.Millisecond
	bumpForward = 250 * time.Millisecond
)

// Bump recovers from a collision: back up, turn away while going on, go straight
// for a moment. A bumper that is pressed anew, while it is at it, aborts that
// and starts again; so does a bumper that is still pressed at the end. After a
// bump from behind it goes forward first; between two things, be it that it
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
	at        Bumpers // what this recovery is from
}

func (b *Bump) Act(now time.Duration, s *Sensors, to Signals) Output {
	anew := b.bumps.anew(s, to.Command)
	if to.Subsumed {
		b.ballistic.abort()
	}
	out := b.ballistic.act(now)
	if anew != 0 || b.bumps.pressed != 0 && !out.Flag {
		if b.ballistic.running != 1 {
			b.at = 0
		}
		b.at |= b.bumps.pressed
		b.ballistic.start(now, b.recovery(anew))
		out = b.ballistic.act(now)
	}
	return out
}

// recovery is what to do after all the bumps of b.at; the newest decide which
// way there is room.
func (b *Bump) recovery(newest Bumpers) [3]segment {
	top, turn := cmp.Or(b.Speed, topSpeed), cmp.Or(b.Turn, swing)
	front := b.at & (BumpLeft | BumpRight)
	if front == BumpLeft {
		turn = -turn
	}
	first := segment{-top / 2, 0, cmp.Or(b.Back, bumpBack)}
	if b.at&BumpRear != 0 && front != 0 { // between two things
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

// squeeze is the part of full speed at which a robot between two things moves
// away from the one that it touches, while it turns: its corners need some
// centimetres.
const squeeze = 6
