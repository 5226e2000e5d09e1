package vfh

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"player/codec"
	"player/e2e/must"
)

// everything is a portion in which each plan is complete.
const everything = patience + 1

// pioneer returns the way of a Pioneer to a goal.
func pioneer(t testing.TB, x, y int) *Way {
	w := must.Get(New(Pioneer()))(t)
	w.Aim(x, y)
	return w
}

// next is a report with a complete plan.
func (w *Way) next(p *codec.PositionData, beams []Beam) (speed, turn int, arrived bool) {
	w.Report(p, beams)
	w.Plan(everything)
	speed, turn = w.Command()
	return speed, turn, w.Arrived()
}

// wall returns the beams to a wall at some mm around the robot, between degrees.
func wall(from, to, away int) (beams []Beam) {
	for at := from; at <= to; at++ {
		beams = append(beams, Beam{Bearing: 2 * at, Range: away, Echo: true})
	}
	return beams
}

// Where the robot drives first, with one thing around it.
func TestNext(t *testing.T) {
	far := Beam{Bearing: 0, Range: laserFar}
	for _, tt := range []struct {
		name    string
		goalX   int
		stall   uint8
		beams   []Beam
		speed   [2]int // from, to
		turn    [2]int
		arrived bool
	}{
		{"free", 3000, 0, []Beam{far}, [2]int{350, 400}, [2]int{-5, 5}, false},
		{"there", 40, 0, nil, [2]int{0, 0}, [2]int{0, 0}, true},
		{"near", 300, 0, nil, [2]int{200, 300}, [2]int{0, 0}, false},
		{"behind", -3000, 0, nil, [2]int{0, 0}, [2]int{-60, 60}, false},
		{"a wall ahead", 3000, 0, wall(-40, 40, 600), [2]int{0, 0}, [2]int{-60, 60}, false},
		{"a wall ahead, open to the left", 3000, 0, wall(-70, 10, 600), [2]int{0, 200}, [2]int{40, 60}, false},
		{"a wall to the left", 3000, 0, wall(50, 90, 600), [2]int{200, 400}, [2]int{-40, 5}, false},
		{"stalled", 3000, 1, []Beam{far}, [2]int{-back, -back}, [2]int{0, 0}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			speed, turn, arrived := pioneer(t, tt.goalX, 0).next(&codec.PositionData{Stall: tt.stall}, tt.beams)
			if speed < tt.speed[0] || speed > tt.speed[1] || turn < tt.turn[0] || turn > tt.turn[1] || arrived != tt.arrived {
				t.Errorf("%d mm/s, %d deg/s, arrived %v; want %v %v %v", speed, turn, arrived, tt.speed, tt.turn, tt.arrived)
			}
		})
	}
}

// A sensor that looks over an obstacle does not remove it while another one sees it, and one that reaches less far says
// nothing of what is behind.
func TestSensorsTogether(t *testing.T) {
	scan := func(mm uint16) (scan codec.LaserData) {
		for i := range scan {
			scan[i] = mm
		}
		return scan
	}
	near, high, short := scan(1000), scan(8000), scan(600)
	sees := AppendLaser(nil, codec.Part{Range: 8000}, &near)
	over := AppendLaser(slices.Clone(sees), codec.Part{X: 100, Range: 8000}, &high)
	before := AppendLaser(nil, codec.Part{Range: 600}, &short)
	for name, beams := range map[string][]Beam{"over it": over, "not so far": before} {
		w := pioneer(t, 3000, 0)
		w.next(&codec.PositionData{}, sees)
		for range 30 {
			w.next(&codec.PositionData{}, beams)
		}
		if at, short := w.cells[w.index(w.x+1000, w.y)], w.cells[w.index(w.x+600, w.y)]; at < occupied || short >= occupied {
			t.Errorf("another sensor looks %s: %d at the obstacle, %d before it", name, at, short)
		}
	}
}

// A map that the robot leaves begins anew, and goals may be outside of it.
func TestFar(t *testing.T) {
	w := pioneer(t, 1_000_000, -1_000_000)
	for at := int32(0); at < 50_000; at += 50 {
		if speed, turn, _ := w.next(&codec.PositionData{X: at, Y: -at, Heading: 315}, []Beam{{Range: laserFar}}); speed < 300 || turn < -10 || turn > 10 {
			t.Errorf("at %d: %d mm/s, %d deg/s", at, speed, turn)
		}
	}
}

// A robot with walls all around has no way, until it sees that they have gone. A new goal may be in the cage.
func TestBlocked(t *testing.T) {
	w := pioneer(t, 3000, 0)
	cage := wall(-180, 179, 900)
	w.next(&codec.PositionData{}, cage)
	if !w.Blocked() {
		t.Error("there is a way out of a cage")
	}
	w.Aim(300, 0)
	if w.next(&codec.PositionData{}, cage); w.Blocked() {
		t.Error("there is no way in the cage")
	}
	w.Aim(3000, 0)
	for i := range cage {
		cage[i] = Beam{Bearing: cage[i].Bearing, Range: laserFar}
	}
	for range 2 * certain {
		w.next(&codec.PositionData{}, cage)
	}
	if w.Blocked() {
		t.Error("there is no way without a cage")
	}
}

// A robot that backs off does so for a second.
func TestRetreat(t *testing.T) {
	w := pioneer(t, 3000, 0)
	back := 0
	for i := range 3 * retreat {
		if speed, _, _ := w.next(&codec.PositionData{Stall: uint8(max(0, 1-i))}, nil); speed < 0 {
			back++
		}
	}
	if back != retreat {
		t.Errorf("it backs off for %d rounds", back)
	}
}

func TestTurn(t *testing.T) {
	w := must.Get(New(Pioneer()))(t)
	for _, tt := range []struct {
		at      uint16
		to      int
		maxTurn int
		want    int
	}{{0, 0, 60, 0}, {0, 1, 60, 0}, {0, 2, 60, 5}, {0, 359, 60, 0}, {0, 358, 60, -5}, {10, 350, 60, -30}, {350, 10, 60, 30}, {0, 90, 60, 60}, {0, 270, 20, -20}, {0, 4, 3, 3}} {
		w.Limit(400, tt.maxTurn, 50)
		w.Report(&codec.PositionData{Heading: tt.at}, nil)
		if got := w.Turn(tt.to); got != tt.want {
			t.Errorf("from %d to %d: %d deg/s, want %d", tt.at, tt.to, got, tt.want)
		}
	}
}

// A plan in portions is the same plan.
func TestPortions(t *testing.T) {
	house := slices.Concat(wall(-80, 80, 1200), wall(100, 170, 700))
	whole, parts := pioneer(t, 4000, 0), pioneer(t, 4000, 0)
	for i := range 100 {
		p := &codec.PositionData{Heading: uint16(i)}
		speed, turn, _ := whole.next(p, house)
		parts.Report(p, house)
		for n := 0; !parts.Plan(7); n++ {
			if n > patience/7 {
				t.Fatal("a plan without an end")
			}
		}
		if s, v := parts.Command(); s != speed || v != turn {
			t.Fatalf("round %d: %d %d, want %d %d", i, s, v, speed, turn)
		}
	}
}

// The numbers of a robot that has no room, and of goals that are too far, are refused.
func TestBounds(t *testing.T) {
	for radius, fits := range map[int]bool{-1: false, 0: true, widest: true, widest + 1: false} {
		if _, err := New(Config{Radius: radius}); errors.Is(err, ErrWide) == fits {
			t.Errorf("radius %d: %v", radius, err)
		}
	}
	for at, can := range map[int]bool{0: true, furthest: true, -furthest: true, furthest + 1: false, math.MinInt32: false} {
		if CanAim(at, 0) != can || CanAim(0, at) != can {
			t.Errorf("goal at %d", at)
		}
	}
}

func TestOf(t *testing.T) {
	if got := Of(nil); got != Pioneer() {
		t.Errorf("%+v", got)
	}
	if got := Of([]codec.Part{{X: -40, Length: 440, Width: 380}}); got != Pioneer() {
		t.Errorf("%+v", got)
	}
	if got := Of([]codec.Part{{X: 100, Length: 1000, Width: 600}}); got.Radius != 360 || got.Front != 600 {
		t.Errorf("%+v", got)
	}
}

func TestBeams(t *testing.T) {
	scan := codec.LaserData{0: 1000, 180: 8000, 360: 2000}
	if got := AppendLaser(nil, codec.Part{X: 80.4, Heading: -10}, &scan); len(got) != 181 || got[0] != (Beam{80, 0, -200, 1000, true}) ||
		got[90] != (Beam{80, 0, -20, laserFar, false}) || got[180] != (Beam{80, 0, 160, 2000, true}) {
		t.Errorf("laser: %v", got)
	}
	ring := codec.SonarData{3: 500, 5: 5000}
	if got := AppendSonar(nil, []codec.Part{{Number: 3, X: 166, Y: 27, Heading: 10}, {Number: 5}, {Number: 99}}, &ring); !slices.Equal(got,
		[]Beam{{166, 27, 20, 500, true}, {0, 0, 0, sonarFar, false}}) {
		t.Errorf("sonar: %v", got)
	}
	for _, tt := range []struct {
		name  string
		rays  []codec.Rays
		unit  uint16
		data  []uint16
		beams []Beam
	}{
		{"a scanner", []codec.Rays{{Count: 3, X: 80, Heading: -90, Step: 90}}, 1, []uint16{1000, codec.NothingInRange, codec.UnknownRange},
			[]Beam{{80, 0, -180, 1000, true}, {80, 0, 0, laserFar, false}}},
		{"its range is short", []codec.Rays{{Count: 1, Far: 250}}, 1, []uint16{codec.NothingInRange}, []Beam{{0, 0, 0, 250, false}}},
		{"fine steps", []codec.Rays{{Count: 5, Step: 0.5}}, 10, []uint16{1, 2, 3, 4, 5}, []Beam{{0, 0, 0, 10, true}, {0, 0, 2, 30, true}, {0, 0, 4, 50, true}}},
		{"cones", []codec.Rays{{Count: 1, Cone: 15}, {First: 1, Count: 1, Heading: 90, Cone: 15}}, 1, []uint16{3000, 300},
			[]Beam{{0, 0, 0, sonarFar, false}, {0, 0, 180, 300, true}}},
		{"fewer readings than rays", []codec.Rays{{Count: 3, Step: 1}}, 1, []uint16{7}, []Beam{{0, 0, 0, 7, true}}},
	} {
		if got := AppendRanger(nil, tt.rays, &codec.RangerData{Unit: tt.unit, Ranges: tt.data}); !slices.Equal(got, tt.beams) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.beams)
		}
	}
	many := codec.RangerData{Unit: 1, Ranges: make([]uint16, codec.MaxReadings)}
	var sonars []codec.Rays
	for i := range codec.MaxReadings {
		sonars = append(sonars, codec.Rays{First: i, Count: 1})
	}
	for _, rays := range [][]codec.Rays{{{Count: codec.MaxReadings, Step: 0.05}}, {{Count: codec.MaxReadings}}, sonars} {
		if got := len(AppendRanger(nil, rays, &many)); got > mostBeams || got < mostBeams/2 {
			t.Errorf("%d beams of %d lines", got, len(rays))
		}
	}
}

// Reports, plans and commands allocate nothing.
func TestAllocations(t *testing.T) {
	w := pioneer(t, 5000, 3000)
	beams := wall(-60, 60, 1500)
	p := codec.PositionData{}
	for range 10 { // the heap of a plan grows to its size
		w.next(&p, beams)
	}
	if n := testing.AllocsPerRun(50, func() {
		p.Heading = (p.Heading + 7) % 360
		w.next(&p, beams)
	}); n != 0 {
		t.Errorf("%v allocations in a round", n)
	}
}

// Whatever a robot reports, a command is within its limits, and the time of a round has a bound.
func FuzzWay(f *testing.F) {
	f.Add(int32(3000), int32(-500), uint16(250), uint16(300), uint16(45), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add(int32(math.MaxInt32), int32(math.MinInt32), uint16(4000), uint16(0), uint16(0), []byte("\x7f\xff\xff\xff\x80\x00\x00\x00\x01\xff"))
	f.Fuzz(func(t *testing.T, x, y int32, radius, maxSpeed, maxTurn uint16, reports []byte) {
		w, err := New(Config{Radius: int(radius), Front: 180, MaxSpeed: int(maxSpeed), MaxTurn: int(maxTurn), Tolerance: 50})
		if err != nil {
			return
		}
		if !CanAim(int(x), int(y)) {
			x, y = 1000, 1000
		}
		w.Aim(int(x), int(y))
		const size = 9
		for n := 0; n < 20 && len(reports) >= size; n, reports = n+1, reports[size:] {
			be := binary.BigEndian
			p := codec.PositionData{X: int32(be.Uint32(reports)), Y: int32(be.Uint32(reports[4:])), Heading: uint16(reports[8]), Stall: reports[8] & 1}
			from := int(reports[8])
			w.Report(&p, wall(from, from+90, 20*int(reports[3])))
			for plans := 0; !w.Plan(1000); plans++ {
				if plans > patience/1000+1 {
					t.Fatal("a plan without an end")
				}
			}
			speed, turn := w.Command()
			if max(speed, -speed) > int(maxSpeed) || max(turn, -turn) > int(maxTurn) {
				t.Fatalf("%d mm/s and %d deg/s, with limits of %d and %d", speed, turn, maxSpeed, maxTurn)
			}
		}
	})
}
