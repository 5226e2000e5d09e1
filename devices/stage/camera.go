package stage

import (
	"math"
	"slices"

	"player/codec"
	"player/devices"
	"player/devices/stage/floor"
)

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
	head    head
}

// canvas is a camera's picture: for every pixel the paint of the nearest surface, and its
// distance. Rows from the top.
type canvas[T any] struct {
	width, height int
	paint         []T
	depth         []float32 // metres; math.MaxFloat32: there is no surface
}

func newCanvas[T any](width, height int) *canvas[T] {
	return &canvas[T]{width, height, make([]T, width*height), make([]float32, width*height)}
}

// clear removes all surfaces.
func (c *canvas[T]) clear(background T) {
	for i := range c.paint {
		c.paint[i], c.depth[i] = background, math.MaxFloat32
	}
}

// eye is a camera's position and direction at one moment.
type eye struct {
	at         Vec     // of the lens
	facing     Vec     // unit vector ahead
	lensHeight float64 // above the floor
	tilt       float64 // tangent
	half       float64 // tangent of half the field of view
	reach      float64
}

// eyeOf returns where a robot's camera is now.
func eyeOf(r *Robot, c *camera, reach float64) eye {
	at := r.body.pose.Then(c.pose)
	return eye{
		at:         at.Position(),
		facing:     floor.Direction(at.Heading + floor.Radians(c.head.pan)),
		lensHeight: c.height,
		tilt:       math.Tan(floor.Radians(c.head.tilt)),
		half:       math.Tan(c.head.fov() / 2),
		reach:      reach,
	}
}

// figure is a body as cameras see it at one moment. Its parts are constant.
type figure struct {
	at, facing Vec
	lifted     float64 // metres
	parts      []part
}

func (b *body) figure() figure { return figure{b.spot.at, b.spot.facing, b.lifted, b.parts} }

// view is one camera's view of the world. Surfaces are upright, so each fills
// a run of every column that it is in. Their tops are hidden behind the upper
// edge of their far sides, which are also drawn.
type view[T any] struct {
	eye
	*canvas[T]
	paintOf func(*material) T
	focal   float64 // pixels
}

// viewOf returns the view of an eye on a canvas.
func viewOf[T any](e eye, img *canvas[T], paintOf func(*material) T) view[T] {
	return view[T]{e, img, paintOf, float64(img.width) / 2 / e.half}
}

// drawTracked draws the channels of the colour tracker of a camera of the robot.
func (r *Robot) drawTracked(c *camera, img *canvas[int8]) {
	w := r.world
	v := viewOf(eyeOf(r, c, c.reach), img, c.channelOf)
	img.clear(-1)
	for i := range w.scenery {
		v.drawFigure(&w.scenery[i])
	}
	for _, b := range w.bodies {
		if b != r.body && b.spot.within(v.at, v.reach) {
			f := b.figure()
			v.drawFigure(&f)
		}
	}
	for _, p := range w.pictures {
		v.drawPicture(p)
	}
}

// channelOf returns the channel in which the tracker reports a surface.
func (c *camera) channelOf(m *material) int8 {
	if c.palette == nil || m.channel < 0 && m.kept {
		return int8(m.channel)
	}
	if channel, known := c.palette[m.color]; known {
		return int8(channel)
	}
	return -1
}

func (v *view[T]) drawFigure(f *figure) {
	for i := range f.parts {
		p := &f.parts[i]
		if p.bitmap {
			continue
		}
		paint := v.paintOf(&p.material)
		for _, outline := range p.shapes {
			last := v.toLens(f, outline[len(outline)-1])
			for _, point := range outline {
				next := v.toLens(f, point)
				v.drawSide(last, next, p.bottom+f.lifted, p.top+f.lifted, paint)
				last = next
			}
		}
	}
}

// toLens transforms a point of a figure to the frame of the lens: x ahead, y
// left.
func (v *view[T]) toLens(f *figure, p Vec) Vec {
	return f.at.Add(p.Rotate(f.facing)).Sub(v.at).RotateBack(v.facing)
}

// column returns the slope, left per metre ahead, of the ray through a column.
func (v *view[T]) column(x int) float64 { return (float64(v.width)/2 - 0.5 - float64(x)) / v.focal }

// drawSide draws an upright rectangle above the segment from a to b, in the
// frame of the lens.
func (v *view[T]) drawSide(a, b Vec, bottom, top float64, paint T) {
	if a.X > b.X {
		a, b = b, a
	}
	if b.X <= nearPlane {
		return
	}
	if a.X < nearPlane {
		k := (nearPlane - a.X) / (b.X - a.X)
		a = Vec{X: nearPlane, Y: a.Y + k*(b.Y-a.Y)}
	}
	width := float64(v.width)
	ua, ub := width/2-v.focal*a.Y/a.X, width/2-v.focal*b.Y/b.X
	first := max(0, int(math.Ceil(max(min(ua, ub), 0)-0.5)))
	last := int(math.Floor(min(max(ua, ub), width) - 0.5))
	side := b.Sub(a)
	for x := first; x <= min(last, v.width-1); x++ {
		m := v.column(x)
		across := side.Y - m*side.X
		if across == 0 {
			continue // seen edge-on
		}
		ahead := a.X + (m*a.X-a.Y)/across*side.X
		v.drawRun(x, ahead*math.Sqrt(1+m*m), m, bottom, top, paint)
	}
}

// drawPicture draws the walls of a picture on the floor: the nearest cell in
// each column. Cells behind it in the same picture are hidden.
func (v *view[T]) drawPicture(p *picture) {
	paint := v.paintOf(&p.material)
	for x := range v.width {
		m := v.column(x)
		length := math.Sqrt(1 + m*m)
		d := Vec{X: 1 / length, Y: m / length}.Rotate(v.facing)
		if distance := p.cells.Cast(v.at, d, v.reach); distance < v.reach {
			v.drawRun(x, max(distance, nearPlane), m, p.bottom, p.top, paint)
		}
	}
}

// drawRun fills a column from bottom to top, metres above the floor, at a
// distance.
func (v *view[T]) drawRun(x int, distance, m, bottom, top float64, paint T) {
	if distance > v.reach {
		return
	}
	height := float64(v.height)
	focal := v.focal * math.Sqrt(1+m*m) // columns at the side are farther from the lens
	row := func(z float64) float64 {
		slope := (z - v.lensHeight) / distance
		below := 1 + slope*v.tilt
		if below <= 0 { // steeper than the image plane: outside the image
			return math.Copysign(height, v.tilt)
		}
		return height/2 - focal*(slope-v.tilt)/below
	}
	first := int(math.Ceil(max(0, row(top)) - 0.5))
	last := int(math.Floor(min(height, row(bottom)) - 0.5))
	depth := float32(distance)
	for y := max(0, first); y <= last; y++ {
		if i := y*v.width + x; depth < v.depth[i] {
			v.depth[i], v.paint[i] = depth, paint
		}
	}
}

// AppendColors implements devices.Colored, with the colors of the world file.
func (d *Driver) AppendColors(dst []codec.ChannelColor, device *devices.Device) []codec.ChannelColor {
	if device.Letter() != codec.Vision {
		return dst
	}
	known := len(dst)
	for c, channel := range d.robot.cameras[ordinal(device)].palette {
		dst = append(dst, codec.ChannelColor{Channel: channel, Color: uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B)})
	}
	slices.SortFunc(dst[known:], func(a, b codec.ChannelColor) int { return a.Channel - b.Channel })
	return dst
}
