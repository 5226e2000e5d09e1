package sense

import (
	"testing"

	"player/client/subsumption"
	"player/codec"
)

func TestPosition(t *testing.T) {
	s := subsumption.NewSensors()
	Position(&s, &codec.PositionData{X: -1500, Y: 20, Heading: 359, Speed: -100, TurnRate: 30, Stall: 1})
	if s.Pose != (subsumption.Pose{X: -1500, Y: 20, Heading: 359}) || s.Speed != -100 || s.Turn != 30 || !s.Stalled {
		t.Errorf("got %+v", s)
	}
	Position(&s, &codec.PositionData{})
	if s.Stalled {
		t.Error("a stall does not end")
	}
}

func TestSonar(t *testing.T) {
	for _, c := range []struct {
		name string
		mm   uint16
		want int
	}{
		{"touching", 1, 1},
		{"something", 1000, 1000},
		{"the farthest", 65535, 65535},
		{"it has not fired yet", 0, subsumption.Far},
	} {
		for direction := range subsumption.Directions {
			s := subsumption.NewSensors()
			var d codec.SonarData
			d[direction] = c.mm
			Sonar(&s, &d)
			want := subsumption.NewSensors()
			want.Range[direction] = c.want
			if s != want {
				t.Errorf("%s in direction %d: ranges %v", c.name, direction, s.Range)
			}
		}
	}
}

// TestSonarDirections: the sonars are numbered clockwise from the left, as in
// PROTOCOL 7.2.
func TestSonarDirections(t *testing.T) {
	for i, want := range []int{90, 50, 30, 10, -10, -30, -50, -90, -90, -130, -150, -170, 170, 150, 130, 90} {
		if got := subsumption.Bearing(i); got != want {
			t.Errorf("direction %d: %d°, want %d°", i, got, want)
		}
	}
}

func TestLaser(t *testing.T) {
	const empty = 8191
	scan := func(index int, mm uint16) *codec.LaserData {
		var d codec.LaserData
		for i := range d {
			d[i] = empty
		}
		d[index] = mm
		return &d
	}
	for _, c := range []struct {
		index             int
		direction, range_ int
	}{
		{0, 7, 864},   // -90°, at the right
		{40, 7, 864},  // -70°
		{41, 6, 876},  // -69.5°
		{100, 6, 876}, // -40°
		{101, 5, 897}, // -39.5°
		{141, 4, 910}, // -19.5°
		{140, 5, 897}, // -20°
		{179, 3, 910}, // straight ahead, within half a degree
		{180, 3, 910},
		{182, 3, 910}, // 1°
		{219, 3, 910}, // 19.5°
		{220, 2, 897}, // 20°
		{260, 1, 876}, // 40°
		{319, 1, 876}, // 69.5°
		{320, 0, 864}, // 70°
		{360, 0, 864}, // 90°, at the left
	} {
		s := subsumption.NewSensors()
		Laser(&s, scan(c.index, 1000))
		for i, r := range s.Range {
			want := subsumption.Far
			if i == c.direction {
				want = c.range_
			}
			if r != want {
				t.Errorf("reading %d: direction %d has %d mm, want %d", c.index, i, r, want)
			}
		}
	}
	s := subsumption.NewSensors()
	Laser(&s, scan(180, 8182))
	Laser(&s, scan(100, 8183)) // a fault code
	Laser(&s, scan(360, 50))   // within the hull
	if s.Range[3] != 8092 || s.Range[6] != subsumption.Far || s.Range[0] != 0 {
		t.Errorf("ranges %v", s.Range)
	}
}

// TestNearestCounts: sonar and laser combine in either order.
func TestNearestCounts(t *testing.T) {
	var sonar codec.SonarData
	var laser codec.LaserData
	for i := range sonar {
		sonar[i] = 700
	}
	for i := range laser {
		laser[i] = 8191
	}
	laser[180] = 500  // ahead, nearer
	laser[360] = 5000 // left, farther
	sonar[7] = 0      // right, not fired yet
	laser[0] = 736
	for _, order := range []string{"sonar first", "laser first"} {
		s := subsumption.NewSensors()
		if order == "laser first" {
			Laser(&s, &laser)
			Sonar(&s, &sonar)
		} else {
			Sonar(&s, &sonar)
			Laser(&s, &laser)
		}
		if s.Range[3] != 410 || s.Range[0] != 700 || s.Range[7] != 600 || s.Range[12] != 700 {
			t.Errorf("%s: %v", order, s.Range)
		}
	}
}

func TestMisc(t *testing.T) {
	const l, r, b = subsumption.BumpLeft, subsumption.BumpRight, subsumption.BumpRear
	for _, c := range []struct {
		front, rear uint8
		want        subsumption.Bumpers
	}{
		{0, 0, 0}, {0b00001, 0, l}, {0b00010, 0, l}, {0b00100, 0, l | r}, {0b01000, 0, r}, {0b10000, 0, r},
		{0b10001, 0, l | r}, {0, 0b00100, b}, {0b00001, 0b10000, l | b},
	} {
		s := subsumption.NewSensors()
		Misc(&s, &codec.MiscData{FrontBumpers: c.front, RearBumpers: c.rear, Battery: 120})
		if s.Bumpers != c.want {
			t.Errorf("front %05b, rear %05b: %03b, want %03b", c.front, c.rear, s.Bumpers, c.want)
		}
	}
}

func TestJoystick(t *testing.T) {
	for _, c := range []struct {
		right, back int16
		want        subsumption.Stick
	}{
		{0, 0, subsumption.Stick{}},
		{3275, -3275, subsumption.Stick{}}, // at rest
		{0, -32767, subsumption.Stick{On: true, Speed: 400}},
		{0, 32767, subsumption.Stick{On: true, Speed: -400}},
		{32767, 0, subsumption.Stick{On: true, Turn: -90}},
		{-16384, -16384, subsumption.Stick{On: true, Speed: 200, Turn: 45}},
	} {
		if got := Joystick(&codec.JoystickData{Axes: [8]int16{c.right, c.back}}, 400, 90); got != c.want {
			t.Errorf("right %d, back %d: %+v, want %+v", c.right, c.back, got, c.want)
		}
	}
}

func TestEye(t *testing.T) {
	e := &Eye{Channel: 3}
	blob := func(channel, x int) *codec.VisionData {
		d := &codec.VisionData{Blobs: []codec.Blob{{Area: 1000, X: x}, {Area: 1, X: 0}}}
		d.Count[channel] = 2
		return d
	}
	nothing := &codec.VisionData{}
	for i, c := range []struct {
		image *codec.VisionData
		pan   int
		light subsumption.Light
		turn  int
	}{
		{nothing, 0, subsumption.Light{}, 100}, // searches to the left first
		{blob(2, 80), 50, subsumption.Light{}, 100},
		{nothing, 97, subsumption.Light{}, 100},
		{nothing, 98, subsumption.Light{}, -100}, // the end
		{nothing, 0, subsumption.Light{}, -100},
		{nothing, -99, subsumption.Light{}, 100},
		{blob(3, 80), 0, subsumption.Light{Seen: true, Bearing: 0}, 0},
		{blob(3, 0), 0, subsumption.Light{Seen: true, Bearing: 24}, 24},
		{blob(3, 159), 0, subsumption.Light{Seen: true, Bearing: -24}, -24},
		{nothing, -24, subsumption.Light{}, -100}, // lost on the right
		{blob(3, 0), 90, subsumption.Light{Seen: true, Bearing: 114}, 100},
		{nothing, 60, subsumption.Light{}, 100}, // lost on the left
	} {
		if light, turn := e.Look(c.image, c.pan); light != c.light || turn != c.turn {
			t.Errorf("image %d: %+v, turn to %d; want %+v, %d", i, light, turn, c.light, c.turn)
		}
	}
}

// Payloads that fit no device add nothing.
func TestPayloads(t *testing.T) {
	var p Payloads
	s := subsumption.NewSensors()
	p.Add(&s, codec.Misc, []byte{1, 0})
	p.Add(&s, codec.Gripper, []byte{1, 0})
	if s != subsumption.NewSensors() {
		t.Errorf("%+v", s)
	}
	p.Add(&s, codec.Misc, []byte{1, 0, 120})
	p.Add(&s, codec.Laser, make([]byte, codec.LaserSize))
	if s.Bumpers != subsumption.BumpLeft || s.Range[0] != 0 {
		t.Errorf("%+v", s)
	}
}

func TestSensingDoesNotAllocate(t *testing.T) {
	var vision codec.VisionData
	var payloads Payloads
	e := &Eye{}
	position, sonar, laser, misc := make([]byte, codec.PositionSize), make([]byte, codec.SonarSize), make([]byte, codec.LaserSize), []byte{1, 0, 0}
	if allocs := testing.AllocsPerRun(100, func() {
		s := subsumption.NewSensors()
		payloads.Add(&s, codec.Position, position)
		payloads.Add(&s, codec.Sonar, sonar)
		payloads.Add(&s, codec.Laser, laser)
		payloads.Add(&s, codec.Misc, misc)
		s.Light, _ = e.Look(&vision, 0)
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
