package subsumption

import (
	"testing"
	"time"
)

const (
	ms    = time.Millisecond
	cycle = 50 * ms
)

// scene returns the sensors of a robot in an empty world, changed by edits.
func scene(edits ...func(*Sensors)) *Sensors {
	s := NewSensors()
	for _, edit := range edits {
		edit(&s)
	}
	return &s
}

func at(x, y, heading int) func(*Sensors) {
	return func(s *Sensors) { s.Pose = Pose{x, y, heading} }
}

// thing places an obstacle at a range in a direction.
func thing(direction, mm int) func(*Sensors) {
	return func(s *Sensors) { s.Range[direction] = mm }
}

func bumped(b Bumpers) func(*Sensors) { return func(s *Sensors) { s.Bumpers = b } }

func stalled(s *Sensors) { s.Stalled = true }

func light(bearing int) func(*Sensors) {
	return func(s *Sensors) { s.Light = Light{true, bearing} }
}

var (
	none     = Output{}
	subsumed = Signals{Subsumed: true}
	inverted = Signals{Inverted: true}
)

// TestPureBehaviors checks the output of each stateless behaviour for one
// moment.
func TestPureBehaviors(t *testing.T) {
	fence := &Boundary{Min: Target{-1000, -1000}, Max: Target{1000, 1000}}
	for _, c := range []struct {
		name string
		b    Behavior
		s    *Sensors
		to   Signals
		want Output
	}{
		{"cruise", Cruise{}, scene(), Signals{}, want(300, 0)},
		{"cruise, other speed", Cruise{Speed: 120}, scene(), Signals{}, want(120, 0)},
		{"cruise, inverted", Cruise{}, scene(), inverted, want(0, 0)},
		{"stop", Stop{}, scene(), Signals{}, want(0, 0)},

		{"radio, nobody there", Radio{}, scene(), Signals{}, none},
		{"radio", Radio{}, scene(func(s *Sensors) { s.Radio = Stick{true, -100, 7} }), Signals{}, want(-100, 7)},
		{"radio, held still", Radio{}, scene(func(s *Sensors) { s.Radio.On = true }), Signals{}, want(0, 0)},
		{"radio is not user", Radio{}, scene(func(s *Sensors) { s.User = Stick{true, 1, 2} }), Signals{}, none},
		{"user", User{}, scene(func(s *Sensors) { s.User = Stick{true, 1, 2} }), Signals{}, want(1, 2)},

		{"photo, dark", Photo{}, scene(), Signals{}, none},
		{"photo, left", Photo{}, scene(light(6)), Signals{}, want(300, 40)},
		{"photo, right", Photo{}, scene(light(-6)), Signals{}, want(300, -40)},
		{"photo, end of the dead zone", Photo{}, scene(light(5)), Signals{}, Output{300, 0, false}},
		{"photo, behind", Photo{}, scene(light(180)), Signals{}, want(300, 40)},
		{"photo, parameters", Photo{Speed: 100, Turn: 20, Deadzone: 10}, scene(light(-11)), Signals{}, want(100, -20)},
		{"photo, offset", Photo{Offset: 10}, scene(light(-10)), Signals{}, Output{300, 0, false}},
		{"photo, offset beyond half a turn", Photo{Offset: 20}, scene(light(170)), Signals{}, want(300, -40)},
		{"cockroach, light to the left", Photo{}, scene(light(20)), inverted, want(300, -40)},
		{"cockroach, light to the right", Photo{}, scene(light(-20)), inverted, want(300, 40)},
		{"cockroach, light behind", Photo{}, scene(light(178)), inverted, Output{300, 0, false}},

		{"navigate, there", &Navigate{Target: Target{1000, 0}}, scene(), Signals{}, Output{300, 0, false}},
		{"navigate, left", &Navigate{Target: Target{1000, 100}}, scene(), Signals{}, want(300, 40)},
		{"navigate, right", &Navigate{Target: Target{1000, -100}, Turn: 11, Speed: 12}, scene(), Signals{}, want(12, -11)},
		{"navigate, dead zone", &Navigate{Target: Target{1000, -100}, Deadzone: 6}, scene(), Signals{}, Output{300, 0, false}},
		{"navigate, over the seam", &Navigate{Target: Target{-1000, 10}}, scene(at(0, 0, 350)), Signals{}, want(300, -40)},

		{"boundary, inside", fence, scene(at(999, -999, 0)), Signals{}, none},
		{"boundary, outside, heading out", fence, scene(at(1100, 0, 0)), Signals{}, want(150, 40)},
		{"boundary, outside, heading in", fence, scene(at(1100, 0, 180)), Signals{}, want(300, 0)},
		{"boundary, outside, to the right", fence, scene(at(0, 1100, 180)), Signals{}, want(150, 40)},
		{"boundary, none", &Boundary{}, scene(at(5, 5, 5)), Signals{}, none},
		{"boundary, not around the origin", &Boundary{Min: Target{2000, 2000}, Max: Target{4000, 4000}}, scene(at(3000, 1000, 90)), Signals{}, want(300, 0)},

		{"ir, clear", &IR{}, scene(), Signals{}, none},
		{"ir, far enough", &IR{}, scene(thing(2, 457)), Signals{}, none},
		{"ir, left", &IR{}, scene(thing(2, 456)), Signals{}, want(150, -40)},
		{"ir, right", &IR{}, scene(thing(6, 100)), Signals{}, want(150, 40)},
		{"ir, beside is not in front", &IR{}, scene(thing(0, 100), thing(7, 100)), Signals{}, none},
		{"ir, both, nearer on the left", &IR{}, scene(thing(3, 200), thing(4, 300)), Signals{}, want(0, -40)},
		{"ir, both alike", &IR{}, scene(thing(3, 200), thing(4, 200)), Signals{}, want(0, 40)},
		{"ir, parameters", &IR{Range: 700, Speed: 100, Turn: 9}, scene(thing(3, 600)), Signals{}, want(50, -9)},
		{"ir, inverted", &IR{}, scene(thing(2, 300)), inverted, want(150, 40)},

		{"sonar, clear", &Sonar{}, scene(thing(3, 1000)), Signals{}, none},
		{"sonar, just seen", &Sonar{}, scene(thing(3, 999)), Signals{}, want(299, 0)},
		{"sonar, half way", &Sonar{Near: 500}, scene(thing(3, 750)), Signals{}, want(225, -20)},
		{"sonar, where ir begins", &Sonar{}, scene(thing(5, 457)), Signals{}, want(150, 40)},
		{"sonar, nearer", &Sonar{}, scene(thing(5, 10)), Signals{}, want(150, 40)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.b.Act(time.Hour, c.s, c.to); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// moment is one cycle of a state machine.
type moment struct {
	at   time.Duration
	s    *Sensors
	to   Signals
	want Output
}

func play(t *testing.T, b Behavior, moments []moment) {
	t.Helper()
	for _, m := range moments {
		if got := b.Act(m.at, m.s, m.to); got != m.want {
			t.Fatalf("at %v: got %+v, want %+v", m.at, got, m.want)
		}
	}
}

// TestIRKeepsTurning: the direction out of a corner is chosen once.
func TestIRKeepsTurning(t *testing.T) {
	both := []*Sensors{scene(thing(3, 200), thing(4, 300)), scene(thing(3, 300), thing(4, 200))}
	ahead := Signals{}
	play(t, &IR{}, []moment{
		{0, scene(thing(2, 300)), ahead, want(150, -40)},
		{cycle, both[1], ahead, want(0, -40)}, // the right side is nearer, but it still turns right
		{2 * cycle, both[0], ahead, want(0, -40)},
		{3 * cycle, scene(), ahead, none},
		{4 * cycle, both[1], ahead, want(0, 40)}, // free to choose again
		{5 * cycle, both[0], ahead, want(0, 40)},
	})
}

func TestProwl(t *testing.T) {
	targets := []Target{{3000, 0}, {3000, 3000}}
	t.Run("targets", func(t *testing.T) {
		p := &Prowl{Targets: targets}
		play(t, p, []moment{
			{0, scene(), Signals{}, want(300, 0)},
			{1, scene(at(1000, 200, 0)), Signals{}, want(300, -40)},
			{2, scene(at(3000-914, 0, 0)), Signals{}, want(300, 0)},
			{3, scene(at(3000-457, 0, 0)), Signals{}, want(150, 0)}, // down the ramp
			{4, scene(at(3000-254, 0, 0)), Signals{}, want(83, 0)},
			{5, scene(at(3000-253, 0, 0)), Signals{}, want(0, 0)},    // arrived
			{6, scene(at(3000-253, 0, 0)), Signals{}, want(300, 40)}, // the next one
			{7, scene(at(3000, 2900, 90)), Signals{}, want(0, 0)},    // arrived
			{8, scene(at(3000, 2900, 90)), Signals{}, want(300, 0)},  // cruises
			{9, scene(at(3000, 2900, 90)), inverted, want(0, 0)},     // or rests
		})
		if len(p.Targets) != 0 {
			t.Errorf("targets left: %v", p.Targets)
		}
	})
	t.Run("parameters", func(t *testing.T) {
		play(t, &Prowl{Targets: targets, Speed: 200, Turn: 10, Deadzone: 20, Radius: 50, Ramp: 1000, MinSpeed: 100}, []moment{
			{0, scene(at(2000, 0, 19)), Signals{}, want(200, 0)},
			{1, scene(at(2000, 0, 21)), Signals{}, want(200, -10)},
			{2, scene(at(2400, 0, 0)), Signals{}, want(120, 0)},
			{3, scene(at(2900, 0, 0)), Signals{}, want(100, 0)}, // not slower than that
			{4, scene(at(2951, 0, 0)), Signals{}, want(0, 0)},
		})
	})
	t.Run("inverted, it still goes to its targets", func(t *testing.T) {
		play(t, &Prowl{Targets: targets}, []moment{{0, scene(), inverted, want(300, 0)}})
	})
}

func TestPerimeter(t *testing.T) {
	wall := func(side, diagonal int) *Sensors { return scene(thing(0, side), thing(1, diagonal)) }
	right := scene(thing(7, 500), thing(6, 650))
	play(t, &Perimeter{}, []moment{
		{0, scene(), Signals{}, none},
		{1, wall(1000, 1000), Signals{}, none},               // too far
		{2, wall(500, 650), Signals{}, want(300, 0)},         // where it wants to be
		{3, wall(300, 390), Signals{}, want(300, -16)},       // too near
		{4, wall(100, 100), Signals{}, want(300, -33)},       // much
		{5, wall(800, 1040), Signals{}, want(150, 24)},       // too far
		{6, wall(500, Far), Signals{}, want(150, 40)},        // the wall ends
		{10 * ms, scene(), Signals{}, want(150, 40)},         // it is gone: search
		{20 * ms, right, Signals{}, want(150, 40)},           // not on that side
		{2 * time.Second, scene(), Signals{}, want(150, 40)}, // until
		{3*time.Second + 6, scene(), Signals{}, none},        // the search is over
		{4 * time.Second, right, Signals{}, want(300, 0)},    // now on that side
		{5 * time.Second, scene(thing(7, 300), thing(6, 390)), Signals{}, want(300, 16)},
	})
	play(t, &Perimeter{Reach: 300, Keep: 200, Speed: 100, Turn: 50, Search: time.Second}, []moment{
		{0, wall(300, 300), Signals{}, none},
		{1, wall(299, 260), Signals{}, want(100, 0)},
		{2, wall(100, 100), Signals{}, want(100, -30)},
		{time.Second + 2, scene(), Signals{}, none},
	})
}
