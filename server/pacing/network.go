package pacing

import (
	"slices"
	"time"
)

const (
	// leastWindow is the smallest window in frames: one frame that is being sent and one
	// behind it. With one frame the network would idle until the next poll.
	leastWindow = 2
	// firstWindow is how many frames a network is sent before the first check of its
	// transmit queue. On a network of 2 Mbps 16 frames of 800 bytes are 59 ms of
	// queue; fewer cost a wide network more checks and more polls.
	firstWindow = 16
	// mostWindow bounds the queue of a network that was healthy a moment ago, when
	// it becomes slow: 0.24 s of frames at 2 Mbps, less than its queue drops.
	mostWindow = 64
	// windowLife is how long the window stays larger than firstWindow without new evidence
	// that the network carries it. With a longer time, a network that has become slow would
	// be noticed later.
	windowLife = time.Second
	// PollPeriod is the time between polls of a network with a queue: no event reports that a
	// frame has left. A small frame takes a network of 2 Mbps about this long.
	PollPeriod = time.Millisecond
	// quickLimit is the longest time in which a window of frames leaves a network that carries
	// more: 16 frames of 800 bytes take a network of 50 Mbps this long. If the frames of
	// an earlier tick have left, that shows nothing: on a network that is busy most of the
	// time the window would grow with every tick, and frames would grow old in the transmit
	// queue.
	quickLimit = 2 * time.Millisecond
	// shrinkPolls is how many polls in a row must find frames to spare before the window
	// shrinks. Radios pause for tens of milliseconds. With fewer polls, a pause would
	// appear to be a queue that is too long.
	shrinkPolls = 50
	// flightLimit is how long a frame counts as in flight. A client that walked out of range
	// must not delay the others on its network.
	flightLimit = 400 * time.Millisecond
)

// Network is the network of a group of clients.
//
// Its window follows the rule of the kernel's dynamic queue limits. It doubles when the transmit
// queue has run empty while frames were waiting, or right after a window of frames. It shrinks by
// the number of frames that were always in the queue. So it becomes the fewest frames that keep the
// network busy.
type Network struct {
	joined int // clients that ever joined
	asides int // counts the times that a client was set aside

	queue  fifo
	flight []flown // oldest first
	window int     // frames that may be in flight

	fullAt  time.Duration // when the last check found the window used up
	grownAt time.Duration // when the window last doubled
	slowAt  time.Duration // when a frame last waited long in the queue; 0: never
	polls   int           // since the window was last checked for shrinking
	least   int           // fewest frames that were in flight at one of these polls
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

// Join adds c as the client of a connection. c is a part of the caller's own struct, so a frame
// touches less memory.
func (n *Network) Join(c *Client, conn Connection) {
	n.joined++
	// Different first credits spread the checks over the ticks.
	*c = Client{conn: conn, network: n, trust: maxTrust, credit: 1, first: n.joined % maxTrust, asides: n.asides}
}

// open reports whether the network may take another frame. When the window is used up, it checks
// which frames are still in flight.
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

// removeSent removes the frames that the transmit queue has sent, and those older than flightLimit.
// It returns how many are still in flight. The transmit queue is first in, first out: if it has sent the
// newest frame, it has sent all.
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

// Next takes the next client from the queue and returns the answer for its frame: Now or Aside. It
// reports false when the queue is empty or the window used up.
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
		// It enters the queue again at once. Otherwise clients early in a tick
		// would get twice the frames of late ones.
		c.again = false
		n.enqueue(now, c)
	}
	return c.conn, Now, true
}

// Waits reports whether any client is in the queue, so that the network is to be polled.
func (n *Network) Waits() bool { return n.queue.len() > 0 }

// Poll checks which frames are still in flight, and adjusts the window. Call it before Next.
func (n *Network) Poll(now time.Duration) {
	inFlight := n.removeSent(now)
	if inFlight == 0 {
		n.grow(now)
	}
	n.least = min(n.least, inFlight)
	if n.polls++; n.polls == shrinkPolls {
		// One frame must be in flight at each poll, or the network may have idled.
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
