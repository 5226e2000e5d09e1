package stage

import "math"

const (
	// imageWidth and imageHeight are the size of the image in which ACTS
	// tracks colours, pixels.
	imageWidth, imageHeight = 160, 120
	// nearPlane is the smallest distance from the lens that is drawn, metres.
	nearPlane = 0.05
)

// camera is a pan-tilt-zoom camera with a colour tracker.
type camera struct {
	pose   Pose    // on the robot
	height float64 // of the lens above the floor, metres
	reach  float64 // range in which colours are recognised, metres
	// palette maps a colour to the channel that the tracker was trained for.
	// With a nil palette the materials' own channels are used.
	palette map[Color]int
}

// pixels is a camera image: for every pixel the channel and the distance of
// the nearest surface. Rows from the top.
type pixels struct {
	channel [imageWidth * imageHeight]int8
	depth   [imageWidth * imageHeight]float32
}

// view is one camera's view of the world. Surfaces are upright, so each fills
// a run of every column that it is in. Their tops are hidden behind the upper
// edge of their far sides, which are drawn too.
type view struct {
	*pixels
	at     Vec     // of the lens
	facing Vec     // unit vector ahead
	height float64 // of the lens
	tilt   float64 // tangent
	focal  float64 // pixels
	reach  float64
}

// look draws the image of the robot's camera.
func (r *Robot) look(img *pixels) {
	c, w := r.camera, r.world
	at := r.body.pose.then(c.pose)
	v := view{
		pixels: img,
		at:     at.position(),
		facing: direction(at.Heading + radians(r.head.pan)),
		height: c.height,
		tilt:   math.Tan(radians(r.head.tilt)),
		focal:  imageWidth / 2 / math.Tan(r.head.fov()/2),
		reach:  c.reach,
	}
	for i := range img.channel {
		img.channel[i], img.depth[i] = -1, math.MaxFloat32
	}
	for _, b := range w.fixtures {
		v.drawBody(b, c)
	}
	for _, b := range w.bodies {
		if b != r.body && b.spot.within(v.at, v.reach) {
			v.drawBody(b, c)
		}
	}
	for _, p := range w.pictures {
		v.drawPicture(p, c)
	}
}

// channelOf returns the channel in which the tracker reports a surface.
func (c *camera) channelOf(m *material) int8 {
	if m.channel < 0 || c.palette == nil {
		return int8(m.channel)
	}
	if channel, known := c.palette[m.color]; known {
		return int8(channel)
	}
	return -1
}

func (v *view) drawBody(b *body, c *camera) {
	for i := range b.parts {
		p := &b.parts[i]
		if p.bitmap {
			continue
		}
		channel := c.channelOf(&p.material)
		for _, outline := range p.shapes {
			last := v.toLens(b, outline[len(outline)-1])
			for _, point := range outline {
				next := v.toLens(b, point)
				v.drawSide(last, next, p.bottom+b.lifted, p.top+b.lifted, channel)
				last = next
			}
		}
	}
}

// toLens transforms a point of a body to the frame of the lens: x ahead, y
// left.
func (v *view) toLens(b *body, p Vec) Vec {
	return b.pose.position().add(p.rotate(b.facing)).sub(v.at).rotateBack(v.facing)
}

// column returns the slope, left per metre ahead, of the ray through a column.
func (v *view) column(x int) float64 { return (imageWidth/2 - 0.5 - float64(x)) / v.focal }

// drawSide draws an upright rectangle above the segment from a to b, in the
// frame of the lens.
func (v *view) drawSide(a, b Vec, bottom, top float64, channel int8) {
	if a.X > b.X {
		a, b = b, a
	}
	if b.X <= nearPlane {
		return
	}
	if a.X < nearPlane {
		k := (nearPlane - a.X) / (b.X - a.X)
		a = Vec{nearPlane, a.Y + k*(b.Y-a.Y)}
	}
	ua, ub := imageWidth/2-v.focal*a.Y/a.X, imageWidth/2-v.focal*b.Y/b.X
	first := max(0, int(math.Ceil(max(min(ua, ub), 0)-0.5)))
	last := int(math.Floor(min(max(ua, ub), imageWidth) - 0.5))
	side := b.sub(a)
	for x := first; x <= min(last, imageWidth-1); x++ {
		m := v.column(x)
		turn := side.Y - m*side.X
		if turn == 0 {
			continue // seen edge-on
		}
		ahead := a.X + (m*a.X-a.Y)/turn*side.X
		v.drawRun(x, ahead*math.Sqrt(1+m*m), m, bottom, top, channel)
	}
}

// drawPicture draws the walls of a picture on the floor: the nearest cell in
// each column. Cells behind it in the same picture are hidden.
func (v *view) drawPicture(p *picture, c *camera) {
	channel := c.channelOf(&p.material)
	for x := range imageWidth {
		m := v.column(x)
		length := math.Sqrt(1 + m*m)
		d := Vec{1 / length, m / length}.rotate(v.facing)
		if distance := p.cells.cast(v.at, d, v.reach); distance < v.reach {
			v.drawRun(x, max(distance, nearPlane), m, p.bottom, p.top, channel)
		}
	}
}

// drawRun fills a column from bottom to top, metres above the floor, at a
// distance.
func (v *view) drawRun(x int, distance, m, bottom, top float64, channel int8) {
	if distance > v.reach {
		return
	}
	focal := v.focal * math.Sqrt(1+m*m) // columns at the side are farther from the lens
	row := func(z float64) float64 {
		slope := (z - v.height) / distance
		below := 1 + slope*v.tilt
		if below <= 0 { // steeper than the image plane: outside the image
			return math.Copysign(imageHeight, v.tilt)
		}
		return imageHeight/2 - focal*(slope-v.tilt)/below
	}
	first := int(math.Ceil(max(0, row(top)) - 0.5))
	last := int(math.Floor(min(imageHeight, row(bottom)) - 0.5))
	depth := float32(distance)
	for y := max(0, first); y <= last; y++ {
		if i := y*imageWidth + x; depth < v.depth[i] {
			v.depth[i], v.channel[i] = depth, channel
		}
	}
}
