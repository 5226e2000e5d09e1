package load

import (
	"encoding/json"
	"io"
	"runtime/debug"
)

// Lines that Main writes at the edges of the window; the result follows as
// one line of JSON.
const (
	Begin = "begin"
	End   = "end"
)

// Main reads a spec in JSON, carries it out and writes the result.
func Main(in io.Reader, out io.Writer) error {
	// Nothing allocates while frames come, and a collection would be taken
	// for jitter of the server.
	debug.SetGCPercent(-1)
	var spec Spec
	if err := json.NewDecoder(in).Decode(&spec); err != nil {
		return err
	}
	say := func(line string) func() {
		return func() { _, _ = io.WriteString(out, line+"\n") } // without its parent it has no reader
	}
	r, err := Run(spec, say(Begin), say(End))
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r)
}
