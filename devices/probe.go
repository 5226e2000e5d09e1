package devices

import (
	"fmt"
	"slices"
	"time"
)

// Probe recognises the hardware of a Kind: on an unknown serial line (player find), and when the driver
// of another kind receives its bytes. All requests of a Probe must be harmless to hardware of all kinds:
// they move nothing, and change nothing that outlives the connection.
type Probe struct {
	Name   string // in the errors of other drivers, "a SICK laser"; empty: they do not name it
	Speeds []int  // of the line in baud, the most usual first

	// Ask is sent at each speed, if nothing is received. Empty: the hardware sends without a
	// request.
	Ask []byte
	// Wait is the longest silence before the answer to a request, or, without Ask, between two transmissions.
	Wait time.Duration
	// Recognise judges the bytes that were received since the last request, cut anywhere and perhaps
	// with garbage in front. It also gets bytes of hardware of other kinds. The zero Answer means
	// that the bytes are, so far, not of this Kind.
	Recognise func(heard []byte) Answer
	// Leave is sent at the end to hardware that has answered, to undo the
	// effects of the requests. It may be empty.
	Leave []byte
}

// Answer is the verdict of Probe.Recognise.
type Answer struct {
	Found  bool   // it is hardware of this Kind
	Likely bool   // it may be hardware of this Kind, or noise: there is no checksum
	Model  string // as the hardware names itself, in printable text; empty: unknown
	Next   []byte // the next request; empty: all is known
}

// At reports whether the hardware may use a speed of the line in baud; 0: an unknown speed.
func (p *Probe) At(baud int) bool { return p != nil && (baud == 0 || slices.Contains(p.Speeds, baud)) }

// Recognise returns the kind whose Probe recognises the bytes that were received at a speed, and its
// Answer. kind is nil if there is none. A Probe that has found its hardware comes before one that has to
// send another request, because some hardware echoes requests that it does not understand.
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

// Stranger returns the Probe.Name of the hardware of another kind that has sent heard, empty if no Probe
// recognises it.
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

// Finding is the hardware that Probes have found on a serial line. The zero Finding means none.
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
