package tools

import (
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
