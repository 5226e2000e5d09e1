package p2os

import (
	"math"
	"slices"
	"testing"

	"player/codec"
	"player/codec/pioneer"
	"player/devices"
	"player/devices/devicetest"
	"player/devices/transport/transporttest"
)

// Each model has as many sonars as its parameter file (SonarNum of ARIA, without those at 0, 0), each once.
func TestRings(t *testing.T) {
	counts := map[string]int{
		"p2pb": 24, "p2pp": 24, "perfpb": 32, "perfpb+": 32, "peoplebot-sh": 32, "powerbot": 28, "powerbot-sh": 28,
		"amigo": 8, "amigo-sh": 8, "pioneer-lx": 4, "seekur": 0, "seekurjr": 0, "wheelchair-sh": 0,
		"pioneer1": 7, "pion1m": 7, "pion1x": 7, "psos43m": 7, "pionat": 7, "psos1m": 7, "psos1x": 7,
	}
	for _, k := range kinds {
		m, want := k.model(), 16
		if n, other := counts[k.subclass]; other {
			want = n
		}
		ring := m.ring(k.subclass, false)
		if len(ring) != want {
			t.Errorf("%s: %d sonars, want %d", k.subclass, len(ring), want)
		}
		for i, s := range ring {
			if i > 0 && ring[i-1].number >= s.number || s.number < 0 || s.number >= robotSonars ||
				math.Abs(s.X) > m.Body.Length || math.Abs(s.Y) > m.Body.Width || s.Mount == (pioneer.Mount{}) {
				t.Errorf("%s: sonar %+v", k.subclass, s)
			}
		}
		if own := m.ring(k.subclass, true); len(own) > codec.SonarCount {
			t.Errorf("%s: %d sonars by the owner", k.subclass, len(own))
		}
	}
}

func TestReading(t *testing.T) {
	m := byName("p2dx").model()
	for raw, want := range map[uint16]uint16{
		0: codec.UnknownRange, 1: codec.UnknownRange, 2: 1, 1000: 268, 18655: codec.NothingInRange, 18653: 4999,
		65535: codec.NothingInRange,
	} {
		s := SIP{}
		s.Sonar[3] = raw
		if got := m.reading(&s, 3); got != want {
			t.Errorf("%d: %d, want %d", raw, got, want)
		}
	}
}

// recorded are two packets of a recorded P2-DX (p2os-basic), which have sonars 0 to 3, and 4 to 7.
var recorded = [...]string{
	"FA FB 27 32 A0 0F 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E" +
		" 04 00 E8 03 01 4C 04 02 B0 04 03 14 05 00 11 80 06 00 5A DC",
	"FA FB 27 32 A0 0F 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E" +
		" 04 04 78 05 05 DC 05 06 40 06 07 A4 06 01 11 80 06 00 87 06",
}

// A sonar that has not fired has no distance, and each keeps its last one.
func TestRanger(t *testing.T) {
	b, r := ready(t, 9600, devices.Ranger())
	ranger := b.open(codec.Ranger)
	b.Pass(100 * ms)
	want := slices.Repeat([]uint16{codec.UnknownRange}, 16)
	readings := func() []uint16 { return transporttest.Data[codec.RangerData](t, ranger).Ranges }
	if got := readings(); !slices.Equal(got, want) {
		t.Errorf("before a sonar has fired: %v", got)
	}
	for i, hex := range recorded {
		r.sip = devicetest.Hex(t, hex)
		b.Pass(100 * ms)
		copy(want[4*i:], [][]uint16{{268, 295, 322, 348}, {375, 402, 429, 456}}[i])
		if got := readings(); !slices.Equal(got, want) {
			t.Errorf("after packet %d: %v, want %v", i, got, want)
		}
	}
	rays := ranger.AppendRays(nil)
	if len(rays) != 16 || rays[2] != (codec.Rays{
		Device: ranger.Code(), First: 2, Count: 1, X: 148, Y: 78, Heading: 30, Far: 5000, Cone: 15,
	}) {
		t.Errorf("rays %+v", rays)
	}
	if parts := ranger.AppendParts(nil); len(parts) != 16 || parts[15].Number != 15 || parts[15].X != -157 {
		t.Errorf("parts %+v", parts)
	}
}

// The number of readings stays while the driver runs, also when another robot is there after an outage.
func TestRangerKeepsItsReadings(t *testing.T) {
	b, r := ready(t, 9600, devices.Ranger())
	ranger := b.open(codec.Ranger)
	b.Pass(100 * ms)
	r.subclass = "powerbot"
	r.switchOff()
	b.Port().HangUp()
	b.Pass(ms)
	r.off = false
	b.UntilUp()
	b.Pass(200 * ms)
	if n := len(transporttest.Data[codec.RangerData](t, ranger).Ranges); n != 16 || len(ranger.AppendRays(nil)) != 16 {
		t.Errorf("%d readings, %d rays", n, len(ranger.AppendRays(nil)))
	}
	if b.driver.model.Name != "PowerBot" {
		t.Errorf("the robot is a %s", b.driver.model.Name)
	}
}

func TestHotPathAllocatesNothing(t *testing.T) {
	b, r := ready(t, 9600, devices.Ranger())
	ranger := b.open(codec.Ranger)
	r.switchOff() // the test itself plays it
	b.Heard = nil
	b.Pass(200 * ms)
	p, sip, before := b.Port(), devicetest.Hex(t, recorded[0]), ranger.Seq()
	if n := testing.AllocsPerRun(100, func() {
		b.Pass(100 * ms)
		p.Wrote = p.Wrote[:0]
		p.Say(sip)
	}); n != 0 || ranger.Seq() < before+100 {
		t.Errorf("%v allocations for each packet", n)
	}
}
