package visitors

import (
	"maps"
	"time"
)

// repeatPeriod is how long it takes until a visitor is told the same again.
const repeatPeriod = 5 * time.Second

// Repeats has the texts that a visitor was told a short time ago. The zero value is ready.
type Repeats struct{ told map[string]time.Time }

// New reports whether the visitor is to be told a text, and notes that it is.
func (r *Repeats) New(text string) bool {
	now := time.Now()
	if now.Sub(r.told[text]) < repeatPeriod {
		return false
	}
	if r.told == nil {
		r.told = map[string]time.Time{}
	}
	maps.DeleteFunc(r.told, func(_ string, at time.Time) bool { return now.Sub(at) >= repeatPeriod })
	r.told[text] = now
	return true
}
