package evid30

// Limits of a ptz command and data (manual tables 5 and 7), which are the
// camera's own.
const (
	maxPan  = 100  // deg either way
	maxTilt = 25   // deg either way
	maxZoom = 1023 // telephoto
)

const (
	panPer10Degrees = 88 // camera units
	tiltPerDegree   = 12 // camera units
)

// PanUnits converts a pan from degrees, counterclockwise positive and clipped
// to ±100, to camera units, clockwise positive, truncated toward zero.
func PanUnits(degrees int) int16 {
	return int16(-clip(degrees, maxPan) * panPer10Degrees / 10)
}

// PanDegrees is the inverse: whole degrees, truncated toward zero, ±100.
func PanDegrees(units int16) int {
	return clip(-int(units)*10/panPer10Degrees, maxPan)
}

// TiltUnits converts a tilt from degrees, up positive and clipped to ±25, to
// camera units.
func TiltUnits(degrees int) int16 {
	return int16(clip(degrees, maxTilt) * tiltPerDegree)
}

// TiltDegrees is the inverse: whole degrees, truncated toward zero, ±25.
func TiltDegrees(units int16) int {
	return clip(int(units)/tiltPerDegree, maxTilt)
}

// ZoomUnits clips a zoom to the camera's range, 0 wide to 1023 telephoto. Player and
// camera use the same units.
func ZoomUnits(zoom int) uint16 { return uint16(max(0, min(zoom, maxZoom))) }

func clip(v, limit int) int { return max(-limit, min(v, limit)) }
