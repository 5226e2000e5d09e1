package stage

import (
	"math"

	"player/codec"
	"player/codec/pioneer"
)

const (
	// bumperTravel is how far the bumpers extend from the hull, metres. A
	// robot stopped by a collision is nearer than that.
	bumperTravel = 0.012
	// bumperSpacing is the distance between the sensing points of a bumper,
	// metres: less than a grid cell, so that no thin pole fits between them.
	bumperSpacing = 0.01
)

// bumperEnd is the angle from straight ahead, or straight back, at which the
// ring ends, degrees: half a bumper beyond the outer ones. The wheels have no
// bumper.
const bumperEnd = 70

// feeler is one sensing point of a bumper, in the robot's frame.
type feeler struct {
	at    Vec
	front bool
	bit   uint8
}

// feelers returns the points of ten bumpers on a convex hull.
func feelers(hull []Vec) []feeler {
	extent := emptyBox()
	extent.include(hull...)
	centre := extent.min.add(extent.max).scale(0.5)
	front, rear := pioneer.Bumpers()
	var ring []feeler
	feel := func(p, outward Vec) {
		v := p.sub(centre)
		angle := math.Atan2(v.Y, v.X) * 180 / math.Pi
		f := feeler{at: p.add(outward.scale(bumperTravel))}
		switch {
		case math.Abs(angle) <= bumperEnd:
			f.front, f.bit = true, nearestBumper(angle, front)
		case math.Abs(angle) >= 180-bumperEnd:
			f.bit = nearestBumper(angle, rear)
		default:
			return
		}
		ring = append(ring, f)
	}
	for i, a := range hull {
		b := hull[(i+1)%len(hull)]
		side := b.sub(a)
		length := side.length()
		outward := Vec{side.Y / length, -side.X / length}
		for k := range int(length/bumperSpacing) + 1 {
			feel(a.add(side.scale(float64(k)*bumperSpacing/length)), outward)
		}
		feel(b, outward)
	}
	return ring
}

func nearestBumper(angle float64, bumpers [5]float64) (bit uint8) {
	best := math.Inf(1)
	for i, b := range bumpers {
		if off := math.Abs(math.Remainder(angle-b, 360)); off < best {
			best, bit = off, 1<<i
		}
	}
	return bit
}

// readBumpers reports which bumpers are pressed.
func (r *Robot) readBumpers(out *codec.MiscData) {
	out.FrontBumpers, out.RearBumpers = 0, 0
	b := r.body
	reach := b.hullRadius + bumperTravel
	wall := !b.walls.clear(b.pose.position(), reach)
	near := r.world.nearby(r, b.pose.position(), reach)
	if !wall && len(near) == 0 {
		return
	}
	for _, f := range r.feelers {
		p := f.at.rotate(b.spot.facing).add(b.pose.position())
		if !(wall && b.walls.occupied(p)) && !touches(b, near, p) {
			continue
		}
		if f.front {
			out.FrontBumpers |= f.bit
		} else {
			out.RearBumpers |= f.bit
		}
	}
}

func touches(b *body, near []*spot, p Vec) bool {
	for _, n := range near {
		if o := n.body; o.hull != nil && o.holder == nil && o.bottom() < b.topmost() && b.bottom() < o.topmost() && contains(o.here, p) {
			return true
		}
	}
	return false
}
