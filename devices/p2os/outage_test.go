package p2os

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"player/devices"
	"player/devices/devicetest"
	"player/devices/transport"
)

func TestLostAndBack(t *testing.T) {
	tests := []struct {
		name string
		away time.Duration
		lose func(b *bench, r *robot)
		back func(b *bench, r *robot)
		// the last packets that the robot receives after its return, without velocities
		heard []string
	}{
		{
			"unplugged, the robot stays open", 20 * time.Second,
			func(b *bench, r *robot) { b.Port().HangUp(); b.Refuse = errors.New("no such port") },
			func(b *bench, r *robot) { b.Refuse = nil },
			[]string{"SYNC0/PULSE"},
		}, {
			"switched off and on", time.Minute,
			func(b *bench, r *robot) { r.switchOff() },
			func(b *bench, r *robot) { r.off = false },
			[]string{"SYNC0/PULSE", "SYNC1/OPEN", "SYNC2/CLOSE", "SYNC1/OPEN", "SYNC0/PULSE", "SONAR 3B 01 00"},
		}, {
			"silent for some seconds", 3200 * ms,
			func(b *bench, r *robot) { r.muted = true },
			func(b *bench, r *robot) { r.muted = false },
			nil, // no handshake: it has never been closed
		},
	}
	for _, baud := range speeds {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				b, r := ready(t, baud)
				r.sip = devicetest.Hex(t, sipSpeed)
				b.command(200, 0)
				b.configure('m', 1)
				b.Pass(time.Second)
				before := b.pose()

				test.lose(b, r)
				b.Pass(test.away)
				if b.driver.IsUp() || b.Link.State() != devices.Ready || b.position.Command() != nil {
					t.Fatalf("not lost: link is %s, command %v", b.Link.State(), b.position.Command())
				}
				if age := b.position.Age(b.Now()); age < test.away-100*ms || b.pose() != before {
					t.Fatalf("data is %v old: %+v, was %+v", age, b.pose(), before)
				}
				if err := b.misc.Configure(b.Now(), []byte("m\x01")); !errors.Is(err, transport.ErrAway) {
					t.Fatalf("configuration of a lost robot: %v", err)
				}
				b.command(300, 0)
				r.heard = nil
				test.back(b, r)
				r.sip = devicetest.Hex(t, sipZero)
				b.UntilUp()
				b.Pass(time.Second)

				if age := b.position.Age(b.Now()); age > 100*ms {
					t.Fatalf("data is %v old", age)
				}
				var others []string
				for _, s := range r.heard {
					switch {
					case s == "VEL2 3B 00 00":
					case strings.HasPrefix(s, "VEL"), strings.HasPrefix(s, "ENABLE"), s == "SETO 3B":
						t.Fatalf("by itself the driver sent %q", s)
					default:
						others = append(others, s)
					}
				}
				for _, p := range b.Ports[1:] {
					if first := names(p.Wrote)[0]; first != "VEL2 3B 00 00" {
						t.Fatalf("the first packet is %s: the watchdog is fed before the wheels are stopped", first)
					}
				}
				if test.heard == nil && others != nil || len(others) < len(test.heard) || !slices.Equal(others[len(others)-len(test.heard):], test.heard) {
					t.Fatalf("robot heard %q, want %q", others, test.heard)
				}
				b.command(100, 0)
				b.Pass(100 * ms)
				if !slices.Contains(r.heard, "VEL2 3B 05 05") {
					t.Fatalf("a new command is not obeyed: %q", r.heard)
				}
				if len(b.Done) != 1 {
					t.Fatalf("the setups of the client ended with %v", b.Done)
				}
			})
		}
	}
}

// The clients' position continues from its last value, whatever the robot counts now.
func TestPositionSurvivesRestart(t *testing.T) {
	b, r := ready(t, 9600)
	r.sip = devicetest.Hex(t, sipSpeed)
	b.Pass(time.Second)
	r.switchOff()
	b.Pass(3 * time.Second)
	r.off = false
	r.sip = devicetest.Hex(t, sipZero)
	b.UntilUp()
	if p := b.pose(); p.X != 40 {
		t.Fatalf("position %+v", p)
	}
	r.sip = devicetest.Hex(t, sipSpeed)
	b.Pass(200 * ms)
	if p := b.pose(); p.X != 81 {
		t.Fatalf("position %+v", p)
	}
}

// The cable of a driving robot is pulled and put back: the movement until its watchdog
// stopped it is in its coordinates.
func TestMovementOfAnOutageIsCounted(t *testing.T) {
	b, r := ready(t, 9600)
	r.sip = devicetest.Hex(t, sipSpeed) // 400 mm/s at x 48
	b.command(400, 0)
	b.Pass(time.Second)
	before := b.pose()
	b.Port().HangUp()
	b.Refuse = errors.New("no such port")
	b.Pass(10 * time.Second)
	b.Log.TakeAll()
	b.Refuse = nil
	r.sip = devicetest.Hex(t, sipZero)
	r.at(48+1000, 0, 0)
	b.UntilUp()
	b.Pass(time.Second)
	if p := b.pose(); p.X != before.X+840 || p.Speed != 0 {
		t.Errorf("position %+v, before the outage %+v", p, before)
	}
	for _, line := range b.Messages() {
		if strings.Contains(line, "missing") || strings.Contains(line, "restart") {
			t.Errorf("log %q", line)
		}
	}
}

// A robot that restarts counts from (0, 0, 0) at its place and heading; its
// clients go on in the frame they know.
func TestPoseSurvivesRestart(t *testing.T) {
	const step = 110 // units in 100 ms: 92 mm
	b, r := ready(t, 9600)
	expect := func(when string, x, y int32, heading uint16) {
		t.Helper()
		if p := b.pose(); p.X != x || p.Y != y || p.Heading != heading {
			t.Fatalf("%s: (%d, %d) mm, %d degrees, want (%d, %d), %d", when, p.X, p.Y, p.Heading, x, y, heading)
		}
	}
	for u := uint16(0); u <= 22*step; u += step {
		r.at(u, u/2, 1024)
		b.Pass(100 * ms)
	}
	expect("before", 2033, 1016, 90)
	r.switchOff()
	b.Pass(3 * time.Second)
	r.off = false
	r.at(0, 0, 0)
	b.UntilUp()
	expect("restarted", 2033, 1016, 90)
	for u := uint16(0); u <= 11*step; u += step {
		r.at(u, 0, 0)
		b.Pass(100 * ms)
	}
	expect("a metre ahead", 2033, 2033, 90)
	r.at(11*step, 0, 1024)
	b.Pass(100 * ms)
	expect("turned left", 2033, 2033, 180)
	b.configure('R')
	r.at(step, 0, 0)
	b.Pass(100 * ms)
	expect("after reset", 92, 0, 0)
}

// A client resets the odometry just before the cable is pulled, so the robot may not have got SETO. Afterwards the pose
// is the origin in both cases.
func TestResetBeforeAnOutage(t *testing.T) {
	for _, test := range []struct {
		name     string
		received bool
		waits    time.Duration // after the reset
	}{
		{"SETO was lost", false, 0},
		{"SETO was received", true, 0},
		{"SETO was lost, and a report has come", false, 100 * ms},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, r := ready(t, 9600)
			b.command(400, 0)
			for u := uint16(0); u <= 600; u += 100 { // 83 mm in 100 ms
				r.at(u, 0, 1024)
				b.Pass(100 * ms)
			}
			b.configure('R')
			b.Pass(test.waits)
			b.Port().HangUp()
			b.Refuse = errors.New("no such port")
			b.Pass(5 * time.Second)
			b.Refuse = nil
			if test.received {
				r.at(0, 0, 0)
			}
			b.UntilUp()
			for range 5 {
				if p := b.pose(); p.X != 0 || p.Y != 0 || p.Heading != 0 {
					t.Fatalf("(%d, %d) mm, %d degrees: the client has reset it", p.X, p.Y, p.Heading)
				}
				b.Pass(100 * ms)
			}
			lines := b.Messages()
			if !slices.ContainsFunc(lines, func(s string) bool { return strings.HasSuffix(s, " "+LogUnsettled) }) {
				t.Errorf("log %q", lines)
			}
		})
	}
}
