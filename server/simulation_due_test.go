package server

import (
	"math/rand/v2"
	"time"
)

// dueCall is a function that the simulation calls at a time, with chance from a source.
type dueCall struct {
	at     time.Duration
	number uint64 // of those that were added
	random *rand.Rand
	fn     func()
}

func (c *dueCall) before(o *dueCall) bool { return c.at < o.at || c.at == o.at && c.number < o.number }

// dueQueue has the coming calls of the simulation, in the order of the times; calls of one time in the order in which
// they were added. It is a binary heap of values: a simulation adds millions of calls, and never removes one.
type dueQueue struct {
	heap  []dueCall
	added uint64
}

// next returns the time of the first call.
func (q *dueQueue) next() (at time.Duration, any bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].at, true
}

func (q *dueQueue) add(c dueCall) {
	q.added++
	c.number = q.added
	h := append(q.heap, c)
	i := len(h) - 1
	for up := (i - 1) / 2; i > 0 && c.before(&h[up]); i, up = up, (up-1)/2 {
		h[i] = h[up]
	}
	h[i] = c
	q.heap = h
}

// take removes the first call.
func (q *dueQueue) take() dueCall {
	h := q.heap
	first, n := h[0], len(h)-1
	c := h[n]
	h[n] = dueCall{} // it may keep much
	i := 0
	for child := 1; child < n; child = 2*i + 1 {
		if child+1 < n && h[child+1].before(&h[child]) {
			child++
		}
		if !h[child].before(&c) {
			break
		}
		h[i] = h[child]
		i = child
	}
	if n > 0 {
		h[i] = c
	}
	q.heap = h[:n]
	return first
}
