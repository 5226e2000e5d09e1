package p2os

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"player/e2e/must"
)

// testModel is a Pioneer 2-DX with the figures of the original server.
var testModel = Model{
	Distance: 0.826, Angle: angleUnit, Velocity: 1, Range: 0.268, Axle: 320, Vel2: 20, Bits: 12, Turns: true, Sonars: ring16,
}

// stepped is an Odometry that gets a SIP every 100 ms.
type stepped struct {
	Odometry
	now time.Duration
}

func newStepped() *stepped { return &stepped{Odometry: Odometry{Model: &testModel}} }

func (o *stepped) Update(s *SIP) bool {
	o.now += 100 * time.Millisecond
	return o.Odometry.Update(s, o.now, 0, 0, 0) == nil
}

func (o *stepped) Reset()        { o.Odometry.Reset(o.now) }
func (o *stepped) Resume(s *SIP) { o.Odometry.Resume(s, o.now) }

// drive has the coordinates that a robot reports, and the expected result.
type drive struct {
	name     string
	raw      [][2]uint16 // units
	x, y     int         // mm
	rejected int
}

func (d drive) check(t *testing.T, o *stepped) {
	t.Helper()
	rejected := 0
	for _, raw := range d.raw {
		if !o.Update(at(raw[0], raw[1])) {
			rejected++
		}
	}
	if o.X() != d.x || o.Y() != d.y || rejected != d.rejected {
		t.Errorf("%s: (%d, %d) mm, %d rejected, want (%d, %d), %d", d.name, o.X(), o.Y(), rejected, d.x, d.y, d.rejected)
	}
}

func TestOdometry(t *testing.T) {
	for _, tt := range []drive{
		{"the first SIP is the reference", [][2]uint16{{4000, 17}}, 0, 0, 0},
		{"forward", [][2]uint16{{100, 0}, {200, 10}}, 83, 8, 0}, // 82.6, 8.26
		{"back over the wrap", [][2]uint16{{0, 0}, {0x0FF8, 0}}, -7, 0, 0},
		{"forward over the wrap", [][2]uint16{{4090, 4095}, {6, 0}}, 10, 1, 0},
		{"upper four bits do not count", [][2]uint16{{0xF010, 0x1000}, {0x1020, 0xF000}}, 13, 0, 0},
		{"121 units are 100 mm", [][2]uint16{{0, 0}, {121, 121}}, 100, 100, 0},
		{"122 units are too much", [][2]uint16{{0, 0}, {122, 0}}, 0, 0, 1},
		{"back too", [][2]uint16{{200, 0}, {78, 0}}, 0, 0, 1},
		{"half a wrap", [][2]uint16{{0, 0}, {2048, 0}}, 0, 0, 1},
		{"a jump discards both axes, the next counts from it", [][2]uint16{{0, 0}, {1000, 50}, {1050, 60}}, 41, 8, 1},
		{"a single jump is ignored", [][2]uint16{{0, 0}, {1000, 50}, {50, 10}, {100, 20}}, 83, 17, 1},
		{"as is the first of two to different places", [][2]uint16{{0, 0}, {1000, 50}, {2000, 10}, {2050, 20}}, 41, 8, 2},
		{"small steps do not add up rounding", [][2]uint16{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}}, 4, 4, 0},
	} {
		o := newStepped()
		tt.check(t, o)
	}
}

func at(x, y uint16) *SIP { return &SIP{X: x, Y: y} }

// TestOdometryReset: SIPs from before SETO took effect, then from 0.
func TestOdometryReset(t *testing.T) {
	for _, tt := range []drive{ // since Reset
		{"none yet", nil, 0, 0, 0},
		{"none late", [][2]uint16{{10, 4090}}, 8, -5, 0},
		{"a near one", [][2]uint16{{110, 100}, {0, 0}, {10, 4090}}, 8, -5, 0},
		{"a far one", [][2]uint16{{2000, 0}, {0, 0}, {10, 0}}, 8, 0, 0},
		{"110 mm away, the step back is 90", [][2]uint16{{133, 0}, {24, 0}, {48, 0}}, 40, 0, 0},
		{"the same along y", [][2]uint16{{0, 133}, {0, 24}, {0, 48}}, 0, 40, 0},
		{"95 mm away, the step back is 111", [][2]uint16{{115, 0}, {4076, 0}, {4056, 0}}, -33, 0, 0},
		{"two around 100 mm", [][2]uint16{{115, 0}, {139, 0}, {24, 0}}, 20, 0, 0},
		{"two far ones", [][2]uint16{{2000, 0}, {2024, 0}, {24, 0}}, 20, 0, 0},
		{"none late, fast, and one got lost", [][2]uint16{{121, 0}, {182, 0}, {242, 0}}, 200, 0, 0},
		{"a robot without SETO", [][2]uint16{{2000, 0}, {2000, 0}, {2000, 0}, {2010, 0}}, 8, 0, 1},
	} {
		o := newStepped()
		o.Update(at(100, 100))
		o.Update(at(150, 100))
		o.Reset()
		tt.check(t, o)
	}
}

// TestOdometryResume: a robot is at (826, 413) mm before it restarts, and goes
// 826 mm along its new x axis and back.
func TestOdometryResume(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after int16 // headings where it restarts, angle units
		x, y, heading int   // away
	}{
		{"straight on", 0, 0, 826 + 826, 413, 0},
		{"restarted where it faces left", 1024, 0, 826, 413 + 826, 90},
		{"restarted where it faces right", -1024, 0, 826, 413 - 826, 270},
		{"restarted where it faces back", 2048, 0, 0, 413, 180},
		{"60 degrees", 683, 0, 826 + 413, 413 + 716, 60},
		{"not restarted, but reopened", 1024, 1024, 826 + 826, 413, 90},
		{"turned meanwhile", 0, 1024, 826, 413 - 826, 0},
	} {
		o := newStepped()
		drive := func(s SIP, units int) {
			for range 10 {
				s.X += uint16(units / 10)
				o.Update(&s)
			}
		}
		o.Update(&SIP{Heading: tt.before})
		for u := range uint16(11) {
			o.Update(&SIP{X: 100 * u, Y: 50 * u, Heading: tt.before})
		}
		again := SIP{X: 4000, Y: 17, Heading: tt.after}
		o.Resume(&again)
		check := func(when string, x, y int) {
			t.Helper()
			if o.X() != x || o.Y() != y || o.Heading(&again) != tt.heading {
				t.Errorf("%s, %s: (%d, %d) mm, %d degrees, want (%d, %d), %d",
					tt.name, when, o.X(), o.Y(), o.Heading(&again), x, y, tt.heading)
			}
		}
		check("at once", 826, 413)
		drive(again, 1000)
		check("away", tt.x, tt.y)
		again.X += 1000
		drive(again, -1000)
		check("back", 826, 413)
	}
}

// TestOdometryRestarts: every restart goes on from the one before, to a part
// of a unit, and Reset ends it.
func TestOdometryRestarts(t *testing.T) {
	const eighth = 4096 / 8
	o := newStepped()
	o.Reset()
	for range 8 { // an octagon
		o.Update(at(0, 0))
		o.Update(at(100, 0))
		o.Update(&SIP{X: 100, Heading: eighth})
		o.Resume(&SIP{})
	}
	if o.X() != 0 || o.Y() != 0 || o.Heading(&SIP{}) != 0 {
		t.Errorf("around an octagon: (%d, %d) mm, %d degrees, want 0", o.X(), o.Y(), o.Heading(&SIP{}))
	}
	o.Update(&SIP{Heading: eighth})
	o.Resume(&SIP{})
	for range 100 { // 0.7 units along each axis
		o.Update(at(1, 0))
		o.Resume(&SIP{})
	}
	if o.X() != 58 || o.Y() != 58 || o.Heading(&SIP{}) != 45 {
		t.Errorf("100 units along the diagonal: (%d, %d) mm, %d degrees, want (58, 58), 45", o.X(), o.Y(), o.Heading(&SIP{}))
	}
	o.Reset()
	o.Update(at(100, 0))
	if o.X() != 83 || o.Y() != 0 || o.Heading(&SIP{}) != 0 {
		t.Errorf("after Reset: (%d, %d) mm, %d degrees, want (83, 0), 0", o.X(), o.Y(), o.Heading(&SIP{}))
	}
}

// TestOdometryRoundTrip drives away and back in steps that do not divide
// evenly, several times around the wrap.
func TestOdometryRoundTrip(t *testing.T) {
	const step, steps = 37, 1000
	o := newStepped()
	o.Update(at(0, 0))
	raw := 0
	drive := func(by int) {
		for range steps {
			raw += by
			if !o.Update(at(uint16(raw&4095), uint16(-raw&4095))) {
				t.Fatal("step rejected")
			}
		}
	}
	drive(step)
	if o.X() != 30562 || o.Y() != -30562 {
		t.Errorf("away: (%d, %d) mm, want ±30562", o.X(), o.Y())
	}
	drive(-step)
	if o.X() != 0 || o.Y() != 0 {
		t.Errorf("back: (%d, %d) mm, want 0", o.X(), o.Y())
	}
}

// TestOdometryRecorded follows a robot that drove 236 mm back from where SETO
// was sent, and returned the same way past it to 236 mm in front.
func TestOdometryRecorded(t *testing.T) {
	packets, _ := recording(t, "wrap.hex")
	o := newStepped()
	var s SIP
	least, most, last := 0, 0, 0
	for i, packet := range packets {
		if i == 7 {
			o.Reset()
		}
		if s.Decode(packet) != nil {
			continue
		}
		if !o.Update(&s) {
			t.Errorf("packet %d: rejected", i)
		}
		last = o.X()
		least, most = min(least, last), max(most, last)
		if s.X == 0 && last != 0 {
			t.Errorf("packet %d: %d mm where the robot says 0", i, last)
		}
	}
	if least != -236 || most != 236 || last != 236 || o.Y() != 0 {
		t.Errorf("x from %d to %d, at last %d, y %d; want -236 to 236, 236, 0", least, most, last, o.Y())
	}
}

// A SIP at speed after a gap: movement within the counters' range is counted, and a larger
// one is explained.
func TestOdometryGaps(t *testing.T) {
	pioneer3, pioneer1 := byName("p3dx").model(), byName("pion1m").model()
	whole := pioneer3
	whole.Bits = 15 // the option bits
	for _, tt := range []struct {
		name      string
		m         Model
		gap       time.Duration
		speed     int16 // mm/s, in the SIPs
		commanded float64
		units     int
		reason    string // empty: it is counted
		until     time.Duration
	}{
		{"half a second at 400 mm/s", testModel, 600 * time.Millisecond, 400, 400, 278, "", 0},
		{"one and a half", testModel, 1600 * time.Millisecond, 400, 400, 763, "", 0},
		{"back over the wrap", testModel, 1600 * time.Millisecond, -400, 400, -763, "", 0},
		{"an outage of a minute at full speed", testModel, time.Minute, 500, 500, 1300, "", 0},
		{"set off during the gap", testModel, 900 * time.Millisecond, 0, 300, 300, "", 0},
		{"rest, a corrupt packet", testModel, 100 * time.Millisecond, 0, 0, 500, "jumped by (413, 0) mm in 100ms", 0},
		{"farther than it drives", testModel, time.Second, 200, 200, 600, "jumped by (496, 0) mm in 1s", 0},
		{"it hears us for two seconds more", testModel, 5 * time.Second, 300, 300, 1700, "", 3 * time.Second},
		{"a Pioneer 3, a second at 500 mm/s", pioneer3, 1100 * time.Millisecond, 500, 500, 1100, "", 0},
		{"a Pioneer 3, an outage at 300 mm/s", pioneer3, time.Minute, 300, 300, 1400, "", 0},
		{"a Pioneer 3, an outage at 500 mm/s", pioneer3, time.Minute, 500, 500, 1000, "", 0}, // 1500 mm back are too far
		{"all bits, an outage, 700 mm", whole, time.Minute, 500, 500, 1500, "", 0},
		{"a Pioneer 3, an outage, forward or back", pioneer3, time.Minute, 500, 500, 1500, "nothing was heard for 1m0s", 0},
		{"a Pioneer 1, half a second at 400 mm/s", pioneer1, 600 * time.Millisecond, 158, 400, 4700, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Odometry{Model: &tt.m}
			sip := SIP{X: 10, Left: tt.speed, Right: tt.speed}
			must.Do(t, o.Update(&sip, time.Second, 0, 0, 0))
			sip.X += uint16(tt.units)
			err := o.Update(&sip, time.Second+tt.gap, tt.commanded, tt.until, 0)
			want := int(math.Round(float64(tt.units) * tt.m.Distance))
			if tt.reason != "" {
				want = 0
			}
			if o.X() != want || (err == nil) != (tt.reason == "") || err != nil && !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("x is %d mm, %v; want %d, %q", o.X(), err, want, tt.reason)
			}
			sip.X += 20 // goes on from here
			if err := o.Update(&sip, time.Second+tt.gap+100*time.Millisecond, 0, 0, 0); err != nil || o.X() == want {
				t.Errorf("x is %d mm, %v", o.X(), err)
			}
		})
	}
}

// A SIP is late, and the next one comes at once, after a third was lost: all that the
// robot moved is counted.
func TestOdometryLateSIPs(t *testing.T) {
	o := Odometry{Model: &testModel}
	sip := SIP{X: 10, Left: 400, Right: 400}
	for _, step := range []struct {
		at    time.Duration
		units uint16
	}{{time.Second, 0}, {1100 * time.Millisecond, 48}, {1600 * time.Millisecond, 48}, {1601 * time.Millisecond, 240}, {1700 * time.Millisecond, 48}} {
		sip.X += step.units
		if err := o.Update(&sip, step.at, 400, 0, 0); err != nil {
			t.Errorf("at %v: %v", step.at, err)
		}
	}
	if want := int(math.Round(384 * testModel.Distance)); o.X() != want {
		t.Errorf("x is %d mm, want %d", o.X(), want)
	}
	sip.X += 400
	if err := o.Update(&sip, 1701*time.Millisecond, 400, 0, 0); err == nil {
		t.Error("a jump that no delay explains is counted")
	}
}

// However SIPs are delayed, bunched and lost, the odometry is the robot's own: with the
// counters of each kind, at every speed, and with the odometry set to zero on the way.
func TestOdometryOfBunchedSIPs(t *testing.T) {
	for _, m := range []Model{testModel, byName("p3dx").model(), byName("psos1m").model()} {
		for seed := range uint64(200) {
			rnd := rand.New(rand.NewPCG(seed, 0))
			bunched(t, &m, fmt.Sprintf("%s, seed %d", m.Name, seed), rnd)
		}
	}
}

// bunched drives a robot for two minutes of its time, and checks its odometry each time when
// all delayed SIPs have come.
func bunched(t *testing.T, m *Model, name string, rnd *rand.Rand) {
	o := Odometry{Model: m}
	var (
		x, y, speed, course float64       // mm, mm/s, rad
		commanded           float64       // mm/s
		late                []SIP         // on their way
		until               time.Duration // SIPs are delayed, for less than counts as lost
		lost                int           // further SIPs that get lost
		fastest             float64       // mm/s, commanded since the latest SIP
	)
	frame := func(mm float64) uint16 { return uint16(int64(math.Round(mm/m.Distance)) & (m.wrap() - 1)) }
	o.Update(&SIP{}, time.Second, 0, 0, 0)
	for n := 1; n <= 1200; n++ {
		now := time.Second + time.Duration(n)*100*time.Millisecond
		if rnd.IntN(30) == 0 {
			commanded, course = float64(rnd.IntN(1001)-500), rnd.Float64()*2*math.Pi
		}
		fastest = max(fastest, math.Abs(commanded)) // with each SIP
		speed += max(-100, min(commanded-speed, 100))
		x, y = x+0.1*speed*math.Cos(course), y+0.1*speed*math.Sin(course)
		wheel := int16(math.Round(speed / m.Velocity))
		if lost == 0 && rnd.IntN(100) == 0 {
			lost = 1 + rnd.IntN(5)
		}
		if lost > 0 {
			lost--
		} else {
			late = append(late, SIP{X: frame(x), Y: frame(y), Left: wheel, Right: wheel})
		}
		if len(late) == 1 && rnd.IntN(20) == 0 {
			until = now + time.Duration(rnd.IntN(1400))*time.Millisecond
		}
		if until > now {
			continue
		}
		for i := range late {
			if err := o.Update(&late[i], now, fastest, now, 0); err != nil {
				t.Fatalf("%s, SIP %d: %v", name, n, err)
			}
			fastest = 0
		}
		fresh := len(late) > 0 && late[len(late)-1].X == frame(x) && late[len(late)-1].Y == frame(y)
		late = late[:0]
		if wantX, wantY := m.mm(int64(math.Round(x/m.Distance))), m.mm(int64(math.Round(y/m.Distance))); fresh &&
			max(math.Abs(float64(o.X())-wantX), math.Abs(float64(o.Y())-wantY)) > 0.51 {
			t.Fatalf("%s, SIP %d: (%d, %d) mm, want (%.1f, %.1f)", name, n, o.X(), o.Y(), wantX, wantY)
		}
		if fresh && rnd.IntN(100) == 0 {
			o.Reset(now)
			// Earlier SIPs may still come, all at once.
			for range rnd.IntN(10) {
				o.Update(&SIP{X: frame(x), Y: frame(y), Left: wheel, Right: wheel}, now+time.Millisecond, 0, now, 0)
			}
			x, y = 0, 0
			if math.Abs(float64(o.X())) > maxStep {
				t.Fatalf("%s, SIP %d: x is %d mm after Reset", name, n, o.X())
			}
		}
	}
}

// A server was paused. When it goes on it may send a command before it reads: the robot
// has not received that command in the pause, and was stopped by its watchdog.
func TestOdometryAfterAPause(t *testing.T) {
	model := byName("p3dx").model()
	model.Bits = 12
	const pause, way = 3770 * time.Millisecond, 1443 // units: 700 mm
	for rested, counted := range map[time.Duration]bool{pause - coast: true, 0: false} {
		o := Odometry{Model: &model}
		sip := SIP{Left: 450, Right: 450}
		must.Do(t, o.Update(&sip, time.Second, 450, time.Second, 0))
		sip.X = way
		if err := o.Update(&sip, time.Second+pause, 450, time.Second+pause, rested); (err == nil) != counted {
			t.Errorf("rested %v: x is %d mm, %v", rested, o.X(), err)
		}
	}
	// The driver knows how long.
	b, _ := ready(t, 9600)
	b.driver.steered, b.driver.odometry.at = b.Now()-5*time.Second, b.Now()-4*time.Second
	b.command(100, 0)
	b.Pass(commandGap)
	if want := 4*time.Second - coast; b.driver.rested < want || b.driver.rested > want+commandGap {
		t.Errorf("rested %v, want %v", b.driver.rested, want)
	}
}

// A pause in front of an outage says nothing of the time behind it: movements count when the connection is opened anew.
func TestOdometryAfterAPauseAndAnOutage(t *testing.T) {
	b, r := ready(t, 9600)
	b.driver.steered, b.driver.odometry.at = b.Now()-20*time.Second, b.Now()-20*time.Second
	b.command(100, 0)
	b.Pass(commandGap)
	r.switchOff()
	b.Port().HangUp()
	r.off = false
	b.UntilUp()
	for x := range uint16(20) {
		r.at(24*x, 0, 0) // 200 mm/s
		b.command(200, 0)
		b.Pass(100 * ms)
	}
	if p := b.pose(); p.X < 350 {
		t.Errorf("x is %d mm after 380 mm; log %q", p.X, b.Messages())
	}
}
