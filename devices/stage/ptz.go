package stage

import (
	"math"
	"time"

	"player/codec"
	"player/devices/stage/floor"
)

// The Sony EVI-D30: limits and rates of its head, degrees and deg/s. The zoom
// ranges from 0, wide, to 1023, telephoto.
const (
	maxPan, panRate   = 100, 80
	maxTilt, tiltRate = 25, 50
	maxZoom           = 1023
	// zoomRate is an estimate, two seconds from end to end: no figure is
	// published.
	zoomRate = maxZoom / 2.0
	// wideFOV and teleFOV are the horizontal fields of view at the ends of the
	// zoom, degrees. In between the angle is linear.
	wideFOV, teleFOV = 48.8, 4.4
)

// head is the actual and the commanded direction of a pan-tilt-zoom camera:
// degrees, and zoom steps.
type head struct {
	pan, tilt, zoom             float64
	wantPan, wantTilt, wantZoom float64
}

func (h *head) command(c codec.PTZCommand) {
	h.wantPan = max(-maxPan, min(maxPan, float64(c.Pan)))
	h.wantTilt = max(-maxTilt, min(maxTilt, float64(c.Tilt)))
	h.wantZoom = max(0, min(maxZoom, float64(c.Zoom)))
}

func (h *head) step(dt time.Duration) {
	s := dt.Seconds()
	h.pan = approach(h.pan, h.wantPan, panRate*s)
	h.tilt = approach(h.tilt, h.wantTilt, tiltRate*s)
	h.zoom = approach(h.zoom, h.wantZoom, zoomRate*s)
}

func (h *head) read(out *codec.PTZData) {
	out.Pan, out.Tilt, out.Zoom = int16(math.Round(h.pan)), int16(math.Round(h.tilt)), int16(math.Round(h.zoom))
}

// fov returns the horizontal field of view in radians.
func (h *head) fov() float64 { return floor.Radians(wideFOV + (teleFOV-wideFOV)*h.zoom/maxZoom) }

// approach moves v towards want by at most step.
func approach(v, want, step float64) float64 { return v + max(-step, min(step, want-v)) }
