package timers

import "time"

// Limiter lets one event per period through and counts the others, so that a
// repeated message is logged once, with the number of repeats. The zero value
// lets the first event through.
type Limiter struct {
	Period time.Duration

	next       time.Duration
	suppressed int
}

// Allow reports whether an event at now may be reported. If so, repeats is the
// number of events suppressed since the last one.
func (l *Limiter) Allow(now time.Duration) (repeats int, ok bool) {
	if now < l.next {
		l.suppressed++
		return 0, false
	}
	repeats, l.suppressed = l.suppressed, 0
	l.next = now + l.Period
	return repeats, true
}
