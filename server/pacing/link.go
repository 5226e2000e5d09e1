package pacing

import (
	"slices"
	"time"

	"player/timers"
)

const (
	// leastWindow is the smallest window in frames: one that is being sent and
	// one behind it, or the link would idle until the next poll.
	leastWindow = 2
	// firstWindow is how many frames a link is sent before the first look at its
	// transmit queue. On a link of 2 Mbps 16 frames of 800 bytes are 59 ms of
	// queue; fewer cost a wide link more looks and more polls.
	firstWindow = 16
	// mostWindow bounds what a link that was healthy a moment ago may queue when
	// it becomes slow: 0.24 s of frames at 2 Mbps, less than its queue drops.
	mostWindow = 64
	// memory is how long the window stays larger than firstWindow without new
	// evidence that the link carries it. A longer time would notice a link that
	// has become slow that much later.
	memory = time.Second
	// poll is how often a full link is looked at: no event reports that a frame
	// has left. A small frame takes a link of 2 Mbps about this long.
	poll = time.Millisecond
	// quick is how soon a window of frames has left a link that carries more: 16 of 800
	// bytes take 50 Mbps this long. That frames of an earlier tick have left shows
	// nothing: on a link that is busy most of the time the window would grow with every
	// tick, and frames would grow old in the transmit queue.
	quick = 2 * time.Millisecond
	// epoch is how many polls in a row must have found frames to spare before the
	// window shrinks. Radios pause for tens of milliseconds; fewer polls would
	// take a pause for a queue that is too long.
	epoch = 50
	// lost is how long a frame counts as in flight. A client that walked out of
	// range must not hold up the others on its link.
	lost = 400 * time.Millisecond
)

// Link is the network that a group of clients shares.
//
// Its window follows the rule of the kernel's dynamic queue limits: it doubles
// when the transmit queue has run empty while frames were waiting, or right after a
// window of frames, and shrinks
// by the number of frames that the queue never went below. So it settles at the
// fewest frames that keep the link busy.
type Link[C Connection] struct {
	timers *timers.Queue
	send   func(now time.Duration, conn C) (bytes int)
	joined int // clients that ever joined
	doubts int // how often a client was set aside

	queue  fifo[*Client[C]]
	flight []flown[C] // oldest first
	window int        // frames that may be in flight
	poll   *timers.Timer

	full  time.Duration // when the last look found the window used up
	grown time.Duration // when the window last doubled
	slow  time.Duration // when a frame last waited long in the queue; 0: never
	polls int           // in this epoch
	least int           // fewest frames that were in flight at a poll of this epoch
}

// flown is a frame in flight.
type flown[C Connection] struct {
	client *Client[C]
	sent   time.Duration
}

// NewLink returns a link without clients. send makes the frame of the moment for
// a client, writes it and returns its size in bytes, zero if there was nothing
// to send. Timers are set on q.
func NewLink[C Connection](q *timers.Queue, send func(now time.Duration, conn C) (bytes int)) *Link[C] {
	l := &Link[C]{timers: q, send: send, window: firstWindow, least: firstWindow}
	l.poll = timers.NewTimer(l.serve)
	return l
}

// Join adds c as the client of a connection. It is part of what the caller keeps
// of the client, so a frame touches less memory.
func (l *Link[C]) Join(c *Client[C], conn C) {
	l.joined++
	// Different first credits spread the looks over the ticks.
	*c = Client[C]{conn: conn, link: l, trust: maxTrust, credit: l.joined % maxTrust << 10, doubts: l.doubts}
}

// open reports whether the link may take another frame. When the window is used
// up it looks which frames have left.
func (l *Link[C]) open(now time.Duration) bool {
	if now-l.grown > memory {
		l.window = min(l.window, firstWindow)
	}
	if len(l.flight) < l.window {
		return true
	}
	if l.full == now { // the others of this tick wait for the poll
		return false
	}
	first := l.flight[0].sent
	if l.land(now) == 0 && now-first <= quick {
		l.grow(now)
	}
	if len(l.flight) < l.window {
		return true
	}
	l.full = now
	return false
}

// land removes from flight what has left and returns how many frames are left.
// The transmit queue is first in, first out: if the newest frame has left, all
// have.
func (l *Link[C]) land(now time.Duration) int {
	last := len(l.flight) - 1
	if last >= 0 && !l.flight[last].client.conn.Queued() {
		clear(l.flight)
		l.flight = l.flight[:0]
	}
	l.flight = slices.DeleteFunc(l.flight, func(f flown[C]) bool {
		return now-f.sent > lost || !f.client.conn.Queued()
	})
	return len(l.flight)
}

func (l *Link[C]) grow(now time.Duration) {
	l.window, l.grown = min(2*l.window, mostWindow), now
}

// transmit sends a frame to a client.
func (l *Link[C]) transmit(now time.Duration, c *Client[C]) {
	size := l.send(now, c.conn)
	if size == 0 || c.gone {
		return
	}
	c.frame = size
	c.credit -= size
	l.flight = append(l.flight, flown[C]{c, now})
}

func (l *Link[C]) setAside(now time.Duration, c *Client[C]) {
	c.state, c.since = aside, now
	l.doubts++
	if c.retry == nil {
		c.retry = timers.NewTimer(c.tryAgain)
	}
	l.timers.Set(c.retry, now+retryFirst)
}

func (l *Link[C]) enqueue(now time.Duration, c *Client[C]) {
	c.state, c.since = queued, now
	l.queue.push(c)
	if !l.poll.Armed() {
		l.timers.Set(l.poll, now+poll)
	}
}

// serve sends frames to the clients in the queue as far as the window is open.
// It returns when to look again, zero if nobody waits.
func (l *Link[C]) serve(now time.Duration) time.Duration {
	l.adapt(now, l.land(now))
	for l.queue.len() > 0 && len(l.flight) < l.window {
		c := l.queue.pop()
		c.state = free
		if now-c.since > slow {
			l.slow = now
		}
		if !c.keepsUp() {
			l.setAside(now, c)
			continue
		}
		l.transmit(now, c)
		if c.again && !c.gone {
			// At the end of the queue at once: otherwise clients early in a tick
			// would get twice the frames of late ones.
			c.again, c.state, c.since = false, queued, now
			l.queue.push(c)
		}
	}
	if l.queue.len() == 0 {
		return 0
	}
	return now + poll
}

// adapt adjusts the window at a poll that found left frames in flight.
func (l *Link[C]) adapt(now time.Duration, left int) {
	if left == 0 {
		l.grow(now)
	}
	l.least = min(l.least, left)
	if l.polls++; l.polls == epoch {
		// One frame must be left at a poll, or the link may have idled.
		l.window = max(l.window-max(l.least-1, 0), leastWindow)
		l.polls, l.least = 0, l.window
	}
}

func (l *Link[C]) remove(c *Client[C]) {
	if c.state == queued {
		l.queue.remove(c)
	}
	if c.retry != nil {
		l.timers.Stop(c.retry)
	}
	l.flight = slices.DeleteFunc(l.flight, func(f flown[C]) bool { return f.client == c })
}

// fifo holds what waits, first come, first served.
type fifo[E comparable] struct {
	items []E
	head  int // items before it have been served
}

func (f *fifo[E]) len() int { return len(f.items) - f.head }
func (f *fifo[E]) push(e E) { f.items = append(f.items, e) }

// pop removes the first item. It moves the others down when half of the space
// is used up, so that thousands may wait and each is moved about once.
func (f *fifo[E]) pop() E {
	var zero E
	e := f.items[f.head]
	f.items[f.head] = zero
	if f.head++; 2*f.head >= len(f.items) {
		f.items = slices.Delete(f.items, 0, f.head)
		f.head = 0
	}
	return e
}

func (f *fifo[E]) remove(e E) {
	if i := slices.Index(f.items[f.head:], e); i >= 0 {
		f.items = slices.Delete(f.items, f.head+i, f.head+i+1)
	}
}
