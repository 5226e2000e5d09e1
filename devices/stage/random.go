package stage

import "math"

// random draws the random numbers of readings. Most of them are normal, 361 in a scan: they are
// drawn by the ziggurat method, which needs one number of the generator and one comparison for 99 of
// 100 (Marsaglia and Tsang, The Ziggurat Method for Generating Random Variables, 2000). It covers
// the right half of the bell curve by layers of one area, each a rectangle from the middle to the
// curve. The lowest layer also has the tail.
type random struct {
	noise
	// edges are the right edges of the layers, the lowest first, and zero. The lowest layer's
	// edge is the edge of a rectangle with the same area; the tail begins at the next edge.
	edges [layers + 1]float64
}

const (
	layers = 256
	// tail is where the tail begins. With this number the top layer ends at the top of the curve.
	tail = 3.6541528853610088
)

func newRandom() random {
	var r random
	area := tail*bell(tail) + math.Sqrt(math.Pi/2)*math.Erfc(tail/math.Sqrt2)
	r.edges[0], r.edges[1] = area/bell(tail), tail
	for i := 2; i < layers; i++ {
		x := r.edges[i-1]
		r.edges[i] = math.Sqrt(-2 * math.Log(bell(x)+area/x))
	}
	return r
}

// bell is the density of the normal distribution, as a fraction of its maximum.
func bell(x float64) float64 { return math.Exp(-x * x / 2) }

// uniform returns a number from 0 to 1, without the latter.
func (r *random) uniform() float64 { return float64(r.next()>>11) / (1 << 53) }

// normal returns a normal number with the mean 0 and the standard deviation 1.
func (r *random) normal() float64 {
	var x [1]float64
	r.fill(x[:])
	return x[0]
}

// fill is normal for many.
func (r *random) fill(dst []float64) {
	n := r.noise // in a register
	for i := range dst {
		u := n.next()
		layer := uint8(u)
		x := float64(int64(u)>>10) / (1 << 53) * r.edges[layer] // bits that do not choose the layer
		if math.Abs(x) >= r.edges[int(layer)+1] {
			r.noise = n
			x = r.outer(layer, x)
			n = r.noise
		}
		dst[i] = x
	}
	r.noise = n
}

// outer returns x, which is in a part of a layer that the curve crosses, or another normal number
// instead.
func (r *random) outer(layer uint8, x float64) float64 {
	if layer == 0 {
		return math.Copysign(r.beyond(), x)
	}
	low, high := bell(r.edges[layer]), bell(r.edges[int(layer)+1])
	if low+r.uniform()*(high-low) < bell(x) {
		return x
	}
	return r.normal()
}

// beyond returns a number of the tail (Marsaglia, Generating a Variable from the Tail of the Normal
// Distribution, 1964).
func (r *random) beyond() float64 {
	for {
		x, y := -math.Log(1-r.uniform())/tail, -math.Log(1-r.uniform())
		if 2*y >= x*x {
			return tail + x
		}
	}
}
