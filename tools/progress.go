package tools

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progressPeriod is how often long work reports its progress: work that takes less says
// nothing.
const progressPeriod = time.Second

// Progress returns a function that reports, once a second, how much of some work is done.
func Progress(what string, stderr io.Writer) func(done, total int64) {
	next := time.Now().Add(progressPeriod)
	return func(done, total int64) {
		if now := time.Now(); now.After(next) {
			next = now.Add(progressPeriod)
			fmt.Fprintf(stderr, "%s: %d %%\n", what, done*100/max(total, 1))
		}
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
