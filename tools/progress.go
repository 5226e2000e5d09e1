package tools

import (
	"fmt"
	"io"
	"time"
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
