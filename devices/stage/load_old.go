package stage

import (
	"fmt"
	"math"

	"player/codec/pioneer"
	"player/devices/stage/floor"
	"player/formats/syntax"
)

// The words of world files before Stage 3 (Stage manual 1.3.3, chapters 4 and 5; the
// online manuals of 2.0 and 3.1).

// place reads a pose in a field, and its height. Three numbers are x, y and heading.
func (l *loader) place(s *syntax.Section, field string, x, y, heading float64) (at Pose, z float64) {
	if f := s.Field(field); f != nil && len(f.Values) == 3 {
		p := s.Tuple(field, "lla", x, y, heading)
		return Pose{X: p[0], Y: p[1], Heading: p[2]}, 0
	}
	p := l.tuple(s, field, "llla", x, y, 0, heading)
	return Pose{X: p[0], Y: p[1], Heading: p[3]}, p[2]
}

// returns reads the number that decides whether a sensor detects a model. Stage 1 has words for it.
func (l *loader) returns(s *syntax.Section, field string, def float64) float64 {
	if f := s.Field(field); f != nil && !f.Tuple {
		switch f.Values[0].Text {
		case "visible", "bright":
			return 1
		case "invisible", "transparent":
			return 0
		}
	}
	return s.Float(field, def)
}

// echo reads whether sonars and lasers detect a model: they do unless its ranger_return is
// negative. Before Stage 4 the fields were laser_return, and sonar_return or ranger_return for
// sonars, and 0 meant undetected. Here laser_return is the answer for both.
func (l *loader) echo(s *syntax.Section, def float64) bool {
	given := func(field string) bool { return s.Field(field) != nil }
	ranger := s.Float("ranger_return", def)
	sonar := ranger >= 0
	if given("sonar_return") {
		sonar = l.returns(s, "sonar_return", 1) > 0
	}
	if !given("laser_return") {
		return sonar
	}
	laser := l.returns(s, "laser_return", 1) > 0
	if given("sonar_return") && sonar != laser || given("ranger_return") && (ranger > 0) != laser {
		l.warn(s, "laser_return of %s also counts for sonars", s.Name)
	}
	return laser
}

// environment reads a floor plan of Stage 1: scale is the side of a pixel, and the lower
// left corner of the picture is at the pose.
func (l *loader) environment(s *syntax.Section) *body {
	b := &body{name: s.String("name", s.Name)}
	path := s.Path("file", s.Path("bitmap", ""))
	plan, err := l.readBitmap(path)
	if err != nil {
		l.fail(s, "file", "cannot read the floor plan: %w", err)
		return b
	}
	at, _ := l.pose(s)
	pixel := 0.0
	if m := plan.placed; m != nil {
		at, pixel = at.Then(m.origin()), m.Resolution
	}
	scale := s.Length("scale", s.Length("resolution", pixel))
	if !(scale > 0 && scale <= maxMapPixel) {
		l.fail(s, "scale", "%s has pixels of %v m: write scale and metres for each pixel", s.Name, scale)
		return b
	}
	if plan.walls == nil {
		l.warnBlank(s, path)
		return b
	}
	for _, outline := range plan.walls {
		for i, v := range outline {
			outline[i] = at.Apply(v.Scale(scale))
		}
	}
	b.own = 1
	b.parts = []part{{material: l.material(s), shapes: plan.walls, top: mapHeight, bitmap: true}}
	return b
}

// oldLaser reads a laser that is a model by itself.
func (l *loader) oldLaser(s *syntax.Section, at Pose, height float64, r *Robot) {
	s.Ignore("samples", "range_min") // a scan has the readings of an LMS-200
	one := &laser{pose: at, facing: floor.Direction(at.Heading), height: height,
		reach: s.Length("range_max", 8), fov: s.Angle("fov", math.Pi)}
	l.checkReach(s, "range_max", one.reach)
	r.lasers = append(r.lasers, one)
}

// oldSonars returns the sonars of a model with their poses in its own fields, or, for a
// sonar without poses, the ring of the Pioneer 2.
func (l *loader) oldSonars(s *syntax.Section) (beams []sonar) {
	count := s.Int("scount", 0)
	view := l.tuple(s, "sview", "lla", 0, 5, floor.Radians(15))
	beam := sonar{samples: 1, reach: view[1], fov: view[2]}
	l.check(beam.reach > 0 && beam.reach <= maxSonar, s, "sview", "sview to %v m: write up to %v", beam.reach, maxSonar)
	s.Field("ssize") // only shown
	if count == 0 && s.Type == "sonar" {
		for _, p := range pioneer.Sonars() {
			beam.pose = Pose{X: p.X / 1000, Y: p.Y / 1000, Heading: floor.Radians(p.Heading)}
			beams = append(beams, beam)
		}
	}
	for i := range min(count, 100) {
		beam.pose, _ = l.place(s, fmt.Sprintf("spose[%d]", i), 0, 0, 0)
		beams = append(beams, beam)
	}
	return beams
}
