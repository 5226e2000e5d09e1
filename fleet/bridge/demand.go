package bridge

import "time"

const (
	// DefaultRate is the rate of data in Hz without a request for another one: the
	// default of the protocol (PROTOCOL 4.1).
	DefaultRate = 10
	// MaxRate is the highest rate in Hz that can be asked for. A robot may have a
	// lower maximum.
	MaxRate = 1000
	// MaxPictures is the same for pictures: a robot's server passes on no more.
	MaxPictures = 60
	// AskLimit is how long a request for a rate counts. A program that wants the
	// rate for longer asks again.
	AskLimit = 10 * time.Second
)

// Demand is the rates that the subscribers of one device ask for. The zero value is the
// default rate.
type Demand struct {
	asks map[int]time.Time // Hz: until when it counts; at most MaxRate entries
}

// Ask notes a request for a rate in Hz, 1 to MaxRate.
func (d *Demand) Ask(hz int, now time.Time) {
	if d.asks == nil {
		d.asks = map[int]time.Time{}
	}
	d.asks[hz] = now.Add(AskLimit)
}

// Rate returns the rate in Hz: the highest one that counts, or the default.
func (d *Demand) Rate(now time.Time) int {
	if rate, ok := d.Asked(now); ok {
		return rate
	}
	return DefaultRate
}

// Asked returns the highest rate in Hz that counts, false if none does.
func (d *Demand) Asked(now time.Time) (rate int, ok bool) {
	for hz, until := range d.asks {
		if !now.Before(until) {
			delete(d.asks, hz)
			continue
		}
		rate = max(rate, hz)
	}
	return rate, rate > 0
}

// Pacer lets one message through in each period. The zero value is ready to use.
type Pacer struct{ due time.Time }

// Due returns when the next message is due.
func (p *Pacer) Due() time.Time { return p.due }

// Ready reports whether a message may be sent now at a rate in Hz. Frames come at
// the rate of the connection, also in Hz, so a message may be half a frame early.
func (p *Pacer) Ready(hz, frames int, now time.Time) bool {
	if now.Add(time.Second / time.Duration(2*frames)).Before(p.due) {
		return false
	}
	period := time.Second / time.Duration(hz)
	if p.due = p.due.Add(period); p.due.Before(now) {
		p.due = now.Add(period) // missed periods are not made up
	}
	return true
}
