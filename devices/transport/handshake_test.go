package transport

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"player/devices"
	"player/devices/retry"
	"player/devices/transport/transporttest"
)

// A table with two requests that are answered by "yes", and a search in five parts.
const (
	calling Phase = iota
	telling
	knocking
)

// steps gives the scene's parrot a longer handshake. The answers of the hardware are
// given by the test.
func (s *scene) steps(search []Attempt) {
	ask := func(request string) func(dst []byte) []byte {
		return func(dst []byte) []byte {
			return append(append(dst, request...), "@"+strconv.Itoa(s.parrot.Baud())+" "...)
		}
	}
	p := &s.parrot.Protocol
	p.Speeds, p.Search, p.Limit = []int{9600, 19200, 38400}, search, 5*time.Second
	p.Steps = []Step{
		calling:  {Send: ask("call")},
		telling:  {Send: ask("tell"), Wait: 100 * time.Millisecond, Tries: 2},
		knocking: {Send: ask("knock"), Wait: 10 * time.Millisecond, Late: s.parrot.Then(calling)},
	}
	p.Stuck = func(p Phase) error { return errors.New("stuck in phase " + strconv.Itoa(int(p))) }
	p.Receive = func(now time.Duration, b []byte) {
		if string(b) != "yes" {
			return
		}
		if s.parrot.Found(); s.parrot.Phase() == calling {
			s.parrot.Enter(now, telling)
		} else {
			s.parrot.Up(now)
		}
	}
}

func attempts() []Attempt {
	return []Attempt{
		{Speed: 0, Wait: 50 * time.Millisecond, Tries: 2, Noisy: 200 * time.Millisecond},
		{Speed: 1, Wait: 50 * time.Millisecond},
		{Speed: 2, First: knocking, Wait: 50 * time.Millisecond},
	}
}

func TestHandshake(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func(s *scene, request string) string
		first  int // baud, where the hardware was before
		limit  time.Duration
		wrote  string // the bytes sent to the hardware, with the speed
		end    string // the error
	}{
		{"no hardware", func(*scene, string) string { return "" }, 9600, 210 * time.Millisecond,
			"call@9600 call@9600 call@19200 knock@38400 call@38400 ", "no answer"},
		{"no hardware, and the last one was at 19200", func(*scene, string) string { return "" }, 19200, 210 * time.Millisecond,
			"call@19200 call@19200 call@9600 knock@38400 call@38400 ", "no answer"},
		{"at the third speed", func(s *scene, r string) string {
			if s.parrot.Baud() == 38400 && r != "knock@38400 " {
				return "yes"
			}
			return ""
		}, 9600, 200 * time.Millisecond, "call@9600 call@9600 call@19200 knock@38400 call@38400 tell@38400 ", ""},
		{"a line without 19200 baud", func(s *scene, r string) string {
			s.MaxSpeed = 9600
			return ""
		}, 9600, 110 * time.Millisecond, "call@9600 call@9600 ", "no answer"},
		{"it answers half", func(_ *scene, r string) string {
			if strings.HasPrefix(r, "call") {
				return "yes"
			}
			return ""
		}, 9600, 5 * time.Second, strings.Repeat("call@9600 tell@9600 tell@9600 ", 25), "stuck in phase 1"},
		{"other hardware", func(*scene, string) string { return strings.Repeat("?", 5000) + "robot" }, 9600, 110 * time.Millisecond,
			"call@9600 call@9600 ", "a P2OS robot is heard here, not a parrot: are the ports swapped?"},
		{"noise", func(*scene, string) string { return "?" }, 9600, 360 * time.Millisecond,
			"call@9600 call@9600 call@19200 knock@38400 call@38400 ", "no answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.steps(attempts())
			s.parrot.first = tt.first
			var wrote string
			s.Heard = func(_ *transporttest.Port, b []byte) {
				wrote += string(b)
				if answer := tt.answer(s, string(b)); answer != "" {
					s.Port().Say([]byte(answer))
				}
			}
			s.Subscribe()
			s.Pass(tt.limit)
			if wrote != tt.wrote || len(s.Done) != 1 {
				t.Fatalf("it was sent %q, want %q; setups ended: %v", wrote, tt.wrote, s.Done)
			}
			if err := s.Done[0]; (err == nil) != (tt.end == "") || err != nil && err.Error() != "/dev/parrot: "+tt.end {
				t.Errorf("%v, want %q", err, tt.end)
			}
		})
	}
}

// A search begins where the hardware was last, also after a failure; a port on the
// network has no speeds, and other hardware is not searched there.
func TestHandshakeOverNetwork(t *testing.T) {
	s := newScene(t)
	s.steps(attempts())
	s.parrot.Protocol.Address = "127.0.0.1:8101"
	s.MaxSpeed = 1
	s.Subscribe()
	s.Pass(time.Second)
	if len(s.Ports) != 1 || s.Port().Name != "127.0.0.1:8101" || len(s.Searches) != 0 || s.Link.State() != devices.Idle {
		t.Fatalf("%d ports, %d searches, link %v", len(s.Ports), len(s.Searches), s.Link.State())
	}
	if got := strings.Fields(string(s.Port().Wrote)); len(got) != 5 {
		t.Errorf("it was sent %q", got)
	}
}

// Input from before a request that wants a fresh answer is dropped, and a pause sends
// nothing until it is over.
func TestFreshAndPause(t *testing.T) {
	s := newScene(t)
	s.steps(nil)
	var f Framing
	var buf [8]byte
	p := &s.parrot.Protocol
	p.Framing = &f
	p.Steps[telling].Fresh = true
	p.Receive = func(now time.Duration, b []byte) {
		for packet, rest := f.Next(buf[:], b, toy); packet != nil; packet, rest = f.Next(buf[:], rest, toy) {
			s.parrot.Pause(now, telling, time.Second)
		}
	}
	s.Subscribe()
	s.Port().Say([]byte("<a>"))
	s.Port().Say([]byte("<b"))
	s.Pass(999 * time.Millisecond)
	if wrote := string(s.Port().Wrote); wrote != "call@9600 " || !s.parrot.Pausing() || len(f.Waiting(buf[:])) != 2 {
		t.Fatalf("during the pause: wrote %q, %q waits", wrote, f.Waiting(buf[:]))
	}
	s.Pass(time.Millisecond)
	if wrote := string(s.Port().Wrote); wrote != "call@9600 tell@9600 " || len(f.Waiting(buf[:])) != 0 {
		t.Fatalf("after the pause: wrote %q, %q waits", wrote, f.Waiting(buf[:]))
	}
}

// No step is begun once the link shuts down.
func TestNoStepAfterShutdown(t *testing.T) {
	s := newScene(t)
	s.steps(attempts())
	s.Subscribe()
	s.parrot.Leave(s.Now())
	s.parrot.Enter(s.Now(), telling)
	if got := string(s.Port().Wrote); got != "call@9600 " || s.parrot.Phase() != Over {
		t.Errorf("wrote %q in phase %d", got, s.parrot.Phase())
	}
}

// Hardware is not silent if its bytes do not fit the protocol.
func TestNotUnderstood(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		error    string
	}{
		{"nothing", "", "no answer"},
		{"a few stray bytes", "[garbage bytes]", "no answer"},
		{"another protocol", "[garbage bytes ]", "more than 10 bytes came that are not understood, nothing that a parrot sends"},
		{"the beginning of a packet", "[garbage bytes]<", "more than 10 bytes came that are not understood"},
		{"much of it", strings.Repeat("x", 65280), "more than 10000 bytes came"},
		{"others", "[garbage bytes ]", "or an echo of the line? It is no owl."},
		{"packets that the driver does not know", "<z><z><z><z><z><z><z>", "more than 10 bytes came"},
		{"packets, but not the right ones", "<a><a><a><a><a><a><a>", "stuck in phase 0"},
		{"packets with noise", "<a>|[garbage bytes ]|<a>", "stuck in phase 0"},
		{"packets, then another protocol", "<a>|[garbage bytes ]", "more than 10 bytes came that are not understood"},
	} {
		s := newScene(t)
		s.steps([]Attempt{{Wait: time.Second}})
		var f Framing
		var buf [8]byte
		p := &s.parrot.Protocol
		p.Framing, p.Others = &f, "It is no owl."
		p.Receive = func(now time.Duration, b []byte) {
			for packet, rest := f.Next(buf[:], b, toy); packet != nil; packet, rest = f.Next(buf[:], rest, toy) {
				if string(packet) == "<a>" {
					s.parrot.Found()
				}
			}
		}
		s.Subscribe()
		for part := range strings.SplitSeq(tt.in, "|") {
			s.Port().Say([]byte(part))
		}
		s.Pass(5 * time.Second)
		if len(s.Done) != 1 || s.Done[0] == nil || !strings.Contains(s.Done[0].Error(), tt.error) {
			t.Errorf("%s: %v, want %q", tt.name, s.Done, tt.error)
		}
	}
}

// Hardware that becomes unreadable is lost, and the log does not call it silent.
func TestNotUnderstoodAnyMore(t *testing.T) {
	for in, want := range map[string]string{"": "silent for 2 s", "!!": "more than 10 bytes came that are not understood"} {
		s := newScene(t)
		var f Framing
		var buf [8]byte
		p := &s.parrot.Protocol
		p.Framing = &f
		p.Receive = func(now time.Duration, b []byte) {
			for packet, rest := f.Next(buf[:], b, toy); packet != nil; packet, rest = f.Next(buf[:], rest, toy) {
				s.parrot.Heard(now)
				s.parrot.Up(now)
			}
		}
		s.Subscribe()
		s.Port().Say([]byte("<a>"))
		for range 20 {
			if in != "" {
				s.Port().Say([]byte(in))
			}
			s.Pass(100 * time.Millisecond)
		}
		var reasons []string
		for _, e := range s.Log.FilterMessage(retry.LogUnavailable).All() {
			reasons = append(reasons, e.ContextMap()["error"].(string))
		}
		if len(reasons) != 1 || !strings.Contains(reasons[0], want) {
			t.Errorf("%q: %q, want %q", in, reasons, want)
		}
	}
}

// While the speed of a slow line is being set nothing is asked, and the search goes on when it
// is set. A speed that is set after the link has stopped begins nothing.
func TestSlowLine(t *testing.T) {
	s := newScene(t)
	s.steps(attempts())
	s.Subscribe()
	s.Slow = true
	s.Pass(time.Second)
	if got := string(s.Port().Wrote); got != "call@9600 call@9600 " {
		t.Fatalf("while the line is being set: wrote %q", got)
	}
	s.Answer()
	s.Pass(time.Second)
	if got := string(s.Port().Wrote); got != "call@9600 call@9600 call@19200 " {
		t.Fatalf("when it is set: wrote %q", got)
	}
	s.Unsubscribe()
	s.Answer()
	s.Pass(time.Second)
	if got := string(s.Port().Wrote); got != "call@9600 call@9600 call@19200 bye" || s.Link.State() != devices.Idle {
		t.Errorf("after the end: wrote %q, link is %s", got, s.Link.State())
	}
}
