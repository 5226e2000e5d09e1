package scan

import (
	"testing"

	"player/codec"
	"player/e2e/must"
)

const far = 8000

func TestReadings(t *testing.T) {
	for name, tt := range map[string]struct {
		add  [][2]float64 // degrees, mm
		want map[int]uint16
	}{
		"right, ahead, left":     {[][2]float64{{-90, 100}, {0, 200}, {90, 300}}, map[int]uint16{0: 100, 180: 200, 360: 300}},
		"half degrees":           {[][2]float64{{0.24, 100}, {0.26, 200}}, map[int]uint16{180: 100, 181: 200}},
		"the nearest counts":     {[][2]float64{{10, 500}, {10.1, 400}, {9.9, 600}, {10, 0}}, map[int]uint16{200: 400}},
		"no return, then one":    {[][2]float64{{10, 0}, {10, 700}}, map[int]uint16{200: 700}},
		"no return is far":       {[][2]float64{{10, 0}}, map[int]uint16{200: far, 201: far}},
		"too far is far":         {[][2]float64{{10, far + 1}, {20, 100000}}, map[int]uint16{200: far, 220: far}},
		"gaps within a degree":   {[][2]float64{{10, 500}, {12, 300}}, map[int]uint16{197: far, 198: 500, 199: 500, 201: 500, 202: 300, 203: 300, 206: 300, 207: far}},
		"gaps: a return is more": {[][2]float64{{10, 0}, {11, 300}}, map[int]uint16{199: far, 201: 300}},
		"edges":                  {[][2]float64{{-89.5, 100}, {89.5, 100}, {-90.3, 7}, {90.3, 7}, {180, 7}}, map[int]uint16{0: 100, 360: 100}},
	} {
		var s Scan
		s.Clear()
		for _, a := range tt.add {
			s.Add(a[0], int(a[1]))
		}
		var got codec.LaserData
		must.Do(t, got.Decode(s.Append(nil, far)))
		for i, want := range tt.want {
			if got[i] != want {
				t.Errorf("%s: reading %d is %d, want %d", name, i, got[i], want)
			}
		}
	}
}

func TestAddReportsWhatCounts(t *testing.T) {
	var s Scan
	s.Clear()
	for degrees, want := range map[float64]bool{-90: true, 90: true, 0: true, -90.3: false, 90.3: false, 179: false, -179: false} {
		if s.Add(degrees, 1) != want {
			t.Errorf("%v degrees", degrees)
		}
	}
}

func TestMount(t *testing.T) {
	for _, tt := range []struct {
		mount       Mount
		left, ahead float64 // of the sensor, in the robot's frame
		robotsFront float64 // in the sensor's frame
	}{
		{Mount{}, 90, 0, 0},
		{Mount{Heading: 40}, 130, 40, -40},
		{Mount{Flip: true}, -90, 0, 0},
		{Mount{Heading: 40, Flip: true}, -50, 40, 40},
		{Mount{Heading: -270, Flip: true}, 0, 90, 90},
	} {
		m := tt.mount
		if m.robot(90) != tt.left || m.robot(0) != tt.ahead || m.Ahead() != tt.robotsFront || m.robot(m.Ahead()) != 0 {
			t.Errorf("%+v: left %v, ahead %v, the robot's front %v", m, m.robot(90), m.robot(0), m.Ahead())
		}
	}
	s := Scan{Mount: Mount{Heading: 90, Flip: true}}
	s.Clear()
	if s.Add(-10, 100) || !s.Add(10, 100) { // 100 and 80 degrees
		t.Error("Add ignores the mount")
	}
}

func TestNormal(t *testing.T) {
	for degrees, want := range map[float64]float64{
		0: 0, 90: 90, 180: 180, -180: -180, 270: -90, -270: 90, 359.75: -0.25, 360: 0, 540: -180, -541: 179, 725: 5,
	} {
		if got := normal(degrees); got != want {
			t.Errorf("%v degrees are %v, want %v", degrees, got, want)
		}
	}
}
