// Package limited logs a message that repeats at most once in a period, with the number of repeats
// that were left out. Callers pass the time, as in package timers.
package limited

import (
	"cmp"
	"slices"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// usual is the period of a Line that names none: a person can read one line a second.
const usual = time.Second

// Line is one message of the log and its repeats. The zero value writes at most one line a second.
type Line struct {
	Period time.Duration // zero: a second

	next       time.Duration
	suppressed int
}

// Allow reports whether the line may be written at now. Otherwise it counts the line as
// suppressed.
func (l *Line) Allow(now time.Duration) bool {
	if now < l.next {
		l.suppressed++
		return false
	}
	l.next = now + cmp.Or(l.Period, usual)
	return true
}

// Suppressed returns the field of the log with the number of lines that were suppressed since
// the last call, or no field if there were none.
func (l *Line) Suppressed() zap.Field {
	n := l.suppressed
	if l.suppressed = 0; n == 0 {
		return zap.Skip()
	}
	return zap.Int("suppressed", n)
}

// Log writes the line, with the field Suppressed, if Allow allows it. It reports whether it did. A
// line that is suppressed costs no allocation, unless a field does.
func (l *Line) Log(now time.Duration, log *zap.Logger, level zapcore.Level, message string, fields ...zap.Field) bool {
	if !l.Allow(now) {
		return false
	}
	log.Log(level, message, append(slices.Clone(fields), l.Suppressed())...) // fields do not escape: no allocation
	return true
}

// Warn is Log at the level of warnings.
func (l *Line) Warn(now time.Duration, log *zap.Logger, message string, fields ...zap.Field) bool {
	return l.Log(now, log, zap.WarnLevel, message, fields...)
}
