// Package pacing decides which client may be sent a frame now and which client
// waits. It is pure: it knows no sockets, reads no clock and sets no timers. The caller
// reports events and carries out each Answer. There are two rules.
//
// The client keeps up. A client that has not acknowledged earlier frames is set aside until it
// has, because its frames would only grow old in the kernel. One frame may be unacknowledged,
// because a receiver that is about to send something itself delays its acknowledgement by up to
// 40 ms.
//
// The network is not full. A network is the one behind an interface of this computer, which
// all clients on it use. The caller says which network a client is on. Few frames may be
// in flight, which means that they still wait in this computer's transmit queue. When the
// network is full, a client whose frame is due enters the network's queue once, and gets
// the data of the moment at which it is served. So a network that is too small carries no
// old data and serves its clients evenly.
//
// A check costs a system call, a twentieth of the cost of a frame, so neither rule checks at every
// frame: a client is checked when its credit is used up, and a network when its window is.
package pacing

import "time"

const (
	// segment is how many bytes a receiver that keeps up may leave unacknowledged: TCP delays
	// an acknowledgement until it has received a full segment, which is at least 536 bytes
	// (RFC 1122). With fewer, clients of small frames would be set aside for no reason.
	segment = 536
	// maxTrust is how many frames a client that keeps up is sent between two
	// checks. A client that stops reading has this many frames in its kernel
	// before the server notices; a smaller number costs more system calls.
	maxTrust = 32
	// askedInFlight is how many bytes of requested frames may be unacknowledged: a burst of
	// requests is answered one by one, and a client that asks faster than its network
	// carries gets only the newest data.
	askedInFlight = 16 << 10

	// ackDelay is the 40 ms by which a receiver that keeps up may delay an acknowledgement,
	// and a poll. A client that was set aside for longer gets one frame at a time, because
	// the network is full further away.
	ackDelay = 50 * time.Millisecond

	// A client that was set aside is checked again after a quarter of the time since then,
	// but at least retryFirst and at most retryLast. retryFirst bounds the delay after a
	// short pause, and retryLast the cost of a client that does not read for hours: four
	// checks a second.
	retryFirst = time.Millisecond
	retryLast  = 250 * time.Millisecond

	// slowWait is the wait of a frame that shows congestion. On other networks frames that
	// are due at the same moment wait less: 16 frames of 800 bytes take a network of 10 Mbps
	// this long.
	slowWait = 10 * time.Millisecond
	// congestedFor is how long a network counts as congested after its last slow frame. The
	// smaller frames that it is sent meanwhile may just fit. With a shorter time, large
	// frames would fill the network again more often.
	congestedFor = 5 * time.Second
)

// Connection is the connection of one client. Each method may cost a system call.
type Connection interface {
	// Backlog returns how many bytes the client has not acknowledged, and how many more
	// may be written before its receive window is full, math.MaxInt where a full window
	// does no harm.
	Backlog() (unacknowledged, room int)
	// Queued reports whether the transmit queue of this computer still has
	// bytes of the client.
	Queued() bool
}

// Answer says whether a frame that is due is sent.
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
	first   int  // frames of credit before the first check
	trust   int  // frames of credit after the next check, 1 to maxTrust
	asides  int  // Network.asides at the last check

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

// Congested reports whether the way to the client was congested lately: a frame waited long in the
// queue of its network, or the client did not keep up.
func (c *Client) Congested(now time.Duration) bool {
	last := max(c.behindAt, c.network.slowAt)
	return last != 0 && now-last < congestedFor
}

// Due is called when a frame for the client is due: asked, because the client has asked for it,
// otherwise by its rate.
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

// Sent is called when a frame of size bytes was sent after the answer Now; zero: there was nothing to
// send. The write may have failed, so the client may have left the network already.
func (c *Client) Sent(now time.Duration, size int) {
	if size == 0 || c.removed {
		return
	}
	if c.frame == 0 {
		c.credit = c.first * size
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

// keepsUp reports whether the client has credit for a frame. When the credit is used up, it checks
// the connection. When another client of the network was set aside, all clients are checked once,
// because the network may be full further away.
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

// Retry checks again whether a client that was set aside keeps up.
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
