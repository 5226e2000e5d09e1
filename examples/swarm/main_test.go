package main

import (
	"testing"

	"player/codec"
)

func TestSpread(t *testing.T) {
	for _, tt := range []struct {
		name                string
		near                []int // sonars that see something at 500 mm
		forward, left, turn bool
	}{
		{"nothing", nil, false, false, false},
		{"behind", []int{11, 12}, true, false, false},
		{"behind, to the right", []int{9, 10}, true, true, true},
		{"ahead, to the left", []int{1, 2}, false, false, true},
		{"ahead, to the right", []int{5, 6}, false, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var sonar codec.SonarData
			for i := range sonar {
				sonar[i] = 5000
			}
			for _, i := range tt.near {
				sonar[i] = 500
			}
			speed, turn := spread(&sonar)
			if (speed > 0) != tt.forward || (turn > 0) != tt.left || (turn != 0) != tt.turn {
				t.Errorf("%d mm/s, %d deg/s", speed, turn)
			}
		})
	}
}
