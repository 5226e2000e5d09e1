package sicklms200

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"player/devices"
	"player/devices/devicetest"
)

func TestFindsLaser(t *testing.T) {
	for _, baud := range speeds {
		for _, streaming := range []bool{false, true} {
			for _, right := range []bool{false, true} {
				b, l := newLaser(t, baud)
				want := []string{"stop", "38400", "status?", "configuration?", "variant", "password", "configuration", "stream"}
				if baud >= streamSpeed {
					want = slices.DeleteFunc(want, func(s string) bool { return s == "38400" })
				}
				if right {
					want = slices.DeleteFunc(want, func(s string) bool { return s == "variant" || s == "password" || s == "configuration" })
				} else {
					l.variant = Variant{100, 25}
					l.config[Units] = byte(Centimetres)
					l.config[MeasuringMode] = 6
					l.config[20] = 0x55
				}
				b.Subscribe()
				if l.streaming = streaming; streaming {
					l.tick()
				}
				b.UntilUp()
				if !slices.Equal(l.heard, want) || l.baud != max(baud, streamSpeed) {
					t.Errorf("laser at %d baud, streaming %v: it heard %q, want %q", baud, streaming, l.heard, want)
				}
				if !right && (l.config[Units] != 1 || l.config[MeasuringMode] != 0 || l.config[20] != 0x55) {
					t.Errorf("configuration % X", l.config)
				}
				if took := b.Now() - time.Second; took > setupTime/2 {
					t.Errorf("laser at %d baud took %v", baud, took)
				}
				// The next setup knows the speed.
				b.Unsubscribe()
				b.Pass(time.Second)
				if l.streaming {
					t.Error("the laser was left streaming")
				}
				start := b.Now()
				b.Ready()
				if took := b.Now() - start; took > 500*ms {
					t.Errorf("second setup took %v", took)
				}
			}
		}
	}
}

// A laser with the right settings streams, whatever else it refuses; another is set as far
// as it allows.
func TestLaserThatRefuses(t *testing.T) {
	mute := func(names ...string) func(l *laser) {
		return func(l *laser) {
			for _, name := range names {
				l.deaf[name] = 1000
			}
		}
	}
	nack := func(names ...string) func(l *laser) {
		return func(l *laser) {
			for _, name := range names {
				l.answers[name] = nackHex
			}
		}
	}
	deny := func(l *laser) { l.answers["password"] = ackDeny }
	for _, tt := range []struct {
		name    string
		prepare func(l *laser)
		heard   string // which requests, once each
	}{
		{"the password", deny, "stop status? configuration? stream"},
		{"its status", nack("status?"), "stop status? configuration? stream"},
		{"its configuration", nack("configuration?"), "stop status? configuration? stream"},
		{"everything that is of no need", nack("stop", "status?", "configuration?", "variant", "password"), "stop status? configuration? stream"},
		{"to answer for its status", mute("status?"), "stop configuration? stream"},
		{"to answer for status and configuration", mute("status?", "configuration?"), "stop stream"},
		{"the password, but no variant", func(l *laser) { deny(l); l.variant = Variant{100, 25} }, "stop status? configuration? variant stream"},
		{"its status, while it measures 100 degrees", func(l *laser) { nack("status?")(l); l.variant = Variant{100, 50} },
			"stop status? configuration? stream stop status? configuration? variant stream"},
		{"a variant outside configuration mode", func(l *laser) { l.locked = true; l.variant = Variant{180, 100} },
			"stop status? configuration? variant password variant stream"},
		{"nothing, and flags three fields", func(l *laser) { l.config[MeasuringMode] = 2 }, "stop status? configuration? stream"},
		{"nothing, and sends indices", func(l *laser) { l.config[4] = 2 }, "stop status? configuration? stream"},
		{"the password, and measures 16 m", func(l *laser) { deny(l); l.config[MeasuringMode] = 3 }, "stop status? configuration? password stream"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, l := newLaser(t, 38400)
			tt.prepare(l)
			b.Ready()
			b.Pass(time.Second)
			if got := strings.Join(slices.Compact(l.heard), " "); got != tt.heard || b.ranges()[0] != 1000 || b.laser.Age(b.Now()) > 300*ms {
				t.Errorf("the laser heard %q, want %q; data %v old", got, tt.heard, b.laser.Age(b.Now()))
			}
			if n := b.Log.FilterMessageSnippet("another measuring mode").Len(); n != strings.Count(tt.name, "16 m") {
				t.Errorf("log %v", b.Log.All())
			}
		})
	}
}

// A search begins where the laser was last.
func TestLastSpeedIsTriedFirst(t *testing.T) {
	b, l := ready(t, 500000)
	b.Unsubscribe()
	b.Pass(time.Second)
	l.off = true
	b.Subscribe()
	b.Pass(Kind().SetupLimit) // it has failed at all speeds
	l.off = false
	start := b.Now()
	b.Ready()
	if took := b.Now() - start; took > 300*ms {
		t.Errorf("a laser at the last speed took %v", took)
	}
}

// Every request and every answer may get lost once.
func TestLostTelegrams(t *testing.T) {
	for name := range requestSet() {
		for _, answer := range []bool{false, true} {
			b, l := newLaser(t, 9600)
			l.variant, l.config[Units] = Variant{100, 25}, 0
			if answer {
				l.dumb[name] = 1
			} else {
				l.deaf[name] = 1
			}
			b.Subscribe()
			up := b.Until(b.driver.IsUp, Kind().SetupLimit)
			if name == "configuration" && !up {
				// That request is made once; the next setup finds it done or makes it.
				b.Subscribe()
				up = b.Until(b.driver.IsUp, Kind().SetupLimit)
			}
			if !up || l.variant != wanted || l.config[Units] != 1 {
				t.Errorf("%s lost (answer: %v): not connected: %v; laser heard %q", name, answer, b.Done, l.heard)
			}
		}
	}
}

func requestSet() map[string]bool {
	set := map[string]bool{"configuration": true}
	for _, name := range requestNames {
		set[name] = true
	}
	return set
}

// Answers that come after the request was made again are not taken for answers
// to the next one.
func TestLateAnswers(t *testing.T) {
	for _, name := range []string{"38400", "password", "stream"} {
		b, l := newLaser(t, 9600)
		l.variant = Variant{100, 25}
		l.late[name] = answerTime + 50*ms
		b.Subscribe()
		b.Until(func() bool { return count(l.heard, name) == 2 }, Kind().SetupLimit)
		l.late[name] = 0
		b.UntilUp()
		if want := 9; len(l.heard) > want {
			t.Errorf("%s late: laser heard %q", name, l.heard)
		}
	}
}

func count(list []string, s string) (n int) {
	for _, v := range list {
		if v == s {
			n++
		}
	}
	return n
}

func TestSetupFails(t *testing.T) {
	for _, test := range []struct {
		name   string
		play   func(b *bench)
		within time.Duration
		want   string
	}{
		{"no port", func(b *bench) { b.Refuse = errors.New("no such port") }, 0, "no such port"},
		{"no hardware", func(b *bench) {}, 3 * time.Second, "/dev/laser: no answer at 9600, 19200, 38400 or 500000 baud: is the laser on"},
		{"a line without 500000 baud", func(b *bench) { b.MaxSpeed = 115200 }, 2100 * ms, "no answer at"},
		{"a robot", babble("FA FB 06 32 00 00 01 32 01"), 1500 * ms, "a P2OS robot is heard here, not a laser: are the ports swapped?"},
		{"a camera", babble("90 50 00 00 00 00 FF"), 1500 * ms, "a VISCA camera is heard here, not a laser"},
		{"noise", babble("55 AA 02 80 FF"), Kind().SetupLimit - 1, "bytes came that are not understood, nothing that a laser sends"},
		{"a laser that hears nothing", func(b *bench) {
			l := b.newLaser(38400)
			l.streaming = true
			l.tick()
			l.deaf["stop"] = 1000
			b.After(Kind().SetupLimit, func() { l.off = true })
		}, Kind().SetupLimit - 1,
			"the laser streams, but does not answer: is the wire to it broken?"},
		{"wrong password", func(b *bench) {
			l := b.newLaser(9600)
			l.config[Units], l.variant, l.locked = 0, Variant{100, 25}, true
			l.answers["password"] = ackDeny
		}, time.Second, "the laser refuses to enter configuration mode: its password is not SICK_LMS. It measures 100 degrees in steps of 0.25, in cm, " +
			"not 180 degrees in steps of 0.5, in mm: set it to"},
		{"fault", func(b *bench) {
			l := b.newLaser(9600)
			l.config[Units] = 0
			l.answers["password"] = "02 80 03 00 A0 02 10 12 08"
		}, time.Second, "the laser refuses to enter configuration mode: its interface has a fault: switch it off and on"},
		{"all refused", func(b *bench) {
			l := b.newLaser(38400)
			for _, name := range requestNames {
				l.answers[name] = nackHex
			}
		}, 2 * time.Second, "the laser refuses to stream: not acknowledged: switch it off and on"},
		{"speed refused", script("38400", nackHex), time.Second, "the laser refuses to change to 38400 baud: not acknowledged"},
		{"variant refused", func(b *bench) {
			l := b.newLaser(9600)
			l.variant = Variant{180, 100}
			l.answers["variant"] = "02 80 07 00 BB 00 B4 00 64 00 10 7B 20"
		}, time.Second, "the laser refuses to scan 180 degrees in steps of 0.5: it keeps its setting. It measures 180 degrees in steps of 1, in mm, not"},
		{"variant refused and not told", func(b *bench) {
			l := b.newLaser(9600)
			l.variant = Variant{180, 100}
			l.answers["status?"], l.answers["variant"] = nackHex, "02 80 07 00 BB 00 B4 00 64 00 10 7B 20"
		}, 2 * time.Second, "the laser refuses to scan 180 degrees in steps of 0.5: it keeps its setting. It measures 180 degrees in steps of 1, in mm, not"},
		{"cm and not told", func(b *bench) {
			l := b.newLaser(9600)
			l.config[Units] = 0
			l.answers["configuration?"] = nackHex
		}, 2 * time.Second, "scan in a wrong unit: millimetres are needed; set it to 180 degrees"},
		{"units refused", func(b *bench) {
			l := b.newLaser(9600)
			l.config[Units] = 0
			// accepted, but still in cm
			l.answers["configuration"] = "02 80 23 00 F7 01 00 00 70 00 00 00 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11 12 13 14 15 16 17 18 10"
			l.seal("configuration")
		}, time.Second, "the laser refuses to measure in millimetres: it keeps its setting"},
		{"stream refused", script("stream", nackHex), time.Second, "the laser refuses to stream: not acknowledged"},
		{"no scan", func(b *bench) { b.newLaser(9600).mute = true }, Kind().SetupLimit - 1, "no answer when asked to stream"},
		{"scans in cm", func(b *bench) {
			l := b.newLaser(9600)
			l.mute = true
			b.After(time.Second, func() { l.say(cmScan()) })
		}, 1100 * ms, "scan in a wrong unit"},
		{"unplugged", func(b *bench) { b.After(300*ms, func() { b.Port().HangUp() }) }, 300 * ms, "unplugged"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			test.play(b)
			b.Subscribe()
			b.Pass(test.within)
			b.Failed(test.want)
			b.Refuse, b.MaxSpeed = nil, 0
			b.Pass(time.Second)
			b.newLaser(9600)
			b.Ready() // the next request finds the laser
		})
	}
}

// babble is other hardware that sends a packet ten times a second.
func babble(packet string) func(b *bench) {
	return func(b *bench) {
		var say func()
		say = func() {
			if b.Port().Closed {
				return
			}
			b.Port().Say(devicetest.Hex(b.T, packet))
			b.After(100*ms, say)
		}
		b.After(50*ms, say)
	}
}

// script is a laser that gives one request a wrong answer.
func script(name, answer string) func(b *bench) {
	return func(b *bench) { b.newLaser(9600).answers[name] = answer }
}

// seal completes a scripted answer with its CRC.
func (l *laser) seal(name string) {
	l.answers[name] = fmt.Sprintf("% X", reseal(append(devicetest.Hex(l.bench.T, l.answers[name]), 0, 0)))
}

func cmScan() []byte {
	t := scanOf(100)
	t[6] &^= 0xC0
	return reseal(t)
}

func TestShutdown(t *testing.T) {
	for at := time.Duration(0); at < 4*time.Second; at += 50 * ms {
		b, l := newLaser(t, 38400)
		b.Subscribe()
		b.Pass(at)
		b.Unsubscribe()
		b.Pass(100 * ms)
		if b.Link.State() != devices.Idle || !b.Port().Closed {
			t.Fatalf("shutdown after %v: link is %s", at, b.Link.State())
		}
		if l.streaming {
			t.Fatalf("shutdown after %v: the laser streams on", at)
		}
		b.Pass(10 * time.Second)
		if len(b.Ports) != 1 {
			t.Fatalf("shutdown after %v: the port was opened again", at)
		}
	}
}

// A laser that another program has set to centimetres is lost, until it is set right.
func TestLostByItsSettings(t *testing.T) {
	b, l := ready(t, 9600)
	b.Pass(time.Second)
	l.say(cmScan())
	l.off = true
	b.Pass(5 * time.Second)
	if b.driver.IsUp() || b.Link.State() != devices.Ready || b.laser.Age(b.Now()) < 4*time.Second {
		t.Fatalf("not lost: link is %s, data %v old", b.Link.State(), b.laser.Age(b.Now()))
	}
	l.off = false
	b.UntilUp()
	b.Pass(10 * time.Second)
	if age := b.laser.Age(b.Now()); age > 200*ms || len(b.Done) != 1 {
		t.Fatalf("data is %v old, the setups of the client ended with %v", age, b.Done)
	}
}

// For any events in any order, the driver neither hangs nor forgets a
// port, and a laser that works is found.
func FuzzDriver(f *testing.F) {
	f.Add([]byte{3, 0, 200, 1, 2, 0x02, 0x80, 0, 250, 2, 0, 250})
	f.Add([]byte{3, 0, 20, 6, 0, 250, 0, 250, 7, 4, 6, 0, 250, 3, 3})
	f.Add([]byte{3, 0, 250, 0, 250, 2, 0, 250, 3, 0, 1, 3, 6})
	f.Add([]byte{3, 5, 0, 0, 50, 3, 0, 200, 5, 1, 0, 200, 5, 0, 0, 250})
	f.Fuzz(func(t *testing.T, script []byte) {
		b, l := newLaser(t, 9600)
		b.Chaos(script, func() { l.off = false },
			func(func() byte) { l.off = !l.off },
			func(next func() byte) { l.baud, l.streaming = speeds[next()%byte(len(speeds))], false },
		)
	})
}
