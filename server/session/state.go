package session

import (
	"strings"
	"time"

	"player/codec"
)

// Counts count the commands of a client.
type Counts struct {
	Commands    uint64 // carried out
	Refused     uint64 // dropped
	LastCommand time.Duration
}

// Counts returns the counts so far.
func (s *Session) Counts() Counts { return s.counts }

// Name returns the name that the client gave itself, empty if it gave none.
func (s *Session) Name() string { return s.name }

// Rate returns the rate of the client's frames in Hz, zero in request/reply mode.
func (s *Session) Rate() float64 {
	if s.frames.onRequest {
		return 0
	}
	return float64(time.Second) / float64(s.frames.period)
}

// Access returns the client's open devices as pairs of a letter and its access, for example srpa. Behind them are the
// devices without a letter, for example srpa laser:1=r.
func (s *Session) Access() string {
	var pairs, others []byte
	if s.freshness.open() {
		pairs = append(pairs, codec.Server, byte(s.freshness))
	}
	for i := range s.slots {
		if sl := &s.slots[i]; sl.access.open() && !sl.pending {
			if key := sl.device.Key(); len(key) == 1 {
				pairs = append(pairs, key[0], byte(sl.access))
			} else {
				others = append(append(append(others, ' '), key...), '=', byte(sl.access))
			}
		}
	}
	return strings.TrimSpace(string(append(pairs, others...)))
}

// Age returns the age of the oldest data that the client reads. It reports false if
// there is none.
func (s *Session) Age(now time.Duration) (oldest time.Duration, ok bool) {
	for i := range s.slots {
		if sl := &s.slots[i]; sl.isShown() && sl.device.HasData() {
			oldest, ok = max(oldest, sl.device.Age(now)), true
		}
	}
	return oldest, ok
}
