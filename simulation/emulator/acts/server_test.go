package acts

import (
	"bytes"
	"errors"
	"syscall"
	"testing"
	"time"

	"player/e2e/must"
	"player/simulation/emulator/line"
)

// client is a host of a server on a clock.
type client struct {
	clock  *line.Virtual
	now    time.Duration
	pipe   *line.Pipe
	heard  []byte
	hungUp bool
}

func (c *client) Receive(b []byte) { c.heard = append(c.heard, b...) }
func (c *client) HangUp()          { c.hungUp = true }

const address = "127.0.0.1:5001"

func start(t *testing.T, opts Options) (*Server, *client) {
	t.Helper()
	c := &client{clock: line.NewVirtual(1), now: 1}
	opts.Line = line.Options{TCP: address, Clock: c.clock}
	s := must.Get(Start(opts))(t)
	c.pipe = must.Get(c.clock.Open(address, 0, c))(t)
	return s, c
}

// ask sends requests, and returns the answers of a second.
func (c *client) ask(requests string) []byte {
	c.heard = nil
	c.pipe.Write([]byte(requests))
	c.now += time.Second
	c.clock.Advance(c.now)
	return c.heard
}

func TestRequests(t *testing.T) {
	for _, split := range []int{0, 1, 7} {
		for v, size := range map[Version]int{V10: 64, V12: 128} {
			s, c := start(t, Options{Version: v, Split: split})
			empty := c.ask("0")
			must.Do(t, s.SetBlobs(3, Blob{Area: 5}))
			full := c.ask("x\n0") // the others are not requests
			blob := map[Version]int{V10: 10, V12: 16}[v]
			if len(empty) != size || len(full) != size+blob || bytes.Equal(full[:size], empty) {
				t.Errorf("% X, and with a blob % X", empty, full)
			}
			must.Do(t, s.SetBlobs(3))
			if again := c.ask("0"); !bytes.Equal(again, empty) {
				t.Errorf("% X without blobs, want % X", again, empty)
			}
			if two := c.ask("00"); !bytes.Equal(two, append(bytes.Clone(empty), empty...)) {
				t.Errorf("% X for two requests", two)
			}
			c.pipe.Write([]byte("1"))
			c.pipe.Close()
			c.ask("")
			if st, want := s.State(), (State{Accepted: 1, Requests: 5, Answers: 5, Quits: 1, Unknown: 2}); st != want {
				t.Errorf("%+v, want %+v", st, want)
			}
			if _, err := c.clock.Open(address, 0, c); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("after quit: %v", err)
			}
		}
	}
}

// A request that comes while the server is silent is never answered.
func TestSilence(t *testing.T) {
	s, c := start(t, Options{})
	s.Silence()
	if got := c.ask("0"); got != nil || s.State().Answers != 0 {
		t.Errorf("answered % X", got)
	}
	s.Speak()
	if got, st := c.ask("0"), s.State(); len(got) != 64 || st.Requests != 2 || st.Answers != 1 {
		t.Errorf("answered % X, %+v", got, st)
	}
}

// The answer to a host that has gone is for none.
func TestHangUp(t *testing.T) {
	s, c := start(t, Options{})
	c.pipe.Write([]byte("0"))
	c.clock.Advance(2)
	s.HangUp()
	c.pipe = must.Get(c.clock.Open(address, 0, c))(t)
	if got, st := c.ask("x"), s.State(); got != nil || !c.hungUp || st.Accepted != 2 || st.Conns != 1 {
		t.Errorf("answered % X, %+v", got, st)
	}
	if got := c.ask("0"); len(got) != 64 {
		t.Errorf("answered % X", got)
	}
}

func TestRefusals(t *testing.T) {
	if _, err := Start(Options{Version: 9}); err == nil {
		t.Error("version 9")
	}
	if _, err := Start(Options{Line: line.Options{TCP: "nowhere"}}); err == nil {
		t.Error("no error for an address without a port")
	}
	s, _ := start(t, Options{})
	if s.SetBlobs(32) == nil || s.SetBlobs(-1) == nil || s.SetBlobs(0, Blob{X: 300}) == nil {
		t.Error("accepts a blob that it cannot send")
	}
}
