package server

import (
	"reflect"
	"time"
)

// How old frames may be when they come in the simulation, how many may wait, and that nothing grows.
//
// A frame has the data of the moment at which it is written (3.6). From then on it grows older:
//
//   - in the transmit queue of its network, behind the bytes that the server may not hold back, which are replies and
//     the input from clients' kernels when they read again, and behind the frames of one window (mostAhead);
//   - on the way, for the time of a trip, and until packets that are lost were sent again;
//   - in the kernel, if its client does not read or its network is cut. How long is up to them. How many frames are
//     there is up to the server (mostUnread).

const (
	// mostAhead is the largest window of a network (server/pacing).
	mostAhead = 64
	// mostUnread is how many frames the kernel gets between two checks of a client (3.6).
	mostUnread = 32
	// mostUnanswered is how many bytes a client that is checked may leave unacknowledged: less than the smallest
	// full segment of TCP, or one frame.
	mostUnanswered = 536
	// mostAsked is the same for frames that were asked for.
	mostAsked = 16 << 10
)

// transit is bytes in the transmit queue of a wire.
type transit struct {
	leaves time.Duration
	bytes  int
	frame  bool // of the server's own choice
}

func (p *packet) isFrame() bool { return len(p.plain) > 0 && p.plain[0] != 'r' && p.plain[0] != 'Y' }

// enter is called when a packet enters the transmit queue. It judges the queue, and sets how old the packet
// may be when it comes.
func (w *wire) enter(s *sim, p *packet) {
	p.oldest = never
	if w.rate == 0 {
		return
	}
	for len(w.transits) > 0 && w.transits[0].leaves <= s.now {
		w.transits = w.transits[1:]
	}
	own := p.isFrame() && p.written == s.now
	w.transits = append(w.transits, transit{p.leaves, len(p.bytes) + headers, own})
	bytes, frames, largest := 0, 0, 0
	for _, t := range w.transits {
		if t.frame {
			frames++
			largest = max(largest, t.bytes)
		} else {
			bytes += t.bytes
		}
	}
	if frames > mostAhead {
		s.fail("%s: %d frames are in its transmit queue at once", w.name, frames)
	}
	if own {
		bytes += frames * largest
		p.oldest = time.Duration(float64(bytes)/w.rate*float64(time.Second)) + w.trip + time.Millisecond
		if w.loss != 0 {
			p.oldest += time.Second // see resent
		}
	}
}

// checkAge judges how old a frame is when it comes.
func (c *simClient) checkAge(p *packet) {
	s := c.sim
	if p.oldest == never || c.downUntil != 0 && p.written < c.downUntil+3*time.Second {
		return // of an outage, packets in front of it may be sent again
	}
	s.summary.Young++
	if age := s.now - p.written; age > p.oldest {
		s.fail("%v on %s: a frame comes %v old, and its network forces %v", c, c.conn.wire.name, age, p.oldest)
	}
}

// checkUnread judges how much of frames the kernel has that the client has not acknowledged.
func (c *simConn) checkUnread(p *packet) {
	if !p.isFrame() {
		return
	}
	c.largest = max(c.largest, len(p.bytes))
	most := (mostUnread+1)*c.largest + max(mostUnanswered, c.largest) // a frame may be larger than the last one
	if c.client.asked {
		most = max(most, mostAsked+c.largest)
	}
	bytes := 0
	for _, all := range [][]*packet{c.flight, c.unsent} {
		for _, p := range all {
			if p.isFrame() {
				bytes += len(p.bytes)
			}
		}
	}
	if bytes > most {
		c.sim.fail("%v: it has not acknowledged %d bytes of frames of at most %d bytes", c.client, bytes, c.largest)
	}
}

// watchGrowth checks once a second that the server's timers, addresses and log do not grow.
func (s *sim) watchGrowth() {
	links := 0
	for _, r := range s.server.robots {
		links += len(r.Table.Links())
	}
	armed := reflect.ValueOf(&s.timers).Elem().FieldByName("heap").Len()
	if most := 4*len(s.server.clients) + len(s.server.networks.all) + 2*links + 3; armed > most {
		s.fail("%d timers are armed, with %d clients and %d links", armed, len(s.server.clients), links)
	}
	if n := len(s.server.addresses); n > len(s.server.clients) {
		s.fail("the server counts the clients of %d addresses, and has %d clients", n, len(s.server.clients))
	}
	if s.lines > 3*s.causes+20 {
		s.fail("%d lines in the log in a second, with %d causes", s.lines, s.causes)
	}
	s.lines, s.causes = 0, 0
}
