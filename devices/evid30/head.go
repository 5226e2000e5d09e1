package evid30

import (
	"slices"
	"time"

	"player/codec"
)

const (
	sockets = 2 // commands that the camera runs at a time

	// runLimit is the time after which the completion of a command counts as lost: the
	// longest way takes 2.5 s for the head, and less for the zoom.
	runLimit = 5 * time.Second

	// restTime is how long a position must stay the same before the motor counts as at
	// rest: positions are answered ten times a second and more.
	restTime = 500 * time.Millisecond
)

// head is the moving part: the clients' targets, and the commands that the camera presumably
// runs. A lost reply may make that wrong; then the camera answers BufferFull, its sockets
// are cleared, and the commands are sent again.
type head struct {
	model      *Model
	turn, zoom motor
	last       request // turn or zoom: the last command sent
	lastUnits  [2]int16
	sockets    [sockets]socket
	victim     byte // the socket to be cancelled
	clear      bool // the camera's sockets are to be cleared
	moved      bool // a command was sent since Setup
}

// motor is one of the camera's two motors that can move at the same time: pan with tilt, and the zoom.
type motor struct {
	target
	at    [2]int16      // where it was seen last
	since time.Duration // since when it is there, and no socket runs its command
}

// target is the newest position that clients want.
type target struct {
	units    [2]int16 // pan and tilt, or the zoom
	given    bool
	open     bool // the camera has not acknowledged it
	unproven bool // acknowledged, but it was not seen to be obeyed
	acked    time.Duration
	tries    int
}

// socket is one of the camera's two sockets, with the command that runs in it.
type socket struct {
	runs  request // turn or zoom; nothing: it is free
	since time.Duration
}

// aim sets the targets of a command. As in the original server, head and zoom get a command
// only when their part of it has changed.
func (h *head) aim(c codec.PTZCommand) {
	h.turn.set(h.model.PanUnits(int(c.Pan)), h.model.TiltUnits(int(c.Tilt)))
	h.zoom.set(int16(h.model.ZoomUnits(int(c.Zoom))), 0)
}

func (o *target) set(a, b int16) {
	if units := [2]int16{a, b}; !o.given || o.units != units {
		*o = target{units: units, given: true, open: true}
	}
}

func (h *head) of(r request) *motor {
	if r == zoom {
		return &h.zoom
	}
	return &h.turn
}

// next returns the next command to send, or nothing. Commands of head and zoom alternate.
func (h *head) next(now time.Duration) request {
	if h.clear {
		return clearInterface
	}
	want := nothing
	if h.turn.open {
		want = turn
	}
	if h.zoom.open && (want == nothing || h.last == turn) {
		want = zoom
	}
	if want == nothing || h.free(now) {
		return want
	}
	h.victim = h.superseded(want)
	return cancel
}

// free reports whether a socket is free.
func (h *head) free(now time.Duration) (free bool) {
	for i, s := range h.sockets {
		if s.runs != nothing && now-s.since > runLimit {
			h.sockets[i] = socket{}
		}
		free = free || h.sockets[i].runs == nothing
	}
	return free
}

// settled reports whether all that clients want has been seen to be obeyed.
func (h *head) settled() bool {
	return !h.clear && !h.busy() && !h.turn.unproven && !h.zoom.unproven
}

func (h *head) busy() bool { return h.sockets != [sockets]socket{} }

// superseded returns the socket to cancel for a new command when all are busy: the one with
// a command of the same kind, or the older of two.
func (h *head) superseded(want request) byte {
	best := 0
	for i, s := range h.sockets {
		same, bestSame := s.runs == want, h.sockets[best].runs == want
		if same && !bestSame || same == bestSame && s.since < h.sockets[best].since {
			best = i
		}
	}
	return byte(best + 1)
}

// append appends the command r, which is being sent.
func (h *head) append(dst []byte, r request) []byte {
	o := h.of(r)
	o.tries++
	h.last, h.lastUnits, h.moved = r, o.units, true
	if r == zoom {
		return AppendZoom(dst, uint16(o.units[0]))
	}
	return AppendPanTilt(dst, h.model.Pan.Speed, h.model.Tilt.Speed, o.units[0], o.units[1])
}

// acknowledged handles the acknowledgement of the last command, in time or late. A late one
// may belong to the command before, while the last one was lost: sees detects that.
func (h *head) acknowledged(now time.Duration, number byte) {
	if number >= 1 && number <= sockets {
		h.sockets[number-1] = socket{h.last, now}
	}
	if o := h.of(h.last); o.units == h.lastUnits { // else there is a newer one
		o.open, o.unproven, o.acked = false, true, now
	}
}

// sees takes the position of the motor of turn or zoom. If it rests elsewhere than at an
// acknowledged target, the target is sent again; after maxTries it is dropped, so that a
// client that repeats it is obeyed. disobeyed reports a dropped target that was missed by
// more than tolerance units: mechanics do not explain that.
func (h *head) sees(now time.Duration, r request, at [2]int16, tolerance int) (disobeyed bool) {
	m := h.of(r)
	if m.at != at || h.runs(now, r) {
		m.at, m.since = at, now
	}
	switch {
	case !m.unproven:
	case at == m.units:
		m.unproven, m.tries = false, 0
	case now-max(m.since, m.acked) < restTime: // it may be on its way
	case m.tries < maxTries:
		m.unproven, m.open = false, true
	default:
		for i := range at {
			off := int(at[i]) - int(m.units[i])
			disobeyed = disobeyed || max(off, -off) > tolerance
		}
		m.unproven, m.tries, m.given = false, 0, !disobeyed
	}
	return disobeyed
}

// runs reports whether a socket runs the command r.
func (h *head) runs(now time.Duration, r request) bool {
	return slices.ContainsFunc(h.sockets[:], func(s socket) bool { return s.runs == r && now-s.since <= runLimit })
}

// refused handles the refusal of the last command. It is sent again, unless it has
// been tried too often or there is no time for it. Then it is forgotten, so that a
// client that repeats it is obeyed.
func (h *head) refused(f Fault, noTime bool) {
	if o := h.of(h.last); noTime || o.tries >= maxTries {
		o.open, o.given = false, false
	}
	if f == BufferFull {
		h.clear = true
	}
}

// failed frees a socket: its command has failed. A client that repeats it is obeyed.
func (h *head) failed(number byte) {
	if number >= 1 && number <= sockets && h.sockets[number-1].runs != nothing {
		o := h.of(h.sockets[number-1].runs)
		o.given, o.unproven = false, false
	}
	h.release(number)
}

// release frees a socket: its command has ended, or there was none.
func (h *head) release(number byte) {
	if number >= 1 && number <= sockets {
		h.sockets[number-1] = socket{}
	}
}

// cleared frees all sockets: the camera has stopped its commands.
func (h *head) cleared() {
	for _, s := range h.sockets {
		if s.runs != nothing {
			h.of(s.runs).open = true
		}
	}
	h.sockets, h.clear = [sockets]socket{}, false
}
