package reactor

import "time"

const (
	// windowLeast is the smallest window tried, in frames: one on its way, and
	// one behind it while we do not look. With one the link would idle.
	windowLeast = 2
	// windowEpoch is how long a window is tried before its delivery rate is
	// judged. At the 270 large frames a second of a 2 Mbps link it counts 54
	// frames, enough to tell a difference of a tenth from noise.
	windowEpoch = 200 * time.Millisecond
	// A trial that fails costs an epoch: older data if the window was larger,
	// fewer frames if it was smaller. So the next one waits this many epochs,
	// and twice as long each time it fails again, up to the second number.
	windowHold    = 8
	windowHoldMax = 256
	// A larger window is worth it when it delivers a tenth more; a smaller one
	// as long as it delivers as much, but for counting errors.
	windowGain = 1.10
	windowLoss = 0.96
)

// window finds how many frames a congested route should have in flight: as few
// as fill it, for each one more makes all data older by the time it takes to
// send one. It begins with what is in flight and halves it while the delivery
// rate stays. It goes by delivery, because the round-trip time cannot tell a
// slow link from a receiver that delays its acknowledgements (DECISIONS). It
// is pure and only counts.
type window struct {
	size      int           // frames
	since     time.Duration // start of the epoch
	delivered int           // frames acknowledged in it

	before int     // size before the trial under way, zero: none
	rate   float64 // frames/s delivered before the trial
	doubt  bool    // a smaller window seemed to deliver less, once
	grow   bool    // the next trial is a larger window
	hold   int     // epochs until the next trial
	pause  int     // hold after the next failure
}

// begin starts counting: the route has become congested with this many frames
// in flight.
func (w *window) begin(now time.Duration, flight int) {
	*w = window{size: max(w.size, flight, windowLeast), since: now, pause: windowHold}
}

// deliver counts n acknowledged frames, on a route that has been congested
// since begin, and adjusts the window at the end of an epoch.
func (w *window) deliver(now time.Duration, n int) {
	w.delivered += n
	if elapsed := now - w.since; elapsed >= windowEpoch {
		w.judge(float64(w.delivered) / elapsed.Seconds())
		w.since, w.delivered = now, 0
	}
}

func (w *window) judge(rate float64) {
	switch {
	case w.before == 0:
		w.rate = rate
		if w.hold > 0 {
			w.hold--
			return
		}
	case w.size < w.before && rate < w.rate*windowLoss && !w.doubt:
		w.doubt = true // clients that come and go look the same for an epoch
		return
	case w.size > w.before && rate < w.rate*windowGain, w.size < w.before && rate < w.rate*windowLoss:
		w.size, w.before, w.doubt = w.before, 0, false
		w.grow = !w.grow
		w.hold, w.pause = w.pause, min(2*w.pause, windowHoldMax)
		return
	default:
		w.rate, w.doubt = max(w.rate, rate), false
		w.pause = windowHold
	}
	w.try()
}

// try begins a trial with half or with double the window.
func (w *window) try() {
	next := 2 * w.size
	if !w.grow {
		next = max(windowLeast, w.size/2)
	}
	if next == w.size { // cannot shrink
		w.before, w.grow = 0, true
		w.hold = w.pause
		return
	}
	w.before, w.size = w.size, next
}
