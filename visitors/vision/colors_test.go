package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/e2e/must"
	"player/visitors/vision/blobs"
)

// A file that an editor empties before it writes it changes nothing, also when the new text
// has a mistake, or when it stays empty.
func TestHalfWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "colors.cfg")
	at := time.Now()
	write := func(text string) {
		t.Helper()
		must.Do(t, os.WriteFile(path, []byte(text), 0o666))
		at = at.Add(time.Second) // clocks of file systems are coarse
		must.Do(t, os.Chtimes(path, at, at))
	}
	w := colors{path: path, log: zap.NewNop()}
	find := func() *blobs.Finder {
		t.Helper()
		finder := must.Get(w.finder())(t)
		return finder
	}
	write(`color ( name "ball" channel 7 hue [350 12] )`)
	first := find()
	for _, text := range []string{"", `color ( name "ball" channel 99 )`} {
		write(text)
		for range 3 {
			if find() != first {
				t.Fatalf("other colours after %q", text)
			}
		}
	}
	write(`color ( name "ball" channel 9 hue [350 12] )`)
	if find() != first {
		t.Error("a file is read before it is whole")
	}
	second := find()
	if second == first || find() != second {
		t.Error("the new colours are not taken, or again and again")
	}
}
