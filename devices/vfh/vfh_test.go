package vfh

import (
	"testing"

	"player/codec"
)

// Where the robot drives first, with one thing around it.
func TestNext(t *testing.T) {
	far := Beam{Bearing: 0, Range: laserFar}
	wall := func(from, to, bearing int) (beams []Beam) { // at 600 mm ahead, between degrees
		for at := from; at <= to; at++ {
			beams = append(beams, Beam{Bearing: bearing + 2*at, Range: 600, Echo: true})
		}
		return beams
	}
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
		{"a wall ahead", 3000, 0, wall(-40, 40, 0), [2]int{0, 0}, [2]int{-60, 60}, false},
		{"a wall ahead, open to the left", 3000, 0, wall(-70, 10, 0), [2]int{0, 200}, [2]int{40, 60}, false},
		{"a wall to the left", 3000, 0, wall(50, 90, 0), [2]int{200, 400}, [2]int{-40, 5}, false},
		{"stalled", 3000, 1, []Beam{far}, [2]int{-back, -back}, [2]int{0, 0}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			speed, turn, arrived := New(Pioneer(), tt.goalX, 0).Next(&codec.PositionData{Stall: tt.stall}, tt.beams)
			if speed < tt.speed[0] || speed > tt.speed[1] || turn < tt.turn[0] || turn > tt.turn[1] || arrived != tt.arrived {
				t.Errorf("%d mm/s, %d deg/s, arrived %v; want %v %v %v", speed, turn, arrived, tt.speed, tt.turn, tt.arrived)
			}
		})
	}
}

// A map that the robot leaves begins anew, and goals may be outside of it.
func TestFar(t *testing.T) {
	w := New(Pioneer(), 1_000_000, -1_000_000)
	for at := int32(0); at < 50_000; at += 50 {
		if speed, turn, _ := w.Next(&codec.PositionData{X: at, Y: -at, Heading: 315}, []Beam{{Range: laserFar}}); speed < 300 || turn < -10 || turn > 10 {
			t.Errorf("at %d: %d mm/s, %d deg/s", at, speed, turn)
		}
	}
}
