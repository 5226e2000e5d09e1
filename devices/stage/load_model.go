package stage

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"player/devices/stage/floor"
	"player/formats/syntax"
)

// mapHeight is the height of the walls of a map without size, and of the things of Stage 1 and 2, metres.
const mapHeight = 1

// defaultSize is the size of a model without size or blocks, metres.
var defaultSize = []float64{0.1, 0.1, 0.1}

// ignored lists fields that only a GUI shows, and the fields for pushing, which a fixed
// thing may have.
var ignored = []string{
	"gui_nose", "gui_grid", "gui_move", "gui_outline", "gui_movemask", "trail_length", "trail_interval", "map_resolution",
	"mass", "friction",
}

// surface lists the fields of material.
var surface = []string{
	"color", "color_rgba", "obstacle_return", "ranger_return", "laser_return", "sonar_return",
	"blob_return", "blobfinder_return", "vision_return", "gripper_return",
}

// model reads a section and its children into the body b. frame is the pose of
// the section in the body's frame, base its lower end above the floor. Devices
// are added to the robot r, if there is one.
func (l *loader) model(s *syntax.Section, frame Pose, base float64, b *body, r *Robot) {
	before := len(b.parts)
	top := l.shape(s, frame, base, b, defaultSize)
	if before == 0 {
		b.own = len(b.parts)
	}
	l.charging(s, b, b.parts[before:], r)
	l.children(s, frame, base, top, b, r)
}

// children reads the models and devices on s.
func (l *loader) children(s *syntax.Section, frame Pose, base, top float64, b *body, r *Robot) {
	if !s.Bool("stack_children", true) {
		top = base
	}
	types := []string{"model"}
	if r != nil {
		types = append(types, "ranger", "blobfinder", "gripper", "bumper", "laser", "sonar", "fiducial", "fiducialfinder", "gps", "imu")
		s.Ignore("player") // Stage 1: each robot has a server here
	}
	for _, child := range s.Sections(types...) {
		at, z := l.pose(child)
		at, z = frame.Then(at), top+z
		switch child.Type {
		case "model":
			l.model(child, at, z, b, r)
		case "laser":
			l.device(child, at, z, b, r)
			l.oldLaser(child, at, z, r)
		case "ranger", "sonar":
			number := len(r.rangers)
			l.device(child, at, z, b, r)
			l.ranger(child, at, z, r, number)
		case "blobfinder":
			l.device(child, at, z, b, r)
			l.camera(child, at, z, r)
		case "fiducial", "fiducialfinder":
			l.device(child, at, z, b, r)
			l.finder(child, at, z, r)
		case "gps":
			l.device(child, at, z, b, r)
			l.receiver(child, at, z, r)
		case "imu":
			l.device(child, at, z, b, r)
			l.inertial(child, r)
		case "gripper":
			l.gripper(child, at, z, r)
		case "bumper":
			child.Ignore("bcount", "blength") // every robot has the bumper ring of the Pioneer
		}
	}
}

// device reads the body of a device. It has none without size or blocks.
func (l *loader) device(s *syntax.Section, frame Pose, base float64, b *body, r *Robot) {
	top := base
	if s.Field("size") != nil || len(s.Sections("block")) > 0 {
		top = l.shape(s, frame, base, b, defaultSize)
	} else {
		s.Ignore(slices.Concat(ignored, surface)...)
	}
	l.children(s, frame, base, top, b, r)
}

// shape reads the shape of a section and adds it to b. It returns its upper
// end above the floor.
func (l *loader) shape(s *syntax.Section, frame Pose, base float64, b *body, size []float64) float64 {
	s.Ignore(ignored...)
	l.fiducial(s, frame, b)
	m := l.material(s)
	given := s.Field("size")
	sized := given != nil
	if sized && len(given.Values) == 2 && b.robot == nil {
		size = []float64{0, 0, mapHeight} // Stage 1 and 2 have no heights: sensors detect all things
	}
	size = l.size(s, size...)
	flat := b.robot == nil || len(b.parts) > 0 // only the robot itself needs a height
	for i, v := range size {
		if v == 0 && flat && i < 2 { // as thin as the grid allows
			size[i] = l.world.resolution
		} else if !(v > 0 && v < 1e5 || v == 0 && flat) {
			l.fail(s, "size", "size %v m: write three positive lengths", v)
			return base
		}
	}
	origin, raised := l.place(s, "origin", 0, 0, 0)
	frame = frame.Then(origin)
	base += raised
	top := base + size[2]
	area := Vec{X: size[0], Y: size[1]}

	add := func(m material, bottom, top float64, bitmap bool, outlines ...[]Vec) {
		for _, outline := range outlines {
			frame.ApplyTo(outline)
		}
		b.parts = append(b.parts, part{material: m, shapes: outlines, bottom: bottom, top: top, bitmap: bitmap})
	}
	blocks := s.Sections("block")
	path := s.Path("bitmap", "")
	switch {
	case path != "":
		plan, err := l.readBitmap(path)
		if err != nil {
			l.fail(s, "bitmap", "cannot read the floor plan: %w", err)
			break
		}
		if m := plan.placed; m != nil {
			area = plan.size.Scale(m.Resolution)
			if top = base + mapHeight; sized {
				top = base + size[2]
				l.check(math.Abs(size[0]-area.X) <= m.Resolution && math.Abs(size[1]-area.Y) <= m.Resolution, s, "size", "the map is %.3f m by %.3f m: leave out size, or write these two and the height of the walls", area.X, area.Y)
			}
			frame = frame.Then(m.origin()).Then(Pose{X: area.X / 2, Y: area.Y / 2})
			plan.stretch(floor.Box{Max: plan.size}, area)
		} else {
			l.fitPlan(s, plan, area)
		}
		walls := plan.walls
		moves := b.robot != nil || b.grasp || b.pushable
		if moves && len(walls) > maxMovingWalls {
			l.warn(s, "the picture of %s has %d rectangles, more than the %d of a thing that moves: it is a box", s.Name, len(walls), maxMovingWalls)
			walls = [][]Vec{floor.Rectangle(area.X, area.Y)}
		}
		if walls == nil && !s.Bool("boundary", false) {
			l.warnBlank(s, path)
		} else if walls != nil {
			add(m, base, top, !moves, walls...)
		}
		if walls != nil && !moves && !m.solid && m.echo {
			l.warn(s, "%s has obstacle_return 0: robots see its walls and drive through them", s.Name)
		}
	case len(blocks) > 0:
		outlines, ranges, looks := l.blocks(blocks, m)
		if sized {
			fit(outlines, ranges, size)
		} else if len(ranges) > 0 {
			top = base + highest(ranges)
		}
		for i, outline := range outlines {
			add(looks[i], base+ranges[i].min, base+ranges[i].max, false, outline)
		}
	default:
		add(m, base, top, false, floor.Rectangle(area.X, area.Y))
	}
	if s.Bool("boundary", false) {
		// As thin as the grid allows, and within the size.
		t := min(l.world.resolution, area.X/2, area.Y/2)
		x, y := (area.X-t)/2, (area.Y-t)/2
		var sides [][]Vec
		for _, to := range [...]Vec{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}} {
			size := Vec{X: t + (area.X-t)*math.Abs(to.Y), Y: t + (area.Y-t)*math.Abs(to.X)}
			sides = append(sides, Pose{X: x * to.X, Y: y * to.Y}.ApplyTo(floor.Rectangle(size.X, size.Y)))
		}
		add(m, base, top, false, sides...)
	}
	return top
}

// warnBlank warns about a floor plan without a wall.
func (l *loader) warnBlank(s *syntax.Section, path string) {
	l.warn(s, "%s has no dark pixel, so %s has no walls: draw them dark on light", filepath.Base(path), s.Name)
}

// size reads the lengths in a field size.
func (l *loader) size(s *syntax.Section, def ...float64) []float64 {
	return l.tuple(s, "size", "l", def...)
}

// tuple is [syntax.Section.Tuple] with defaults. Stage does not read further numbers of the field.
func (l *loader) tuple(s *syntax.Section, field, units string, def ...float64) []float64 {
	given := s.Tuple(field, units)
	if len(given) > len(def) {
		name, _, _ := strings.Cut(field, "[") // one warning for all points of a block
		l.warn(s, "%s has %d numbers: the first %d count", name, len(given), len(def))
		given = given[:len(def)]
	}
	return append(given, def[len(given):]...)
}

// blocks reads outlines and heights, and the material of each block: that of the model, but for the colour.
func (l *loader) blocks(sections []*syntax.Section, m material) (outlines [][]Vec, ranges []span, looks []material) {
	for _, s := range sections {
		n := s.Int("points", 0)
		if n < 3 || n > 1000 {
			l.fail(s, "points", "a block has 3 to 1000 points, not %d", n)
			continue
		}
		var outline []Vec
		for i := range n {
			name := fmt.Sprintf("point[%d]", i)
			if s.Field(name) == nil {
				l.fail(s, "points", "%s is missing", name)
				break
			}
			p := l.tuple(s, name, "l", 0, 0)
			outline = append(outline, Vec{X: p[0], Y: p[1]})
		}
		z := l.tuple(s, "z", "l", 0, 1)
		if z[0] > z[1] {
			l.warn(s, "z [%v %v] of a block has the lower end behind the upper one: the block is flat", z[0], z[1])
			z[1] = z[0]
		}
		if len(outline) == n {
			outlines, ranges, looks = append(outlines, outline), append(ranges, span{z[0], z[1]}), append(looks, m)
			if s.Field("color") != nil || s.Field("color_rgba") != nil {
				looks[len(looks)-1].paint(l.color(s))
			}
		}
	}
	return outlines, ranges, looks
}

// fit scales outlines so that together they have the given size, centred, as
// Stage does.
func fit(outlines [][]Vec, ranges []span, size []float64) {
	extent := floor.BoxOf()
	for _, outline := range outlines {
		extent.Include(outline...)
	}
	if extent.Empty() {
		return
	}
	centre, span := extent.Middle(), extent.Size()
	kx, ky := size[0]/max(span.X, 1e-9), size[1]/max(span.Y, 1e-9)
	for _, outline := range outlines {
		for i, v := range outline {
			v = v.Sub(centre)
			outline[i] = Vec{X: v.X * kx, Y: v.Y * ky}
		}
	}
	kz := size[2] / highest(ranges)
	for i := range ranges {
		ranges[i].min *= kz
		ranges[i].max *= kz
	}
}

func highest(ranges []span) float64 {
	top := 1e-9
	for _, z := range ranges {
		top = max(top, z.max)
	}
	return top
}

// color reads the colour of a section: "random" is another one for each section, and an unknown
// one is the default. color_rgba precedes color.
func (l *loader) color(s *syntax.Section) shade {
	const def = "red"
	name := s.Color("color", def)
	var color shade
	var err error
	if name == "random" {
		v := l.colors.Uint32()
		color = l.palette.channelOf(Color{uint8(v >> 16), uint8(v >> 8), uint8(v)})
	} else if color, err = l.palette.resolve(name); err != nil {
		l.warn(s, "%v: %s is %s", err, s.Name, def)
		color, _ = l.palette.resolve(def)
	}
	if s.Field("color_rgba") != nil {
		c := l.tuple(s, "color_rgba", "n", 0, 0, 0, 1)
		level := func(v float64) uint8 { return uint8(math.Round(max(0, min(1, v)) * 255)) }
		color = l.palette.channelOf(Color{level(c[0]), level(c[1]), level(c[2])})
	}
	return color
}

// material reads the material of a section.
func (l *loader) material(s *syntax.Section) material {
	light := s.Bool("light", false)
	solid, echo := 1.0, 1.0
	if light { // by default it is above robots and the beams of rangers
		solid, echo = 0, -1
	}
	color := l.color(s)
	kept := light
	if light {
		color.channel = LightChannel
	}
	if s.Field("channel") != nil {
		kept, color.channel = true, s.Int("channel", 0)
		l.check(color.channel >= 0 && color.channel <= LightChannel, s, "channel",
			"channel %d: the colour tracker has 0 to %d", color.channel, LightChannel)
	}
	for _, field := range [...]string{"blob_return", "blobfinder_return", "vision_return"} {
		if l.returns(s, field, 1) == 0 {
			kept, color.channel = true, noChannel
		}
	}
	return material{
		color:   color.Color,
		channel: color.channel,
		kept:    kept,
		solid:   l.returns(s, "obstacle_return", solid) != 0,
		echo:    l.echo(s, echo),
	}
}
