package sony

import (
	"math"
	"time"
)

// A model is a camera of the family, in camera units: pan clockwise and tilt up are
// positive.
type model struct {
	vendor, number   int // of the version inquiry
	panMin, panMax   int
	tiltMin, tiltMax int
	panScale         float64 // units in a degree
	tiltScale        float64
	panFastest       int // the greatest parameter of speed
	tiltFastest      int
	panSpeed         float64 // deg/s at the fastest
	tiltSpeed        float64
	zoomOptical      int // the telephoto end of the lens
	zoomMax          int // with the digital zoom
}

// models are by name. Sources: the command list of the EVI-D30/D31, and the technical
// manuals of the EVI-D70/D70P, EVI-D100/D100P and EVI-D80/D90. The speeds of the D70
// and D80 are assumed.
var models = map[string]*model{
	"EVI-D30":  {0x0020, 0x0402, -880, 880, -300, 300, 8.8, 12, 0x18, 0x14, 80, 50, 1023, 1023},
	"EVI-D70":  {0x0020, 0x040E, -2267, 2267, -400, 1200, 2267. / 170, 1200. / 90, 0x18, 0x17, 100, 90, 0x4000, 0x7AC0},
	"EVI-D80":  {0x0001, 0x050C, -7707, 7707, -907, 4080, 7707. / 170, 4080. / 90, 0x18, 0x17, 100, 90, 0x4000, 0x7AC0},
	"EVI-D100": {0x0001, 0x040D, -1440, 1440, -360, 360, 14.4, 14.4, 0x18, 0x14, 300, 125, 0x4000, 0x7000},
}

// zoomTime is the time that the zoom takes from one end of the lens to the other, 1.5 s:
// assumed, no published figure.
const zoomTime = 1023. / 700

// panRate and tiltRate are in units per second, for a parameter of speed. Of the real
// cameras only the D30's speeds are linear in it.
func (m *model) panRate(v int) float64 {
	return m.panSpeed * m.panScale * float64(v) / float64(m.panFastest)
}

func (m *model) tiltRate(w int) float64 {
	return m.tiltSpeed * m.tiltScale * float64(w) / float64(m.tiltFastest)
}

func (m *model) zoomRate() float64 { return float64(m.zoomOptical) / zoomTime }

// An axis is one motor. It moves to its target at constant speed.
type axis struct {
	pos, want float64 // units
	speed     float64 // units per second
}

func (a *axis) moving() bool { return a.pos != a.want }

func (a *axis) advance(dt time.Duration) {
	most := a.speed * dt.Seconds()
	a.pos += max(-most, min(most, a.want-a.pos))
}

// rest returns the time until the axis stops.
func (a *axis) rest() time.Duration {
	if !a.moving() {
		return 0
	}
	return time.Duration(math.Ceil(math.Abs(a.want-a.pos)/a.speed*float64(time.Second))) + 1 // plus 1 ns against rounding
}

func (a *axis) goTo(want, speed float64) { a.want, a.speed = want, speed }

func (a *axis) stop() { a.want = a.pos }

// units returns the position in the camera's units.
func (a *axis) units() int { return int(math.Round(a.pos)) }
