package stage

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"reflect"
	"testing"

	"player/codec"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/formats/telemetry"
)

// The tracker reports blobs where the picture shows them: the rectangle of each blob has as
// many pixels of the colour as the blob's area says, also when the camera looks aside and is
// zoomed in, and another thing hides a part.
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
		w, r := robotIn(t, robotWorld+world)
		r.cameras[0].head = head
		r.drawChannels(w.tracker.pixels)
		var seen codec.VisionData
		w.tracker.find(&seen)
		picture := r.Sight().Draw(imageWidth, imageHeight)
		blobs := 0
		for channel, name := range []string{"red", "green", "blue", "yellow"} {
			shade := must.Get(shades().resolve(name))(t)
			for _, b := range seen.Channel(channel) {
				if blobs++; b.Area < 40 {
					continue
				}
				n := 0
				for y := b.Top; y <= b.Bottom; y++ {
					for x := b.Left; x <= b.Right; x++ {
						if alike(picture.RGBAAt(x, y), shade.Color) {
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
	}
}

// A thing is in the picture where the camera's calibration, and the frame of its lens, say.
func TestPictureFitsItsCalibration(t *testing.T) {
	t.Parallel()
	const width, height, deg = 320, 240, 180 / math.Pi
	_, r := robotIn(t, robotWorld+`
		model ( pose [2.005 0.2 0 0] size [0.01 0.1 2] color "red" )
		pioneer_full ( pose [0 0 0 0] )
	`)
	for _, head := range []head{{}, {pan: 12, tilt: -8}, {pan: -9, tilt: 10}, {pan: 4, zoom: 700}} {
		r.cameras[0].head = head
		sight := r.Sight()
		picture := sight.Draw(width, height)
		l := sight.Lens()
		c := telemetry.New("r0", []telemetry.Device{{Interface: "ptz"}})
		lens := c.Lens("front", 0, &telemetry.Geometry{X: l.Pose.X * 1000, Y: l.Pose.Y * 1000, Heading: deg * l.Pose.Heading}, deg*l.Tilt)
		k := c.Calibration("front", 0, width, height, deg*l.FOV).Intrinsic
		// A point of the thing's near side, at the height of the lens, in the frame of the lens.
		at := turnBack(lens.Rotation, 2-lens.Translation.X, 0.2-lens.Translation.Y, 0)
		x, y := int(math.Round(k[0]*at[0]/at[2]+k[2])), int(math.Round(k[4]*at[1]/at[2]+k[5]))
		edge := int(0.05 / 2 * k[0]) // half of its width
		red := must.Get(shades().resolve("red"))(t)
		for _, tt := range []struct {
			x    int
			want bool
		}{{x, true}, {x - edge + 2, true}, {x + edge - 2, true}, {x - edge*11/10 - 4, false}, {x + edge*11/10 + 4, false}} {
			if alike(picture.RGBAAt(tt.x, y), red.Color) != tt.want {
				t.Errorf("%+v: at (%d, %d) of the picture red is %v, the thing is at %d", head, tt.x, y, !tt.want, x)
			}
		}
	}
}

// turnBack rotates a vector by the inverse of a rotation.
func turnBack(q telemetry.Quaternion, x, y, z float64) [3]float64 {
	return [3]float64{
		(1-2*(q.Y*q.Y+q.Z*q.Z))*x + 2*(q.X*q.Y+q.Z*q.W)*y + 2*(q.X*q.Z-q.Y*q.W)*z,
		2*(q.X*q.Y-q.Z*q.W)*x + (1-2*(q.X*q.X+q.Z*q.Z))*y + 2*(q.Y*q.Z+q.X*q.W)*z,
		2*(q.X*q.Z+q.Y*q.W)*x + 2*(q.Y*q.Z-q.X*q.W)*y + (1-2*(q.X*q.X+q.Y*q.Y))*z,
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

// A picture is of the moment at which its Sight was made, while the world goes on.
func TestPictureIsOfOneMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, robotWorld+`
		crate ( pose [1.2 0.6 0 0] color "blue" )
		crate ( pose [0.9 -0.5 0 30] color "green" pushable 1 mass 1 )
		puck ( pose [0.55 0 0 0] )
		pioneer_full ( pose [0 0 0 0] )
		pioneer_full ( pose [1.8 -0.5 0 170] color "yellow" )
	`)
	r, other := w.robots[0], w.robots[1]
	atRest := r.Sight().Draw(320, 240)
	sight := r.Sight()
	drawn := make(chan *image.RGBA)
	start := make(chan struct{})
	go func() {
		defer close(drawn)
		<-start
		for range acceptance.Rounds(8, 20) {
			drawn <- sight.Draw(320, 240)
		}
	}()
	r.grippers[0].command(codec.GripperCommand{})
	r.cameras[0].head.command(codec.PTZCommand{Pan: 40, Tilt: 10, Zoom: 500})
	other.drive.command(300, 40)
	close(start)
	for steps := 0; ; {
		select {
		case picture, more := <-drawn:
			if !more {
				if bytes.Equal(r.Sight().Draw(320, 240).Pix, atRest.Pix) {
					t.Error("after the steps the picture has not changed: the test proves nothing")
				}
				return
			}
			if !bytes.Equal(picture.Pix, atRest.Pix) {
				t.Fatalf("a picture of the start has changed after %d steps", steps)
			}
		default:
			w.Step(1)
			steps++
		}
	}
}

// A Sight is a copy by its type: a field that leads to a body, a robot or the world would be
// read while the loop changes it.
func TestSightLeadsToNothingThatMoves(t *testing.T) {
	t.Parallel()
	seen := map[reflect.Type]bool{}
	var walk func(path string, of reflect.Type)
	walk = func(path string, of reflect.Type) {
		if seen[of] {
			return
		}
		seen[of] = true
		switch of {
		case reflect.TypeFor[World](), reflect.TypeFor[Robot](), reflect.TypeFor[body](), reflect.TypeFor[spot](), reflect.TypeFor[crowd]():
			t.Errorf("%s leads to a %v", path, of)
			return
		}
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(path, of.Elem())
		case reflect.Struct:
			for i := range of.NumField() {
				walk(path+"."+of.Field(i).Name, of.Field(i).Type)
			}
		case reflect.Map, reflect.Func, reflect.Interface, reflect.Chan:
			t.Errorf("%s is a %v: nothing says that it is constant", path, of)
		}
	}
	walk("Sight", reflect.TypeFor[Sight]())
}
