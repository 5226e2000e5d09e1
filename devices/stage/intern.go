package stage

import "slices"

// maxKinds is how many different bodies the next one is compared with: a world with more kinds takes
// more memory, but no more time to read.
const maxKinds = 32

// intern has bodies of one kind refer to the same parts, and robots to the same sonars and rangers: all are
// constant. A thousand robots then have little more of them than one robot, and the data of the scans
// stays in the processor's caches.
func intern(bodies []*body) {
	var kinds []*body
	for _, b := range bodies {
		i := slices.IndexFunc(kinds, b.alike)
		if i < 0 {
			kinds = append(kinds, b)
			if len(kinds) > maxKinds {
				kinds = kinds[1:]
			}
			continue
		}
		b.parts, b.hull = kinds[i].parts, kinds[i].hull
		if b.robot != nil {
			b.robot.sonars = kinds[i].robot.sonars
			if same := kinds[i].robot.rangers; slices.EqualFunc(b.robot.rangers, same, (*ranger).equal) {
				b.robot.rangers = same
			}
		}
	}
}

// alike reports whether two bodies have equal parts, and equal sonars if they are robots.
func (b *body) alike(o *body) bool {
	if !slices.EqualFunc(b.parts, o.parts, part.equal) || (b.robot == nil) != (o.robot == nil) {
		return false
	}
	return b.robot == nil || b.robot.sonars.equal(o.robot.sonars)
}

func (p part) equal(o part) bool {
	return p.material == o.material && p.bottom == o.bottom && p.top == o.top && p.bitmap == o.bitmap &&
		slices.EqualFunc(p.shapes, o.shapes, slices.Equal[[]Vec])
}

func (s *sonars) equal(o *sonars) bool {
	if s == nil || o == nil {
		return s == o
	}
	return s.height == o.height && slices.Equal(s.ring, o.ring)
}
