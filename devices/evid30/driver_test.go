package evid30

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/devicetest"
	"player/devices/retry"
	"player/devices/transport"
)

// said is one line of a recording.
type said struct {
	at     time.Duration
	host   bool
	packet string
}

func recordedSession(t *testing.T, name string) (session []said) {
	t.Helper()
	for _, line := range devicetest.Lines(t, "testdata/"+name) {
		f := strings.SplitN(line, " ", 3)
		at, err := strconv.ParseFloat(f[0], 64)
		if err != nil || len(f) != 3 {
			t.Fatalf("%s: %q", name, line)
		}
		session = append(session, said{time.Duration(at * float64(time.Second)), f[1] == ">", f[2]})
	}
	return session
}

// TestGolden plays the camera of recorded sessions: an inquiry is answered as
// the last one before, a command as that one was.
func TestGolden(t *testing.T) {
	type command struct {
		at              time.Duration
		pan, tilt, zoom int16
	}
	for _, tt := range []struct {
		name     string
		commands []command
		end      time.Duration
	}{
		{"left-right-home", []command{{110 * ms, 30, 10, 256}, {2114 * ms, -50, -20, 1023}}, 3604 * ms},
		{"cancel", []command{{107 * ms, 28, 11, 721}, {909 * ms, -99, -24, 1000}}, 3218 * ms},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			session := recordedSession(t, tt.name+".txt")
			begin := s.Now()
			s.replay = func(request string) (answers []string) {
				switch request { // not of the original server
				case "88 30 01 FF":
					return []string{"88 30 02 FF"}
				case "81 01 00 01 FF":
					return []string{"90 50 FF"}
				case "81 09 00 02 FF":
					return []string{"90 50 00 20 04 02 00 01 02 FF"}
				}
				for i, r := range session {
					inquiry := strings.HasPrefix(request, "81 09")
					if !r.host || r.packet != request || inquiry && r.at > s.Now()-begin && answers != nil {
						continue
					}
					answers = []string{session[i+1].packet}
					if inquiry {
						continue
					}
					done := strings.Replace(answers[0], "90 4", "90 5", 1)
					for _, later := range session[i+2:] {
						if later.packet == done {
							s.say(s.Port(), s.latency+later.at-r.at, done)
							break
						}
					}
					return answers
				}
				return answers
			}
			s.Subscribe()
			for _, c := range tt.commands {
				s.Pass(begin + c.at - s.Now())
				s.command(c.pan, c.tilt, c.zoom)
			}
			s.Pass(begin + tt.end - s.Now())
			published := fmt.Sprintf("%+v after %d inquiries\n", s.data(), len(s.heard)-len(s.commands()))
			s.Unsubscribe()
			s.Pass(time.Second)

			var got strings.Builder
			for i, r := range s.heard {
				if !strings.HasPrefix(r, "81 09") {
					fmt.Fprintf(&got, "%.3f %s\n", (s.times[i] - begin).Seconds(), r)
				}
			}
			got.WriteString(published)
			devicetest.Golden(t, "testdata/"+tt.name+".golden", []byte(got.String()))
		})
	}
}

// TestSetup: the requests of setup do not move the camera.
func TestSetup(t *testing.T) {
	s := newStage(t)
	s.pan, s.tilt, s.zoom = -88, 24, 5
	s.Subscribe()
	s.Pass(time.Second)
	if s.Port().Name != "/dev/ttyS2" || s.Port().Baud != 9600 {
		t.Errorf("port %s at %d", s.Port().Name, s.Port().Baud)
	}
	if got, want := s.commands(), []string{"88 30 01 FF", "81 01 00 01 FF"}; !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q and inquiries", got, want)
	}
	if got, want := s.data(), (codec.PTZData{Pan: 10, Tilt: 2, Zoom: 5}); got != want {
		t.Errorf("data %+v, want %+v", got, want)
	}
	s.Unsubscribe()
	s.Pass(time.Second)
	if len(s.commands()) != 2 || s.Link.State() != devices.Idle || !s.Port().Closed {
		t.Errorf("a camera that no client has moved was commanded %q at the end", s.commands())
	}
}

func TestSetupFails(t *testing.T) {
	for _, tt := range []struct {
		name    string
		replace func(request string) []string
		want    string
	}{
		{"nothing there", func(string) []string { return []string{""} }, "/dev/ttyS2: no camera answers"},
		{"noise", func(string) []string { return []string{"90 50 FF 90 90 12 FF 00"} }, "bytes came that are not understood, nothing that a camera sends"},
		{"standby", func(r string) []string {
			if r == "81 09 06 12 FF" {
				return []string{"90 60 41 FF"}
			}
			return nil
		}, "/dev/ttyS2: the camera is on standby: switch it on"},
		{"an echo", func(r string) []string { return []string{r} }, "or an echo of the line?"},
		{"impossible positions", func(r string) []string { return []string{"90 50 07 0F 0F 0F 00 00 00 00 FF"} }, "the camera is beyond the ranges of EVI-D30"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			s.replace = tt.replace
			s.Subscribe()
			if !s.Until(func() bool { return s.Done != nil }, 1500*ms) || s.Done[0] == nil || !strings.Contains(s.Done[0].Error(), tt.want) {
				t.Fatalf("setup %v, want %q", s.Done, tt.want)
			}
			if s.Link.State() != devices.Idle || !s.Port().Closed {
				t.Errorf("link %v", s.Link.State())
			}
			s.replace = nil // switched on: the next try succeeds
			s.Subscribe()
			s.Pass(time.Second)
			if len(s.Done) != 2 || s.Done[1] != nil {
				t.Errorf("second setup %v", s.Done)
			}
		})
	}
}

// TestSetupOfASleepyCamera: each of the requests of setup may be lost.
func TestSetupOfASleepyCamera(t *testing.T) {
	for lost := range 7 {
		s := newStage(t)
		n := 0
		s.replace = func(string) []string {
			if n++; n <= lost {
				return []string{""}
			}
			return nil
		}
		s.Subscribe()
		s.Pass(setupLimit)
		if len(s.Done) != 1 || s.Done[0] != nil {
			t.Errorf("%d requests lost: setup %v", lost, s.Done)
		}
	}
}

// TestModels: the camera says which one it is, and its units are used.
func TestModels(t *testing.T) {
	for _, tt := range []struct {
		name, version   string
		pan, tilt, zoom int // camera units of 60, -20 and 1023
		data            codec.PTZData
	}{
		{"D30", "90 50 00 20 04 02 00 01 02 FF", -528, -240, 1023, codec.PTZData{Pan: 60, Tilt: -20, Zoom: 1023}},
		{"D70", "90 50 00 20 04 0E 00 01 02 FF", -800, -267, 16384, codec.PTZData{Pan: 60, Tilt: -20, Zoom: 1023}},
		{"D100", "90 50 00 01 04 0D 00 01 02 FF", -864, -288, 16384, codec.PTZData{Pan: 60, Tilt: -20, Zoom: 1023}},
		{"one that refuses to tell", "90 60 02 FF", -528, -240, 1023, codec.PTZData{Pan: 60, Tilt: -20, Zoom: 1023}},
		{"one that does not tell", "", -528, -240, 1023, codec.PTZData{Pan: 60, Tilt: -20, Zoom: 1023}},
	} {
		s := newStage(t)
		s.version = tt.version
		s.Subscribe()
		if !s.Until(func() bool { return s.device.HasData() }, time.Second) {
			t.Errorf("%s: setup %v, heard %q", tt.name, s.Done, s.heard)
			continue
		}
		s.command(60, -20, 1023)
		s.reaches(60, -20, 1023, time.Second)
		if s.pan != tt.pan || s.tilt != tt.tilt || s.zoom != tt.zoom {
			t.Errorf("%s: at %d, %d, %d; want %d, %d, %d", tt.name, s.pan, s.tilt, s.zoom, tt.pan, tt.tilt, tt.zoom)
		}
	}
}

// TestRangesOfOptions: with ranges in the options the camera is not asked for its model.
func TestRangesOfOptions(t *testing.T) {
	s := newStage(t)
	var err error
	if s.driver.ranges, err = newRanges("", []float64{-170, 170, 45.33}, []float64{-20, 90, 45.33}, 0x4000); err != nil {
		t.Fatal(err)
	}
	s.version = "90 50 00 01 05 0C 00 01 02 FF"
	s.start()
	s.command(-150, 80, 100)
	s.reaches(-150, 80, 100, time.Second)
	if s.pan != 6800 || s.tilt != 3626 { // 6799.5, 3626.4
		t.Errorf("at %d, %d", s.pan, s.tilt)
	}
}

// TestPolling: as fast as the camera answers, one thing at a time, and not
// faster than a serial line.
func TestPolling(t *testing.T) {
	for latency, want := range map[time.Duration]int{0: 41, ms: 41, 17 * ms: 29, 50 * ms: 10, 190 * ms: 2} {
		s := newStage(t)
		s.latency = latency
		s.start()
		waiting := 0
		s.replace = func(string) []string {
			if waiting++; waiting > 1 {
				t.Errorf("latency %v: asked before it has answered", latency)
			}
			s.After(latency, func() { waiting-- })
			return nil
		}
		seq := s.device.Seq()
		s.Pass(time.Second)
		if got := int(s.device.Seq() - seq); got < want-1 || got > want+1 {
			t.Errorf("latency %v: %d positions a second, want %d", latency, got, want)
		}
		if age := s.device.Age(s.Now()); age > 4*max(latency, minExchange) {
			t.Errorf("latency %v: data is %v old", latency, age)
		}
	}
}

// The camera is asked no faster than a client reads, and often enough to see that it is
// there. A command does not wait for a reader.
func TestPollsForReaders(t *testing.T) {
	for period, want := range map[time.Duration]int{50 * ms: 20, 100 * ms: 10, time.Second: 2, 0: 1} {
		s := newStage(t)
		s.reads = period
		s.start()
		s.Pass(time.Second)
		seq, heard := s.device.Seq(), len(s.heard)
		s.Pass(10 * time.Second)
		if got := int(s.device.Seq()-seq) / 10; got < want || got > want+1 || !s.driver.IsUp() {
			t.Errorf("a reader every %v: %d positions a second, want %d", period, got, want)
		}
		if inquiries := (len(s.heard) - heard) / 20; inquiries > want+1 {
			t.Errorf("a reader every %v: %d pairs of inquiries a second, want %d", period, inquiries, want)
		}
		s.forget()
		s.command(10, 5, 100)
		s.Pass(2 * answerLimit)
		if len(s.heard) < 2 || strings.HasPrefix(s.heard[0], "81 09") && strings.HasPrefix(s.heard[1], "81 09") {
			t.Errorf("a reader every %v: a command was not sent at once: %q", period, s.heard)
		}
	}
}

// A reader of a camera at rest costs three wakes a position, which no driver can save: its frame,
// and the answers to the two inquiries. Answers come before and after minExchange.
func TestReaderWakesLittle(t *testing.T) {
	const period, frames = 100 * ms, 50
	for _, latency := range []time.Duration{ms, 17 * ms} {
		s := newStage(t)
		s.latency, s.reads = latency, period
		s.start()
		s.Pass(2 * time.Second)
		seq, wakes := s.device.Seq(), s.Wakes
		s.Pass(frames * period)
		if got := s.device.Seq() - seq; got != frames {
			t.Errorf("latency %v: %d positions for %d frames", latency, got, frames)
		}
		if got := s.Wakes - wakes; got != 3*frames {
			t.Errorf("latency %v: %d wakes for %d frames, which need %d", latency, got, frames, 3*frames)
		}
	}
}

// TestShutdownGoesHome quickly, whatever the camera is doing.
func TestShutdownGoesHome(t *testing.T) {
	home := []string{"81 01 06 02 18 14 00 00 00 00 00 00 00 00 FF", "81 01 04 47 00 00 00 00 FF"}
	clear := "81 01 00 01 FF"
	for _, tt := range []struct {
		name  string
		at    time.Duration // after a command
		dead  bool
		want  []string
		limit time.Duration
	}{
		{"at rest", 2 * time.Second, false, home, 200 * ms},
		{"while it moves", 200 * ms, false, append([]string{clear}, home...), 200 * ms},
		{"while it is commanded to", 30 * ms, false, []string{clear, home[1], home[0]}, 200 * ms},
		{"unplugged camera", 2*time.Second + 500*ms, true, home, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			s.command(50, 20, 1000)
			s.Pass(tt.at)
			if tt.dead {
				s.replace = func(string) []string { return []string{""} }
			}
			s.forget()
			s.Unsubscribe()
			if !s.Until(func() bool { return s.Link.State() == devices.Idle }, tt.limit) {
				t.Fatalf("not stopped after %v: %q", tt.limit, s.commands())
			}
			if got := s.commands(); !slices.Equal(got, tt.want) {
				t.Errorf("heard %q, want %q", got, tt.want)
			}
			if !s.Port().Closed {
				t.Error("the port is open")
			}
			if tt.dead {
				return
			}
			s.Pass(time.Second) // it gets there alone
			s.Subscribe()
			s.Pass(time.Second)
			if got := s.data(); got != (codec.PTZData{}) {
				t.Errorf("the camera is at %+v", got)
			}
		})
	}
}

// TestShutdownAtAnyTime ends within a second and leaves nothing behind.
func TestShutdownAtAnyTime(t *testing.T) {
	for after := time.Duration(0); after < 700*ms; after += 7 * ms {
		for _, dead := range []bool{false, true} {
			s := newStage(t)
			if dead {
				s.replace = func(string) []string { return []string{""} }
			}
			s.Subscribe()
			s.Pass(after)
			s.command(10, 10, 10)
			s.Pass(after / 3)
			s.Unsubscribe()
			s.Pass(time.Second)
			if s.Link.State() != devices.Idle || !s.Port().Closed || s.Log.FilterMessage(devices.LogCutOff).Len() > 0 {
				t.Fatalf("after %v: link %v", after, s.Link.State())
			}
		}
	}
}

// TestLostAndBack: commands are forgotten, data grows old, and the camera does
// not move when it is back.
func TestLostAndBack(t *testing.T) {
	for _, tt := range []struct {
		name string
		lose func(s *stage)
		mend func(s *stage)
	}{
		{"unplugged", func(s *stage) { s.Refuse = errors.New("no such file"); s.Port().HangUp() }, func(s *stage) { s.Refuse = nil }},
		{"silent", func(s *stage) { s.replace = func(string) []string { return []string{""} } }, func(s *stage) { s.replace = nil }},
		{"noise", func(s *stage) { s.replace = func(string) []string { return []string{"90 12 34 FF 01 02"} } }, func(s *stage) { s.replace = nil }},
		{"standby", func(s *stage) { s.replace = func(string) []string { return []string{"90 60 41 FF"} } }, func(s *stage) { s.replace = nil }},
		{"switched off and on", func(s *stage) { s.say(s.Port(), 0, "90 38 FF"); s.Refuse = errors.New("for a while") }, func(s *stage) { s.Refuse = nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			s.command(50, 20, 1000)
			s.reaches(50, 20, 1000, time.Second)
			s.command(-100, 20, 0)
			tt.lose(s)
			s.Pass(2*time.Second + 500*ms)
			if s.device.Command() != nil || !s.device.HasData() || s.device.Age(s.Now()) < 2*time.Second || s.Link.State() != devices.Ready {
				t.Errorf("command %v, data %v old, link %v", s.device.Command(), s.device.Age(s.Now()), s.Link.State())
			}
			s.command(1, 2, 3) // of the outage: not obeyed
			s.Pass(3 * time.Second)
			s.pan, s.tilt, s.zoom, s.sockets = 0, 0, 0, [2]*job{} // as cameras do when they are switched on
			s.forget()
			tt.mend(s)
			s.reaches(0, 0, 0, 2*time.Second+setupLimit)
			s.Pass(time.Second)
			for _, r := range s.heard {
				if strings.HasPrefix(r, commandTurn) || strings.HasPrefix(r, commandZoom) {
					t.Errorf("the camera was moved: %q", s.commands())
				}
			}
			if n := s.Log.FilterMessage(retry.LogBack).Len(); n != 1 {
				t.Errorf("log %q", s.logged())
			}
			s.command(5, 5, 5)
			s.reaches(5, 5, 5, time.Second)
			s.forget()
			s.Unsubscribe()
			s.Pass(time.Second)
			if len(s.commands()) != 2 {
				t.Errorf("at the end %q, want the way home", s.commands())
			}
		})
	}
}

// TestNoise: damaged answers cost time, not the line, and are not published.
func TestNoise(t *testing.T) {
	s := start(t)
	s.pan, s.tilt, s.zoom = 88, 12, 1
	s.Pass(100 * ms)
	n := 0
	damaged := []string{
		"90 50 00 00 05 18 00 00 00 0C FF", "90 50 00 05 08 00 00 0C FF", "90 50 07 00 05 08 00 00 00 0C FF",
		"90 50 00 07 00 00 FF", "90 50 00 00 05", "00 11 22", "90 90", "FF FF FF", "",
	}
	s.replace = func(string) []string {
		if n++; n%3 == 0 {
			return []string{damaged[n/3%len(damaged)]}
		}
		return nil
	}
	for range 200 {
		s.Pass(50 * ms)
		if got, want := s.data(), (codec.PTZData{Pan: -10, Tilt: 1, Zoom: 1}); got != want {
			t.Fatalf("published %+v, want %+v", got, want)
		}
	}
	if s.Link.State() != devices.Ready || s.device.Age(s.Now()) > time.Second || len(s.Ports) != 1 {
		t.Errorf("data %v old, %d ports", s.device.Age(s.Now()), len(s.Ports))
	}
	if n := s.Log.FilterMessage(transport.LogDamaged).Len(); n < 5 || n > 11 {
		t.Errorf("%d complaints in 10 s: %q", n, s.logged())
	}
}

// A camera that no client reads is not lost because two answers in a row are, or two inquiries are spoiled.
func TestLossAtRest(t *testing.T) {
	for _, inquiry := range []string{"81 09 06 12 FF", "81 09 04 47 FF"} {
		for _, answer := range []string{"", "90 60 02 FF"} {
			s := start(t)
			s.reads = 0
			s.Pass(2 * time.Second)
			lost := 0
			s.replace = func(request string) []string {
				if request == inquiry && lost < 2 {
					lost++
					return []string{answer}
				}
				return nil
			}
			if s.Pass(5 * time.Second); lost != 2 || len(s.Ports) != 1 || !s.driver.IsUp() {
				t.Errorf("%s, %q: %d lost, %d ports, up %v", inquiry, answer, lost, len(s.Ports), s.driver.IsUp())
			}
		}
	}
}

// The camera has nothing to configure: a request is refused (manual 3.6), and the camera hears nothing of it.
func TestConfigure(t *testing.T) {
	s := newStage(t)
	s.Ready()
	heard := len(s.heard)
	if err := s.device.Configure(s.Now(), []byte{'m', 1}); !errors.Is(err, devices.ErrNoConfiguration) || len(s.heard) > heard {
		t.Errorf("%v, the camera heard %q", err, s.heard[heard:])
	}
}

// TestSteadyStateAllocatesNothing goes through inquiries and commands.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	s := start(t)
	port := s.Port()
	s.World.Heard, s.reads = nil, 0
	s.Pass(minExchange)
	answers := map[request][]byte{
		inquirePanTilt: devicetest.Hex(t, "90 50 0F 0F 0F 0A 00 00 00 06 FF"),
		inquireZoom:    devicetest.Hex(t, "90 50 00 01 01 09 FF"),
		turn:           devicetest.Hex(t, "90 41 FF 90 51 FF"),
		zoom:           devicetest.Hex(t, "90 42 FF 90 52 FF"),
	}
	position := int16(0)
	var command [6]byte
	seq := s.device.Seq()
	requests := map[request]int{nothing: 0, inquirePanTilt: 0, inquireZoom: 0, turn: 0, zoom: 0}
	round := func() {
		position = (position + 1) % 20
		c := codec.PTZCommand{Pan: position, Zoom: position}
		s.device.SetCommand(s.Now(), c.Append(command[:0]))
		for range 8 {
			port.Wrote = port.Wrote[:0]
			requests[s.driver.request]++
			port.Say(answers[s.driver.request])
			s.block = s.device.AppendBlock(s.block[:0])
			s.Pass(minExchange)
		}
	}
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
	if s.device.Seq()-seq < 100 || requests[turn] < 100 || requests[zoom] < 100 {
		t.Errorf("%d positions, requests %v", s.device.Seq()-seq, requests)
	}
}
