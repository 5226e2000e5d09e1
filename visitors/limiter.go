package visitors

import (
	"maps"
	"time"
)

// repeatPeriod is the least time until a visitor gets the same error again.
const repeatPeriod = 5 * time.Second

// Limiter drops texts that a visitor got a short time ago. The zero value is ready.
type Limiter struct{ sent map[string]time.Time }

// Allow reports whether the visitor is to get a text, and notes that it does.
func (l *Limiter) Allow(text string) bool {
	now := time.Now()
	if now.Sub(l.sent[text]) < repeatPeriod {
		return false
	}
	if l.sent == nil {
		l.sent = map[string]time.Time{}
	}
	maps.DeleteFunc(l.sent, func(_ string, at time.Time) bool { return now.Sub(at) >= repeatPeriod })
	l.sent[text] = now
	return true
}
