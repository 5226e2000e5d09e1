package stage

import (
	"math"

	"player/devices/stage/floor"
)

// minCrowdCell is the smallest cell of a crowd, metres. In smaller ones a robot would
// change its cell at every other step.
const minCrowdCell = 1

// maxDrift is how far bodies may move before lists of neighbours are made anew, metres. More
// makes the lists longer, less makes them more often: a robot needs half a second for it.
const maxDrift = 0.15

// crowd finds the bodies near a point. It divides the floor into square cells, about
// one for each body, and links the bodies of each. A body outside of the floor is in
// the nearest cell of the border.
type crowd struct {
	origin        Vec     // lower left corner of the first cell, metres
	cell          float64 // side of a cell, metres
	columns, rows int
	reach         float64 // largest radius of a body

	// Bodies are numbered from 1, so that 0 ends a list. Row by row, lowest first.
	first      []int32 // by cell
	next, last []int32 // by body: its neighbours in the list
	at         []int32 // by body: its cell

	anchors []Vec   // by body: where it was when settle was called
	drift   float64 // the farthest that a body has been from its anchor since, squared, m^2; at first there are no anchors
	epoch   int     // how often settle was called
}

// neighbours are bodies that may be near another one. The zero value is empty.
type neighbours struct {
	spots []*spot
	crowd *crowd // the crowd, and its epoch, for which they are known
	epoch int
}

// newCrowd returns the crowd of the bodies, which it numbers, on a floor of that
// extent.
func newCrowd(bodies []*body, extent floor.Box) *crowd {
	for _, b := range bodies {
		extent.Include(b.pose.Position())
	}
	n := len(bodies) + 1
	c := &crowd{next: make([]int32, n), last: make([]int32, n), at: make([]int32, n), anchors: make([]Vec, n), drift: math.Inf(1)}
	size := Vec{}
	if !extent.Empty() {
		c.origin, size = extent.Min, extent.Size()
	}
	// A long and narrow floor also has few cells.
	c.cell = max(minCrowdCell, math.Sqrt(size.X*size.Y/float64(n)), max(size.X, size.Y)/float64(4*n))
	c.columns, c.rows = int(size.X/c.cell)+1, int(size.Y/c.cell)+1
	c.first = make([]int32, c.columns*c.rows)
	for i, b := range bodies {
		b.crowd, b.number = c, int32(i+1)
		c.reach = max(c.reach, b.radius)
		c.link(b.number, c.cellAt(b.pose.Position()))
		c.anchors[b.number] = b.pose.Position()
	}
	return c
}

// column and row return the column and the row of the cell at a coordinate.
func (c *crowd) column(x float64) int {
	return int(max(0, min(float64(c.columns-1), (x-c.origin.X)/c.cell)))
}

func (c *crowd) row(y float64) int {
	return int(max(0, min(float64(c.rows-1), (y-c.origin.Y)/c.cell)))
}

//go:noinline
func (c *crowd) cellAt(p Vec) int32 { return int32(c.row(p.Y)*c.columns + c.column(p.X)) }

// moved records the present position of the body with that number.
func (c *crowd) moved(number int32, at Vec) {
	way := at.Sub(c.anchors[number])
	c.drift = max(c.drift, way.Dot(way))
	to := c.cellAt(at)
	if c.at[number] == to {
		return
	}
	last, next := c.last[number], c.next[number]
	if last == 0 {
		c.first[c.at[number]] = next
	} else {
		c.next[last] = next
	}
	c.last[next] = last // the entry of 0 is never read
	c.link(number, to)
}

// settle starts a new epoch if some body has moved far.
func (w *World) settle() {
	c := w.crowd
	if c.drift <= maxDrift*maxDrift {
		return
	}
	for _, b := range w.bodies {
		c.anchors[b.number] = b.spot.at
	}
	c.drift = 0
	c.epoch++
	w.group()
}

func (c *crowd) link(number, cell int32) {
	head := c.first[cell]
	c.first[cell], c.at[number] = number, cell
	c.next[number], c.last[number], c.last[head] = head, 0, number
}

// neighbours returns all bodies but b that have some point within reach of it, and some bodies
// farther away. n caches them for this body and this reach until the epoch ends. When n is
// filled every body is within drift of its anchor; later it is within maxDrift, or, in a step of
// groups, a step farther. So two bodies come nearer to each other by at most twice the sum.
// After a body has left its anchor nothing is cached. The slice is valid until the next call.
func (w *World) neighbours(b *body, n *neighbours, reach float64) []*spot {
	c := w.crowd
	switch settled := c.drift <= maxDrift*maxDrift; {
	case !settled:
		n.crowd = nil
	case n.crowd == c && n.epoch == c.epoch:
		return n.spots
	default:
		n.crowd, n.epoch = c, c.epoch
		reach += 2 * (math.Sqrt(c.drift) + maxDrift + stepReach + cullTolerance)
	}
	n.spots = w.appendOthers(n.spots[:0], b, b.spot.at, reach)
	return n.spots
}

// appendNear appends the spots of the bodies that may have some point within reach of p.
func (w *World) appendNear(dst []*spot, p Vec, reach float64) []*spot {
	c := w.crowd
	left, right := c.column(p.X-reach-c.reach), c.column(p.X+reach+c.reach)
	bottom, top := c.row(p.Y-reach-c.reach), c.row(p.Y+reach+c.reach)
	for row := bottom; row <= top; row++ {
		for column := left; column <= right; column++ {
			for i := c.first[row*c.columns+column]; i != 0; i = c.next[i] {
				if w.spots[i-1].within(p, reach) {
					dst = append(dst, &w.spots[i-1])
				}
			}
		}
	}
	return dst
}
