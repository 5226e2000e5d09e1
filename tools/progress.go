package tools

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progressPeriod is how often long work reports its progress: shorter work reports none.
const progressPeriod = time.Second

// Work shows once a second how much of some work is done: as a line, or in a terminal on one
// line, with the times that it has taken and will take.
type Work struct {
	what     string
	bytes    bool // it is counted in bytes: their number and rate are also shown
	out      io.Writer
	terminal bool
	began    time.Time
	next     time.Time
	shown    bool // on a terminal
}

// NewWork begins now.
func NewWork(what string, bytes bool, stderr io.Writer) *Work {
	now := time.Now()
	return &Work{what: what, bytes: bytes, out: stderr, terminal: IsTerminal(stderr), began: now, next: now.Add(progressPeriod)}
}

// Done shows how much is done, if it is time.
func (w *Work) Done(done, total int64) {
	now := time.Now()
	if !now.After(w.next) {
		return
	}
	w.next = now.Add(progressPeriod)
	fraction := float64(done) / float64(max(total, 1))
	if !w.terminal {
		fmt.Fprintf(w.out, "%s: %.0f %%\n", w.what, 100*fraction)
		return
	}
	took := now.Sub(w.began)
	fmt.Fprintf(w.out, "\r%s: %.0f %%", w.what, 100*fraction)
	if w.bytes {
		fmt.Fprintf(w.out, ", %.1f of %.1f MB, %.1f MB/s", float64(done)/1e6, float64(total)/1e6, float64(done)/1e6/took.Seconds())
	}
	fmt.Fprintf(w.out, ", %v", took.Round(time.Second))
	if fraction > 0 {
		fmt.Fprintf(w.out, ", %v to go", time.Duration(float64(took)*(1/fraction-1)).Round(time.Second))
	}
	fmt.Fprint(w.out, "   ") // over the end of a longer line
	w.shown = true
}

// End leaves the line.
func (w *Work) End() {
	if w.shown {
		fmt.Fprintln(w.out)
	}
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Growth shows on a terminal, once a second, for how long work without a known end has gone
// on, how large its file is, and how many messages that has.
type Growth struct {
	terminal io.Writer // nil: nothing is shown
	began    time.Time
	shown    time.Time
	messages int // when it was shown
}

// NewGrowth begins now. It shows nothing if stderr is not a terminal.
func NewGrowth(stderr io.Writer) *Growth {
	if !IsTerminal(stderr) {
		stderr = nil
	}
	now := time.Now()
	return &Growth{terminal: stderr, began: now, shown: now}
}

// Show shows the state at now; size returns the bytes of the file.
func (g *Growth) Show(now time.Time, messages int, size func() int64) {
	if g.terminal == nil || now.Sub(g.shown) < progressPeriod {
		return
	}
	rate := float64(messages-g.messages) / now.Sub(g.shown).Seconds()
	fmt.Fprintf(g.terminal, "\r%v, %.1f MB, %d messages, %.0f a second   ", now.Sub(g.began).Round(time.Second), float64(size())/1e6, messages, rate)
	g.shown, g.messages = now, messages
}

// End leaves the line.
func (g *Growth) End() {
	if g.shown.After(g.began) {
		fmt.Fprintln(g.terminal)
	}
}
