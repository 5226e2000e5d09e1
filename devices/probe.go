package devices

import (
	"fmt"
	"time"
)

// Probe is how a Kind's hardware is found on an unknown serial line (player find). All
// requests of a Probe must be harmless to hardware of all kinds: they move nothing, and
// change nothing that outlives the connection.
type Probe struct {
	Speeds []int // of the line in baud, the most usual first

	// Ask is sent at each speed, to a line that is silent. Empty: the hardware sends
	// unasked.
	Ask []byte
	// Wait is the longest silence before the answer to a request.
	Wait time.Duration
	// Recognise judges what was heard since the last request, cut anywhere and
	// perhaps with garbage in front. It is also given what hardware of other kinds
	// sends. The zero Answer means that the bytes are, so far, not of this Kind.
	Recognise func(heard []byte) Answer
	// Leave is sent at the end to hardware that has answered, to undo what the
	// requests have done. It may be empty.
	Leave []byte
}

// Answer is what a Probe makes of an answer.
type Answer struct {
	Found bool   // it is hardware of this Kind
	Model string // as the hardware names itself, in printable text; empty: unknown
	Next  []byte // the next request; empty: all is known
}

// Finding is what Probes have found on a serial line. The zero Finding is nothing.
type Finding struct {
	Kind  string // its name
	Model string // see Answer
	Baud  int    // the speed of the line; 0: unknown, over the network
}

// String describes the hardware: `p2os, Pioneer p2dx "Emu01", at 9600 baud`.
func (f Finding) String() string {
	text := f.Kind
	if f.Model != "" {
		text += ", " + f.Model
	}
	if f.Baud != 0 {
		text += fmt.Sprintf(", at %d baud", f.Baud)
	}
	return text
}
