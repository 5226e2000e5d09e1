package p2os

import "testing"

func TestRoomRange(t *testing.T) {
	tests := []struct {
		name  string
		p     Pose
		sonar int
		want  float64 // mm
	}{
		{"left, in the middle", Pose{}, 0, 1000 - 136},
		{"right, in the middle", Pose{}, 7, 1000 - 136},
		{"left, turned to the right wall", Pose{0, 0, -180}, 0, 1000 - 136},
		{"left, near the left wall", Pose{0, 500, 0}, 0, 500 - 136},
		{"left, facing north", Pose{-300, 0, 90}, 0, 700 - 136},
		{"10 degrees ahead", Pose{}, 3, (1000 - 166) / 0.984807753},
		{"outside", Pose{3000, 0, 0}, 3, sonarMax},
	}
	for _, tt := range tests {
		if got := roomRange(2000, tt.p, ringDX[tt.sonar]); !near(got, tt.want, 1e-3) {
			t.Errorf("%s: %v mm, want %v", tt.name, got, tt.want)
		}
	}
	if got := roomRange(1e6, Pose{}, ringDX[0]); got != sonarMax {
		t.Errorf("large room: %v mm", got)
	}
}

func TestSonarUnits(t *testing.T) {
	for mm, want := range map[float64]uint16{268: 1000, 295: 1101, -1: 0, 1e9: 65535} {
		if got := sonarUnits(mm, 0.268); got != want {
			t.Errorf("%v mm: %d, want %d", mm, got, want)
		}
	}
}
