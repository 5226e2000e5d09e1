package p2os

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/devicetest"
	"player/devices/transport/transporttest"
)

func TestSpeeds(t *testing.T) {
	for _, baud := range speeds {
		b, _ := newRobot(t, baud)
		start := b.Now()
		b.Ready()
		if b.Port().Baud != baud {
			t.Fatalf("ready at %d baud, robot at %d", b.Port().Baud, baud)
		}
		if took := b.Now() - start; took > setupTime/2 {
			t.Errorf("robot at %d baud took %v", baud, took)
		}
		// The next setup knows the speed.
		b.Unsubscribe()
		b.Pass(time.Second)
		b.Ready()
		if p := b.Port(); p.Baud != baud || len(b.Ports) != 2 {
			t.Errorf("second setup at %d baud", p.Baud)
		}
	}
}

// A robot that an earlier server left open is closed once, then as usual.
func TestLeftOpen(t *testing.T) {
	for _, baud := range speeds {
		b, r := newRobot(t, baud)
		b.Subscribe()
		r.start()
		b.UntilUp()
		b.Pass(50 * ms)
		got := slices.DeleteFunc(r.heard, func(s string) bool { return strings.HasPrefix(s, "VEL") })
		want := []string{"SYNC2/CLOSE", "SYNC0/PULSE", "SYNC1/OPEN", "SYNC2/CLOSE", "SYNC1/OPEN", "SYNC0/PULSE", "SONAR 3B 01 00", "SETO 3B"}
		if baud != speeds[0] { // it is found by its answer to SYNC0, which it takes for PULSE
			want = slices.Insert(want, 0, "SYNC0/PULSE")
		}
		if !slices.Equal(got, want) {
			t.Errorf("at %d baud the robot heard %q, want %q", baud, got, want)
		}
	}
}

// The first packet to a silent robot is SYNC0: some take nothing else. One that may be open
// is commanded to stop before anything else, whatever it reports.
func TestFirstPacket(t *testing.T) {
	first := func(b *bench) string { return b.wrote()[0] }
	b := newBench(t)
	b.Subscribe()
	if b.Pass(listenTime - ms); len(b.wrote()) != 0 {
		t.Errorf("before it has listened: %q", b.wrote())
	}
	if b.Pass(ms); first(b) != "SYNC0/PULSE" {
		t.Errorf("to a silent robot: %q", b.wrote())
	}
	if b.Pass(200 * ms); b.wrote()[1] != "VEL2 3B 00 00" {
		t.Errorf("when it has not answered: %q", b.wrote())
	}

	for name, noise := range map[string]string{"packets": "FA FB", "noise": "00"} {
		b := newBench(t)
		b.Subscribe()
		b.Pass(50 * ms)
		b.Port().Say(devicetest.Hex(t, noise))
		if b.Pass(listenTime); first(b) != "VEL2 3B 00 00" {
			t.Errorf("%s were heard: %q", name, b.wrote())
		}
	}

	b = newBench(t)
	r := b.robot(9600)
	b.Ready()
	r.switchOff()
	b.Pass(2500 * ms)
	port := len(b.Ports)
	b.Pass(3 * time.Second)
	if len(b.Ports) <= port || names(b.Port().Wrote)[0] != "VEL2 3B 00 00" {
		t.Errorf("to a robot that was lost: %q", names(b.Port().Wrote))
	}
}

// Any packet of the handshake may get lost, in either direction.
func TestLostPackets(t *testing.T) {
	for _, lost := range []string{"SYNC0/PULSE", "SYNC1/OPEN", "SYNC2/CLOSE"} {
		for times := 1; times <= 2; times++ {
			b, r := newRobot(t, 9600)
			r.deaf[lost] = times
			b.Ready()
		}
	}
	for at := time.Duration(0); at < 400*ms; at += 5 * ms {
		b, r := newRobot(t, 9600)
		b.Subscribe()
		b.Pass(at)
		r.muted = true
		b.Pass(15 * ms)
		r.muted = false
		b.UntilUp()
	}
}

func TestSetupFails(t *testing.T) {
	for _, test := range []struct {
		name   string
		play   func(b *bench)
		within time.Duration
		want   string
	}{
		{"no port", func(b *bench) { b.Refuse = errors.New("no such port") }, 0, "no such port"},
		{"no hardware", func(b *bench) {}, 2*time.Second - 1, "/dev/robot: no answer at 9600 to 115200 baud"},
		{"a laser", (*bench).laser, 2*time.Second - 1, "a SICK laser is heard here, not a robot: are the ports swapped?"},
		{"no stream", func(b *bench) { b.robot(9600).deaf["SYNC1/OPEN"] = 1 << 30 }, Kind().SetupLimit - 1, "the robot answers, but"},
		{"a loop of wire", (*bench).echo, Kind().SetupLimit - 1, "the robot answers, but"},
		{"unplugged", func(b *bench) { b.After(300*ms, func() { b.Port().HangUp() }) }, 300 * ms, "unplugged"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			test.play(b)
			b.Subscribe()
			b.Pass(test.within)
			b.Failed(test.want)
			b.Refuse = nil
			b.robot(9600)
			b.Ready() // the next request finds the robot
		})
	}
}

// echo makes the line return the bytes sent to it.
func (b *bench) echo() {
	b.Heard = func(p *transporttest.Port, sent []byte) { b.After(10*ms, func() { p.Say(sent) }) }
}

// laser makes a laser at 38400 baud send scans, headed as recorded.
func (b *bench) laser() {
	scan := devicetest.Hex(b.T, "02 80 16 00 BA 4C 4D 53 32 30 30 3B 33 30 31 30 36 3B 56 30 32 2E 31 30 20 10 99 AB") // its name, as good as a scan
	var send func()
	send = func() {
		if p := b.Port(); p.Baud == 38400 {
			p.Say(scan)
		}
		b.After(200*ms, send)
	}
	b.After(200*ms, send)
}

// Shutdown comes at any moment, also of the setup.
func TestShutdown(t *testing.T) {
	for at := time.Duration(0); at < 1500*ms; at += 10 * ms {
		b, _ := newRobot(t, 9600)
		b.Subscribe()
		b.Pass(at)
		b.command(200, 0)
		b.Unsubscribe()
		end := b.Now()
		if !b.Until(func() bool { return b.Link.State() == devices.Idle }, 1500*ms) {
			t.Fatalf("shutdown after %v: link is %s", at, b.Link.State())
		}
		if took := b.Now() - end; took > 200*ms {
			t.Fatalf("shutdown after %v took %v", at, took)
		}
		got := b.wrote()
		if want := []string{"VEL2 3B 00 00", "STOP", "SYNC2/CLOSE"}; !slices.Equal(got[len(got)-3:], want) {
			t.Fatalf("shutdown after %v: robot heard %q", at, got)
		}
		if !b.Port().Closed {
			t.Fatalf("shutdown after %v: port is open", at)
		}
	}
}

// A robot that falls silent still gets commands, until it counts as lost.
func TestPulse(t *testing.T) {
	b, r := ready(t, 9600)
	b.Pass(20 * ms)
	r.muted, r.heard = true, nil
	b.Pass(100 * ms)
	b.Pass(1900 * ms)
	if got := count(r.heard, "SYNC0/PULSE"); got != 1 {
		t.Fatalf("%d PULSE in 2 s: %q", got, r.heard)
	}
	if b.Link.State() != devices.Ready || b.driver.IsUp() {
		t.Fatal("silence is not noticed")
	}
}

// A search has sent CLOSE before a packet arrives that the robot sent while it was
// open: it is opened anew, not taken for one that is still open.
func TestPacketFromBeforeClose(t *testing.T) {
	b, r := ready(t, 9600)
	r.muted = true
	closes := func() bool { return slices.Contains(r.heard, "SYNC2/CLOSE") }
	r.heard = nil
	if !b.Until(closes, 10*time.Second) || !b.Until(func() bool { return b.driver.Phase() == sync0 }, time.Second) {
		t.Fatalf("the robot heard %q", r.heard)
	}
	r.muted = false
	r.saying(r.sip)
	if b.driver.IsUp() {
		t.Fatal("a robot that was closed is up")
	}
	b.UntilUp()
	b.Pass(time.Second)
	if r.stage != 4 || b.position.Age(b.Now()) > 100*ms {
		t.Fatalf("robot at stage %d, data %v old", r.stage, b.position.Age(b.Now()))
	}
}

// Any model is found out, and its units are used; its sonars come to Player's places.
func TestModels(t *testing.T) {
	for _, tt := range []struct {
		subclass string
		x        int32  // mm for 1000 units, less the first SIP's x
		sonar3   uint16 // mm for raw 1000 of the robot's number 3, at place
		place    int
		warned   bool
	}{
		{"p2dx", 840, 268, 3, false},
		{"p3dx-sh", 1000, 1000, 3, false},
		{"P3DX-SH", 1000, 1000, 3, false},
		{"p3at", 465, 1000, 3, false},
		{"amigo", 508, 1000, 4, false},
		{"p3dx-sh-lms500", 1000, 1000, 3, true},
		{"p2df", 485, 268, 3, false},
		{"p2at8+", 465, 1000, 3, false},
		{"seekur-sh", 1000, 1000, 3, true},
		{"pioneer-lx", 1000, 1000, 11, false},
		{"researchPB", 1000, 1000, 3, false},
	} {
		t.Run(tt.subclass, func(t *testing.T) {
			b, r := newRobot(t, 9600)
			r.subclass = tt.subclass
			b.Ready()
			r.sip = appendPacket(nil, devicetest.Hex(t, "32 00 00 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E 01 03 E8 03 04 11 80 06 00")...)
			for x := uint16(0); x <= 1000; x += 50 {
				r.at(x, 0, 0)
				b.Pass(100 * ms)
			}
			ranges := transporttest.Data[codec.SonarData](t, b.sonar)
			if p := b.pose(); p.X != tt.x || ranges[tt.place] != tt.sonar3 {
				t.Errorf("x %d mm, sonars %d; want %d, and %d at place %d", p.X, ranges, tt.x, tt.sonar3, tt.place)
			}
			if warned := b.Log.FilterMessage(LogUnknown).Len() > 0; warned != tt.warned {
				t.Errorf("warned: %v, want %v", warned, tt.warned)
			}
		})
	}
}

// The units of a robot of an unknown model are not guessed: its owner configures them.
func TestUnknownModel(t *testing.T) {
	b := newBench(t)
	b.robot(9600).subclass = "p2at9"
	b.Subscribe()
	b.Pass(setupTime)
	if len(b.Done) == 0 || b.Done[0] == nil || !strings.Contains(b.Done[0].Error(), `"p2at9"`) || !strings.Contains(b.Done[0].Error(), "p2at8+") {
		t.Errorf("setup %v", b.Done)
	}
	for _, with := range []Overrides{{Subclass: "p2at8"}, {Distance: 1.32}} {
		b := newBench(t)
		b.driver.overrides = with
		b.robot(9600).subclass = "p2at9"
		b.Ready()
		if b.driver.model.Distance != 1.32 {
			t.Errorf("%+v: %+v", with, b.driver.model)
		}
	}
}

// For any events in any order, the driver neither hangs nor forgets a
// port, and a robot that works is found.
func FuzzDriver(f *testing.F) {
	f.Add([]byte{3, 0, 200, 1, 2, 0xFA, 0xFB, 0, 250, 2, 0, 250, 8, 1, 2, 3, 4})
	f.Add([]byte{3, 0, 20, 6, 0, 250, 0, 250, 7, 1, 4, 5, 0, 250, 3, 3})
	f.Add([]byte{3, 0, 250, 8, 1, 1, 1, 1, 10, 1, 109, 9, 17, 5, 2, 0, 250, 3, 0, 1, 3, 6})
	f.Add([]byte{3, 5, 0, 0, 50, 3, 0, 200, 5, 1, 0, 200, 5, 0, 0, 250})
	f.Fuzz(func(t *testing.T, script []byte) {
		b, r := newRobot(t, 9600)
		b.Chaos(script, func() { r.off = false },
			func(func() byte) {
				if r.off = !r.off; r.off {
					r.switchOff()
				}
			},
			func(next func() byte) { r.baud = speeds[int(next())%len(speeds)] },
			func(next func() byte) { b.position.SetCommand(b.Now(), []byte{next(), next(), next(), next()}) },
			func(next func() byte) { b.gripper.SetCommand(b.Now(), []byte{next(), next()}) },
			func(next func() byte) { _ = b.misc.Configure(b.Now(), []byte{next(), next()}) }, // or not
		)
	})
}

// A robot whose last handshake ended between SYNC2 and OPEN does not answer until it is
// closed.
func TestLeftHalfOpen(t *testing.T) {
	for _, baud := range speeds[:2] {
		b := newBench(t)
		b.robot(baud).stage = 3
		b.Ready()
	}
}

// The owner's settings are sent to each robot that answers, also to one that was off.
func TestTuning(t *testing.T) {
	b, r := newRobot(t, 9600)
	b.driver.overrides.Tuning = Tuning{
		Acceleration: 300, Deceleration: 600, TurnAcceleration: 100, TurnDeceleration: 200, TicksMM: 128, RevCount: 16570, DriftFactor: -50,
	}
	b.Ready()
	want := []string{"command 5 3B 2C 01", "command 5 1B 58 02", "command 23 3B 64 00", "command 23 1B C8 00",
		"command 93 3B 80 00", "command 88 3B BA 40", "command 89 1B 32 00"}
	sent := func() (n int) {
		wrote := b.wrote()
		for i := range wrote {
			if i+len(want) <= len(wrote) && slices.Equal(wrote[i:i+len(want)], want) {
				n++
			}
		}
		return n
	}
	if sent() != 1 {
		t.Errorf("wrote %q, want once %q", b.wrote(), want)
	}
	r.switchOff()
	b.Pass(3 * time.Second)
	r.off = false
	b.UntilUp()
	if sent() != 2 {
		t.Errorf("after it was off: wrote %q, want twice %q", b.wrote(), want)
	}

	b = newBench(t)
	b.robot(9600)
	b.Ready()
	for _, packet := range b.wrote() {
		if strings.HasPrefix(packet, "command ") {
			t.Errorf("nothing is tuned: wrote %q", packet)
		}
	}
}

// Noise can make an answer the beginning of a long packet. That packet does not swallow the
// answers to later requests: it costs no more than a lost answer, and one more request.
func TestTruncatedAnswer(t *testing.T) {
	setup := func(at time.Duration, noise string) time.Duration {
		b, r := newRobot(t, 9600)
		begin := b.Now()
		b.Subscribe()
		b.Pass(at)
		b.Port().Say(devicetest.Hex(t, noise))
		r.muted = true
		b.Pass(15 * ms)
		r.muted = false
		b.UntilUp()
		return b.Now() - begin
	}
	for at := time.Duration(0); at < listenTime+100*ms; at += 5 * ms {
		if lost, took := setup(at, "00"), setup(at, "FA FB F9"); took > lost+answerTime {
			t.Errorf("noise after %v: the setup took %v, without the noise %v", at, took, lost)
		}
	}
}
