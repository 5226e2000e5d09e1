package session

import (
	"errors"
	"time"

	"player/codec"
)

// maxKept is how many bytes of input may wait for a device's setup (2.7). At 10 commands a second
// that is minutes of input. A client that sends more while it waits is disconnected.
const maxKept = 64 << 10

// ErrKept disconnects a client with more than maxKept.
var ErrKept = errors.New("too much input while a device is being set up")

// input is the client's input that was not carried out yet. Messages behind a request wait while
// its setups are in progress (2.7). Messages behind a request that has opened or closed devices
// wait until other clients have been served, because such a request may take the loop long.
type input struct {
	decoder        codec.Decoder
	setups         int     // setups in progress for the current request
	changedDevices bool    // the current call has opened or closed devices
	kept           []byte  // input that waits
	stale          bool    // commands in it are from before Halt
	pieces         []piece // of kept, and then of the input of the current call: when each was received

	// The search of kept for emergency stops, which do not wait (8.5).
	current  int           // bytes of the current call, before any was carried out
	searched int           // the first bytes of kept, which were searched
	obeyed   int           // emergency stops in these bytes
	ahead    codec.Decoder // has read these bytes
}

// piece is input that was received at once.
type piece struct {
	size int // bytes that were not carried out yet
	at   time.Duration
}

// maxPieces bounds the memory for the times of input that waits, to 64 KiB. Of more, the commands age from the time of
// the last piece that has its own.
const maxPieces = 4096

// waits reports whether input waits, or input that comes now would wait.
func (i *input) waits() bool { return i.setups > 0 || i.more() }

// more reports whether there is input that waits for nothing but other clients.
func (i *input) more() bool { return i.setups == 0 && len(i.kept) > 0 }

// begin begins a call with the new input in. It returns the input to carry out, with earlier
// input in front.
func (i *input) begin(now time.Duration, in []byte) []byte {
	switch last := len(i.pieces) - 1; {
	case len(in) == 0:
	case last == maxPieces-1:
		i.pieces[last].size += len(in)
	default:
		i.pieces = append(i.pieces, piece{len(in), now})
	}
	if i.more() {
		in, i.kept = append(i.kept, in...), nil
	}
	i.changedDevices, i.current = false, len(in)
	return in
}

// next cuts the next message from the input, and returns when its last byte was received. It reports false if there is
// no whole message.
func (i *input) next(in []byte) (m codec.Message, heard time.Duration, rest []byte, ok bool) {
	if m, rest, ok = i.decoder.Next(in); !ok {
		i.searched, i.obeyed, i.pieces = 0, 0, i.pieces[:0]
		return m, 0, rest, false
	}
	used, first := len(in)-len(rest), 0
	for used > i.pieces[first].size {
		used -= i.pieces[first].size
		first++
	}
	heard = i.pieces[first].at
	i.pieces[first].size -= used
	i.pieces = i.pieces[first:]
	return m, heard, rest, true
}

// mustWait reports whether input has to be kept.
func (i *input) mustWait(in []byte) bool { return i.setups > 0 || i.changedDevices && len(in) > 0 }

// keep keeps input that mustWait. It returns how many emergency stops are in it if setups are in
// progress: the caller obeys them now. When the input is carried out, these stops, and the releases
// before them, have no effect: see wasObeyed.
func (i *input) keep(in []byte) (stops int, err error) {
	if len(i.kept) == 0 {
		i.searched = max(0, i.searched-(i.current-len(in)))
	}
	if len(i.kept)+len(in) > maxKept {
		return 0, ErrKept
	}
	if i.kept = append(i.kept, in...); i.setups == 0 {
		return 0, nil
	}
	if i.searched == 0 {
		i.ahead = i.decoder.Clone()
	}
	in = i.kept[i.searched:]
	for i.searched = len(i.kept); ; {
		m, rest, ok := i.ahead.Next(in)
		if !ok {
			i.obeyed += stops
			return stops, nil
		}
		in = rest
		if m.Kind != codec.KindConfig || m.Device != codec.Server || m.Malformed {
			continue
		}
		if c, err := codec.DecodeServerConfig(m.Payload); err == nil && c.Code == codec.ConfigStop && c.Arg != 0 {
			stops++
		}
	}
}

// wasObeyed reports whether a stop was obeyed while it waited, or a release came before such a
// stop.
func (i *input) wasObeyed(stop bool) bool {
	if i.obeyed == 0 {
		return false
	}
	if stop {
		i.obeyed--
	}
	return true
}
