package server

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"player/devices"
	"player/e2e/certs"
	"player/e2e/must"
	"player/server/tlsconn"
)

// Clients by TLS in the simulation. The handshake is done in memory when a client connects, in no virtual time. The
// network takes the records like any bytes, and the client decrypts the server's output. The sizes of records do not
// depend on keys, so a seed still determines everything.

// simKeys are the configurations of both sides.
type simKeys struct{ server, client *tls.Config }

// newKeys makes keys and certificates. All clients are ada.
func newKeys(t *testing.T) *simKeys {
	lab := certs.New(t, "lab")
	robot := lab.Issue("robot", nil)
	k := &simKeys{
		server: must.Get(tlsconn.Load(robot.Cert, robot.Key, lab.File))(t),
		client: lab.Client(lab.Issue("ada", nil)),
	}
	k.client.DynamicRecordSizingDisabled = true
	// The exchange of keys that takes the least time. A robot's clients may use others, of which the server sees no more.
	k.client.CurvePreferences = []tls.CurveID{tls.X25519}
	// The time of a bubble is another one.
	now := time.Now()
	k.server.Time = func() time.Time { return now }
	k.client.Time = k.server.Time
	return k
}

// simTLS is the client's side of a connection by TLS.
type simTLS struct {
	*tlsconn.Conn
	said  bool // the server has ended the stream of records
	plain [1 << 15]byte
}

// shake does the handshake of the client, and returns the server's side of it.
func (c *simClient) shake(keys *simKeys) *tlsconn.Conn {
	ours, theirs := net.Pipe()
	local, remote := c.conn.LocalAddr(), c.conn.remote
	done := make(chan error)
	c.tls = &simTLS{}
	go func() {
		var err error
		c.tls.Conn, err = tlsconn.Client(tcpEnd{ours, remote, local}, keys.client)
		done <- err
	}()
	side, err := tlsconn.Server(tcpEnd{theirs, local, remote}, keys.server)
	if err := errors.Join(err, <-done); err != nil {
		c.sim.fail("%v: handshake: %v", c, err)
	}
	c.tls.Part()
	side.Part()
	return side
}

// tcpEnd is an end of a pipe with addresses of TCP.
type tcpEnd struct {
	net.Conn
	local, remote *net.TCPAddr
}

func (e tcpEnd) LocalAddr() net.Addr  { return e.local }
func (e tcpEnd) RemoteAddr() net.Addr { return e.remote }

// acceptTLS has the server accept the client by TLS.
func (c *simClient) acceptTLS(now time.Duration, then func()) {
	s := c.sim
	place, waits := s.placeFor(c), s.server.reload != nil
	s.summary.Encrypted++
	attach := func(sv *client, begin func(now time.Duration)) (connection, error) {
		c.conn.handler = sv
		s.onLoop(begin)
		return c.conn, nil
	}
	s.server.acceptTLS(now, c.shake(s.keys), 6665+c.robot.index, attach)
	if !waits {
		c.accepted(place, then)
		return
	}
	var accepted func()
	accepted = func() {
		if s.server.reload != nil {
			s.after(10*time.Millisecond, accepted)
			return
		}
		c.accepted(c.conn.handler != nil, then)
	}
	accepted()
}

// simConnOf returns the connection below TLS.
func simConnOf(c connection) *simConn {
	if t, ok := c.(*tlsConn); ok {
		c = t.connection
	}
	return c.(*simConn)
}

// judgeBye judges whether a stream of records that the server closes has its last record.
func (c *simClient) judgeBye() {
	if c.tls == nil {
		return
	}
	if c.sim.summary.Byes++; !c.tls.said {
		c.sim.fail("%v: the server has closed its connection, and not its TLS", c)
	}
}

// opens decrypts the server's output.
func (c *simClient) opens(records []byte) []byte {
	if c.tls == nil {
		return records
	}
	n, err := c.tls.Read(records, c.tls.plain[:])
	switch {
	case errors.Is(err, io.EOF):
		c.tls.said = true
	case err != nil:
		c.sim.fail("%v: records that are none: %v", c, err)
	}
	if size := tlsconn.Size(n); size != len(records) && !c.tls.said {
		c.sim.fail("%v: %d bytes in records of %d bytes: more than one write, or not whole", c, n, len(records))
	}
	return append([]byte{}, c.tls.plain[:n]...)
}

// seals encrypts the client's messages, in one or more records.
func (c *simClient) seals(b []byte) []byte {
	if c.tls == nil {
		return b
	}
	var records []byte
	for len(b) > 0 {
		n := len(b)
		if c.sim.chance(4) {
			n = 1 + c.sim.random.IntN(n)
		}
		records = c.tls.Seal(records, b[:n])
		b = b[n:]
	}
	return records
}

// A setup ends, and the session has input left behind a request that opens a device. Records that come now, or wait in
// the queue, are not taken for messages.
func TestRecordsBehindASetup(t *testing.T) {
	keys := newKeys(t)
	for _, queued := range []bool{false, true} {
		c := simulateWith(keys, noLease, 256<<10)
		s := c.sim
		for _, pairs := range []string{"pr", "sr", ""} {
			c.request(pairs)
		}
		s.run(s.now + 100*time.Millisecond)
		link := c.robot.link
		if link.State() != devices.Starting || len(c.conn.in) > 0 {
			t.Fatalf("%v, %d bytes wait", link.State(), len(c.conn.in))
		}
		s.busy = s.now + 100*time.Millisecond
		for range 1 + 100*int(bit(queued)) {
			c.request("")
		}
		s.run(s.busy - 1)
		s.call(func(now time.Duration) {
			if queued {
				c.conn.read(now)
			}
			link.Ready(now)
			if queued {
				s.server.serveInputs(now)
			} else {
				c.conn.read(now)
			}
		})
		if s.run(s.now + time.Second); c.over || len(c.requests) > 0 {
			t.Errorf("queued %v: it has ended: %v, %d requests without a reply", queued, c.over, len(c.requests))
		}
	}
}
