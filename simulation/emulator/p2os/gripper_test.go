package p2os

import (
	"testing"
	"time"
)

func TestGripper(t *testing.T) {
	type do struct {
		at    time.Duration
		code  int // 0: none; negative: GRIPPERVAL of the magnitude minus 1000
		state byte
	}
	const s = time.Second
	tests := []struct {
		name string
		do   []do
	}{
		{"close and open", []do{{0, 0, 0x11}, {0, gripClose, 0x14}, {s - 1, 0, 0x14}, {s, 0, 0x12}, {s, gripOpen, 0x14}, {2 * s, 0, 0x11}}},
		{"stop in between", []do{{0, gripClose, 0x14}, {s / 2, gripStop, 0x13}, {5 * s, 0, 0x13}}},
		{"lift", []do{{0, liftDown, 0x41}, {3499 * time.Millisecond, 0, 0x41}, {3500 * time.Millisecond, 0, 0x21}, {4 * s, liftUp, 0x41}, {8 * s, 0, 0x11}}},
		{"lift stop", []do{{0, liftDown, 0x41}, {s, liftStop, 0x31}}},
		{"deploy, store, halt", []do{{0, gripDeploy, 0x41}, {4 * s, gripStore, 0x44}, {4*s + s/2, gripHalt, 0x33}, {9 * s, gripStore, 0x44}, {20 * s, 0, 0x12}}},
		{"press", []do{{0, gripPress, 0x14}, {2 * s, -1050, 0x12}}},
		{"carry half way down", []do{{0, gripCarry, 0x11}, {0, -1000 - 175/2 - 1, 0x41}, {10 * s, 0, 0x31}}},
		{"value without carry", []do{{0, -1050, 0x11}, {0, gripCarry, 0x11}, {0, gripOpen, 0x11}, {0, -1050, 0x11}}},
		{"unknown code", []do{{0, 99, 0x11}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newGripper()
			for _, d := range tt.do {
				g.advance(d.at)
				switch {
				case d.code < 0:
					g.value(d.code + 1000)
				case d.code > 0:
					g.command(d.code)
				}
				if got := g.state(); got != d.state {
					t.Errorf("at %v after %d: %02X, want %02X", d.at, d.code, got, d.state)
				}
			}
		})
	}
}
