package acts

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"player/e2e/must"
	"player/e2e/needs"
	"player/simulation/emulator/line"
)

func start(t *testing.T, opts Options) *Server {
	t.Helper()
	s := must.Get(Start(opts))(t)
	t.Cleanup(s.Close)
	return s
}

func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	c := must.Get(net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port())))(t)
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second)) // expires only in a failed test
	return c
}

// ask requests a packet and reads the expected number of bytes.
func ask(t *testing.T, c net.Conn, n int) []byte {
	t.Helper()
	c.Write([]byte("0"))
	b := make([]byte, n)
	if k, err := io.ReadFull(c, b); err != nil {
		t.Fatalf("%d of %d bytes: %v", k, n, err)
	}
	return b
}

func wait(t *testing.T, s *Server, cond func(State) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Wait(ctx, func() bool { return cond(s.State()) }); err != nil {
		t.Fatalf("%v: %+v", err, s.State())
	}
}

func TestRequests(t *testing.T) {
	needs.Time(t)
	for _, split := range []int{0, 1, 7} {
		for v, size := range map[Version]int{V10: 64, V12: 128} {
			s := start(t, Options{Version: v, Split: split, Frame: time.Millisecond})
			c := dial(t, s)
			empty := ask(t, c, size)
			must.Do(t, s.SetBlobs(3, Blob{Area: 5}))
			c.Write([]byte("x\n")) // not requests
			blob := map[Version]int{V10: 10, V12: 16}[v]
			if full := ask(t, c, size+blob); bytes.Equal(full[:size], empty) {
				t.Error("the header does not count the blob")
			}
			must.Do(t, s.SetBlobs(3))
			if again := ask(t, c, size); !bytes.Equal(again, empty) {
				t.Errorf("% X without blobs, want % X", again, empty)
			}
			c.Write([]byte("1"))
			if n, err := c.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("after quit: %d, %v", n, err)
			}
			s.Close() // waits until nothing of it runs
			if st, want := s.State(), (State{Accepted: 1, Requests: 3, Answers: 3, Quits: 1, Unknown: 2}); st != want {
				t.Errorf("%+v, want %+v", st, want)
			}
			if _, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", s.Port())); err == nil {
				t.Error("it listens after quit")
			}
		}
	}
}

func TestSilence(t *testing.T) {
	s := start(t, Options{Frame: time.Millisecond})
	c := dial(t, s)
	s.Silence()
	c.Write([]byte("0x")) // x is read after the answer to 0 was suppressed
	wait(t, s, func(st State) bool { return st.Unknown == 1 })
	if st := s.State(); st.Answers != 0 {
		t.Errorf("answered: %+v", st)
	}
	s.Speak()
	ask(t, c, 64)
	wait(t, s, func(st State) bool { return st.Requests == 2 && st.Answers == 1 })
}

func TestHangUp(t *testing.T) {
	s := start(t, Options{Frame: time.Millisecond})
	c := dial(t, s)
	ask(t, c, 64)
	s.HangUp()
	if _, err := io.ReadAll(c); err != nil {
		t.Logf("a reset is also correct: %v", err)
	}
	wait(t, s, func(st State) bool { return st.Conns == 0 })
	ask(t, dial(t, s), 64)
}

func TestCloseWhileAnswering(t *testing.T) {
	s := start(t, Options{Frame: time.Hour})
	c := dial(t, s)
	c.Write([]byte("0"))
	wait(t, s, func(st State) bool { return st.Requests == 1 })
	s.Close() // does not wait an hour, and returns only when no goroutine runs
	s.Close()
	if got := s.State(); got.Conns != 0 || got.Answers != 0 {
		t.Errorf("%+v", got)
	}
	if err := s.Wait(t.Context(), func() bool { return false }); err != line.ErrClosed {
		t.Errorf("wait after close: %v", err)
	}
	if _, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port())); err == nil {
		t.Error("still listens after Close")
	}
}

func TestRefusals(t *testing.T) {
	if _, err := Start(Options{Version: 9}); err == nil {
		t.Error("version 9")
	}
	if _, err := Start(Options{Line: line.Options{TCP: "nowhere"}}); err == nil {
		t.Error("no error for an address without a port")
	}
	s := start(t, Options{})
	if s.SetBlobs(32) == nil || s.SetBlobs(-1) == nil || s.SetBlobs(0, Blob{X: 300}) == nil {
		t.Error("accepts a blob that it cannot send")
	}
}
