package tools

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Work that takes less than a second says nothing; then it says something once a second.
func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		progress := Progress("run.mcap", &out)
		for i := range int64(26) {
			progress(i, 50)
			time.Sleep(100 * time.Millisecond)
		}
		if want := "run.mcap: 22 %\nrun.mcap: 44 %\n"; out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
		time.Sleep(2 * time.Second)
		progress(0, 0) // nothing is known yet
	})
}

// On a terminal a line says each second how a recording grows; elsewhere nothing does.
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
