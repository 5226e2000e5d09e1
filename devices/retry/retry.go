// Package retry is the policy by which drivers bring back lost hardware, programs and
// servers. The first try comes after a second. The pause doubles with each try, up to five
// seconds. Tries cost wakes and log lines only while a device that a client has open is
// missing.
package retry

import (
	"time"

	"go.uber.org/zap"
)

// Messages of the log, by which tests find lines.
const (
	LogUnavailable = "device unavailable, trying again"
	LogBack        = "device is back"
)

const (
	// First is the pause before the first try. It is the gap in the data after a
	// short fault, and lets a USB adapter get its name back first.
	First = time.Second
	// Last is the longest pause. After a person has put a plug back, it takes at most that
	// long; a permanently broken program is started twelve times a minute.
	Last = 5 * time.Second
	// steady is how long a connection must last until its next loss starts again with First.
	// Failures every few seconds lead to the longer pauses.
	steady = 10 * time.Second
)

// Retry decides when to try again, and logs the reason. The zero value is ready.
type Retry struct {
	failing bool
	since   time.Duration // when failing changed last
	pause   time.Duration // before the coming try; zero: First is next
	reason  string        // of the last failure
}

// Failed is called for a loss and for each try that fails. It returns when to try
// next. The log gets one line for each reason in a row.
func (r *Retry) Failed(now time.Duration, log *zap.Logger, err error) (next time.Duration) {
	if !r.failing {
		if now-r.since >= steady {
			r.pause = 0
		}
		r.failing, r.since, r.reason = true, now, ""
	}
	if reason := err.Error(); reason != r.reason {
		r.reason = reason
		log.Warn(LogUnavailable, zap.Error(err))
	}
	r.pause = min(max(2*r.pause, First), Last)
	return now + r.pause
}

// Worked is called when a try has succeeded. It has no effect while nothing is
// lost.
func (r *Retry) Worked(now time.Duration, log *zap.Logger) {
	if r.failing {
		log.Info(LogBack, zap.Duration("after", now-r.since))
		r.failing, r.since = false, now
	}
}

// Failing reports whether the connection is lost.
func (r *Retry) Failing() bool { return r.failing }
