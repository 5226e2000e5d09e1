package subsumption

import "time"

// segment is one part of a ballistic behaviour.
type segment struct {
	speed, turn int
	lasts       time.Duration
}

// ballistic runs three segments by the clock, regardless of the sensors:
// Jones' term for behaviours that run to their end like a shot.
type ballistic struct {
	segments [3]segment
	running  int           // 1 to 3; 0 for none
	until    time.Duration // end of the running segment
}

func (b *ballistic) start(now time.Duration, segments [3]segment) {
	*b = ballistic{segments, 1, now + segments[0].lasts}
}

func (b *ballistic) abort() { b.running = 0 }

// cut ends the running segment; the next one starts.
func (b *ballistic) cut(now time.Duration) { b.until = now }

// act returns the output of the segment at now.
func (b *ballistic) act(now time.Duration) Output {
	for b.running > 0 && now >= b.until {
		if b.running++; b.running > len(b.segments) {
			b.running = 0
			break
		}
		b.until += b.segments[b.running-1].lasts
	}
	if b.running == 0 {
		return Output{}
	}
	s := b.segments[b.running-1]
	return want(s.speed, s.turn)
}
