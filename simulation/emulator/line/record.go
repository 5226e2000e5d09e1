package line

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Direction is the direction of an entry.
type Direction string

const (
	HostToDevice Direction = "H>D"
	DeviceToHost Direction = "D>H"
	Remark       Direction = "--" // not traffic: an event of the cable
)

// An Entry is one packet, or one piece of junk, that passed the cable, or a
// Remark. Bytes from the host are recorded when the device's framing finds
// them complete, or discards them as incomplete. Bytes from the device are
// recorded when the last one has left, as the host received them, with the time
// just before that.
type Entry struct {
	At   time.Duration // on the Line's clock
	Baud int           // of the sender at that time
	Dir  Direction
	Data []byte
	Note string
}

// String returns one line of a transcript, for example
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

// keepEntries bounds the record of an emulator that runs for long: for laser
// scans, the largest entries, it holds 1.8 hours in 24 MB. When it is full the
// older half is deleted, so a test that reads further back misses entries.
const keepEntries = 1 << 15

// add appends to the record. The caller holds the lock and must not change the
// data later.
func (l *Line) add(e Entry) {
	if len(l.record) == keepEntries {
		l.record = slices.Delete(l.record, 0, keepEntries/2)
	}
	if !l.opts.Brief {
		l.record = append(l.record, e)
	}
	if l.opts.Trace != nil {
		l.opts.Trace(e)
	}
	l.changes.Notify()
}

func (l *Line) note(text string) {
	l.add(Entry{At: l.Now(), Baud: l.baud, Dir: Remark, Note: text})
}

// Record returns everything that happened on the cable, oldest first. The data
// must not be changed.
func (l *Line) Record() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.record)
}

// Heard returns all bytes in one direction, joined, at any speed.
func (l *Line) Heard(dir Direction) []byte {
	var all []byte
	for _, e := range l.Record() {
		if e.Dir == dir {
			all = append(all, e.Data...)
		}
	}
	return all
}

// Transcript returns the record as text, one entry per line.
func (l *Line) Transcript() string {
	var b strings.Builder
	for _, e := range l.Record() {
		b.WriteString(e.String())
		b.WriteByte('\n')
	}
	return b.String()
}
