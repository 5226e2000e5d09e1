package line

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Direction tells who spoke.
type Direction string

const (
	HostToDevice Direction = "H>D"
	DeviceToHost Direction = "D>H"
	Remark       Direction = "--" // nobody: something happened to the cable
)

// An Entry is one packet, or one piece of junk, that went over the cable, or a Remark.
// What a host writes is recorded when it is whole by the device's rules, or given up as incomplete; what a device
// sends is recorded when its last byte has left, as the host got it.
type Entry struct {
	At   time.Duration // on the Line's clock
	Baud int           // at which it was said
	Dir  Direction
	Data []byte
	Note string
}

// String is one line of a transcript, such as
//
//	1.723   9600 H>D FA FB 03 00 00 00   ; SYNC0
//
// with the time in seconds right-aligned to 9 columns.
func (e Entry) String() string {
	s := fmt.Sprintf("%9.3f %6d %s ", e.At.Seconds(), e.Baud, e.Dir)
	switch {
	case e.Dir == Remark:
		return s + e.Note
	case e.Note == "":
		return s + fmt.Sprintf("% X", e.Data)
	}
	return s + fmt.Sprintf("% X   ; %s", e.Data, e.Note)
}

// keepEntries bounds the record of an emulator that a person leaves running: of laser scans, the largest entries, it
// holds 1.8 hours in 24 MB. The older half goes when it is full, so a test that looks back further misses entries.
const keepEntries = 1 << 15

// add appends to the record. The caller holds the lock and gives the data away.
func (l *Line) add(e Entry) {
	if len(l.record) == keepEntries {
		l.record = slices.Delete(l.record, 0, keepEntries/2)
	}
	l.record = append(l.record, e)
	if l.opts.Trace != nil {
		fmt.Fprintln(l.opts.Trace, e)
	}
	l.notify()
}

func (l *Line) note(text string) {
	l.add(Entry{At: l.Now(), Baud: l.baud, Dir: Remark, Note: text})
}

// Record returns all that has happened on the cable, oldest first. The data is not to be changed.
func (l *Line) Record() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.record)
}

// Heard returns the bytes that went in one direction, joined, at whatever speed.
func (l *Line) Heard(dir Direction) []byte {
	var all []byte
	for _, e := range l.Record() {
		if e.Dir == dir {
			all = append(all, e.Data...)
		}
	}
	return all
}

// Transcript returns the record as text, one entry a line.
func (l *Line) Transcript() string {
	var b strings.Builder
	for _, e := range l.Record() {
		b.WriteString(e.String())
		b.WriteByte('\n')
	}
	return b.String()
}
