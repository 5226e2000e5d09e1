package line

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/e2e/must"
)

// memory is a host on a pipe, with the bytes that it has read.
type memory struct {
	*Pipe
	got    []byte
	times  []time.Duration // of each call
	clock  *Virtual
	hungUp bool
}

func (m *memory) Receive(b []byte) {
	m.got = append(m.got, b...)
	m.times = append(m.times, m.clock.now())
}

func (m *memory) HangUp() { m.hungUp = true }

const cable = "/dev/virtual"

func connect(t *testing.T, v *Virtual, baud int) *memory {
	t.Helper()
	m := &memory{clock: v}
	m.Pipe = must.Get(v.Open(cable, baud, m))(t)
	return m
}

// startVirtual plugs an echo at 9600 in.
func startVirtual(t *testing.T, opts Options) (*Virtual, *Line) {
	t.Helper()
	opts.Clock, opts.Link, opts.Baud = NewVirtual(time.Second), cable, 9600
	l := must.Get(Open(opts))(t)
	l.Serve(&echo{End: End{Line: l}})
	t.Cleanup(l.Close)
	return opts.Clock, l
}

func (m *memory) expect(t *testing.T, when string, want ...byte) {
	t.Helper()
	if !bytes.Equal(m.got, want) {
		t.Errorf("%s: % X, want % X", when, m.got, want)
	}
	m.got = nil
}

func TestVirtualHappensInAdvance(t *testing.T) {
	v, l := startVirtual(t, Options{Latency: 30 * time.Millisecond})
	m := connect(t, v, 9600)
	m.Write([]byte{1, 0xFF})
	m.expect(t, "written")
	if len(l.Heard(HostToDevice)) != 0 {
		t.Error("the device has bytes before Advance")
	}
	v.Advance(time.Second + 29*time.Millisecond)
	m.expect(t, "before the latency")
	v.Advance(2 * time.Second)
	m.expect(t, "after the latency", 1, 0xFF)
	if at := m.times[0]; at != time.Second+30*time.Millisecond || l.Now() != 2*time.Second {
		t.Errorf("received at %v, now %v", at, l.Now())
	}
	l.Send([]byte{5}, "unasked")
	m.expect(t, "sent") // it waits for Advance
	v.Advance(3 * time.Second)
	m.expect(t, "unasked", 5)
}

func TestVirtualPaced(t *testing.T) {
	v, _ := startVirtual(t, Options{Paced: true})
	m := connect(t, v, 9600)
	m.Write([]byte{1, 2, 3, 0xFF})
	v.Advance(2 * time.Second)
	m.expect(t, "paced", 1, 2, 3, 0xFF)
	for i, at := range m.times {
		if want := time.Second + time.Duration(i+1)*(bitsPerByte*time.Second/9600); at != want {
			t.Errorf("byte %d at %v, want %v", i, at, want)
		}
	}
}

func TestVirtualTalksOnlyAtItsOwnSpeed(t *testing.T) {
	v, l := startVirtual(t, Options{})
	if l.HostBaud() != 38400 {
		t.Errorf("a fresh port has %d", l.HostBaud())
	}
	m := connect(t, v, 38400)
	m.Write([]byte{1, 0xFF})
	v.Advance(v.now())
	m.expect(t, "at another speed")
	m.SetSpeed(9600)
	m.Write([]byte{2})
	m.Write([]byte{0xFF})
	v.Advance(v.now())
	m.expect(t, "at its speed", 2, 0xFF)
	l.SetBaud(38400)
	m.Write([]byte{3, 0xFF})
	v.Advance(v.now())
	m.expect(t, "the device's was changed")
}

func TestVirtualGarble(t *testing.T) {
	v, l := startVirtual(t, Options{Garble: true})
	m := connect(t, v, 19200)
	l.Send([]byte("plain"), "unasked")
	v.Advance(v.now())
	if len(m.got) != 5 || string(m.got) == "plain" {
		t.Errorf("received %q, want noise", m.got)
	}
}

func TestVirtualPauseAndSilence(t *testing.T) {
	v, l := startVirtual(t, Options{})
	m := connect(t, v, 9600)
	l.Pause()
	l.Send([]byte{1}, "")
	l.Send([]byte{2}, "")
	v.Advance(2 * time.Second)
	m.expect(t, "paused")
	l.Release()
	v.Advance(2 * time.Second)
	m.expect(t, "released", 1, 2)
	if len(m.times) != 1 {
		t.Errorf("%d reads, want one", len(m.times))
	}
	l.Silence()
	l.Send([]byte{3}, "")
	v.Advance(3 * time.Second)
	m.expect(t, "silenced")
	l.Speak()
	l.Send([]byte{4}, "")
	v.Advance(3 * time.Second)
	m.expect(t, "speaks", 4)
}

func TestVirtualUnplugged(t *testing.T) {
	v, l := startVirtual(t, Options{})
	m := connect(t, v, 9600)
	if _, err := v.Open(cable, 9600, m); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("opened twice: %v", err)
	}
	m.Write([]byte{1})
	v.Advance(2 * time.Second)
	m.Write([]byte{0xFF})
	l.Unplug()
	if m.hungUp {
		t.Error("hung up before Advance")
	}
	v.Advance(2 * time.Second)
	m.expect(t, "unplugged")
	if !m.hungUp {
		t.Error("not hung up")
	}
	if _, err := v.Open(cable, 9600, m); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opened while unplugged: %v", err)
	}
	m.Write([]byte{2, 0xFF}) // to no device
	must.Do(t, l.Plug())
	again := connect(t, v, 9600)
	again.Write([]byte{3, 0xFF}) // not behind the first byte of the other port
	v.Advance(3 * time.Second)
	again.expect(t, "plugged in again", 3, 0xFF)
	m.expect(t, "the old port")
}

func TestVirtualHostLeaves(t *testing.T) {
	v, l := startVirtual(t, Options{Latency: time.Second})
	m := connect(t, v, 9600)
	m.Write([]byte{1, 0xFF, 2})
	v.Advance(v.now())
	m.Close()
	v.Advance(3 * time.Second)
	m.expect(t, "closed")
	again := connect(t, v, 9600)
	again.Write([]byte{3, 0xFF})
	v.Advance(5 * time.Second)
	again.expect(t, "another host", 3, 0xFF)
	l.Close()
	v.Advance(5 * time.Second)
	if !again.hungUp {
		t.Error("not hung up by Close")
	}
}

// TestVirtualRepeats: noise, two cables and their order repeat.
func TestVirtualRepeats(t *testing.T) {
	run := func(seed uint64) string {
		v := NewVirtual(time.Second)
		var all strings.Builder
		for _, link := range []string{"a", "b"} {
			opts := Options{Link: link, Baud: 9600, Clock: v, Noise: Noise{Seed: seed, Garbage: .3, Flip: .3, Swallow: .3, Both: true},
				Trace: func(e Entry) { fmt.Fprintln(&all, link, e) }}
			l := must.Get(Open(opts))(t)
			l.Serve(&echo{End: End{Line: l}})
			defer l.Close()
			m := &memory{clock: v}
			m.Pipe = must.Get(v.Open(link, 9600, m))(t)
			for range 10 {
				m.Write([]byte{0xC0, 0xFF})
			}
		}
		v.Advance(1200 * time.Millisecond)
		return all.String()
	}
	first := run(1)
	if again := run(1); again != first {
		t.Error("the same seed has other bytes")
	}
	if first == run(2) {
		t.Error("another seed has the same bytes")
	}
}

// TestVirtualDue: an outside simulation calls Advance at the times of Due, and no other.
func TestVirtualDue(t *testing.T) {
	now := time.Second
	var due []time.Duration
	v, _ := startVirtual(t, Options{Latency: 10 * time.Millisecond})
	v.Now = func() time.Duration { return now }
	v.Due = func(at time.Duration) { due = append(due, at) }
	m := connect(t, v, 9600)
	now += time.Second
	m.Write([]byte{1, 0xFF})
	for len(due) > 0 && len(due) < 10 {
		now = due[0]
		due = due[1:]
		v.Advance(now)
	}
	m.expect(t, "at the times of Due", 1, 0xFF)
	if at := m.times[0]; at != 2*time.Second+10*time.Millisecond || len(due) != 0 {
		t.Errorf("received at %v, then due %v", at, due)
	}
}
