package host

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/devices"
	"player/e2e/terminals"
	"player/server/looptest"
)

// wedge delays the operations on device files from a moment on, as a wedged adapter does.
type wedge struct {
	began chan struct{} // one for each operation that is delayed
	free  func()        // ends it
}

// wedged has every operation wait from now on.
func wedged(t *testing.T, s *running) wedge {
	t.Helper()
	end := make(chan struct{})
	w := wedge{make(chan struct{}, 1000), sync.OnceFunc(func() { close(end) })}
	t.Cleanup(w.free)
	s.Do(func(time.Duration) {
		s.host.onOperate = func(string) {
			w.began <- struct{}{}
			<-end
		}
	})
	return w
}

// The loop serves others while an adapter does not answer, whichever operation it blocks. The error names
// the adapter, further tries fail at once, and one goroutine waits for the adapter. When it answers,
// the line can be opened again.
func TestWedgedAdapter(t *testing.T) {
	for name, ask := range map[string]func(l *line){
		"opening": nil,
		"setting": func(l *line) {
			l.SetSpeed(19200, func(time.Duration, error) { t.Error("the speed was set") })
			l.Discard() // waits behind it
		},
		"closing": func(l *line) { l.Close() },
		"closing while setting": func(l *line) {
			l.SetSpeed(19200, func(time.Duration, error) { t.Error("a line that is closed was set") })
			l.Write([]byte("never"))
			l.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, nil)
			far, path := terminals.Open(t)
			in, c := newInbox(), s.Dial()
			var l *line
			if ask != nil {
				l = openSerial(t, s, path, in)
			}
			expectEcho(t, c, "before")
			w := wedged(t, s)
			failed := make(chan error, 100)
			open := func() {
				s.Do(func(time.Duration) {
					s.host.OpenSerial(path, 9600, in, func(_ time.Duration, _ devices.Line, err error) { failed <- err })
				})
			}
			if ask == nil {
				open()
			} else {
				s.Do(func(time.Duration) { ask(l); l.Write([]byte("never")) })
			}
			looptest.Receive(t, w.began, "operation")
			expectEcho(t, c, "meanwhile")
			if name != "opening" {
				open() // it waits
			}
			if name == "setting" {
				if err := looptest.Receive(t, in.gone, "hangup"); !errors.Is(err, devices.ErrNoAnswer) {
					t.Errorf("the line hangs up with %v", err)
				}
			}
			for range 10 {
				if err := looptest.Receive(t, failed, "error"); err == nil || !strings.Contains(err.Error(), path+": the adapter does not answer: unplug it") {
					t.Errorf("opening it ends with %v", err)
				}
				open()
			}
			if len(w.began) != 0 {
				t.Errorf("%d operations more", len(w.began))
			}
			w.free()
			s.awaitIdle()
			_ = far.SetReadDeadline(time.Now().Add(time.Millisecond))
			if n, err := far.Read(make([]byte, 10)); !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, unix.EIO) {
				t.Errorf("%d bytes have left, %v", n, err)
			}
			openSerial(t, s, path, newInbox())
			s.expectReturned(polledDescriptors)
		})
	}
}

// A line that is closed twice, or while it is being set, is closed once. Operations after that have no
// effect.
func TestCloseWhileSetting(t *testing.T) {
	s, _, _, l, _ := serveLine(t)
	w := wedged(t, s)
	s.Do(func(time.Duration) {
		for range 3 {
			l.SetSpeed(19200, func(time.Duration, error) { t.Error("a line that is closed was set") })
			l.SetModemLines(true, true)
		}
		l.Close()
		l.Close()
		l.Discard()
	})
	looptest.Receive(t, w.began, "operation")
	w.free()
	s.awaitIdle()
	if len(w.began) != 1 { // the first is set, and then the line is closed
		t.Errorf("%d operations more", len(w.began))
	}
}

// Bytes that are written while the line is being set leave afterwards, at the new speed.
func TestWriteWhileSetting(t *testing.T) {
	s, far, _, l, _ := serveLine(t)
	w := wedged(t, s)
	set := make(chan error, 1)
	s.Do(func(time.Duration) {
		l.Write([]byte("before "))
		l.SetSpeed(19200, func(_ time.Duration, err error) { set <- err })
		l.Write([]byte("after"))
		if l.Buffered() != len("after") {
			t.Errorf("%d bytes wait", l.Buffered())
		}
	})
	looptest.Receive(t, w.began, "operation")
	w.free()
	if err := looptest.Receive(t, set, "answer"); err != nil {
		t.Error(err)
	}
	if got := looptest.Read(t, far, len("before after")); string(got) != "before after" {
		t.Errorf("%q has left", got)
	}
}

// Bytes that were written while the line is being set are sent before the line is closed, after all earlier
// operations: they may stop a motor.
func TestCloseWithBytesWhileSetting(t *testing.T) {
	s, far, _, l, in := serveLine(t)
	w := wedged(t, s)
	s.Do(func(time.Duration) {
		l.SetModemLines(false, false)
		l.SetSpeed(19200, func(time.Duration, error) { t.Error("a line that is closed calls back") })
		l.Write([]byte("stop"))
		l.Close()
		l.Write([]byte("never"))
		l.Close()
	})
	looptest.Receive(t, w.began, "operation")
	looptest.Send(t, far, []byte("this is never read"))
	w.free()
	s.awaitIdle()
	if len(w.began) != 2 { // the speed, and the end
		t.Errorf("%d operations more", len(w.began))
	}
	looptest.Must(t, far.SetReadDeadline(time.Now().Add(looptest.Patience)))
	if got, err := io.ReadAll(far); string(got) != "stop" || !errors.Is(err, unix.EIO) {
		t.Errorf("%q has left, %v", got, err)
	}
	if len(in.bytes)+len(in.gone) != 0 {
		t.Error("a line that is closed calls its handler")
	}
	s.expectReturned(0)
}

// The loop ends though an adapter keeps its line from being closed.
func TestEndWhileWedged(t *testing.T) {
	s, _, _, l, _ := serveLine(t)
	w := wedged(t, s)
	s.Do(func(time.Duration) { l.Close() })
	looptest.Receive(t, w.began, "operation")
	s.Stop()
	w.free()
}

// Opening a line ends the search for hardware on it, and waits for its end.
func TestOpenEndsSearch(t *testing.T) {
	began, mayEnd := make(chan struct{}), make(chan struct{})
	s := serve(t, func(with *setup) {
		with.identify = func(ctx context.Context, _ string) devices.Finding {
			close(began)
			<-ctx.Done()
			<-mayEnd
			return devices.Finding{Kind: "toucan"}
		}
	})
	_, path := terminals.Open(t)
	answer := make(chan error, 1)
	s.Do(func(time.Duration) {
		s.host.Identify(path, func(time.Duration, devices.Finding) { t.Error("a search that was ended has found something") })
	})
	looptest.Receive(t, began, "search")
	s.Do(func(time.Duration) {
		s.host.OpenSerial(path, 9600, newInbox(), func(_ time.Duration, _ devices.Line, err error) { answer <- err })
	})
	s.Do(func(time.Duration) {
		if len(answer) != 0 {
			t.Error("it was opened while the search goes on")
		}
	})
	close(mayEnd)
	if err := looptest.Receive(t, answer, "answer"); err != nil {
		t.Error(err)
	}
}
