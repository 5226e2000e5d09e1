package server

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/e2e/terminals"
	"player/server/looptest"
)

// ends is the handler of a line. It keeps only how the line ends.
type ends chan error

func (ends) Receive(time.Duration, []byte)       {}
func (e ends) Hangup(_ time.Duration, err error) { e <- err }

// wedge is an adapter that answers to nothing: the search for hardware on it does not end, and
// all other operations wait behind that.
type wedge struct {
	began chan struct{}
	end   chan struct{}
	free  func() // ends it
}

// serveWedge returns a server whose searches for hardware do not end.
func serveWedge(t *testing.T, r *robot) (*running, wedge) {
	t.Helper()
	w := wedge{began: make(chan struct{}, 1), end: make(chan struct{})}
	w.free = sync.OnceFunc(func() { close(w.end) })
	t.Cleanup(w.free)
	s := serve(t, r, func(c *Config) {
		c.Identify = func(context.Context, string) devices.Finding {
			w.began <- struct{}{}
			<-w.end
			return devices.Finding{}
		}
	})
	return s, w
}

// hold begins the search that does not end.
func (w wedge) hold(t *testing.T, s *running, path string) {
	t.Helper()
	s.Do(func(time.Duration) { s.server.host.Identify(path, func(time.Duration, devices.Finding) {}) })
	looptest.Receive(t, w.began, "search")
}

// openLine opens a serial line.
func openLine(t *testing.T, s *running, path string, gone ends) (l devices.Line) {
	t.Helper()
	done := make(chan error, 1)
	s.Do(func(time.Duration) {
		s.server.host.OpenSerial(path, 9600, gone, func(_ time.Duration, opened devices.Line, err error) {
			l = opened
			done <- err
		})
	})
	if err := looptest.Receive(t, done, "answer"); err != nil {
		t.Fatal(err)
	}
	return l
}

// An emergency stop reaches the wheels, and clients are served, while an adapter does not answer,
// whatever it is asked.
func TestStopWhileWedged(t *testing.T) {
	for name, ask := range map[string]func(l devices.Line){
		"opening": nil,
		"setting": func(l devices.Line) {
			l.SetSpeed(19200, func(time.Duration, error) { t.Error("the speed was set") })
			l.Discard()
		},
		"closing": func(l devices.Line) { l.Close() },
		"closing while setting": func(l devices.Line) {
			l.SetSpeed(19200, func(time.Duration, error) { t.Error("a line that is closed was set") })
			l.Write([]byte("never"))
			l.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRobot()
			s, w := serveWedge(t, r)
			_, path := terminals.Open(t)
			c := s.Dial()
			gone := make(ends, 1)
			var l devices.Line
			if ask != nil {
				l = openLine(t, s, path, gone)
			}
			request(t, c, "pa", "pa")
			w.hold(t, s, path)
			failed := make(chan error, 1)
			s.Do(func(time.Duration) {
				if ask != nil {
					ask(l)
					return
				}
				s.server.host.OpenSerial(path, 9600, gone, func(_ time.Duration, _ devices.Line, err error) { failed <- err })
			})
			looptest.Send(t, c, config(codec.Server, 'e', 1))
			if got := looptest.Receive(t, r.commands, "stop"); got != (codec.PositionCommand{}) {
				t.Errorf("the wheels were told %v", got)
			}
			request(t, c, "pr", "pr")
			s.Do(func(time.Duration) {
				if s.server.host.Idle() {
					t.Error("nothing was held")
				}
			})
			switch name {
			case "opening":
				if err := looptest.Receive(t, failed, "error"); !errors.Is(err, devices.ErrNoAnswer) {
					t.Errorf("opening it ends with %v", err)
				}
			case "setting":
				if err := looptest.Receive(t, gone, "hangup"); !errors.Is(err, devices.ErrNoAnswer) {
					t.Errorf("the line hangs up with %v", err)
				}
			}
			w.free()
			s.Await("the end of the operations", func(time.Duration) bool { return s.server.host.Idle() })
		})
	}
}

// The server ends though an adapter keeps its line from being closed.
func TestShutdownWhileWedged(t *testing.T) {
	s, w := serveWedge(t, newRobot())
	_, path := terminals.Open(t)
	l := openLine(t, s, path, make(ends, 1))
	w.hold(t, s, path)
	s.Do(func(time.Duration) { l.Close() })
	s.Stop()
	w.free()
}

// A program that was not stopped does not hold up the end of the server.
func TestServerEndsBeforeProgram(t *testing.T) {
	s := serve(t, newRobot(), nil)
	var p devices.Program
	var err error
	s.Do(func(time.Duration) {
		p, err = s.server.host.StartProgram(func(time.Duration, error) { t.Error("the program has ended") }, "sleep", "1000")
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
	p.Signal(syscall.SIGKILL)
}
