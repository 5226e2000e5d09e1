package logfile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/npm"
)

func TestOtherPeoplesReaders(t *testing.T) {
	acceptance.Only(t)
	directory := npm.Install(t, "readers")
	t.Run("recorded", func(t *testing.T) { readRecorded(t, directory) })
	t.Run("drawn and repaired", func(t *testing.T) { readDrawn(t, directory) })
}

// The readers of npm's @mcap/core, by the index and as a stream, read the messages
// that were written.
func readRecorded(t *testing.T, directory string) {
	chunks := manyChunks(1)
	var want []string
	for _, s := range slices.Concat(chunks...) {
		c := info().Channels[s.channel]
		at := started.UnixNano() + int64(s.at)
		want = append(want, fmt.Sprintf("%s %d %d %s %x", c.Topic(), at, at, c.schemaName(), s.payload))
	}
	slices.Sort(want)
	for name, about := range map[string]Info{"plain": info(), "compressed": compressed()} {
		log, _ := recordWith(t, about, chunks)
		path := filepath.Join(directory, name+".mcap")
		must.Do(t, os.WriteFile(path, log, 0o644))
		for _, mode := range []string{"indexed", "stream"} {
			if got := npm.Node(t, directory, "read.js", mode, path); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %d of %d messages", name, mode, len(got), len(want))
			}
		}
	}
}

// Other people's readers and schemas accept an exported log, and one that was repaired.
func readDrawn(t *testing.T, directory string) {
	log := everything(t)
	path, _ := drawn(t, log)
	if got := npm.Node(t, directory, "validate.js", path); len(got) != 1 || !strings.HasPrefix(got[0], "valid: ") {
		t.Errorf("%q", got)
	}
	after, _, _ := repaired(t, log[:len(log)/2])
	cut := filepath.Join(directory, "repaired.mcap")
	must.Do(t, os.WriteFile(cut, after, 0o644))
	for _, path := range []string{path, cut} {
		streamed, indexed := npm.Node(t, directory, "read.js", "stream", path), npm.Node(t, directory, "read.js", "indexed", path)
		if len(streamed) < 100 || !slices.Equal(streamed, indexed) {
			t.Errorf("%s: %d messages by the stream, %d by the index", path, len(streamed), len(indexed))
		}
	}
}
