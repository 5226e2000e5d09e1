package subsumption

import (
	"testing"
	"time"
)

// turntable turns a robot as commanded, in cycles of 20 Hz, and counts the
// behaviour's outputs: left, right, stopped, and without flag.
func turntable(b Behavior, to Signals, cycles int, look func(s *Sensors)) (s Sensors, left, right, stood, free int) {
	now, heading := time.Duration(0), 0.0
	s = NewSensors()
	for range cycles {
		look(&s)
		out := b.Act(now, &s, to)
		now += cycle
		switch {
		case !out.Flag:
			free++
		case out.Turn > 0:
			left++
		case out.Turn < 0:
			right++
		default:
			stood++
		}
		if !out.Flag {
			continue
		}
		heading += float64(out.Turn) * cycle.Seconds()
		for heading < 0 {
			heading += 360
		}
		s.Pose.Heading = int(heading) % 360
	}
	return s, left, right, stood, free
}

func TestXlate(t *testing.T) {
	// A room with a door at 250 degrees and a pillar at 100.
	room := func(s *Sensors) {
		for i := range s.Range {
			s.Range[i] = 2000
		}
		switch h := s.Pose.Heading; {
		case h >= 248 && h <= 252:
			s.Range[3] = 5000
			s.Range[2], s.Range[4], s.Range[5] = 5000, 5000, 5000
		case h >= 98 && h <= 102:
			s.Range[4] = 500
		}
	}
	for _, c := range []struct {
		name  string
		to    Signals
		faces int
	}{
		{"farthest", Signals{}, 250},
		{"nearest", inverted, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &Xlate{}
			if out := x.Act(0, scene(), c.to); out != none {
				t.Fatalf("unasked: %+v", out)
			}
			x.Scan()
			s, left, right, stood, free := turntable(x, c.to, 400, room)
			if off := between(s.Pose.Heading - c.faces); off < -7 || off > 7 {
				t.Errorf("it faces %d degrees, want %d", s.Pose.Heading, c.faces)
			}
			// Once around at 40 deg/s is 180 cycles.
			if left < 180 || left+right > 300 || stood != 0 || free < 100 {
				t.Errorf("left %d, right %d, stood %d, free %d cycles", left, right, stood, free)
			}
		})
	}
	t.Run("subsumed, it gives up", func(t *testing.T) {
		x := &Xlate{}
		x.Scan()
		play(t, x, []moment{{0, scene(), Signals{}, want(0, 40)}, {cycle, scene(), subsumed, none}, {2 * cycle, scene(), Signals{}, none}})
	})
	t.Run("a robot that cannot turn gives up", func(t *testing.T) {
		x := &Xlate{}
		x.Scan()
		play(t, x, []moment{{0, scene(), Signals{}, want(0, 40)}, {27 * time.Second, scene(), Signals{}, want(0, 40)}, {27*time.Second + 1, scene(), Signals{}, none}})
	})
	t.Run("by the clock", func(t *testing.T) {
		play(t, &Xlate{Every: 10 * time.Second, Turn: 90}, []moment{
			{0, scene(), Signals{}, none},
			{10 * time.Second, scene(at(0, 0, 0)), Signals{}, want(0, 90)},
			{11 * time.Second, scene(at(0, 0, 90)), Signals{}, want(0, 90)},
			{12 * time.Second, scene(at(0, 0, 180)), Signals{}, want(0, 90)},
			{13 * time.Second, scene(at(0, 0, 270)), Signals{}, want(0, 90)},
			{14 * time.Second, scene(at(0, 0, 0)), Signals{}, none}, // all equal: the first is the best
			{23 * time.Second, scene(), Signals{}, none},
			{24 * time.Second, scene(), Signals{}, want(0, 90)},
		})
	})
}

func TestMotion(t *testing.T) {
	room := func(edits ...func(*Sensors)) *Sensors {
		s := scene(edits...)
		for i := range s.Range {
			s.Range[i] = min(s.Range[i], 2000)
		}
		return s
	}
	moving := room(func(s *Sensors) { s.Speed = 100 })
	stand := want(0, 0)
	sec := time.Second
	begin := []moment{
		{29 * sec, moving, Signals{}, none},
		{30 * sec, moving, Signals{}, stand}, // time to watch
		{31 * sec, moving, Signals{}, stand}, // the robot still rolls
		{31*sec + 499*ms, room(), Signals{}, stand},
		{31*sec + 500*ms, room(), Signals{}, stand}, // first ranges
	}
	for _, c := range []struct {
		name    string
		moments []moment
	}{
		{"nothing moves", []moment{
			{36*sec + 499*ms, room(), Signals{}, stand},
			{36*sec + 500*ms, room(), Signals{}, none},
			{66*sec + 499*ms, moving, Signals{}, none},
			{66*sec + 500*ms, moving, Signals{}, stand},
		}},
		{"something comes from the left", []moment{
			{33 * sec, room(thing(0, 1851)), Signals{}, stand}, // jitter
			{34 * sec, room(thing(0, 1850)), Signals{}, want(0, 40)},
			{36 * sec, room(thing(0, 1500)), Signals{}, want(0, 40)},  // 90 degrees take 2.25 s
			{36*sec + 250*ms, room(thing(3, 1400)), Signals{}, stand}, // then it watches again
			{36*sec + 750*ms, room(thing(3, 1400)), Signals{}, stand}, // first ranges
			{41*sec + 749*ms, room(thing(3, 1400)), Signals{}, stand},
			{41*sec + 750*ms, room(thing(3, 1400)), Signals{}, none},
			{41*sec + 800*ms, room(thing(3, 400)), Signals{}, none}, // not watching now
			{42*sec + 800*ms, room(thing(3, 400)), Signals{}, none},
			{72*sec + 750*ms, room(thing(3, 400)), Signals{}, want(0, 0)},
		}},
		{"from the right, behind", []moment{{33 * sec, room(thing(9, 1000)), Signals{}, want(0, -40)}}},
		{"the nearest counts", []moment{{33 * sec, room(thing(9, 1000), thing(14, 900)), Signals{}, want(0, 40)}}},
		{"inverted, it turns away", []moment{{33 * sec, room(thing(1, 1000)), inverted, want(0, -40)}}},
		{"what goes away is let go", []moment{{33 * sec, room(), Signals{}, stand}}},
		{"moved by a higher layer, it starts again", []moment{
			{33 * sec, room(), subsumed, stand},
			{33*sec + 100*ms, room(thing(1, 1000)), Signals{}, stand},
			{33*sec + 500*ms, room(thing(1, 1000)), Signals{}, stand},
			{38*sec + 499*ms, room(thing(1, 1000)), Signals{}, stand},
			{38*sec + 500*ms, room(thing(1, 1000)), Signals{}, none},
		}},
	} {
		t.Run(c.name, func(t *testing.T) { play(t, &Motion{}, append(begin[:len(begin):len(begin)], c.moments...)) })
	}
}
