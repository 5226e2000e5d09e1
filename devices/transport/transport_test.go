package transport

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/retry"
	"player/devices/transport/transporttest"
)

// parrot is a driver whose hardware must answer "hello" with "hi" within a second, and then
// send a byte now and then.
type parrot struct {
	Transport
	events []string
}

func newParrot() *parrot {
	d := &parrot{}
	d.Protocol = Protocol{
		Address: "/dev/parrot", Name: "a parrot", Speeds: []int{9600}, Limit: time.Second,
		Begin: func(time.Duration) Phase {
			d.events = append(d.events, "greet")
			return 0
		},
		Steps:   []Step{{Send: func(dst []byte) []byte { return append(dst, "hello"...) }}},
		Receive: d.receive,
		Bye:     func(dst []byte) []byte { return append(dst, "bye"...) },
		Silent:  errors.New("no answer"),
	}
	return d
}

func (d *parrot) receive(now time.Duration, p []byte) {
	d.events = append(d.events, string(p))
	d.Heard(now)
	switch string(p) {
	case "hi":
		d.Up(now)
	case "stay":
		d.Port().Write([]byte("gone on"))
	case "go away":
		d.Down(now, errors.New("refused"))
		d.Up(now) // comes too late
	}
}

// scene is a parrot with a client.
type scene struct {
	*transporttest.Bench
	parrot *parrot
	device *devices.Device
}

func newScene(t *testing.T) *scene {
	t.Helper()
	parrot := newParrot()
	robot := &devices.Probe{Name: "a P2OS robot", Recognise: func(heard []byte) devices.Answer {
		return devices.Answer{Found: strings.Contains(string(heard), "robot")}
	}}
	b := transporttest.NewBench(t, devices.Instance{Driver: parrot, Name: "parrot", Provides: []devices.Spec{devices.Position()}},
		devices.Kind{Name: "p2os", Probe: robot})
	return &scene{b, parrot, b.Client}
}

func (s *scene) up() {
	s.T.Helper()
	s.Subscribe()
	s.Port().Say([]byte("hi"))
	if s.Link.State() != devices.Ready {
		s.T.Fatalf("link is %s after the handshake", s.Link.State())
	}
}

// chatter keeps the hardware talking for d.
func (s *scene) chatter(d time.Duration) {
	for range d / (100 * time.Millisecond) {
		s.Pass(100 * time.Millisecond)
		s.Port().Say([]byte("."))
	}
}

func (s *scene) command(speed int16) {
	s.device.SetCommand(s.Now(), codec.PositionCommand{Speed: speed}.Append(nil))
}

// messages are the lines logged since the last call.
func (s *scene) messages() (lines []string) {
	for _, e := range s.Log.TakeAll() {
		lines = append(lines, e.Message)
	}
	return lines
}

func TestSetupAndShutdown(t *testing.T) {
	s := newScene(t)
	s.up()
	s.chatter(10 * time.Second)
	if len(s.Ports) != 1 || !s.parrot.IsUp() {
		t.Fatalf("a line that talks was given up: %q", s.parrot.events)
	}
	s.Unsubscribe()
	if s.Link.State() != devices.Stopping || s.Port().Closed {
		t.Fatal("the last words are not given time")
	}
	s.Pass(linger)
	if s.Link.State() != devices.Idle || !s.Port().Closed || string(s.Port().Wrote) != "hellobye" {
		t.Fatalf("shutdown ended with link %s, wrote %q", s.Link.State(), s.Port().Wrote)
	}
	s.up() // and once more
}

func TestSetupFails(t *testing.T) {
	for _, test := range []struct {
		name   string
		happen func(s *scene)
		want   string
	}{
		{"no port", func(s *scene) { s.Refuse = errors.New("no such port"); s.Subscribe() }, "no such port"},
		{"no answer", func(s *scene) { s.Subscribe(); s.Pass(time.Second) }, "/dev/parrot: no answer"},
		{"refused", func(s *scene) { s.Subscribe(); s.Port().Say([]byte("go away")); s.Pass(0) }, "/dev/parrot: refused"},
		{"unplugged", func(s *scene) { s.Subscribe(); s.Port().HangUp(); s.Pass(0) }, "/dev/parrot: unplugged or closed: unexpected EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScene(t)
			test.happen(s)
			if s.Failed(test.want); s.Done[0].Error() != test.want {
				t.Fatalf("setup ended with %v, want %s", s.Done, test.want)
			}
			s.Pass(10 * time.Second)
			if len(s.Ports) > 1 {
				t.Fatal("the port of a failed setup was opened again")
			}
			s.Refuse = nil
			s.up() // the next request tries again
		})
	}
}

// A subscriber may ask again from within the news that setup failed.
func TestSetupAgainAtOnce(t *testing.T) {
	s := newScene(t)
	s.Again = true
	s.Subscribe()
	s.Port().Say([]byte("go away"))
	s.Port().Say([]byte("hi")) // no longer received
	s.Pass(0)
	if len(s.Ports) != 2 || !s.Ports[0].Closed || s.Ports[1].Closed {
		t.Fatalf("%d ports after the second try", len(s.Ports))
	}
	s.Port().Say([]byte("hi"))
	if s.Link.State() != devices.Ready {
		t.Fatalf("link is %s", s.Link.State())
	}
}

func TestLostAndBack(t *testing.T) {
	for _, test := range []struct {
		name string
		lose func(s *scene)
	}{
		{"silence", func(s *scene) { s.Pass(silence) }},
		{"unplugged", func(s *scene) { s.Port().HangUp(); s.Pass(0) }},
		{"refused", func(s *scene) { s.Port().Say([]byte("go away")); s.Pass(0) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScene(t)
			s.up()
			s.device.Publish(s.Now(), []byte("data"))
			s.command(200)
			s.Log.TakeAll()
			test.lose(s)
			switch {
			case s.Link.State() != devices.Ready:
				t.Fatalf("link is %s", s.Link.State())
			case s.device.Command() != nil:
				t.Fatal("the command is not forgotten")
			case string(s.device.Data()) != "data":
				t.Fatal("the data is forgotten")
			case s.parrot.IsUp(), s.parrot.IsOpen(), !s.Port().Closed:
				t.Fatal("the line is not down")
			}
			s.Refuse = errors.New("no such port")
			s.Pass(10 * time.Second)
			if len(s.Ports) != 1 {
				t.Fatal("a port was opened that is not there")
			}
			s.Refuse = nil
			if !s.Until(func() bool { return len(s.Ports) == 2 }, retry.Last) || !s.parrot.WasLost() {
				t.Fatal("the port was not opened again")
			}
			s.Pass(time.Second) // no answer: closed, and opened later
			if !s.Ports[1].Closed {
				t.Fatal("the port is open though the handshake failed")
			}
			s.command(300)
			s.Until(func() bool { return len(s.Ports) == 3 }, retry.Last)
			s.Port().Say([]byte("hi"))
			if !s.parrot.IsUp() || s.parrot.WasLost() {
				t.Fatal("the line is not up")
			}
			if s.device.Command() != nil {
				t.Fatal("a command of the outage is obeyed")
			}
			s.chatter(5 * time.Second)
			if len(s.Ports) != 3 {
				t.Fatalf("%d ports opened", len(s.Ports))
			}
			want := []string{retry.LogUnavailable, retry.LogUnavailable, retry.LogUnavailable, retry.LogBack}
			if got := s.messages(); !slices.Equal(got, want) {
				t.Fatalf("log %q, want %q", got, want)
			}
			if len(s.Done) != 1 || s.Done[0] != nil {
				t.Fatalf("the setups of the subscriber ended with %v", s.Done)
			}
		})
	}
}

// A hang-up that was not processed yet, or in the last moment, does not keep a link from
// stopping.
func TestShutdownOfBrokenLine(t *testing.T) {
	s := newScene(t)
	s.up()
	s.Port().HangUp()
	s.Unsubscribe()
	if s.Link.State() != devices.Idle {
		t.Fatalf("link is %s", s.Link.State())
	}
	s.up()
	s.Unsubscribe()
	s.Port().HangUp()
	s.Pass(0)
	if s.Link.State() != devices.Idle {
		t.Fatalf("link is %s", s.Link.State())
	}
}

func TestShutdownDuringSetup(t *testing.T) {
	s := newScene(t)
	s.Subscribe()
	s.Unsubscribe()
	s.Port().Say([]byte("hi")) // too late
	s.Pass(time.Second)
	if s.Link.State() != devices.Idle || !s.Port().Closed || len(s.Searches) > 0 || !slices.Equal(s.parrot.events, []string{"greet"}) {
		t.Fatalf("link is %s after %q", s.Link.State(), s.parrot.events)
	}
}

func TestNoise(t *testing.T) {
	s := newScene(t)
	s.up()
	s.Log.TakeAll()
	var total Stats
	for range 1000 {
		s.Pass(10 * time.Millisecond)
		total.Garbage += 3
		s.parrot.Heard(s.Now())
		s.parrot.complain(s.Now(), total)
	}
	lines := s.Log.TakeAll()
	var garbage uint64
	for _, e := range lines {
		fields := e.ContextMap()
		if fields["port"] != "/dev/parrot" || fields["device"] != "parrot" || e.Message != LogDamaged {
			t.Fatalf("log line %q %v", e.Message, fields)
		}
		garbage += fields["garbage bytes"].(uint64)
	}
	if len(lines) != 10 || garbage < total.Garbage-3*100 {
		t.Fatalf("%d lines in 10 s tell of %d bytes of %d", len(lines), garbage, total.Garbage)
	}
	if n := testing.AllocsPerRun(100, func() { s.parrot.complain(s.Now(), total) }); n != 0 {
		t.Fatalf("%v allocations for no news", n)
	}
}

// A Write may fail, and its failure may make the clients leave before it has
// returned.
func TestWriteFails(t *testing.T) {
	for _, test := range []struct {
		name  string
		write func(s *scene) // leads to the Write
		leave bool
		state devices.State
	}{
		{"greeting", func(s *scene) { s.Subscribe() }, false, devices.Idle},
		{"last words", func(s *scene) { s.Unsubscribe() }, false, devices.Idle},
		{"in use", func(s *scene) { s.parrot.Port().Write([]byte("x")) }, false, devices.Ready},
		{"in use, and the client leaves", func(s *scene) {
			s.parrot.Port().Write([]byte("x"))
			s.parrot.Port().Write([]byte("y"))
			s.parrot.WakeAt(s.Now() + time.Second)
			s.parrot.SetSpeed(s.Now(), 9600, func(time.Duration) { t.Error("a port that is gone took a speed") })
		}, true, devices.Idle},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScene(t)
			if test.name != "greeting" {
				s.up()
			}
			s.Break = func() {
				if test.leave {
					s.Unsubscribe()
				}
			}
			test.write(s)
			s.Pass(0)
			if s.Link.State() != test.state || !s.Ports[0].Closed {
				t.Fatalf("link is %s", s.Link.State())
			}
			s.Pass(time.Minute)
			if s.Link.State() == devices.Idle {
				s.Subscribe()
			}
			s.Port().Say([]byte("hi"))
			if s.Link.State() != devices.Ready {
				t.Fatalf("link is %s", s.Link.State())
			}
		})
	}
}

func TestSetSpeed(t *testing.T) {
	s := newScene(t)
	s.MaxSpeed = 9600
	s.up()
	set := 0
	then := func(time.Duration) { set++ }
	if s.parrot.SetSpeed(s.Now(), 4800, then); set != 1 || s.Port().Baud != 4800 || !s.parrot.IsUp() {
		t.Fatalf("the line is at %d baud", s.Port().Baud)
	}
	if s.parrot.SetSpeed(s.Now(), 19200, then); set != 1 || s.parrot.IsUp() {
		t.Fatal("a speed that the line cannot do is taken for set")
	}
	s.Pass(0)
	entries := s.Log.TakeAll()
	if why := entries[len(entries)-1].ContextMap()["error"]; why != "cannot set 19200 baud: the line is slower" {
		t.Fatalf("lost: %v", why)
	}
}

// Before a line is closed the motors are stopped, and a new connection begins with the same
// bytes: hardware may receive although it does not answer.
func TestLastWords(t *testing.T) {
	for name, lose := range map[string]func(s *scene){
		"silent": func(s *scene) { s.Pass(silence) },
		"down":   func(s *scene) { s.Port().Say([]byte("go away")); s.Pass(0) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.parrot.Protocol.LastWords = []byte("halt")
			s.up()
			p := s.Port()
			lose(s)
			p.Say([]byte("stay")) // it is no longer received
			s.parrot.Port().Write([]byte("gone on"))
			if string(p.Last) != "halt" || string(p.Wrote) != "hellohalt" || p.Closed {
				t.Errorf("wrote %q, last words %q, closed %v", p.Wrote, p.Last, p.Closed)
			}
			if s.Pass(linger); !p.Closed || s.Link.State() != devices.Ready {
				t.Errorf("the port is closed: %v, the link is %v", p.Closed, s.Link.State())
			}
			s.Pass(retry.First)
			if len(s.Ports) != 2 || string(s.Port().Wrote) != "halthello" {
				t.Errorf("%d ports, the last one wrote %q", len(s.Ports), s.Port().Wrote)
			}
			s.Port().Say([]byte("hi"))
			if messages := s.messages(); !slices.Contains(messages, retry.LogBack) {
				t.Errorf("log %q", messages)
			}
		})
	}
}

// Unplugged while the last words leave, it is lost once.
func TestUnpluggedDuringLastWords(t *testing.T) {
	s := newScene(t)
	s.parrot.Protocol.LastWords = []byte("halt")
	s.up()
	s.Pass(silence)
	s.Port().HangUp()
	s.Pass(0)
	s.Pass(retry.First)
	if len(s.Ports) != 2 || s.Link.Counts.Errors != 1 {
		t.Errorf("%d ports, %d errors", len(s.Ports), s.Link.Counts.Errors)
	}
}

// The last one leaves while the hardware is lost: it is commanded to stop once more, if
// its port can be opened, and the link stops.
func TestShutdownWhileLost(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before func(s *scene)
		ports  int
		wrote  string // to the last one
	}{
		{"no words, and it waits", func(s *scene) {
			s.parrot.Protocol.LastWords = nil
			s.Port().HangUp()
			s.Pass(0)
		}, 1, "hello"},
		{"the last words leave", func(s *scene) { s.Pass(silence) }, 1, "hellohalt"},
		{"it waits", func(s *scene) { s.Pass(silence + linger) }, 2, "halt"},
		{"it waits, and the port is gone", func(s *scene) { s.Pass(silence + linger); s.Refuse = errors.New("gone") }, 1, "hellohalt"},
		{"it greets", func(s *scene) { s.Pass(silence + linger + retry.First) }, 2, "halthellobye"},
		{"in the same call", func(s *scene) { s.Port().Say([]byte("go away")) }, 1, "hellohalt"},
		{"unplugged in the same call", func(s *scene) { s.Port().HangUp() }, 1, "hello"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.parrot.Protocol.LastWords = []byte("halt")
			s.up()
			tt.before(s)
			s.Unsubscribe()
			s.Pass(linger)
			if s.Link.State() != devices.Idle || len(s.Ports) != tt.ports || string(s.Port().Wrote) != tt.wrote || !s.Port().Closed {
				t.Errorf("link %v, %d ports, wrote %q, closed %v", s.Link.State(), len(s.Ports), s.Port().Wrote, s.Port().Closed)
			}
			s.Pass(time.Minute)
			if len(s.Ports) != tt.ports {
				t.Error("it is opened again without a client")
			}
			s.Refuse = nil
			s.up()
		})
	}
}

// Other hardware is searched after each setup for a client. The result is in the log and in
// the errors of this setup and the next.
func TestOtherHardware(t *testing.T) {
	s := newScene(t)
	s.Subscribe()
	s.Pass(1100 * time.Millisecond)
	if got := s.Link.SetupError().Error(); got != "/dev/parrot: no answer" || len(s.Searches) != 1 || s.Searches[0].Path != "/dev/parrot" {
		t.Fatalf("%s, searches %v", got, s.Searches)
	}
	s.messages()
	toucan := devices.Finding{Kind: "toucan", Baud: 4800}
	s.Searches[0].Done(s.Now(), toucan)
	const found = "/dev/parrot: toucan answered here, at 4800 baud: is it the right port?; no answer"
	if got, log := s.Link.SetupError().Error(), s.messages(); got != found || !slices.Equal(log, []string{"other hardware answers on the port"}) {
		t.Errorf("%s, log %q", got, log)
	}

	// The port is still being probed. The setup waits.
	s.Slow = true
	s.Subscribe()
	s.Pass(time.Second / 2)
	if s.Link.State() != devices.Starting || len(s.Ports) != 1 {
		t.Fatalf("%v, %d ports", s.Link.State(), len(s.Ports))
	}
	s.Slow = false
	s.Answer()
	s.Pass(1100 * time.Millisecond)
	if got := s.Done[len(s.Done)-1]; got == nil || got.Error() != found || len(s.Searches) != 2 {
		t.Fatalf("%v, %d searches", got, len(s.Searches))
	}
	s.messages()
	s.Searches[1].Done(s.Now(), toucan)
	if log := s.messages(); len(log) > 0 {
		t.Errorf("the log repeats %q", log)
	}
	s.Subscribe()
	s.Pass(1100 * time.Millisecond)
	s.Searches[2].Done(s.Now(), devices.Finding{})
	if got := s.Link.SetupError().Error(); got != "/dev/parrot: no answer" {
		t.Errorf("nothing answers any more: %s", got)
	}
}

// For an always-on driver the search is bounded, and hardware that was lost is not searched
// for: its own has worked there.
func TestOtherHardwareUnasked(t *testing.T) {
	s := newScene(t)
	s.Link.KeepOn()
	s.Table.Start(s.Now())
	s.Pass(time.Minute)
	if len(s.Searches) != mostSearches {
		t.Errorf("%d searches in a minute, want %d", len(s.Searches), mostSearches)
	}
	for s.Link.State() != devices.Ready {
		s.Pass(100 * time.Millisecond)
		s.Port().Say([]byte("hi"))
	}
	s.Pass(time.Minute)
	if len(s.Searches) != mostSearches || s.Link.Counts.Retries < 10 {
		t.Errorf("%d searches for lost hardware after %d tries", len(s.Searches)-mostSearches, s.Link.Counts.Retries)
	}
}

// A link that stops while its port is being opened has stopped, and the port is closed when it
// is open. Hardware that was lost gets its last words.
func TestShutdownWhileOpening(t *testing.T) {
	s := newScene(t)
	s.Slow = true
	s.Subscribe()
	s.Unsubscribe()
	if s.Link.State() != devices.Idle {
		t.Fatalf("link is %s", s.Link.State())
	}
	s.Subscribe() // and another setup
	s.Answer()
	if len(s.Ports) != 1 || !s.Port().Closed || s.Link.State() != devices.Starting {
		t.Fatalf("%d ports, link is %s", len(s.Ports), s.Link.State())
	}
	s.Answer()
	s.Port().Say([]byte("hi"))
	if s.Link.State() != devices.Ready {
		t.Fatalf("link is %s", s.Link.State())
	}

	s.parrot.Protocol.LastWords = []byte("halt")
	s.Port().HangUp()
	s.Pass(time.Second + retry.First)
	s.Unsubscribe()
	s.Answer()
	if string(s.Port().Wrote) != "halt" || s.Link.State() != devices.Stopping {
		t.Fatalf("wrote %q, link is %s", s.Port().Wrote, s.Link.State())
	}
	s.Pass(linger)
	if s.Link.State() != devices.Idle || !s.Port().Closed {
		t.Fatalf("link is %s", s.Link.State())
	}
}

// A port that does not answer is tried again like a missing one, and the log says so.
func TestNoAnswerOfAdapter(t *testing.T) {
	s := newScene(t)
	s.up()
	s.parrot.Hangup(s.Now(), devices.ErrNoAnswer)
	s.Refuse = devices.ErrNoAnswer
	s.Pass(retry.First)
	s.Refuse = nil
	s.Until(func() bool { return len(s.Ports) == 2 }, time.Minute)
	s.Port().Say([]byte("hi"))
	if !s.parrot.IsUp() {
		t.Error("it is not tried again")
	}
	if why := s.Log.FilterMessage(retry.LogUnavailable).All()[0].ContextMap()["error"]; why != devices.ErrNoAnswer.Error() {
		t.Errorf("the log says %v", why)
	}
}
