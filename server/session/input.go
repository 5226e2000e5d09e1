package session

import (
	"errors"

	"player/codec"
)

// maxKept is the most input in bytes that waits for a device's setup (2.7). At 10 commands
// a second that is minutes of input. A client that floods the server while it waits is
// disconnected.
const maxKept = 64 << 10

// ErrKept is the end of a client with more than maxKept.
var ErrKept = errors.New("too much input while a device is being set up")

// input is what the client has sent, and what of it waits: the messages behind a request
// whose setups are in progress (2.7), or behind one that has opened or closed devices,
// until other clients have been served.
type input struct {
	decoder        codec.Decoder
	setups         int    // setups in progress for the current request
	changedDevices bool   // the current call has opened or closed devices
	kept           []byte // input that waits
	stale          bool   // commands in it are from before Halt

	// The search of kept for emergency stops, which do not wait (8.5).
	current  int           // bytes that the current call carries out
	searched int           // bytes of kept that were searched
	obeyed   int           // emergency stops in them
	ahead    codec.Decoder // has searched them
}

// waits reports whether any input waits, or would.
func (i *input) waits() bool { return i.setups > 0 || i.more() }

// more reports whether there is input that waits for nothing but other clients.
func (i *input) more() bool { return i.setups == 0 && len(i.kept) > 0 }

// begin returns what a call carries out when in has come.
func (i *input) begin(in []byte) []byte {
	if i.more() {
		in, i.kept = append(i.kept, in...), nil
	}
	i.changedDevices, i.current = false, len(in)
	return in
}

// next cuts the next message from the input. It reports false if there is no whole one.
func (i *input) next(in []byte) (m codec.Message, rest []byte, ok bool) {
	if m, rest, ok = i.decoder.Next(in); !ok {
		i.searched, i.obeyed = 0, 0
	}
	return m, rest, ok
}

// mustWait reports whether input has to be kept.
func (i *input) mustWait(in []byte) bool { return i.setups > 0 || i.changedDevices && len(in) > 0 }

// keep keeps input until the setups in progress have ended. It returns how many emergency
// stops are in it, which are to be obeyed now. When they come again, these stops, and the
// releases before them, have no effect: see wasObeyed.
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

// wasObeyed reports whether a stop, or a release, was obeyed while it waited.
func (i *input) wasObeyed(stop bool) bool {
	if i.obeyed == 0 {
		return false
	}
	if stop {
		i.obeyed--
	}
	return true
}
