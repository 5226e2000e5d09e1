package timers

import "time"

// ratePeriod is the shortest time over which a Rate is measured. In a shorter time, one event more
// or less would change a rate of 10 Hz by more than a tenth.
const ratePeriod = time.Second

// Rate counts events and measures how often they happen. The zero value is ready.
// An event costs an addition and a comparison.
type Rate struct {
	Total uint64 // never decreases

	since time.Duration // when the period began
	from  uint64        // Total when the period began
	hz    float64       // the rate in the previous period
}

// Count counts an event.
func (r *Rate) Count(now time.Duration) {
	r.Total++
	if now-r.since >= ratePeriod {
		r.hz, r.since, r.from = r.over(now), now, r.Total
	}
}

// Hz returns how many events a second there were in the last second or two.
func (r *Rate) Hz(now time.Duration) float64 {
	if now-r.since < 2*ratePeriod {
		return r.hz
	}
	return r.over(now) // the events are rare, or have ended
}

func (r *Rate) over(now time.Duration) float64 {
	return float64(r.Total-r.from) / (now - r.since).Seconds()
}
