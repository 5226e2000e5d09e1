package tools

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Work of less than a second reports nothing; longer work reports once a second.
func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			terminal, bytes bool
			want            string
		}{
			{false, true, "run.mcap: 22 %\nrun.mcap: 44 %\n"},
			{true, false, "\rrun.mcap: 22 %, 1s, 4s to go   \rrun.mcap: 44 %, 2s, 3s to go   \n"},
			{true, true, "\rrun.mcap: 22 %, 22.0 of 100.0 MB, 20.0 MB/s, 1s, 4s to go   \rrun.mcap: 44 %, 44.0 of 100.0 MB, 20.0 MB/s, 2s, 3s to go   \n"},
		} {
			var out strings.Builder
			work := NewWork("run.mcap", tt.bytes, &out)
			work.terminal = tt.terminal
			for i := range int64(26) {
				work.Done(2e6*i, 100e6)
				time.Sleep(100 * time.Millisecond)
			}
			work.End()
			if out.String() != tt.want {
				t.Errorf("%q, want %q", out.String(), tt.want)
			}
			time.Sleep(2 * time.Second)
			work.Done(0, 0) // nothing is known yet
		}
	})
}

// On a terminal a line shows each second how a recording grows; elsewhere there is none.
func TestGrowth(t *testing.T) {
	var out bytes.Buffer
	silent := NewGrowth(&out)
	silent.Show(silent.began.Add(time.Hour), 5, nil)
	silent.End()
	if out.Len() > 0 {
		t.Errorf("shown: %q", out.String())
	}
	g := Growth{terminal: &out, began: silent.began, shown: silent.began}
	size := func() int64 { return 2_340_000 }
	g.Show(g.began.Add(progressPeriod/2), 10, size)
	g.Show(g.began.Add(2*time.Second), 100, size)
	g.Show(g.began.Add(3*time.Second), 140, size)
	g.End()
	if want := "\r2s, 2.3 MB, 100 messages, 50 a second   \r3s, 2.3 MB, 140 messages, 40 a second   \n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
