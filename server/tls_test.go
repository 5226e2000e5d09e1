package server

import (
	"crypto/tls"
	"net"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/e2e/certs"
	"player/e2e/needs"
	"player/server/looptest"
	"player/server/tlsconn"
)

// serveTLS lets clients connect by TLS, to the robot on a port. It returns a function
// that connects one.
func serveTLS(t *testing.T, s *running, port int) func() *tls.Conn {
	t.Helper()
	connect := serveTLSAt(t, s, port, "127.0.0.1:0")
	return func() *tls.Conn { return connect(&net.Dialer{}) }
}

// serveTLSAt is serveTLS at an address of this computer.
func serveTLSAt(t *testing.T, s *running, port int, address string) func(*net.Dialer) *tls.Conn {
	t.Helper()
	lab := certs.New(t, "lab")
	pair := lab.Issue("robot", nil)
	config, err := tlsconn.Load(pair.Cert, pair.Key, lab.File)
	looptest.Must(t, err)
	l, err := net.Listen("tcp", address)
	looptest.Must(t, err)
	t.Cleanup(func() { l.Close() })
	go tlsconn.New(config, s.server.config.Descriptors.Clients, zap.NewNop()).Serve(l, func(c *tlsconn.Conn) {
		if !s.server.Post(func(now time.Duration) { s.server.AcceptTLS(now, c, port) }) {
			_ = c.Close()
		}
	})
	client := lab.Client(lab.Issue("ada", nil))
	return func(d *net.Dialer) *tls.Conn {
		c, err := tls.DialWithDialer(d, "tcp", l.Addr().String(), client)
		looptest.Must(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
}

// Messages are carried out in their order, whatever records they come in, also in one
// that is larger than a slice and is the last.
func TestMessagesInRecords(t *testing.T) {
	r, s, c := openTLS(t)
	all := configs(4000)
	for _, b := range all[:800] {
		looptest.Send(t, c, []byte{b})
	}
	looptest.Send(t, c, all[800:]) // records of 16 KiB
	r.expectConfigs(t, 4000)
	r.drive(t, c, 100)
	c.Close()
	r.expect(t, 0)
	s.expectFree()
}

// openTLS serves a robot to one client by TLS, which may drive it.
func openTLS(t *testing.T) (*robot, *running, *tls.Conn) {
	t.Helper()
	r := newRobot()
	s := serve(t, r, nil)
	c := serveTLS(t, s, 0)()
	request(t, c, "pw", "pw")
	return r, s, c
}

// Records that are forged end the connection, and stop the robot.
func TestForgedRecords(t *testing.T) {
	r, s, c := openTLS(t)
	r.drive(t, c, 100)
	looptest.Send(t, c.NetConn(), slices.Concat([]byte{23, 3, 3, 0, 20}, make([]byte, 20)))
	r.expect(t, 0)
	if err := looptest.End(t, c); err == nil || err.Error() != "remote error: tls: bad record MAC" {
		t.Errorf("the client has %v", err)
	}
	s.expectFree()
}

// A client for which there is no place, or no robot any more, is disconnected.
func TestNoPlaceByTLS(t *testing.T) {
	s := serve(t, newRobot(), func(c *Config) { c.MaxClients = 1 })
	_ = looptest.End(t, serveTLS(t, s, 7000)())
	connect := serveTLS(t, s, 0)
	first := connect()
	request(t, first, "sr", "sr")
	_ = looptest.End(t, connect())
	block(t, first)
	first.Close()
	s.expectFree()
}

// Clients whose handshake ends during a reload wait for the end of the reload, like clients that connect. One
// gets the new driver of its robot, and one whose robot was removed is disconnected.
func TestTLSDuringReload(t *testing.T) {
	old, head := newCamera(true)
	s, table := serveBoth(t, newRobot(), head)
	request(t, s.Dial(), "za", "za")
	goes, goesLinks := attach(t, instance(newRobot()))
	stays := Robot{Table: table, Links: table.Links(), Address: s.Address}
	s.change(nil, stays, Robot{Table: goes, Links: goesLinks, Address: looptest.FreeAddress(t), Port: 7})

	stays.Links = []*devices.Link{table.Links()[0], newHead(t)}
	done := s.reload(nil, stays)
	looptest.Receive(t, old.stops, "stop of the old driver")
	waits, lost := serveTLS(t, s, 0)(), serveTLS(t, s, 7)()
	looptest.Send(t, waits, codec.AppendRequest(nil, []byte("za")))
	time.Sleep(50 * time.Millisecond) // the server has got both
	s.Do(func(now time.Duration) { old.link.Stopped(now) })
	looptest.Receive(t, done, "end of the reload")
	closed(t, lost)
	if letter, payload := block(t, waits); letter != codec.KindReply || string(payload) != "za" {
		t.Errorf("the client that waited gets %q %q", letter, payload)
	}
	s.Do(func(now time.Duration) {
		if n := len(s.server.Status(now).Robots[0].Clients); n != 1 {
			t.Errorf("%d clients", n)
		}
	})
	waits.Close()
	s.expectFree()
}

// A client that ends TLS right behind its requests gets its replies, like a client that closes its half of
// a connection without TLS (PROTOCOL 5.4).
func TestReplyBeforeGoodbye(t *testing.T) {
	needs.Time(t)
	s := serve(t, newRobot(), nil)
	connect := serveTLS(t, s, 0)
	for range 20 {
		c := connect()
		looptest.Send(t, c, codec.AppendRequest(codec.AppendRequest(nil, []byte("pr")), []byte("pa")))
		looptest.Must(t, c.CloseWrite())
		for _, want := range []string{"pr", "pa"} {
			if letter, payload := block(t, c); letter != codec.KindReply || string(payload) != want {
				t.Fatalf("%q %q, want the reply %q", letter, payload, want)
			}
		}
		closed(t, c)
	}
	s.expectFree()
}

// A panic of crypto/tls over the bytes of a client disconnects that client, and no other.
func TestPanicOverRecords(t *testing.T) {
	s := serve(t, newRobot(), nil)
	connect := serveTLS(t, s, 0)
	victim, other := connect(), connect()
	request(t, victim, "pr", "pr")
	request(t, other, "pr", "pr")
	s.Do(func(time.Duration) {
		c := s.clientOf(victim)
		broken := &tlsconn.Conn{Local: c.tls.Local, Remote: c.tls.Remote} // it panics
		c.tls, c.conn.(*tlsConn).tls = broken, broken
	})
	looptest.Send(t, victim, []byte("dr\x00\x00"))
	_ = looptest.End(t, victim) // frames have left before
	request(t, other, "sr", "sr")
}
