package sense

import (
	"math"

	"player/client/subsumption"
	"player/codec"
)

const (
	// imageWidth in pixels and wideAngle in degrees are the image and the field of view of
	// ACTS with the camera's zoom at its wide end.
	imageWidth = 160
	wideAngle  = 48.8
	// panEnd in degrees is the limit of the camera's pan on either side.
	panEnd = 100
	// panNear in degrees is the error at which the pan counts as reached.
	panNear = 2
)

// Eye finds a light with the camera: a blob in Channel. It keeps the light in
// the middle of the image by turning the camera, and sweeps from one end to
// the other when the light is lost. The robot thus sees a light up to 124
// degrees to either side. The zoom must stay at its wide end.
type Eye struct {
	Channel int // of the colour tracker

	side int // where to search for a lost light first: 1 left, -1 right, 0 left
}

// Look returns the light in an image taken with the camera at pan degrees, and
// the next pan.
func (e *Eye) Look(image *codec.VisionData, pan int) (light subsumption.Light, turn int) {
	if blobs := image.Channel(e.Channel); len(blobs) > 0 {
		bearing := pan + bearing(blobs[0].X)
		if e.side = 1; bearing < 0 {
			e.side = -1
		}
		return subsumption.Light{Seen: true, Bearing: bearing}, max(-panEnd, min(bearing, panEnd))
	}
	switch {
	case pan >= panEnd-panNear:
		e.side = -1
	case pan <= panNear-panEnd:
		e.side = 1
	case e.side == 0:
		e.side = 1
	}
	return subsumption.Light{}, e.side * panEnd
}

// bearing returns the direction of a pixel, degrees from the middle of the
// image.
func bearing(x int) int {
	focal := imageWidth / 2 / math.Tan(wideAngle/2*math.Pi/180) // pixels
	return int(math.Round(math.Atan((imageWidth/2-0.5-float64(x))/focal) * 180 / math.Pi))
}
