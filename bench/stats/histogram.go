// Package stats turns arrivals of frames into the figures of a report:
// distributions of intervals, age of information, fairness. It is pure; time
// is a time.Duration on CLOCK_MONOTONIC, given by the caller.
package stats

import (
	"math"
	"math/bits"
	"time"
)

const (
	// unit is the finest resolution of a histogram: 1024 ns, below the jitter
	// of any wake-up.
	unit = 10 // bits of a nanosecond count
	// steps is how many buckets an octave has. A quantile is exact to half a
	// bucket, 3 %; twice as many would double the memory of 10,000 clients.
	steps     = 16
	stepsBits = 4
	// octaves above the linear part: up to 137 s, longer than the longest run.
	octaves = 23
	buckets = (octaves + 1) * steps
)

// Histogram is a distribution of durations, positive or negative, in buckets
// that grow with the value. The zero value is empty.
type Histogram struct {
	Count    uint64
	Sum      float64 // ns
	Min, Max time.Duration
	below    [buckets]uint32 // by magnitude, of negative values
	above    [buckets]uint32
}

// bucket returns the place of a magnitude.
func bucket(v time.Duration) int {
	u := uint64(v) >> unit
	if u < steps {
		return int(u)
	}
	e := bits.Len64(u) - stepsBits - 1
	return min((e+1)*steps+int(u>>e)-steps, buckets-1)
}

// edge is the lower bound of a bucket; edge(i+1) is its upper bound.
func edge(i int) time.Duration {
	if i < steps {
		return time.Duration(i) << unit
	}
	e := i/steps - 1
	return time.Duration(i%steps+steps) << (e + unit)
}

// Add counts one value.
func (h *Histogram) Add(v time.Duration) {
	if h.Count == 0 || v < h.Min {
		h.Min = v
	}
	if h.Count == 0 || v > h.Max {
		h.Max = v
	}
	h.Count++
	h.Sum += float64(v)
	if v < 0 {
		h.below[bucket(-v)]++
	} else {
		h.above[bucket(v)]++
	}
}

// Merge adds all values of o.
func (h *Histogram) Merge(o *Histogram) {
	if o.Count == 0 {
		return
	}
	if h.Count == 0 {
		h.Min, h.Max = o.Min, o.Max
	}
	h.Min, h.Max = min(h.Min, o.Min), max(h.Max, o.Max)
	h.Count += o.Count
	h.Sum += o.Sum
	for i := range buckets {
		h.below[i] += o.below[i]
		h.above[i] += o.above[i]
	}
}

// Mean is zero for an empty histogram.
func (h *Histogram) Mean() time.Duration {
	if h.Count == 0 {
		return 0
	}
	return time.Duration(h.Sum / float64(h.Count))
}

// AbsQuantile returns the magnitude that a share q of all values does not exceed, to
// 3 %.
func (h *Histogram) AbsQuantile(q float64) time.Duration {
	rank := uint64(math.Ceil(q * float64(h.Count)))
	var seen uint64
	for i := range buckets {
		n := uint64(h.below[i]) + uint64(h.above[i])
		if seen += n; n > 0 && seen >= rank {
			return min(middle(i), h.AbsMax())
		}
	}
	return 0
}

// AbsMax is the largest magnitude.
func (h *Histogram) AbsMax() time.Duration { return max(h.Max, -h.Min) }

func middle(i int) time.Duration { return (edge(i) + edge(i+1)) / 2 }

// Point is one step of a cumulative distribution.
type Point struct {
	Value time.Duration `json:"ns"`
	Share float64       `json:"share"` // of all values that do not exceed Value
}

// CDF returns the cumulative distribution, one point for every bucket in use.
func (h *Histogram) CDF() []Point {
	var points []Point
	var seen uint64
	add := func(value time.Duration, n uint32) {
		if n > 0 {
			seen += uint64(n)
			points = append(points, Point{value, float64(seen) / float64(h.Count)})
		}
	}
	for i := buckets - 1; i >= 0; i-- {
		add(-middle(i), h.below[i])
	}
	for i := range buckets {
		add(middle(i), h.above[i])
	}
	return points
}
