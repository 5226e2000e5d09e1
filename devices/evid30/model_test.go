package evid30

import (
	"math"
	"strings"
	"testing"
)

// The values of Sony's technical manuals.
func TestUnits(t *testing.T) {
	d70, d100 := models[0x040E], models[0x040D]
	for _, tt := range []struct {
		name      string
		got, want int
	}{
		{"D30 pan 30", int(d30.PanUnits(30)), -264},
		{"D30 pan -50", int(d30.PanUnits(-50)), 440},
		{"D30 pan 28", int(d30.PanUnits(28)), -246}, // -246.4
		{"D30 pan 1", int(d30.PanUnits(1)), -9},     // -8.8
		{"D30 pan 100", int(d30.PanUnits(100)), -0x370},
		{"D30 pan 101", int(d30.PanUnits(101)), -0x370},
		{"D30 pan -32768", int(d30.PanUnits(-32768)), 0x370},
		{"D30 tilt 10", int(d30.TiltUnits(10)), 120},
		{"D30 tilt 26", int(d30.TiltUnits(26)), 0x12C},
		{"D30 tilt -32768", int(d30.TiltUnits(-32768)), -0x12C},
		{"D30 zoom -1", int(d30.ZoomUnits(-1)), 0},
		{"D30 zoom 517", int(d30.ZoomUnits(517)), 517},
		{"D30 zoom 32767", int(d30.ZoomUnits(32767)), 0x3FF},
		{"D30 pan of -246", d30.PanDegrees(-246), 28},
		{"D30 pan of 880", d30.PanDegrees(880), -100},
		{"D30 pan of -32768", d30.PanDegrees(-32768), -100}, // no pan of a camera
		{"D30 tilt of 131", d30.TiltDegrees(131), 11},
		{"D30 tilt of 32767", d30.TiltDegrees(32767), 25},

		{"D70 pan -170", int(d70.PanUnits(-170)), 0x8DB},
		{"D70 tilt -90", int(d70.TiltUnits(-90)), -0x190}, // clipped to -30
		{"D70 tilt 90", int(d70.TiltUnits(90)), 0x4B0},
		{"D70 zoom 1023", int(d70.ZoomUnits(1023)), 0x4000},
		{"D70 zoom 512", int(d70.ZoomUnits(512)), 8200},
		{"D70 pan of F725", d70.PanDegrees(-0x8DB), 170},
		{"D70 tilt of 04B0", d70.TiltDegrees(0x4B0), 90},
		{"D70 zoom of 7AC0", d70.ZoomPlayer(0x7AC0), 1023},

		{"D100 pan -100", int(d100.PanUnits(-100)), 0x5A0},
		{"D100 tilt 25", int(d100.TiltUnits(25)), 0x168},
		{"D100 pan of 15", d100.PanDegrees(15), -1},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, tt.got, tt.want)
		}
	}
}

// A position that was commanded is read back as it was commanded.
func TestReadBack(t *testing.T) {
	for _, m := range models {
		for pan := m.Pan.Min; pan <= m.Pan.Max; pan++ {
			if got := m.PanDegrees(m.PanUnits(pan)); got != pan || !m.plausible(m.PanUnits(pan), 0) {
				t.Errorf("%s: pan %d reads back %d", m.Name, pan, got)
			}
		}
		for tilt := m.Tilt.Min; tilt <= m.Tilt.Max; tilt++ {
			if got := m.TiltDegrees(m.TiltUnits(tilt)); got != tilt || !m.plausible(0, m.TiltUnits(tilt)) {
				t.Errorf("%s: tilt %d reads back %d", m.Name, tilt, got)
			}
		}
		for zoom := range maxZoom + 1 {
			if got := m.ZoomPlayer(m.ZoomUnits(zoom)); got != zoom || !m.plausibleZoom(m.ZoomUnits(zoom)) {
				t.Errorf("%s: zoom %d reads back %d", m.Name, zoom, got)
			}
		}
		if m.plausible(math.MinInt16, 0) || m.plausible(0, math.MaxInt16) || m.plausible(m.PanUnits(200)*2, 0) || m.plausibleZoom(0xFFFF) {
			t.Errorf("%s: nonsense is plausible", m.Name)
		}
	}
}

func TestRanges(t *testing.T) {
	for _, tt := range []struct {
		name      string
		model     string
		pan, tilt []float64
		zoom      int
		err       string
	}{
		{"unknown model", "EVI-D80", nil, nil, 0, `no model "EVI-D80"`},
		{"two numbers", "", []float64{-170, 170}, nil, 0, "pan: [-170 170] is not a range"},
		{"backwards", "", nil, []float64{20, -20, 10}, 0, "tilt: "},
		{"no scale", "", nil, []float64{-20, 20, 0}, 0, "tilt: "},
		{"beyond 16 bits", "", []float64{-170, 170, 200}, nil, 0, "pan: "},
		{"a model", "EVI-D100", nil, nil, 0, ""},
		{"all", "", []float64{-170, 170, 45.33}, []float64{-20, 90, 45.33}, 0x4000, ""},
	} {
		r, err := newRanges(tt.model, tt.pan, tt.tilt, tt.zoom)
		if tt.err == "" && (err != nil || r.fixed() == nil) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %+v, %v", tt.name, r, err)
		}
	}
	r, _ := newRanges("", []float64{-90, 90, 8.8}, nil, 0)
	if m := r.unnamed(); r.fixed() != nil || m.PanUnits(100) != -792 || m.TiltUnits(100) != 300 {
		t.Errorf("%+v", m)
	}
	if v := (Version{0x0001, 0x050C, 3}); v.String() != "Sony EVI-D80, model 050C of vendor 0001, ROM 0003" {
		t.Errorf("%v", v)
	}
	if v := (Version{0x0020, 0x040E, 1}); v.String() != "Sony EVI-D70, model 040E of vendor 0020, ROM 0001" {
		t.Errorf("%v", v)
	}
}
