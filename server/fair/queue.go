// Package fair is the fair queue of the clients' input. It decides which client is served next, so
// that clients that send much do not delay the others. No rate is limited: a client may ask for as
// much as the loop can do. Little input is carried out when it comes. A client that sends more than
// a slice waits in the queue, which serves one address after the other, and the clients of an
// address one after the other.
//
// It is pure: it has no connections and no clock, and callers pass the time.
package fair

import (
	"slices"
	"time"
)

const (
	// SliceBytes is how much of a client's input is carried out before others are
	// served: 64 commands, or one message of the largest size. It takes the loop
	// about 50 us.
	SliceBytes = 512
	// addressBytes is how much input of all clients of one address is carried out when it
	// comes, in each addressPeriod. 1000 clients that send 250 commands a second each stay
	// below it. Without it, many clients with a little input each would keep the loop from
	// the clients of other addresses.
	addressBytes  = 4 << 10
	addressPeriod = 2 * time.Millisecond
	// Flood is how many slices make a flood: 64 KiB of input, far more than a useful program
	// sends.
	Flood = 128
)

// Address is a computer that clients connect from. The queue has it once, however many of its
// clients wait. The zero value is ready.
type Address[C any] struct {
	waiting []*Client[C] // the next one first

	period time.Duration // when the current addressPeriod began
	spent  int           // bytes that were carried out in this period when they came
}

// Client is a client in the eyes of the queue. Join comes first.
type Client[C any] struct {
	owner   C
	address *Address[C]
	waits   bool
	served  int // slices
}

// Join sets the owner of the client, which Queue.Next returns, and its address.
func (c *Client[C]) Join(a *Address[C], owner C) { c.owner, c.address = owner, a }

// Waits reports whether the client is in the queue.
func (c *Client[C]) Waits() bool { return c.waits }

// Served returns how often the queue has served the client.
func (c *Client[C]) Served() int { return c.served }

// AtOnce reports whether n bytes of input may be carried out now. If they may, they count as carried
// out.
func (c *Client[C]) AtOnce(now time.Duration, n int) bool {
	if c.waits || n > SliceBytes {
		return false
	}
	a := c.address
	if now-a.period >= addressPeriod {
		a.period, a.spent = now, 0
	}
	a.spent += n
	return a.spent <= addressBytes
}

// Queue is the addresses with clients that wait, the next one first. The zero value is
// empty.
type Queue[C any] struct{ addresses []*Address[C] }

// Empty reports whether no client waits.
func (q *Queue[C]) Empty() bool { return len(q.addresses) == 0 }

// Push puts a client into the queue, which must not be in it already.
func (q *Queue[C]) Push(c *Client[C]) {
	c.waits = true
	a := c.address
	if len(a.waiting) == 0 {
		q.addresses = append(q.addresses, a)
	}
	a.waiting = append(a.waiting, c)
}

// Next removes the next client from the queue, which must not be empty: of the next address, the
// client that has waited longest.
func (q *Queue[C]) Next() (owner C) {
	a := q.addresses[0]
	q.addresses = slices.Delete(q.addresses, 0, 1)
	c := a.waiting[0]
	a.waiting = slices.Delete(a.waiting, 0, 1)
	if len(a.waiting) > 0 {
		q.addresses = append(q.addresses, a)
	}
	c.waits = false
	c.served++
	return c.owner
}

// Leave removes a client from the queue, if it is there.
func (q *Queue[C]) Leave(c *Client[C]) {
	if !c.waits {
		return
	}
	c.waits = false
	a := c.address
	a.waiting = slices.DeleteFunc(a.waiting, func(o *Client[C]) bool { return o == c })
	if len(a.waiting) == 0 {
		q.addresses = slices.DeleteFunc(q.addresses, func(o *Address[C]) bool { return o == a })
	}
}
