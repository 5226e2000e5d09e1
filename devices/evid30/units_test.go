package evid30

import "testing"

func TestUnits(t *testing.T) {
	tests := []struct {
		name      string
		got, want int
	}{
		{"pan 30", int(PanUnits(30)), -264},
		{"pan -50", int(PanUnits(-50)), 440},
		{"pan 28", int(PanUnits(28)), -246}, // -246.4
		{"pan -28", int(PanUnits(-28)), 246},
		{"pan 1", int(PanUnits(1)), -8},
		{"pan 100", int(PanUnits(100)), -880},
		{"pan 101", int(PanUnits(101)), -880},
		{"pan -32768", int(PanUnits(-32768)), 880},
		{"tilt 10", int(TiltUnits(10)), 120},
		{"tilt -20", int(TiltUnits(-20)), -240},
		{"tilt 25", int(TiltUnits(25)), 300},
		{"tilt 26", int(TiltUnits(26)), 300},
		{"tilt -32768", int(TiltUnits(-32768)), -300},
		{"zoom 0", int(ZoomUnits(0)), 0},
		{"zoom -1", int(ZoomUnits(-1)), 0},
		{"zoom 1023", int(ZoomUnits(1023)), 1023},
		{"zoom 32767", int(ZoomUnits(32767)), 1023},

		{"pan of -264", PanDegrees(-264), 30},
		{"pan of 440", PanDegrees(440), -50},
		{"pan of -246", PanDegrees(-246), 27}, // 27.95
		{"pan of 246", PanDegrees(246), -27},
		{"pan of 8", PanDegrees(8), 0},
		{"pan of 9", PanDegrees(9), -1},
		{"pan of 880", PanDegrees(880), -100},
		{"pan of -32768", PanDegrees(-32768), 100},
		{"tilt of 120", TiltDegrees(120), 10},
		{"tilt of 131", TiltDegrees(131), 10},
		{"tilt of -131", TiltDegrees(-131), -10},
		{"tilt of 32767", TiltDegrees(32767), 25},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, tt.got, tt.want)
		}
	}
}
