package stage

import (
	"math"
	"slices"

	"player/codec"
	"player/devices"
	"player/devices/stage/floor"
	"player/formats/syntax"
)

// ranger is a model with any number of sensors. Their readings follow each other.
type ranger struct {
	sensors  []sensor
	readings int
	unit     uint16 // of a reading, mm: the smallest in which the longest range can be written
	flawed   bool   // some sensor is
}

// sensor is a part of a ranger: rays from one point, or a cone, which has one reading.
type sensor struct {
	outlook
	rays  []Vec   // unit vectors in the frame of the sensor, the rightmost first; the same for equal fans of the world
	cone  *sonars // of one; nil: the sensor has rays
	walls *floor.Grid
}

// outlook is where a sensor looks from and to.
type outlook struct {
	pose   Pose // on the robot
	height float64
	reach  float64 // metres
	fov    float64 // radians, from the first ray to the last, or of the cone
	step   float64 // radians from a ray to the next; 0: there is one ray, or all have one direction
	flaws
}

// readings returns the number of readings.
func (s *sensor) readings() int {
	if s.cone != nil {
		return 1
	}
	return len(s.rays)
}

// fan is the directions of rays.
type fan struct {
	samples int
	fov     float64 // radians
}

// directions returns the unit vectors of a fan, the rightmost first. Equal fans of a world have the same ones.
func (l *loader) directions(f fan) []Vec {
	rays := l.fans[f]
	if rays == nil {
		for i := range f.samples {
			rays = append(rays, floor.Direction(f.step()*float64(i)-f.right()))
		}
		l.fans[f] = rays
	}
	return rays
}

// step returns the angle from a ray to the next in radians, and right how far right of the middle the first one is.
func (f fan) step() float64 {
	if f.samples == 1 {
		return 0
	}
	return f.fov / float64(f.samples-1)
}

func (f fan) right() float64 { return f.step() * float64(f.samples-1) / 2 }

// addRays adds a sensor with rays to the ranger of a section. With too many of them it sees as far around with fewer.
func (l *loader) addRays(section *syntax.Section, g *ranger, samples int, from outlook) {
	l.check(samples >= 1, section, "samples", "samples %d: write 1 or more", samples)
	if samples = l.fit(section, g, samples); samples < 1 {
		return
	}
	f := fan{samples, from.fov}
	from.step = f.step()
	g.add(sensor{outlook: from, rays: l.directions(f)})
}

// addCone adds a sensor that is a cone.
func (l *loader) addCone(section *syntax.Section, g *ranger, height float64, beam sonar) {
	if l.fit(section, g, 1) < 1 {
		return
	}
	beam.aim()
	g.add(sensor{outlook: outlook{pose: beam.pose, height: height, reach: beam.reach, fov: beam.fov, flaws: beam.flaws},
		cone: &sonars{ring: []sonar{beam}, height: height, reach: beam.reach}})
}

// fit returns how many of the readings of a sensor the ranger has room for. Stage knows no limit, so fewer are no error.
func (l *loader) fit(section *syntax.Section, g *ranger, samples int) int {
	room := codec.MaxReadings - g.readings
	if samples > room {
		l.warn(section, "samples %d: a ranger has at most %d readings, so this sensor has %d of them in its field of view",
			samples, codec.MaxReadings, room)
	}
	return min(samples, room)
}

func (g *ranger) add(s sensor) {
	g.sensors = append(g.sensors, s)
	g.readings += s.readings()
	g.flawed = g.flawed || s.flawed
	g.unit = max(g.unit, uint16(math.Ceil(s.reach*1000/codec.MaxReading)))
}

// sight returns how far the ranger sees from the robot's position, metres.
func (g *ranger) sight() (far float64) {
	for i := range g.sensors {
		s := &g.sensors[i]
		far = max(far, s.reach+s.pose.Position().Length())
	}
	return far
}

// demand asks for the grids of the sensors.
func (g *ranger) demand(set *layerSet) {
	for i := range g.sensors {
		s := &g.sensors[i]
		set.demand(&s.walls, echoes(s.height))
		if s.cone != nil {
			set.demand(&s.cone.walls, echoes(s.height))
		}
	}
}

func (g *ranger) equal(o *ranger) bool { return slices.EqualFunc(g.sensors, o.sensors, sensor.equal) }

func (s sensor) equal(o sensor) bool {
	return s.outlook == o.outlook && len(s.rays) == len(o.rays) && s.cone.equal(o.cone)
}

// scanRanger measures the readings of a ranger of the robot. The scanner is prepared for the robot.
func (r *Robot) scanRanger(c *scanner, number int, out *codec.RangerData) {
	g := r.rangers[number]
	out.Unit, out.Ranges = g.unit, out.Ranges[:0]
	if g.flawed {
		c.seed(r, codec.Ranger, number)
	}
	c.heard = c.heard[:0]
	for i := range g.sensors {
		d := 0.0
		if s := g.sensors[i].cone; s != nil {
			d = s.fire(r, c, &s.ring[0], s.walls.Free(r.body.pose.Position()))
		}
		c.heard = append(c.heard, d)
	}
	for i := range g.sensors {
		s := &g.sensors[i]
		var lengths []float64
		if s.cone == nil {
			lengths = c.cast(r, s)
		} else {
			d, next := c.heard[i], (i+1)%len(g.sensors)
			if s.crosstalk > 0 && c.random.uniform() < s.crosstalk && g.sensors[next].cone != nil {
				d = min(d, c.heard[next])
			}
			c.lengths = append(c.lengths[:0], d)
			lengths = c.lengths
		}
		for _, d := range lengths {
			if s.flawed {
				d = s.apply(&c.random, c.random.normal(), d, s.reach)
			}
			out.Ranges = append(out.Ranges, g.reading(d, s.reach))
		}
	}
}

// reading returns a range in metres in the unit of the ranger.
func (g *ranger) reading(d, reach float64) uint16 {
	if d >= reach {
		return codec.NothingInRange
	}
	return uint16(min(codec.MaxReading, math.Round(d*1000/float64(g.unit))))
}

// cast measures the rays of a sensor of a robot, metres: the sensor's reach without an echo. The result is valid until
// the next call.
func (c *scanner) cast(r *Robot, s *sensor) []float64 {
	at := r.body.carry(s.pose)
	o, facing := at.Position(), floor.Direction(at.Heading)
	c.lengths, c.headings = c.lengths[:0], c.headings[:0]
	for _, d := range s.rays {
		d = d.Rotate(facing)
		if s.angular > 0 {
			d = d.Rotate(floor.Rotation(s.angular * c.random.normal()))
		}
		c.lengths, c.headings = append(c.lengths, s.reach), append(c.headings, d)
	}
	for i := range c.sorted {
		if t := &c.sorted[i]; !c.castAt(s, t, o, facing) {
			break
		}
	}
	// Walls are last, because a ray that a body has shortened is cheaper.
	free := max(0, s.walls.Free(o))
	for i, d := range c.headings {
		if c.lengths[i] > free {
			c.lengths[i] = s.walls.CastFrom(o, d, free, c.lengths[i])
		}
	}
	return c.lengths
}

// castAt shortens the rays that meet a body. It reports whether a ray may meet a body that is farther from the robot.
func (c *scanner) castAt(s *sensor, t *target, o, facing Vec) bool {
	end := s.reach + s.pose.Position().Length()
	if t.distance >= end {
		return t.metres() < end
	}
	spot := t.body.spot
	at := spot.at.Sub(o)
	distance := at.Length()
	if distance-t.radius >= s.reach {
		return true
	}
	last := len(s.rays) - 1
	if distance <= t.radius || s.step == 0 || s.angular > 0 || s.fov > 2*math.Pi {
		c.castSome(s, t, o, 0, last)
		return true
	}
	ahead := at.RotateBack(facing)
	bearing, half := math.Atan2(ahead.Y, ahead.X)+s.fov/2, math.Asin(t.radius/distance) // from the first ray
	for turn := -1.0; turn <= 1; turn++ {
		middle := bearing + turn*2*math.Pi
		from, to := math.Ceil((middle-half)/s.step-cullTolerance), math.Floor((middle+half)/s.step+cullTolerance)
		c.castSome(s, t, o, max(0, int(from)), min(last, int(to)))
	}
	return true
}

// castSome checks rays against a body.
func (c *scanner) castSome(s *sensor, t *target, o Vec, first, last int) {
	for i := first; i <= last; i++ {
		c.lengths[i] = t.body.cast(o, c.headings[i], s.height, c.lengths[i])
	}
}

// AppendRays implements devices.Ranged.
func (d *Driver) AppendRays(dst []codec.Rays, device *devices.Device) []codec.Rays {
	first := 0
	for i := range d.robot.rangers[ordinal(device)].sensors {
		s := &d.robot.rangers[ordinal(device)].sensors[i]
		at := partAt(0, s.pose, Vec{}, s.reach, s.fov)
		rays := codec.Rays{First: first, Count: s.readings(), X: at.X, Y: at.Y, Heading: at.Heading, Far: at.Range}
		if s.cone != nil {
			rays.Cone = at.View
		} else if s.step > 0 {
			rays.Heading, rays.Step = math.Remainder(at.Heading-at.View/2, 360), at.View/float64(len(s.rays)-1)
		}
		dst = append(dst, rays)
		first += rays.Count
	}
	return dst
}

// ordinal returns how many devices of its interface are before the device on its link.
func ordinal(device *devices.Device) (n int) {
	for _, d := range device.Link().Devices() {
		if d == device {
			break
		}
		if d.Letter() == device.Letter() {
			n++
		}
	}
	return n
}
