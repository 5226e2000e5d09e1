package logging

import (
	"bytes"
	"slices"
	"sync"

	"go.uber.org/zap"
)

const (
	// tailLines and tailSize, in bytes, bound the lines kept for people who open the log later.
	tailLines = 500
	tailSize  = 64 << 10
)

// Tail keeps the newest lines of a log, including lines that the log's reader did not read.
// Several goroutines may use it.
type Tail struct {
	mu    sync.Mutex
	lines [][]byte // JSON objects
	size  int      // of all lines
	last  uint64   // number of the newest line, from 1
}

// TailOf returns the tail of a logger that New has made.
func TailOf(log *zap.Logger) *Tail { return log.Core().(*core).tail }

// add appends a copy of a line.
func (t *Tail) add(line []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, bytes.Clone(line))
	t.size += len(line)
	t.last++
	for len(t.lines) > tailLines || t.size > tailSize {
		t.size -= len(t.lines[0])
		t.lines = t.lines[1:]
	}
}

// After returns the lines with numbers above n that are kept, and the number of the newest line.
// Each is a JSON object of level, ts, msg and fields. If n is above all numbers, it is of an earlier
// run of the program, and all lines are returned.
func (t *Tail) After(n uint64) (lines [][]byte, last uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fresh := uint64(len(t.lines))
	if n <= t.last {
		fresh = min(fresh, t.last-n)
	}
	return slices.Clone(t.lines[uint64(len(t.lines))-fresh:]), t.last
}
