package p2os

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"player/devices/devicetest"
)

// pack returns the body of a GYROpac.
func pack(rates ...uint16) []byte {
	b := []byte{gyroPacket, byte(len(rates))}
	for _, v := range rates {
		b = append(binary.LittleEndian.AppendUint16(b, v), 25)
	}
	return b
}

// rest has a gyro find its centre.
func rest(g *gyro, at uint16) {
	for range 10 {
		g.read(pack(at, at, at, at), true)
	}
	g.turn(0)
}

func TestGyro(t *testing.T) {
	m := byName("p3dx").model()
	degrees := func(units float64) float64 { return units * m.Angle * 180 / math.Pi }
	const cycle = 100 * time.Millisecond
	g := newGyro(&m, gyroScaler)
	g.read(pack(400, 400, 400, 400), false)
	if _, ok := g.turn(cycle); ok {
		t.Error("a turn without a centre")
	}
	rest(&g, 500)
	for _, tt := range []struct {
		name    string
		rates   []uint16
		resting bool
		gap     time.Duration
		want    float64 // deg
		ok      bool
	}{
		// 10 below the centre are 9.537 deg/s to the left: AROS manual, ARIA.
		{"left", []uint16{490, 490, 490, 490}, false, cycle, 0.9537, true},
		{"right", []uint16{510, 510, 510, 510}, false, cycle, -0.9537, true},
		{"noise at rest", []uint16{501, 499, 502, 500}, true, cycle, 0, true},
		{"the same while driving", []uint16{498, 498, 498, 498}, false, cycle, 0.19074, true},
		{"turned by hand", []uint16{400, 400, 400, 400}, true, cycle, 9.537, true},
		{"a lost packet", []uint16{490, 490, 490, 490}, false, 2 * cycle, 0, false},
		{"nothing", nil, false, cycle, 0, false},
	} {
		if !g.read(pack(tt.rates...), tt.resting) {
			t.Errorf("%s: not whole", tt.name)
		}
		if turned, ok := g.turn(tt.gap); ok != tt.ok || ok && math.Abs(degrees(turned)-tt.want) > 0.001 {
			t.Errorf("%s: %v degrees, %v, want %v, %v", tt.name, degrees(turned), ok, tt.want, tt.ok)
		}
	}
	// The centre drifts, and is found again at the next rest.
	rest(&g, 505)
	g.read(pack(505, 505, 505, 505), false)
	if turned, ok := g.turn(cycle); turned != 0 || !ok {
		t.Errorf("around a new centre: %v, %v", turned, ok)
	}
	for _, bad := range [][]byte{{gyroPacket}, {gyroPacket, 2, 0, 2, 25}} {
		if g.read(bad, true) {
			t.Errorf("% X was taken", bad)
		}
	}
}

// The gyroscope gives the heading, and the robot's path follows it; the wheels give it while
// the gyroscope gives none.
func TestOdometryTurns(t *testing.T) {
	o := newStepped()
	o.Update(&SIP{})
	o.Update(&SIP{X: 100}) // 82.6 mm ahead
	quarter := SIP{X: 100, Heading: 2048}
	o.Turn(&quarter, 1024) // the wheels say 180 degrees
	o.Update(&quarter)
	if got := o.Heading(&quarter); got != 90 || o.X() != 83 {
		t.Errorf("%d degrees at %d mm, want 90 at 83", got, o.X())
	}
	back := SIP{X: 0, Heading: 2048} // ahead, in the robot's frame
	o.Update(&back)
	if o.X() != 83 || o.Y() != 83 {
		t.Errorf("(%d, %d) mm, want (83, 83)", o.X(), o.Y())
	}
	slipping := SIP{X: 0, Heading: 2148}
	o.Turn(&slipping, 0)
	o.Update(&slipping)
	wheels := SIP{X: 0, Heading: 2048}
	o.Update(&wheels)
	if got := o.Heading(&wheels); got != 81 { // 100 units are 8.8 degrees
		t.Errorf("%d degrees, want 81", got)
	}
}

// A SIP from before SETO does not change the heading permanently.
func TestOdometryTurnsAfterReset(t *testing.T) {
	o := newStepped()
	o.Update(&SIP{Heading: 1000})
	o.Reset()
	for _, heading := range []int16{1000, 0, 0, 512} {
		s := SIP{Heading: heading}
		turned := 0.0
		if heading == 512 {
			turned = 512
		}
		o.Turn(&s, turned)
		o.Update(&s)
	}
	if got := o.Heading(&SIP{Heading: 512}); got != 45 {
		t.Errorf("%d degrees, want 45", got)
	}
}

// The driver asks for packets if the configuration does, and reports when none come.
func TestGyroIsMissing(t *testing.T) {
	for _, asked := range []bool{false, true} {
		b := newBench(t)
		b.driver.overrides.Gyro, b.driver.overrides.GyroScaler = asked, gyroScaler
		r := b.robot(9600)
		b.Ready()
		b.Pass(gyroTime + time.Second)
		sent := strings.Contains(strings.Join(r.heard, "\n"), "command 58 3B 01 00")
		told := strings.Contains(strings.Join(b.Messages(), "\n"), "nothing of a gyroscope")
		if sent != asked || told != asked {
			t.Errorf("asked %v: sent %v, told %v; %q", asked, sent, told, r.heard)
		}
	}
}

// Older robots report the charger's state behind the SIP.
func TestCharge(t *testing.T) {
	older := devicetest.Hex(t, sipBody)
	for _, tt := range []struct {
		more string
		want string
	}{{"", ""}, {"7C 00", ""}, {"7C 00 00", "no"}, {"7C 00 01", "bulk"}, {"7C 00 02 00 00 00 00", "overcharge"}, {"7C 00 03", "float"}, {"7C 00 04", "balance"}, {"7C 00 FF", ""}, {"7C 00 05", ""}} {
		var s SIP
		if err := s.Decode(appendPacket(nil, append(older[:len(older):len(older)], devicetest.Hex(t, tt.more)...)...)); err != nil || s.ChargeState() != tt.want {
			t.Errorf("%q: %q, %v, want %q", tt.more, s.ChargeState(), err, tt.want)
		}
	}
}
