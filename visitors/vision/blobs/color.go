package blobs

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
)

// Range is the values that belong to a colour, both ends included.
type Range struct{ Low, High int }

// Color is a colour to find: ranges in HSV. A pixel has the colour if its hue, its
// saturation and its value are in them. More light on a thing raises its value, but not its
// hue and saturation.
type Color struct {
	Name       string
	Channel    int   // of the vision device, 0 to 31
	Hue        Range // degrees, 0 to 359: red is 0, green 120, blue 240; from 350 to 10 is across red
	Saturation Range // percent, 0 is grey
	Value      Range // percent, 0 is black
}

// hsv is a pixel: hue in degrees, 0 to 360; saturation and value in percent.
type hsv struct{ hue, saturation, value float64 }

// hsvOf converts a pixel of a JPEG.
func hsvOf(c color.YCbCr) hsv {
	red, green, blue := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
	r, g, b := float64(red), float64(green), float64(blue)
	most, least := max(r, g, b), min(r, g, b)
	if most == least { // grey has no hue
		return hsv{0, 0, most / 2.55}
	}
	var sixth float64
	switch span := most - least; most {
	case r:
		sixth = math.Mod((g-b)/span+6, 6)
	case g:
		sixth = (b-r)/span + 2
	default:
		sixth = (r-g)/span + 4
	}
	return hsv{60 * sixth, 100 * (most - least) / most, most / 2.55}
}

// has reports whether a pixel has the colour.
func (c *Color) has(p hsv) bool {
	in := func(v float64, r Range) bool { return v >= float64(r.Low) && v <= float64(r.High) }
	hue := in(p.hue, c.Hue)
	if c.Hue.Low > c.Hue.High {
		hue = p.hue >= float64(c.Hue.Low) || p.hue <= float64(c.Hue.High)
	}
	return hue && in(p.saturation, c.Saturation) && in(p.value, c.Value)
}

const (
	// stray is the part of the samples' hues that is ignored at each end: pixels at the edge
	// of the thing, and its highlights.
	stray = 0.05
	// hueMargin is how far noise, a tint of the light and the compression shift the hue of a
	// thing, degrees: a third of the way between red and yellow.
	hueMargin = 12
	// paling is the part of its saturation that a thing keeps where it is far or blurred.
	paling = 0.6
	// dimming is the part of its value that a thing keeps in the least light: lamp light
	// after a calibration by day.
	dimming = 0.4
	// darkest is the least value of a calibrated colour, percent: the hue of a darker pixel
	// is noise.
	darkest = 10
)

// Samples returns the pixels of a part of a picture.
func Samples(m *image.YCbCr, part image.Rectangle) []color.YCbCr {
	part = part.Add(m.Rect.Min).Intersect(m.Rect)
	samples := make([]color.YCbCr, 0, part.Dx()*part.Dy())
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			samples = append(samples, m.YCbCrAt(x, y))
		}
	}
	return samples
}

// Calibrated returns a colour with ranges that contain its samples, pixels of one thing, also
// in noise, from farther away, and in less light or more. There must be samples.
func Calibrated(name string, channel int, samples []color.YCbCr) Color {
	var east, north float64
	pixels := make([]hsv, len(samples))
	for i, s := range samples {
		pixels[i] = hsvOf(s)
		sin, cos := math.Sincos(pixels[i].hue * math.Pi / 180)
		east, north = east+cos*pixels[i].saturation, north+sin*pixels[i].saturation
	}
	// Hues are measured from their mean, so that red, on both sides of 0, is one range.
	mean := math.Atan2(north, east) * 180 / math.Pi
	// part returns the value that lies above a part of the pixels' values.
	part := func(part float64, of func(p hsv) float64) float64 {
		values := make([]float64, len(pixels))
		for i, p := range pixels {
			values[i] = of(p)
		}
		slices.Sort(values)
		return values[int(part*float64(len(values)))]
	}
	away := func(p hsv) float64 { return math.Remainder(p.hue-mean, 360) }
	left, right := part(stray, away), part(1-stray, away)
	pale := part(0.5, func(p hsv) float64 { return p.saturation })
	dim := part(0.5, func(p hsv) float64 { return p.value })
	degrees := func(v float64) int { return (int(math.Round(v)) + 720) % 360 }
	return Color{
		Name: name, Channel: channel,
		Hue:        Range{degrees(mean + left - hueMargin), degrees(mean + right + hueMargin)},
		Saturation: Range{int(paling * pale), 100},
		Value:      Range{max(darkest, int(dimming*dim)), 100},
	}
}

// Widened returns the colour with ranges that also contain the ranges of another colour.
func (c Color) Widened(other Color) Color {
	c.Hue = joinHues(c.Hue, other.Hue)
	c.Saturation = Range{min(c.Saturation.Low, other.Saturation.Low), max(c.Saturation.High, other.Saturation.High)}
	c.Value = Range{min(c.Value.Low, other.Value.Low), max(c.Value.High, other.Value.High)}
	return c
}

// joinHues returns the shortest range of hues that contains two.
func joinHues(a, b Range) Range {
	width := func(low, high int) int { return (high - low + 360) % 360 }
	best, least := Range{0, 359}, 360
	for _, r := range []Range{a, b, {a.Low, b.High}, {b.Low, a.High}} {
		contains := func(in Range) bool {
			return width(r.Low, in.Low)+width(in.Low, in.High) <= width(r.Low, r.High)
		}
		if w := width(r.Low, r.High); contains(a) && contains(b) && w < least {
			best, least = r, w
		}
	}
	return best
}

// check returns the first mistake in a list of colours.
func check(colors []Color) error {
	var names [channels]string
	for _, c := range colors {
		if c.Channel < 0 || c.Channel >= channels {
			return fmt.Errorf("colour %q has channel %d: channels are 0 to %d", c.Name, c.Channel, channels-1)
		}
		if other := names[c.Channel]; other != "" {
			return fmt.Errorf("colours %q and %q have the same channel %d", other, c.Name, c.Channel)
		}
		names[c.Channel] = c.Name
	}
	return nil
}
