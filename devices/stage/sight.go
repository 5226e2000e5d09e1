package stage

import (
	"image"
	"math"
	"slices"

	"player/devices/stage/floor"
)

// sightReach is how far the pictures of a camera reach, metres: beyond it a thing is one
// pixel wide.
const sightReach = 60

// Sight is the part of the world that a robot's camera may see at a moment. It does not change with
// the world: it has no reference to a body.
type Sight struct {
	eye
	scenery  []figure // this and the pictures are constant
	pictures []*picture
	movers   []figure
	lens     Lens
}

// Sight returns the part of the world that the robot's first camera may see now, nil without a
// camera. It must be called on the loop.
func (r *Robot) Sight() *Sight {
	if r.cameras == nil {
		return nil
	}
	w, c := r.world, r.cameras[0]
	s := &Sight{eye: eyeOf(r, c, sightReach), scenery: w.scenery, pictures: w.pictures}
	at := c.pose.Then(Pose{Heading: floor.Radians(c.head.pan)})
	s.lens = Lens{Pose: at, Tilt: floor.Radians(c.head.tilt), FOV: c.head.fov()}
	if r.lasers != nil {
		s.lens.Above = c.height - r.lasers[0].height
	}
	for _, b := range w.bodies {
		if b != r.body && b.spot.within(s.at, sightReach) {
			s.movers = append(s.movers, b.figure())
		}
	}
	return s
}

// Lens is the place on a robot of its camera's lens, and the field of view.
type Lens struct {
	Pose  Pose    // in the robot's frame, rotated by the head's pan
	Above float64 // metres above the plane of the robot's laser; 0 without one
	Tilt  float64 // radians up
	FOV   float64 // radians from the left to the right of a picture
}

// Lens returns the lens's place and field of view.
func (s *Sight) Lens() Lens { return s.lens }

// Draw draws the picture, width by height pixels, in the colours of the world's things,
// paler with the distance. Any goroutine may call it. In a picture as wide as the colour
// tracker's, the patches of its colours are the blobs that vision reports.
func (s *Sight) Draw(width, height int) *image.RGBA {
	v := viewOf(s.eye, newCanvas[Color](width, height), func(m *material) Color { return m.color })
	v.clear(Color{})
	for _, f := range slices.Concat(s.scenery, s.movers) {
		v.drawFigure(&f)
	}
	for _, p := range s.pictures {
		v.drawPicture(p)
	}
	return develop(&v)
}

// paling is the distance at which a surface is half faded into the haze, metres: walls of
// one colour can be distinguished, and a colour of the tracker is still recognised within
// its reach.
const paling = 25

// develop mixes the colours of the canvas with the haze.
func develop(v *view[Color]) *image.RGBA {
	ground, sky, haze := Color{118, 112, 104}, Color{196, 208, 220}, Color{206, 208, 210}
	out := image.NewRGBA(image.Rect(0, 0, v.width, v.height))
	for x := range v.width {
		m := v.column(x)
		horizon := int(math.Round(float64(v.height)/2 + v.focal*math.Sqrt(1+m*m)*v.tilt))
		for y := range v.height {
			i := y*v.width + x
			c, near := v.paint[i], 1.0
			switch {
			case v.depth[i] != math.MaxFloat32:
				near = paling / (paling + float64(v.depth[i]))
			case y < horizon:
				c = sky
			default:
				c = ground
			}
			mix := func(c, h uint8) uint8 { return uint8(float64(h) + near*(float64(c)-float64(h))) }
			copy(out.Pix[4*i:], []uint8{mix(c.R, haze.R), mix(c.G, haze.G), mix(c.B, haze.B), 0xff})
		}
	}
	return out
}
