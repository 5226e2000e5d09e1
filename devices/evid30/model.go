package evid30

import (
	"fmt"
	"math"
)

// Model has the abilities of a camera. Sources: the command list of the EVI-D30/D31, and
// Sony's technical manuals of the EVI-D70/D70P (A-BS4-100-11) and the EVI-D100/D100P
// (A-AYT-100-11), each with the D30's parameters next to its own.
type Model struct {
	Name      string
	Pan, Tilt Axis // Pan: clockwise positive, against Player's sense; Tilt: up positive
	Zoom      int  // camera units at the telephoto end of the lens; 0 is wide
	// ZoomMost is the largest zoom that the camera reports, with the digital zoom.
	ZoomMost int
}

// Axis is the range of a motor.
type Axis struct {
	Min, Max int     // degrees, in Player's sense: counterclockwise, up
	Scale    float64 // camera units in a degree
	Speed    byte    // the greatest parameter of speed
}

// models are the cameras with known ranges, by model number.
var models = map[uint16]*Model{
	0x0402: &d30, // also the D70 and D100 in their D30/D31 mode
	0x040D: {"EVI-D100", Axis{-100, 100, 1440. / 100, 0x18}, Axis{-25, 25, 360. / 25, 0x14}, 0x4000, 0x7000},
	0x040E: {"EVI-D70", Axis{-170, 170, 2267. / 170, 0x18}, Axis{-30, 90, 1200. / 90, 0x17}, 0x4000, 0x7AC0},
}

var d30 = Model{"EVI-D30", Axis{-100, 100, 880. / 100, 0x18}, Axis{-25, 25, 300. / 25, 0x14}, 0x3FF, 0x3FF}

// otherNames are cameras without known ranges, by model number: the technical manual of
// the EVI-D80/D90.
var otherNames = map[uint16]string{0x050C: "EVI-D80", 0x050D: "EVI-D90"}

// maxZoom is telephoto in Player's command and data (manual tables 5 and 7), the units
// of the EVI-D30. Other cameras' units are scaled to it.
const maxZoom = 1023

// units converts degrees to camera units, clipped to the range, to the nearest.
func (a Axis) units(degrees int) int16 {
	return int16(math.Round(float64(max(a.Min, min(degrees, a.Max))) * a.Scale))
}

// degrees is the inverse: to the nearest degree, within the range.
func (a Axis) degrees(units int16) int {
	return max(a.Min, min(int(math.Round(float64(units)/a.Scale)), a.Max))
}

// plausible reports whether a position is within the range or at most a tenth of it
// beyond. VISCA has no checksum.
func (a Axis) plausible(units int16) bool {
	tolerance := float64(a.Max-a.Min) / 20
	degrees := float64(units) / a.Scale
	return float64(a.Min)-tolerance <= degrees && degrees <= float64(a.Max)+tolerance
}

// PanUnits converts a pan, counterclockwise positive, to camera units.
func (m *Model) PanUnits(degrees int) int16 { return -m.Pan.units(degrees) }

// PanDegrees is the inverse.
func (m *Model) PanDegrees(units int16) int { return m.Pan.degrees(-units) }

// TiltUnits converts a tilt to camera units.
func (m *Model) TiltUnits(degrees int) int16 { return m.Tilt.units(degrees) }

// TiltDegrees is the inverse.
func (m *Model) TiltDegrees(units int16) int { return m.Tilt.degrees(units) }

// ZoomUnits converts a zoom, clipped to 0 wide to 1023 telephoto, to camera units.
func (m *Model) ZoomUnits(zoom int) uint16 {
	return uint16((2*max(0, min(zoom, maxZoom))*m.Zoom + maxZoom) / (2 * maxZoom))
}

// ZoomPlayer is the inverse. The digital zoom counts as telephoto.
func (m *Model) ZoomPlayer(units uint16) int {
	return min((2*int(units)*maxZoom+m.Zoom)/(2*m.Zoom), maxZoom)
}

// plausible reports whether an answer can be a position of the camera.
func (m *Model) plausible(pan, tilt int16) bool {
	return pan != math.MinInt16 && m.Pan.plausible(-pan) && m.Tilt.plausible(tilt)
}

// plausibleZoom reports whether an answer can be a zoom of the camera.
func (m *Model) plausibleZoom(zoom uint16) bool { return int(zoom) <= m.ZoomMost+m.ZoomMost/10 }

// Version is a camera's answer to InquireVersion.
type Version struct {
	Vendor uint16 // Sony: 0020, of the D100 and later 0001
	Model  uint16
	ROM    uint16
}

// String names the camera.
func (v Version) String() string {
	text := fmt.Sprintf("model %04X of vendor %04X, ROM %04X", v.Model, v.Vendor, v.ROM)
	name, ok := otherNames[v.Model]
	if m := v.model(); m != nil {
		name, ok = m.Name, true
	}
	if ok && v.isSony() {
		return "Sony " + name + ", " + text
	}
	return text
}

func (v Version) isSony() bool { return v.Vendor == 0x0020 || v.Vendor == 0x0001 }

// model returns the camera's model, nil if its ranges are not known.
func (v Version) model() *Model {
	if !v.isSony() {
		return nil
	}
	return models[v.Model]
}

// Ranges has the camera's properties from options.
type Ranges struct {
	model     *Model // nil: the camera is asked
	pan, tilt *Axis  // in place of the model's
	zoom      int    // in place of the model's; zero: none
}

// newRanges returns the ranges that options name.
func newRanges(model string, pan, tilt []float64, zoom int) (r Ranges, err error) {
	if model != "" {
		for _, m := range models {
			if m.Name == model {
				r.model = m
			}
		}
		if r.model == nil {
			return r, fmt.Errorf("no model %q: EVI-D30, EVI-D70 and EVI-D100 are known", model)
		}
	}
	if r.pan, err = newAxis(pan, d30.Pan.Speed); err != nil {
		return r, fmt.Errorf("pan: %w", err)
	}
	if r.tilt, err = newAxis(tilt, d30.Tilt.Speed); err != nil {
		return r, fmt.Errorf("tilt: %w", err)
	}
	r.zoom = zoom
	return r, nil
}

// newAxis returns an axis of an option's three numbers; nil of none.
func newAxis(v []float64, speed byte) (*Axis, error) {
	if len(v) == 0 {
		return nil, nil
	}
	if len(v) != 3 || v[0] > v[1] || v[2] <= 0 || math.Abs(v[0]*v[2]) > math.MaxInt16 || math.Abs(v[1]*v[2]) > math.MaxInt16 {
		return nil, fmt.Errorf("%v is not a range: least degrees, greatest degrees, camera units in a degree", v)
	}
	return &Axis{int(v[0]), int(v[1]), v[2], speed}, nil
}

// fixed returns the camera's model if it need not be asked, nil otherwise.
func (r Ranges) fixed() *Model {
	switch {
	case r.model != nil:
		return r.over(*r.model)
	case r.complete():
		return r.over(Model{Name: "the options"})
	}
	return nil
}

// of returns the model of a camera that has reported its version.
func (r Ranges) of(v Version) (*Model, error) {
	if m := v.model(); m != nil {
		return r.over(*m), nil
	}
	return nil, fmt.Errorf("the ranges of this camera are not known: %v. Set the option model if it is like one, or pan, tilt and zoom", v)
}

// unnamed returns the model of a camera without a version.
func (r Ranges) unnamed() *Model { return r.over(d30) }

func (r Ranges) complete() bool { return r.pan != nil && r.tilt != nil && r.zoom != 0 }

// over returns the model with the ranges that options name.
func (r Ranges) over(m Model) *Model {
	if r.pan != nil {
		m.Pan = *r.pan
	}
	if r.tilt != nil {
		m.Tilt = *r.tilt
	}
	if r.zoom != 0 {
		m.Zoom, m.ZoomMost = r.zoom, max(r.zoom, m.ZoomMost, models[0x040E].ZoomMost)
	}
	return &m
}
