package devices

import (
	"fmt"
	"slices"
	"time"
)

// Probe is how a Kind's hardware is found on an unknown serial line (player find), and named
// when the driver of another kind hears it. All requests of a Probe must be harmless to
// hardware of all kinds: they move nothing, and change nothing that outlives the connection.
type Probe struct {
	Name   string // in the errors of other drivers, "a SICK laser"; empty: they do not name it
	Speeds []int  // of the line in baud, the most usual first

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
	Found  bool   // it is hardware of this Kind
	Likely bool   // it may be, but noise may be the same: there is no checksum
	Model  string // as the hardware names itself, in printable text; empty: unknown
	Next   []byte // the next request; empty: all is known
}

// At reports whether the hardware may be at a speed of the line in baud; 0: an unknown one.
func (p *Probe) At(baud int) bool { return p != nil && (baud == 0 || slices.Contains(p.Speeds, baud)) }

// Recognise returns the kind that makes sense of what was heard at a speed, and what it makes
// of it. kind is nil if there is none. One that is certain comes before one that has to ask
// further: some hardware returns what it does not understand.
func Recognise(kinds []Kind, baud int, heard []byte) (kind *Kind, a Answer) {
	for i := range kinds {
		k := &kinds[i]
		if !k.Probe.At(baud) {
			continue
		}
		got := k.Probe.Recognise(heard)
		if got.Found && !a.Found || len(got.Next) > 0 && kind == nil {
			kind, a = k, got
		}
	}
	return kind, a
}

// Stranger returns the Probe.Name of hardware of another kind that was heard; empty: none was.
func (l *Link) Stranger(heard []byte) string {
	kinds := l.table.Kinds
	k, a := Recognise(kinds, 0, heard)
	if !a.Found {
		likely := func(k Kind) bool { return k.Probe != nil && k.Probe.Recognise(heard).Likely }
		i := slices.IndexFunc(kinds, likely)
		if i < 0 {
			return ""
		}
		k = &kinds[i]
	}
	if k.Name == l.name {
		return ""
	}
	return k.Probe.Name
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
