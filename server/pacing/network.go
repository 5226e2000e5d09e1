package pacing

import (
	"slices"
	"time"
)

const (
	// leastWindow is the smallest window in frames: one that is being sent and
	// one behind it, or the network would idle until the next poll.
	leastWindow = 2
	// firstWindow is how many frames a network is sent before the first check of its
	// transmit queue. On a network of 2 Mbps 16 frames of 800 bytes are 59 ms of
	// queue; fewer cost a wide network more checks and more polls.
	firstWindow = 16
	// mostWindow bounds what a network that was healthy a moment ago may queue when
	// it becomes slow: 0.24 s of frames at 2 Mbps, less than its queue drops.
	mostWindow = 64
	// memory is how long the window stays larger than firstWindow without new
	// evidence that the network carries it. A longer time would notice a network that
	// has become slow that much later.
	windowLife = time.Second
	// PollPeriod is the time between polls of a network with a queue: no event reports that a
	// frame has left. A small frame takes a network of 2 Mbps about this long.
	PollPeriod = time.Millisecond
	// quick is how soon a window of frames has left a network that carries more: 16 of 800
	// bytes take 50 Mbps this long. That frames of an earlier tick have left shows
	// nothing: on a network that is busy most of the time the window would grow with every
	// tick, and frames would grow old in the transmit queue.
	quickLimit = 2 * time.Millisecond
	// epoch is how many polls in a row must have found frames to spare before the
	// window shrinks. Radios pause for tens of milliseconds; fewer polls would
	// take a pause for a queue that is too long.
	shrinkPolls = 50
	// lost is how long a frame counts as in flight. A client that walked out of
	// range must not delay the others on its network.
	flightLimit = 400 * time.Millisecond
)

// Network is the network of a group of clients.
//
// Its window follows the rule of the kernel's dynamic queue limits: it doubles
// when the transmit queue has run empty while frames were waiting, or right after a
// window of frames, and shrinks
// by the number of frames that the queue never went below. So it settles at the
// fewest frames that keep the network busy.
type Network struct {
	joined int // clients that ever joined
	asides int // how often a client was set aside

	queue  fifo
	flight []flown // oldest first
	window int     // frames that may be in flight

	fullAt  time.Duration // when the last check found the window used up
	grownAt time.Duration // when the window last doubled
	slowAt  time.Duration // when a frame last waited long in the queue; 0: never
	polls   int           // in this epoch
	least   int           // fewest frames that were in flight at a poll of this epoch
}

// flown is a frame in flight.
type flown struct {
	client *Client
	sent   time.Duration
}

// NewNetwork returns a network without clients.
func NewNetwork() *Network {
	return &Network{window: firstWindow, least: firstWindow}
}

// Join adds c as the client of a connection. It is part of what the caller keeps
// of the client, so a frame touches less memory.
func (n *Network) Join(c *Client, conn Connection) {
	n.joined++
	// Different first credits spread the checks over the ticks.
	*c = Client{conn: conn, network: n, trust: maxTrust, credit: n.joined % maxTrust << 10, asides: n.asides}
}

// open reports whether the network may take another frame. When the window is used
// up it checks which frames have left.
func (n *Network) open(now time.Duration) bool {
	if now-n.grownAt > windowLife {
		n.window = min(n.window, firstWindow)
	}
	if len(n.flight) < n.window {
		return true
	}
	if n.fullAt == now { // the others of this tick wait for the poll
		return false
	}
	first := n.flight[0].sent
	if n.removeSent(now) == 0 && now-first <= quickLimit {
		n.grow(now)
	}
	if len(n.flight) < n.window {
		return true
	}
	n.fullAt = now
	return false
}

// land removes from flight what has left and returns how many frames are left.
// The transmit queue is first in, first out: if the newest frame has left, all
// have.
func (n *Network) removeSent(now time.Duration) int {
	last := len(n.flight) - 1
	if last >= 0 && !n.flight[last].client.conn.Queued() {
		clear(n.flight)
		n.flight = n.flight[:0]
	}
	n.flight = slices.DeleteFunc(n.flight, func(f flown) bool {
		return now-f.sent > flightLimit || !f.client.conn.Queued()
	})
	return len(n.flight)
}

func (n *Network) grow(now time.Duration) {
	n.window, n.grownAt = min(2*n.window, mostWindow), now
}

func (n *Network) enqueue(now time.Duration, c *Client) {
	c.state, c.since = queued, now
	n.queue.push(c)
}

// Next takes the next client from the queue as far as the window is open, and returns what
// becomes of its frame: Now or Aside. It reports false when there is none to take.
func (n *Network) Next(now time.Duration) (conn Connection, answer Answer, ok bool) {
	if n.queue.len() == 0 || len(n.flight) >= n.window {
		return conn, Later, false
	}
	c := n.queue.pop()
	c.state = free
	if now-c.since > slowWait {
		n.slowAt = now
	}
	if !c.keepsUp() {
		return c.conn, c.setAside(now), true
	}
	if c.again {
		// At the end of the queue at once: otherwise clients early in a tick
		// would get twice the frames of late ones.
		c.again = false
		n.enqueue(now, c)
	}
	return c.conn, Now, true
}

// Waits reports whether any client is in the queue, so that the network is to be polled.
func (n *Network) Waits() bool { return n.queue.len() > 0 }

// Poll checks which frames have left, and adjusts the window. It comes before Next.
func (n *Network) Poll(now time.Duration) {
	left := n.removeSent(now)
	if left == 0 {
		n.grow(now)
	}
	n.least = min(n.least, left)
	if n.polls++; n.polls == shrinkPolls {
		// One frame must be left at a poll, or the network may have idled.
		n.window = max(n.window-max(n.least-1, 0), leastWindow)
		n.polls, n.least = 0, n.window
	}
}

func (n *Network) remove(c *Client) {
	if c.state == queued {
		n.queue.remove(c)
	}
	n.flight = slices.DeleteFunc(n.flight, func(f flown) bool { return f.client == c })
}

// fifo is a queue: first come, first served.
type fifo struct {
	items []*Client
	head  int // items before it have been served
}

func (f *fifo) len() int       { return len(f.items) - f.head }
func (f *fifo) push(c *Client) { f.items = append(f.items, c) }

// pop removes the first item. It moves the others down when half of the space
// is used up, so that thousands may wait and each is moved about once.
func (f *fifo) pop() *Client {
	c := f.items[f.head]
	f.items[f.head] = nil
	if f.head++; 2*f.head >= len(f.items) {
		f.items = slices.Delete(f.items, 0, f.head)
		f.head = 0
	}
	return c
}

func (f *fifo) remove(c *Client) {
	if i := slices.Index(f.items[f.head:], c); i >= 0 {
		f.items = slices.Delete(f.items, f.head+i, f.head+i+1)
	}
}
