package timers

import "time"

// Limiter lets one event a period through and counts the others, so that a
// repeated complaint is logged once with how often it was meant. The zero
// value lets the first event through.
type Limiter struct {
	Period time.Duration

	next       time.Duration
	suppressed int
}

// Allow says whether the event at now may be reported; if so, repeats is how
// many were held back since the last one.
func (l *Limiter) Allow(now time.Duration) (repeats int, ok bool) {
	if now < l.next {
		l.suppressed++
		return 0, false
	}
	repeats, l.suppressed = l.suppressed, 0
	l.next = now + l.Period
	return repeats, true
}
