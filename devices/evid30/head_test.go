package evid30

import (
	"slices"
	"strings"
	"testing"
	"time"

	"player/devices/transport"
)

func TestCommands(t *testing.T) {
	s := start(t)
	s.command(30, 10, 256)
	s.reaches(30, 10, 256, time.Second)
	s.command(30, 10, 300) // only changes
	s.reaches(30, 10, 300, time.Second)
	s.command(-200, 90, 5000) // clipped
	s.reaches(-100, 25, 1023, time.Second)
	s.command(-100, 25, 1023)
	s.Pass(time.Second)
	want := []string{
		"81 01 06 02 18 14 0F 0E 0F 08 00 00 07 08 FF", "81 01 04 47 00 01 00 00 FF",
		"81 01 04 47 00 01 02 0C FF",
		"81 01 06 02 18 14 00 03 07 00 00 01 02 0C FF", "81 01 04 47 00 03 0F 0F FF",
	}
	if got := s.commands(); !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q", got, want)
	}
	if lines := s.logged(); lines != nil {
		t.Errorf("log %q", lines)
	}
}

// TestNewestWins: many commands in a row do not pile up, never more than two
// run, and inquiries go on.
func TestNewestWins(t *testing.T) {
	s := start(t)
	seq := s.device.Seq()
	for i := range int16(400) {
		s.command(i%100, i%25, i)
		s.Pass(5 * ms)
	}
	if got := s.device.Seq() - seq; got < 15 {
		t.Errorf("%d positions while commands came, want 15 in 2 s", got)
	}
	s.command(-7, -7, 7)
	s.reaches(-7, -7, 7, time.Second)
	if s.most != 2 {
		t.Errorf("%d commands ran at a time", s.most)
	}
	turns, zooms := 0, 0
	for _, r := range s.heard {
		switch {
		case strings.HasPrefix(r, commandTurn):
			turns++
		case strings.HasPrefix(r, commandZoom):
			zooms++
		}
	}
	if turns < 8 || zooms < 8 || turns+zooms > 60 {
		t.Errorf("%d turns and %d zooms were sent in 2 s", turns, zooms)
	}
	if lines := s.logged(); lines != nil {
		t.Errorf("log %q", lines)
	}
}

// TestCommandsThatGoWrong: despite any loss or refusal the camera gets where
// the newest command says, and inquiries go on.
func TestCommandsThatGoWrong(t *testing.T) {
	once := func(prefix string, instead ...string) func(*stage) func(string) []string {
		return func(s *stage) func(string) []string {
			n := 0
			return func(request string) []string {
				if !strings.HasPrefix(request, prefix) {
					return nil
				}
				if n++; n > 1 {
					return nil
				}
				return instead
			}
		}
	}
	for _, tt := range []struct {
		name    string
		prepare func(s *stage) func(request string) []string
		logged  int
	}{
		{"acknowledgement lost", once(commandTurn, ""), 1},
		{"both acknowledgements lost", func(s *stage) func(string) []string {
			a, b := once(commandTurn, "")(s), once(commandZoom, "")(s)
			return func(r string) []string { return append(a(r), b(r)...) }
		}, 1},
		{"acknowledgement late", func(s *stage) func(string) []string {
			n := 0
			return func(request string) []string {
				if n++; !strings.HasPrefix(request, commandTurn) || n > 1 {
					return nil
				}
				s.say(s.Port(), 300*ms, "90 41 FF")
				return []string{""}
			}
		}, 1},
		{"syntax error", once(commandTurn, "90 60 02 FF"), 1},
		{"wrong length", once(commandZoom, "90 60 01 FF"), 1},
		{"buffer full", once(commandTurn, "90 60 03 FF"), 1},
		{"buffer full for the zoom", once(commandZoom, "90 60 03 FF"), 1},
		{"not executable", once(commandTurn, "90 61 41 FF"), 1},
		{"acknowledged without a socket", once(commandTurn, "90 40 FF"), 0},
		{"nonsense socket", once(commandTurn, "90 4F FF"), 0},
		{"answer is noise", once(commandTurn, "90 77 88 FF"), 1},
		{"answer is cut", once(commandTurn, "90 4"+"1"), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			s.replace = tt.prepare(s)
			s.command(50, 20, 1000)
			s.reaches(50, 20, 1000, 3*time.Second)
			s.command(-50, -20, 10)
			s.reaches(-50, -20, 10, 3*time.Second)
			s.Pass(runLimit)
			if s.driver.head.busy() || s.device.Age(s.Now()) > 100*ms {
				t.Errorf("sockets %+v, data %v old", s.driver.head.sockets, s.device.Age(s.Now()))
			}
			if got := s.Log.FilterMessage(logDisobeys).Len(); got != tt.logged {
				t.Errorf("%d complaints, want %d: %q", got, tt.logged, s.logged())
			}
			if !strings.Contains(tt.name, "noise") && !strings.Contains(tt.name, "cut") && s.Log.FilterMessage(transport.LogDamaged).Len() > 0 {
				t.Errorf("log %q", s.logged())
			}
		})
	}
}

// TestCompletionLost: a socket without a completion is used again.
func TestCompletionLost(t *testing.T) {
	for _, cancelled := range []bool{true, false} {
		s := start(t)
		s.run = 100 * runLimit // no completion comes
		s.command(10, 0, 10)
		s.Pass(time.Second)
		if !cancelled {
			s.replace = func(request string) []string { // nor an answer to a cancel
				if strings.HasPrefix(request, "81 2") {
					return []string{""}
				}
				return nil
			}
		}
		s.run = 500 * ms
		s.command(-10, -10, 500)
		s.reaches(-10, -10, 500, 3*time.Second)
	}
	// Without a further command it is free after runLimit.
	s := start(t)
	s.run = 100 * runLimit
	s.command(10, 0, 10)
	s.Pass(time.Second)
	s.pan, s.zoom = -88, 10
	s.Pass(runLimit)
	s.forget()
	s.sockets, s.run = [2]*job{}, 100*ms
	s.command(20, 10, 20)
	s.reaches(20, 10, 20, time.Second)
	if got := s.commands(); len(got) != 2 {
		t.Errorf("heard %q, want two commands and no cancel", got)
	}
}

// TestCameraThatRefuses: commands that a camera never accepts are dropped, and
// logged once a second.
func TestCameraThatRefuses(t *testing.T) {
	for _, answer := range []string{"90 60 02 FF", "90 60 03 FF", "90 61 41 FF", "90 60 04 FF", ""} {
		s := start(t)
		s.replace = func(request string) []string {
			if strings.HasPrefix(request, "81 01 0") && !strings.HasPrefix(request, "81 01 00") {
				return []string{answer}
			}
			return nil
		}
		s.command(10, 10, 10)
		s.Pass(5 * time.Second)
		sent := 0
		for _, r := range s.commands() {
			if !strings.HasPrefix(r, "81 01 00") {
				sent++
			}
		}
		if sent != 2*maxTries {
			t.Errorf("%q: %d commands sent, want %d", answer, sent, 2*maxTries)
		}
		if n := s.Log.FilterMessage(logDisobeys).Len(); n < 1 || n > 3 {
			t.Errorf("%q: log %q", answer, s.logged())
		}
		if age := s.device.Age(s.Now()); age > 100*ms {
			t.Errorf("%q: data is %v old", answer, age)
		}
		s.replace = nil
		s.command(10, 10, 10) // the camera has never obeyed it
		s.reaches(10, 10, 10, 3*time.Second)
		s.command(20, 20, 20)
		s.reaches(20, 20, 20, 3*time.Second)
	}
}

// A command that failed while it ran is carried out when a client repeats it.
func TestFailedCommandIsRepeated(t *testing.T) {
	s := start(t)
	s.run = 100 * runLimit
	s.command(10, 0, 0)
	s.Pass(time.Second)
	s.sockets, s.run = [2]*job{}, 100*ms
	s.say(s.Port(), 0, "90 61 41 FF")
	s.say(s.Port(), 0, "90 62 41 FF")
	s.Pass(100 * ms)
	s.command(10, 0, 0)
	s.reaches(10, 0, 0, time.Second)
}

// TestErrorAfterAcknowledgement: a command may fail, or be ended by another
// controller, while it runs.
func TestErrorAfterAcknowledgement(t *testing.T) {
	for _, e := range []string{"90 61 41 FF", "90 61 04 FF"} {
		s := start(t)
		s.run = 100 * runLimit
		s.command(10, 0, 0)
		s.Pass(time.Second)
		s.sockets, s.run = [2]*job{}, 100*ms
		s.say(s.Port(), 0, e)
		s.say(s.Port(), 0, "90 52 FF")
		s.Pass(100 * ms)
		if s.driver.head.busy() {
			t.Errorf("%s: sockets %+v", e, s.driver.head.sockets)
		}
		s.command(-10, 10, 10)
		s.reaches(-10, 10, 10, time.Second)
	}
}

// TestLateAcknowledgement: the late acknowledgement of one command is matched to the next,
// which was lost. The camera rests at the first position, so the second command is sent
// again.
func TestLateAcknowledgement(t *testing.T) {
	for _, kind := range []string{commandTurn, commandZoom} {
		s := start(t)
		sent := 0
		s.deaf = func(request string) bool {
			if strings.HasPrefix(request, kind) {
				sent++
			}
			return sent == 2 && strings.HasPrefix(request, kind)
		}
		s.replace = func(request string) []string {
			if sent != 1 || !strings.HasPrefix(request, kind) {
				return nil
			}
			s.say(s.Port(), answerLimit+30*ms, "90 41 FF")
			return []string{""}
		}
		second := [3]int16{40, 15, 500}
		if kind == commandTurn {
			s.command(10, 5, 0)
			second[2] = 0
		} else {
			s.command(0, 0, 100)
			second[0], second[1] = 0, 0
		}
		if !s.Until(func() bool { return sent == 1 }, time.Second) {
			t.Fatal("no command was sent")
		}
		s.Pass(answerLimit - 20*ms)
		s.command(second[0], second[1], second[2])
		s.reaches(second[0], second[1], second[2], 4*time.Second)
		s.Pass(5 * time.Second)
		if sent != 3 {
			t.Errorf("%d commands were sent, want 3: %q", sent, s.commands())
		}
	}
}

// TestDisobedience: a camera that acknowledges commands and rests elsewhere is commanded three
// times, and again when a client repeats the command. A unit off is good enough.
func TestDisobedience(t *testing.T) {
	for _, off := range []int{0, 1, 100} {
		s := start(t)
		s.run = 0
		s.replace = func(request string) []string {
			if !strings.HasPrefix(request, commandTurn) {
				return nil
			}
			s.After(2*s.latency, func() { s.pan = -88 + off })
			return nil
		}
		s.command(10, 0, 0)
		s.Pass(10 * time.Second)
		want, complaints := map[int]int{0: 1, 1: maxTries, 100: maxTries}[off], 0
		if off == 100 {
			complaints = 1
		}
		turns := func() (n int) {
			for _, r := range s.commands() {
				if strings.HasPrefix(r, commandTurn) {
					n++
				}
			}
			return n
		}
		if n := s.Log.FilterMessage(logDisobeys).Len(); turns() != want || n != complaints {
			t.Errorf("%d units off: %d commands and %d complaints, want %d and %d", off, turns(), n, want, complaints)
		}
		s.command(10, 0, 0)
		s.Pass(10 * time.Second)
		if n := turns(); n != want*(1+complaints) {
			t.Errorf("%d units off: the command was repeated, and sent %d times in all", off, n)
		}
	}
}
