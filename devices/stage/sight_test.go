package stage

import (
	"fmt"
	"image/color"
	"image/png"
	"math"
	"os"
	"testing"

	"player/codec"
)

// What the tracker reports is where the picture shows it: in the rectangle of each blob, as
// many pixels as its area have the colour, also when the camera looks aside and is zoomed
// in, and another thing hides a part.
func TestPictureShowsTheBlobs(t *testing.T) {
	t.Parallel()
	const world = `
		model ( pose [2 0.3 0 0] size [0.2 0.2 0.4] color "red" )
		model ( pose [1.5 0.4 0 20] size [0.1 0.1 0.9] color "blue" )
		model ( pose [2.5 -0.6 0 0] size [0.5 0.1 0.2] color "green" )
		model ( pose [6 0 0 0] size [0.1 20 3] color "gray50" )
		pioneer_full ( pose [0 0 0 0] )
		pioneer_full ( pose [1.2 -0.4 0 90] color "yellow" )
	`
	for i, head := range []head{{}, {pan: 15, tilt: -5}, {pan: -10, tilt: 3, zoom: 400}} {
		w := newWorld(t, robotWorld+world)
		r := w.robots[0]
		r.head = head
		r.look(w.tracker.pixels)
		var seen codec.VisionData
		w.tracker.find(&seen)
		picture := r.Sight().Draw(imageWidth, imageHeight)
		blobs := 0
		for channel, name := range []string{"red", "green", "blue", "yellow"} {
			look, err := shades().resolve(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range seen.Channel(channel) {
				if blobs++; b.Area < 40 {
					continue
				}
				n := 0
				for y := b.Top; y <= b.Bottom; y++ {
					for x := b.Left; x <= b.Right; x++ {
						if alike(picture.RGBAAt(x, y), look.Color) {
							n++
						}
					}
				}
				if n < b.Area || n > b.Area*11/10 { // another patch of the colour may reach into the rectangle
					t.Errorf("view %d: %s has %d pixels in the picture, the blob %+v", i, name, n, b)
				}
			}
		}
		if blobs == 0 {
			t.Errorf("view %d: %d blobs", i, blobs)
		}
		if file := os.Getenv("SIGHT"); file != "" {
			f, _ := os.Create(fmt.Sprintf("%s%d.png", file, i))
			_ = png.Encode(f, r.Sight().Draw(640, 480))
			f.Close()
		}
	}
}

// alike reports whether a pixel has the hue of a colour: the haze makes it paler.
func alike(p color.RGBA, c Color) bool {
	lead := func(r, g, b uint8) [3]float64 {
		low := float64(min(r, g, b))
		v := [3]float64{float64(r) - low, float64(g) - low, float64(b) - low}
		most := max(v[0], v[1], v[2], 1)
		return [3]float64{v[0] / most, v[1] / most, v[2] / most}
	}
	a, b := lead(p.R, p.G, p.B), lead(c.R, c.G, c.B)
	strong := float64(max(p.R, p.G, p.B))-float64(min(p.R, p.G, p.B)) > 40
	return strong && math.Abs(a[0]-b[0])+math.Abs(a[1]-b[1])+math.Abs(a[2]-b[2]) < 0.3
}
