package stage

import (
	"fmt"
	"math"
	"slices"

	"player/codec"
	"player/devices/stage/floor"
	"player/formats/syntax"
)

// Defaults of a robot: the Pioneer 2-DX.
var (
	pioneerSize = []float64{0.44, 0.38, 0.22} // metres
	// Speeds and accelerations in the form of velocity_bounds and
	// acceleration_bounds, [xmin xmax ymin ymax zmin zmax amin amax], metres
	// and radians. One metre per second squared is an assumption for the
	// wheels in direct mode; no figure is published.
	pioneerSpeeds = []float64{-maxWheel, maxWheel, 0, 0, 0, 0, -maxTurn, maxTurn}
	pioneerAccels = []float64{-1, 1, 0, 0, 0, 0, -200 * math.Pi / 180, 200 * math.Pi / 180}
)

const (
	// maxSonarSamples distinguishes sonars from lasers in a world file: a sensor with
	// more rays is a laser.
	maxSonarSamples = 16
	// maxRobot bounds a robot's size, metres from its pose: the bumpers are
	// checked point by point.
	maxRobot = 5
	// cameraReach is the range in which colours are recognised, metres, unless
	// the world sets another.
	cameraReach = 50
	maxReach    = 1000 // metres, of any sensor
	// minReach is the range of a sensor with range 0, metres: it sees nothing.
	minReach = 0.001
)

// robot reads a position model.
func (l *loader) robot(s *syntax.Section, at Pose, base float64) {
	w := l.world
	r := &Robot{
		Name:  s.String("name", fmt.Sprintf("r%d", len(w.robots))),
		Port:  s.Int("port", 0),
		world: w,
	}
	for _, o := range w.robots {
		if o.Name == r.Name {
			r.Name = l.another(r.Name)
			l.warn(s, "the robot at line %d is already called %q: this one is %q", l.sections[o.body].Pos.Line, o.Name, r.Name)
		}
		l.check(o.Port != r.Port || r.Port == 0, s, "port", "robot %q already uses port %d", o.Name, r.Port)
	}
	l.check(r.Port >= 0 && r.Port <= 65535, s, "port", "port %d: write 1 to 65535", r.Port)
	r.body = &body{name: r.Name, robot: r, pose: at}
	l.pushing(s, r.body, false, robotMass)
	before := len(l.errs)
	top := l.shape(s, Pose{}, base, r.body, pioneerSize)
	r.body.own = len(r.body.parts)
	l.children(s, Pose{}, base, top, r.body, r)
	r.body.shape()
	switch {
	case len(l.errs) > before: // mistakes in the shape: more errors would only follow from them
	case r.body.hull == nil:
		l.fail(s, "bitmap", "robot %q has no shape", r.Name)
	case !(r.body.radius <= maxRobot):
		l.fail(s, "size", "robot %q reaches %.3g m from its pose, at most %d", r.Name, r.body.radius, maxRobot)
	default:
		r.feelers = feelers(r.body.hull)
	}
	l.motion(s, r, at)
	l.power(s, r)
	w.robots = append(w.robots, r)
	l.sections[r.body] = s
}

// another returns a name that no robot has, for one that has the name of another.
func (l *loader) another(name string) string {
	for n := 2; ; n++ {
		next := fmt.Sprintf("%s-%d", name, n)
		if !slices.ContainsFunc(l.world.robots, func(r *Robot) bool { return r.Name == next }) {
			return next
		}
	}
}

// motion reads how a robot drives and localises itself.
func (l *loader) motion(s *syntax.Section, r *Robot, at Pose) {
	if drive := s.String("drive", "diff"); drive != "diff" {
		l.warn(s, "drive %q is not supported: %s drives with two wheels", drive, r.Name)
	}
	bounds := func(name string, def []float64) (forward, turning span) {
		b := l.tuple(s, name, "llllllaa", def...)
		forward, turning = span{b[0], b[1]}, span{b[6], b[7]}
		l.check(forward.min <= 0 && forward.max >= 0 && turning.min <= 0 && turning.max >= 0, s, name, "%s: each lower bound is negative or zero, each upper bound positive or zero", name)
		return forward, turning
	}
	r.drive.speeds, r.drive.turns = bounds("velocity_bounds", pioneerSpeeds)
	r.drive.accels, r.drive.turnRises = bounds("acceleration_bounds", pioneerAccels)
	r.motorsAtStart = s.Bool("motors", true)
	r.drive.motors = r.motorsAtStart

	switch localization := s.String("localization", "odom"); localization {
	case "gps":
		r.odometry.gps = true
	case "odom":
	default:
		l.fail(s, "localization", `localization %.40q: write "gps" or "odom"`, localization)
	}
	r.odometry.origin, _ = l.place(s, "localization_origin", at.X, at.Y, at.Heading)
	slip := s.Floats("odom_error")
	if n := len(slip); n > 4 { // of Stage 2.0, and of many worlds for ROS
		slip = slip[:4]
		if s.Field("localization") == nil { // Stage has "gps" then, which has no errors
			slip = nil
		}
		l.warn(s, `odom_error has %d numbers: the first 4 count, and only with localization "odom", as in Stage 4`, n)
	}
	switch len(slip) {
	case 0:
	case 3, 4: // [x y a] or [x y z a]
		r.start.slip = [3]float64{slip[0], slip[1], slip[len(slip)-1]}
	default:
		l.fail(s, "odom_error", "odom_error wants [x y a] or [x y z a]")
	}
}

// power reads the battery.
func (l *loader) power(s *syntax.Section, r *Robot) {
	b := battery{
		capacity: s.Float("joules_capacity", capacity), idle: s.Float("watts", idleWatts),
		takes:  s.Float("take_watts", r.battery.takes),
		finite: s.Field("joules") != nil || s.Field("joules_capacity") != nil,
	}
	b.joules = s.Float("joules", b.capacity)
	if b.joules > b.capacity {
		l.warn(s, "joules %v is more than joules_capacity %v: the battery is full", b.joules, b.capacity)
		b.joules = b.capacity
	}
	l.check(b.capacity > 0 && b.joules >= 0 && b.idle >= 0, s, "joules", "joules %v of joules_capacity %v at %v watts", b.joules, b.capacity, b.idle)
	r.battery = b
}

// ranger reads sonars and lasers, and the device that has all readings of the section: with its number, before the
// rangers that are mounted on it.
func (l *loader) ranger(s *syntax.Section, at Pose, base float64, r *Robot, number int) {
	all := &ranger{}
	for _, child := range s.Sections("sensor") {
		l.sensor(s, child, at, base, r, all)
	}
	for _, beam := range l.oldSonars(s) {
		beam.pose = at.Then(beam.pose)
		l.addSonar(s, r, base, beam)
		l.addRays(s, all, 1, outlook{pose: beam.pose, height: base, reach: beam.reach, fov: beam.fov})
	}
	if s.Type == "ranger" && all.readings > 0 {
		r.rangers = slices.Insert(r.rangers, number, all)
	}
}

// sensor reads a sensor of a ranger.
func (l *loader) sensor(s, child *syntax.Section, at Pose, base float64, r *Robot, all *ranger) {
	child.Ignore("size", "color", "color_rgba")
	pose, height := l.pose(child)
	pose, height = at.Then(pose), base+height
	samples, cone := child.Int("samples", 1), child.Bool("cone", false)
	l.check(samples >= 0, child, "samples", "samples %d: write 0 or more", samples)
	if samples < 1 {
		l.warn(child, "a sensor with samples %d has no readings", samples)
		return
	}
	if samples > maxSonarSamples && !cone {
		// Before Stage 4 a laser had the fields itself, and so have its worlds with sicklaser.
		s.Ignore("range_min")
		samples = s.Int("samples", samples)
		one := &laser{pose: pose, facing: floor.Direction(pose.Heading), height: height, flaws: l.flaws(child, false),
			reach: s.Length("range_max", l.reach(child, 8)), fov: s.Angle("fov", child.Angle("fov", math.Pi))}
		l.checkReach(s, "range_max", one.reach)
		l.addRays(child, all, samples, outlook{pose: pose, height: height, reach: one.reach, fov: one.fov, flaws: one.flaws})
		r.lasers = append(r.lasers, one)
		return
	}
	if cone {
		samples = max(samples, 2) // of a sonar with one sample the beam is a ray
	}
	beam := sonar{pose: pose, samples: samples, reach: l.reach(child, 5), fov: child.Angle("fov", floor.Radians(15)),
		flaws: l.flaws(child, true)}
	if cone {
		l.addCone(child, all, height, beam)
	} else {
		l.addRays(child, all, samples, outlook{pose: pose, height: height, reach: beam.reach, fov: beam.fov, flaws: beam.flaws})
	}
	beam.reach = min(beam.reach, maxSonar)
	l.addSonar(s, r, height, beam)
}

// addSonar adds a sonar to the robot, if there is a place for it.
func (l *loader) addSonar(s *syntax.Section, r *Robot, height float64, beam sonar) {
	if r.sonars == nil {
		r.sonars = &sonars{height: height}
	}
	if len(r.sonars.ring) == codec.SonarCount {
		l.warn(s, "more than %d sonars: device sonar of %s has the first, and its rangers have all", codec.SonarCount, r.Name)
		return
	}
	beam.aim()
	r.sonars.ring = append(r.sonars.ring, beam)
	r.sonars.reach = max(r.sonars.reach, beam.reach)
	r.sonars.sight = max(r.sonars.sight, beam.reach+beam.offset)
	r.sonars.flawed = r.sonars.flawed || beam.flawed
}

// reach reads the upper limit of a sensor's range. Worlds for ROS have range_max, as lasers before Stage 4.
func (l *loader) reach(s *syntax.Section, def float64) float64 {
	if s.Field("range") == nil {
		def = s.Length("range_max", def)
	}
	reach := l.tuple(s, "range", "l", 0, def)[1]
	l.check(reach >= 0, s, "range", "range to %v m: write 0 to %d", reach, maxReach)
	if reach > maxReach {
		l.warn(s, "range to %v m: a sensor has up to %d", reach, maxReach)
	}
	return min(max(reach, minReach), maxReach)
}

func (l *loader) checkReach(s *syntax.Section, field string, reach float64) {
	l.check(reach > 0 && reach <= maxReach, s, field, "%s %v m: write up to %d", field, reach, maxReach)
}

// camera reads a blobfinder: a camera on a pan-tilt-zoom head with a colour
// tracker.
func (l *loader) camera(s *syntax.Section, at Pose, base float64, r *Robot) {
	c := &camera{pose: at, height: base, reach: s.Length("range", s.Length("range_max", cameraReach))}
	l.checkReach(s, "range", c.reach)
	s.Ignore("colors_count", "channel_count") // follow from colors
	if image := s.Floats("image"); len(image) > 0 && !slices.Equal(image, []float64{imageWidth, imageHeight}) {
		l.warn(s, "the image of a blobfinder has %dx%d pixels: image %v has no effect", imageWidth, imageHeight, image)
	}
	for channel, name := range s.Strings("colors", s.Strings("channels")...) {
		color, err := l.palette.resolve(name)
		if err != nil {
			l.warn(s, "%v: channel %d is empty", err, channel)
			continue
		}
		if channel >= LightChannel {
			l.fail(s, "colors", "more than %d colours", LightChannel)
			break
		}
		if c.palette == nil {
			c.palette = map[Color]int{}
		}
		c.palette[color.Color] = channel
	}
	r.cameras = append(r.cameras, c)
}

// gripper reads a gripper.
func (l *loader) gripper(s *syntax.Section, at Pose, base float64, r *Robot) {
	s.Ignore(slices.Concat(ignored, surface)...)
	size := l.size(s, 0.10, 0.215, 0.10)
	g := &gripper{robot: r, pose: at, length: size[0], opening: size[1], height: base + size[2]/2}
	// Stage 3 and 4: the paddles are parts of a box whose middle is at the pose.
	if parts := s.Floats("paddle_size"); len(parts) >= 2 {
		g.length, g.opening = size[0]*parts[0], size[1]*(1-2*parts[1])
		g.pose = at.Then(Pose{X: size[0] * (0.5 - parts[0])})
	} else {
		l.check(len(parts) == 0, s, "paddle_size", "paddle_size wants [length thickness height] of the paddles, as parts of size")
	}
	l.check(g.length > 0 && g.length < 10 && g.opening > 0 && g.opening < 10, s, "size", "size %v m: write length of the paddles, opening, height", size)
	if s.Bool("autosnatch", false) {
		l.warn(s, "autosnatch is not supported: the gripper of %s closes on command", r.Name)
	}
	end := func(field, is, zero, one string) travel {
		at := slices.Index([]string{zero, one}, is)
		if at < 0 {
			l.fail(s, field, "write %q or %q", zero, one)
		}
		return travel{float64(at), float64(at)}
	}
	state := s.Strings("paddle_state", "open", "down") // of Stage 3 and 4
	l.check(len(state) == 2, s, "paddle_state", "paddle_state wants two words")
	state = append(state, "open", "down")
	g.paddles = end("paddles", s.String("paddles", state[0]), "closed", "open")
	g.lift = end("lift", s.String("lift", state[1]), "down", "up")
	r.grippers = append(r.grippers, g)
}
