// Package pacing decides which client may be sent a frame now and which client
// waits. It is pure: it knows no sockets, reads no clock and sets no timers. The caller
// reports what happens and carries out each Answer. There are two rules.
//
// The client keeps up. A client that has not acknowledged what it was sent
// before is set aside until it has: its frames would only grow old in the
// kernel. One frame may be unacknowledged, because a receiver that is about to
// send something itself delays its acknowledgement by up to 40 ms.
//
// The network is not full. A network is the one behind an interface of this computer, which
// all clients on it use. The caller says which network a client is on. Few frames may be
// in flight, which means that they still wait in this computer's transmit queue. When the
// network is full, a client whose frame is due enters the network's queue once, and gets
// the data of the moment at which it is served. So a network that is too small carries no
// old data and serves its clients evenly.
//
// A check costs a system call, a twentieth of what a frame costs, so neither
// rule checks at every frame: a client has credit, a network has a window, and
// both are checked when these are used up.
package pacing

import "time"

const (
	// segment is how many bytes a receiver may leave unacknowledged although it
	// keeps up: TCP delays an acknowledgement while less than one full segment
	// is pending, and takes a segment to be at least 536 bytes (RFC 1122). With
	// less, clients of small frames would be set aside for no reason.
	segment = 536
	// maxTrust is how many frames a client that keeps up is sent between two
	// checks. A client that stops reading has this many frames in its kernel
	// before the server notices; a smaller number costs more system calls.
	maxTrust = 32
	// askedInFlight is how many bytes of frames that a client asked for may be
	// unacknowledged: a burst of requests is answered one by one, and a client
	// that asks faster than its network carries gets the newest data only.
	askedInFlight = 16 << 10

	// ackDelay is how long a receiver that keeps up may delay an acknowledgement,
	// 40 ms, and a poll. A client that was set aside for longer gets one frame at
	// a time: the network is full further away.
	ackDelay = 50 * time.Millisecond

	// retryFirst and retryLast bound how soon a client that was set aside is
	// checked again; in between it is a quarter of the time since then. The
	// first bounds the delay after a short pause, the last the cost of a client
	// that does not read for hours: four checks a second.
	retryFirst = time.Millisecond
	retryLast  = 250 * time.Millisecond

	// slow is how long a frame waits in the queue of a network that is full. Frames of
	// clients that are due at the same moment wait less on a network that is not: 16 of
	// 800 bytes take 10 Mbps this long.
	slowWait = 10 * time.Millisecond
	// fullFor is how long a network counts as full after its last slow frame. Frames
	// that are smaller while it is full may just fit. A shorter time would try large
	// ones, and fill the network again, more often.
	congestedFor = 5 * time.Second
)

// Connection is what pacing asks about one client's connection. Each answer may
// cost a system call.
type Connection interface {
	// Backlog returns how many bytes the client has not acknowledged, and how many more
	// may be written before its receive window is full, math.MaxInt where a full window
	// does no harm.
	Backlog() (unacknowledged, room int)
	// Queued reports whether the transmit queue of this computer still has
	// bytes of the client.
	Queued() bool
}

// Answer is what becomes of a frame that is due.
type Answer uint8

const (
	// Now: the caller makes the frame, writes it and calls Sent.
	Now Answer = iota
	// Later: the client is in its network's queue, which Network.Next serves at the next
	// poll.
	Later
	// Aside: the client does not keep up. The caller calls Retry when RetryAt says.
	Aside
)

// Client is the pacing state of one client.
type Client struct {
	conn    Connection
	network *Network

	state   state
	removed bool
	again   bool // another frame became due while the client was queued
	asked   bool // the frame that is due was asked for
	frame   int  // bytes of the newest frame
	credit  int  // bytes that may be sent before the next check
	trust   int  // frames of credit after the next check, 1 to maxTrust
	asides  int  // network.doubts at the last check

	since    time.Duration // when it was queued or set aside
	behindAt time.Duration // when it was last set aside for longer than ackDelay; 0: never
}

type state uint8

const (
	free   state = iota
	queued       // in the queue of its network
	aside        // does not keep up
)

// Waits reports whether the client's frame is due and has not been sent.
func (c *Client) Waits() bool { return c.state != free }

// Full reports whether the network to the client has been found full lately: frames
// waited in the queue of its network, or the client did not keep up.
func (c *Client) Congested(now time.Duration) bool {
	last := max(c.behindAt, c.network.slowAt)
	return last != 0 && now-last < congestedFor
}

// Due is called when a frame for the client is due. asked is set for a frame that the
// client asked for, and not set for a frame that its rate makes due.
func (c *Client) Due(now time.Duration, asked bool) Answer {
	c.asked = asked
	switch n := c.network; {
	case c.state == queued:
		c.again = true
		return Later
	case c.state == aside: // Retry sends its frame
		return Aside
	case !c.keepsUp():
		return c.setAside(now)
	case n.queue.len() == 0 && n.open(now):
		return Now
	default:
		n.enqueue(now, c)
		return Later
	}
}

// Sent is called when a frame of size bytes was sent after the answer Now; zero: there was
// nothing to send. The client may have left meanwhile.
func (c *Client) Sent(now time.Duration, size int) {
	if size == 0 || c.removed {
		return
	}
	c.frame = size
	c.credit -= size
	c.network.flight = append(c.network.flight, flown{c, now})
}

func (c *Client) setAside(now time.Duration) Answer {
	c.state, c.since = aside, now
	c.network.asides++
	return Aside
}

// keepsUp reports whether the client has credit for a frame, and checks its
// connection when the credit is used up. When another client of the network did not
// keep up, all are checked once: the network may be full further away.
func (c *Client) keepsUp() bool {
	if c.credit > 0 && c.credit >= c.frame && c.asides == c.network.asides {
		return true
	}
	c.asides = c.network.asides
	unacknowledged, room := c.conn.Backlog()
	allowed, credit := max(c.frame, segment), c.trust*max(c.frame, 1)
	if c.trust == 1 {
		allowed = 0
	}
	if c.asked {
		allowed = askedInFlight
		credit = max(allowed-unacknowledged, 1)
	}
	if unacknowledged > allowed || room < c.frame {
		c.credit, c.trust = 0, 1
		return false
	}
	c.credit = min(credit, room)
	c.trust = min(2*c.trust, maxTrust)
	return true
}

// Retry checks a client again that was set aside.
func (c *Client) Retry(now time.Duration) Answer {
	if !c.keepsUp() {
		return Aside
	}
	if now-c.since > ackDelay {
		c.trust, c.behindAt = 1, now
	}
	c.state = free
	return c.Due(now, c.asked)
}

// RetryAt returns when Retry is due after the answer Aside at now.
func (c *Client) RetryAt(now time.Duration) time.Duration {
	return now + min(max((now-c.since)/4, retryFirst), retryLast)
}

// Leave removes the client from its network. Only Sent may be called after it.
func (c *Client) Leave() {
	c.removed = true
	c.network.remove(c)
}
