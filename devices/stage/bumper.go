package stage

import (
	"math"

	"player/codec"
	"player/codec/pioneer"
	"player/devices/stage/floor"
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
	centre := floor.BoxOf(hull...).Middle()
	front, rear := pioneer.Bumpers()
	var ring []feeler
	feel := func(p, outward Vec) {
		v := p.Sub(centre)
		angle := math.Atan2(v.Y, v.X) * 180 / math.Pi
		f := feeler{at: p.Add(outward.Scale(bumperTravel))}
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
		side := b.Sub(a)
		length := side.Length()
		outward := Vec{X: side.Y / length, Y: -side.X / length}
		for k := range int(length/bumperSpacing) + 1 {
			feel(a.Add(side.Scale(float64(k)*bumperSpacing/length)), outward)
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
	wall := !b.walls.Clear(b.pose.Position(), reach)
	near := r.world.nearby(r, b.pose.Position(), reach)
	if !wall && len(near) == 0 {
		return
	}
	for _, f := range r.feelers {
		p := f.at.Rotate(b.spot.facing).Add(b.pose.Position())
		if !(wall && b.walls.Occupied(p)) && !touches(b, near, p) {
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
		if o := n.body; o.hull != nil && o.holder == nil &&
			o.bottom() < b.topmost() && b.bottom() < o.topmost() && floor.Contains(o.here, p) {
			return true
		}
	}
	return false
}
