package reactor

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/waiting"
	"player/timers"
)

const lastWords = "stop"

// ends are the ways in which a loop ends, and whether it writes last words.
var ends = []struct {
	name string
	end  func(l *Loop, d *Descriptor)
	says bool
}{
	{"in order", func(l *Loop, d *Descriptor) { d.Close(); l.Stop() }, false},
	{"in order, but not the descriptor", func(l *Loop, _ *Descriptor) { l.Stop() }, true},
	{"the loop fails", func(l *Loop, _ *Descriptor) {
		l.engine.err = errors.New("broken")
		_, _ = net.Dial("tcp", l.config.Addresses[0]) // an event, with which it ends
	}, true},
	{"the peer hangs up", func(l *Loop, d *Descriptor) { l.engine.close(d.conn); l.Stop() }, true},
	{"a panic in a posted function", func(*Loop, *Descriptor) { panic("trouble") }, true},
	{"a panic in a timer", func(l *Loop, _ *Descriptor) {
		l.Timers.Set(timers.NewTimer(func(time.Duration) time.Duration { panic("trouble") }), l.Now())
	}, true},
	{"a panic in a handler", func(_ *Loop, d *Descriptor) { d.handler.Hangup(0, nil) }, true},
}

// sulker panics at a hangup without an error.
type sulker struct{}

func (sulker) Receive(time.Duration, []byte) {}
func (sulker) Hangup(_ time.Duration, err error) {
	if err == nil {
		panic("trouble")
	}
}

// However a loop ends, the last words of its descriptors are written, and nothing
// after them.
func TestLastWords(t *testing.T) {
	needs.Programs(t)
	if name := os.Getenv("END"); name != "" {
		endLoop(t, name)
		return
	}
	for _, tt := range ends {
		t.Run(tt.name, func(t *testing.T) {
			r, w, err := os.Pipe()
			must.Do(t, err)
			defer r.Close()
			child := exec.Command(os.Args[0], "-test.run=^TestLastWords$")
			child.Env, child.ExtraFiles = append(os.Environ(), "END="+tt.name), []*os.File{w}
			must.Do(t, child.Start())
			w.Close()
			got, err := io.ReadAll(r)
			failed := child.Wait() != nil
			want := "go"
			if tt.says {
				want += lastWords
			}
			if string(got) != want || err != nil {
				t.Errorf("wrote %q, %v, want %q", got, err, want)
			}
			if failed != strings.Contains(tt.name, "panic") {
				t.Errorf("the process failed: %v", failed)
			}
		})
	}
}

// endLoop is the process whose loop ends; descriptor 3 is its motors.
func endLoop(t *testing.T, name string) {
	must.Do(t, unix.SetNonblock(3, true))
	r := run(t, nil)
	var d *Descriptor
	r.on(t, func(time.Duration) {
		d = r.open(t, 3, sulker{})
		d.LastWords([]byte("?"))
		d.LastWords([]byte(lastWords)) // it replaces the others
	})
	r.until(t, "polling", func() bool { return d.conn != nil })
	for _, tt := range ends {
		if tt.name == name {
			r.Post(func(time.Duration) { d.Write([]byte("go")); tt.end(r.Loop, d) })
			err := waiting.Receive(t, r.err, "end of the loop")
			if r.err <- nil; (err != nil) != (name == "the loop fails") {
				t.Errorf("the loop ends with %v", err)
			}
		}
	}
}
