package reactor

import (
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"player/timers"
)

const (
	// routePoll is how often a congested route is looked at. Acknowledgements
	// raise no event, so somebody has to look; a small frame takes a 2 Mbps
	// link longer than this.
	routePoll = time.Millisecond
	// lost is how long a frame counts as in flight. A client that walked out
	// of range must not hold up the others on its route.
	lost = 400 * time.Millisecond
	// lookEvery is how many frames of a client go out on one look at what is
	// unacknowledged, on a route that takes what it is given: the look is a
	// system call, a tenth of what a frame costs. Clients take turns, so a tick
	// of 50 looks at six, and a link that has become too small is noticed in
	// the tick that is too much for it; a single client that stopped reading
	// gets this many frames at most before it is. On a route with fewer clients
	// than this each frame is looked at.
	lookEvery = 8
	// doubt is how long each frame is looked at after one that was not taken.
	doubt = time.Second
)

// route is the clients that came in on one local address, as they share the
// link behind it: lo, eth0, wlan0. While the link takes what is due, a route
// costs nothing. When a client's frame is due and its last one has not been
// acknowledged, it takes a place in the queue, once; when its turn comes, it
// gets the data of that moment (PROTOCOL 3.6). If another frame became due
// meanwhile, it goes to the end of the queue at once: else the first members of
// a tick would be served at each tick, the last at every second one. So a link
// that is too small is shared evenly and carries no stale data.
type route struct {
	reactor *Reactor
	clients int           // that are connected
	joined  int           // that ever were
	doubted time.Duration // when a frame was last found not taken
	queue   line          // waiting for their turn
	flight  []*client     // had a frame sent that was not known to be acknowledged
	window  window
	timer   *timers.Timer
}

// join gives a new connection its route.
func (r *Reactor) join(c *client) {
	rt := r.routeOf(c.conn.Fd())
	c.route = rt
	rt.clients++
	rt.joined++
	c.unseen = rt.joined % lookEvery
}

// routeOf finds the route of a connection by its local address.
func (r *Reactor) routeOf(fd int) *route {
	var local netip.Addr
	if sa, err := unix.Getsockname(fd); err == nil {
		switch sa := sa.(type) {
		case *unix.SockaddrInet4:
			local = netip.AddrFrom4(sa.Addr)
		case *unix.SockaddrInet6:
			local = netip.AddrFrom16(sa.Addr).Unmap()
		}
	}
	rt := r.routes[local]
	if rt == nil {
		rt = &route{reactor: r}
		rt.timer = timers.NewTimer(rt.pump)
		r.routes[local] = rt
	}
	return rt
}

// due says that a frame for c is due. On a free route it is sent at once.
func (rt *route) due(now time.Duration, c *client) {
	if c.place != nowhere {
		c.owed = c.place == queued
		return
	}
	if rt.queue.len() == 0 && (rt.trusts(now, c) || c.free()) {
		rt.send(now, c)
		return
	}
	rt.doubted = now
	c.place = queued
	rt.queue.push(c)
	if rt.queue.len() > 1 {
		return
	}
	rt.land(now)
	rt.window.begin(now, len(rt.flight))
	if next := rt.pump(now); next != 0 {
		rt.reactor.queue.Set(rt.timer, next)
	}
}

// trusts says whether the next frame of c may go out without a look at the
// ones before it.
func (rt *route) trusts(now time.Duration, c *client) bool {
	if rt.clients < lookEvery || c.drives || rt.doubted != 0 && now < rt.doubted+doubt || c.session.Asked() > 0 {
		return false
	}
	c.unseen = (c.unseen + 1) % lookEvery
	return c.unseen != 0
}

// pump serves the queue as far as the window is open. It returns when to look
// again, zero if nobody waits.
func (rt *route) pump(now time.Duration) time.Duration {
	rt.window.deliver(now, rt.land(now))
	for rt.queue.len() > 0 && len(rt.flight) < rt.window.size {
		c := rt.queue.pop()
		c.place = nowhere
		if c.stuck() {
			rt.reactor.stall(now, c)
		} else {
			rt.send(now, c)
			if c.owed && !c.gone {
				c.owed, c.place = false, queued
				rt.queue.push(c)
			}
		}
	}
	if rt.queue.len() == 0 {
		return 0
	}
	return now + routePoll
}

// land drops from flight what has been acknowledged or is lost, and returns
// how many were acknowledged.
func (rt *route) land(now time.Duration) (delivered int) {
	still := rt.flight[:0]
	for _, c := range rt.flight {
		switch {
		case c.gone, now-c.sentAt > lost:
			c.inFlight = false
		case c.unacknowledged() == 0:
			c.inFlight = false
			delivered++
		default:
			still = append(still, c)
		}
	}
	clear(rt.flight[len(still):])
	rt.flight = still
	return delivered
}

// send makes a frame and sends it.
func (rt *route) send(now time.Duration, c *client) {
	rt.reactor.send(now, c)
	c.sentAt = now
	if !c.inFlight && !c.gone {
		c.inFlight = true
		rt.flight = append(rt.flight, c)
	}
}

// leave removes a client that is gone.
func (rt *route) leave(c *client) {
	rt.clients--
	if c.place == queued {
		rt.queue.remove(c)
	}
	if c.inFlight {
		rt.flight = slices.DeleteFunc(rt.flight, func(o *client) bool { return o == c })
	}
	c.place, c.inFlight = nowhere, false
}

// line is clients that wait, first come first served.
type line struct {
	clients []*client
	head    int // those before it have been served
}

func (l *line) len() int       { return len(l.clients) - l.head }
func (l *line) push(c *client) { l.clients = append(l.clients, c) }

// pop takes out the first one. It copies the others down when half of the room
// is used up, so that thousands may wait and none of them is moved more than
// once for each that is served.
func (l *line) pop() *client {
	c := l.clients[l.head]
	l.clients[l.head] = nil
	if l.head++; 2*l.head >= len(l.clients) {
		l.clients = slices.Delete(l.clients, 0, l.head)
		l.head = 0
	}
	return c
}

func (l *line) remove(c *client) {
	if i := slices.Index(l.clients[l.head:], c); i >= 0 {
		l.clients = slices.Delete(l.clients, l.head+i, l.head+i+1)
	}
}
