package server

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/e2e/certs"
	"player/server/looptest"
	"player/server/secure"
)

// encrypts lets clients connect by TLS, to the robot on a port. It returns a function
// that connects one.
func encrypts(t *testing.T, s *running, port int) func() *tls.Conn {
	t.Helper()
	connect := encryptsAt(t, s, port, "127.0.0.1:0")
	return func() *tls.Conn { return connect(&net.Dialer{}) }
}

// encryptsAt is encrypts at an address of this computer.
func encryptsAt(t *testing.T, s *running, port int, address string) func(*net.Dialer) *tls.Conn {
	t.Helper()
	lab := certs.New(t, "lab")
	pair := lab.Issue("robot", nil)
	config, err := secure.Load(pair.Cert, pair.Key, lab.File)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go secure.New(config, s.server.config.Descriptors.Clients, zap.NewNop()).Serve(l, func(c *secure.Conn) {
		if !s.server.Post(func(now time.Duration) { s.server.AcceptTLS(now, c, port) }) {
			_ = c.Close()
		}
	})
	client := lab.Client(lab.Issue("ada", nil))
	return func(d *net.Dialer) *tls.Conn {
		c, err := tls.DialWithDialer(d, "tcp", l.Addr().String(), client)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
}

// free reports whether no descriptor of clients is in use.
func free(s *running) bool {
	all := s.server.config.Descriptors.Clients
	if all.Take(all.Most()) != nil {
		return false
	}
	all.Return(all.Most())
	return true
}

// Messages are carried out in their order, whatever records they come in, also in one
// that is larger than a turn and is the last.
func TestMessagesInRecords(t *testing.T) {
	r := newRobot()
	s := serve(t, r, nil)
	c := encrypts(t, s, 0)()
	request(t, c, "pw", "pw")
	const messages = 4000
	var all []byte
	for i := range messages {
		all = codec.AppendMessage(all, codec.KindConfig, codec.Position, []byte{byte(i >> 8), byte(i)})
	}
	for _, b := range all[:800] {
		looptest.Send(t, c, []byte{b})
	}
	looptest.Send(t, c, all[800:]) // records of 16 KiB
	for i := range messages {
		if got, want := looptest.Receive(t, r.configs, "configuration"), string([]byte{'p', byte(i >> 8), byte(i)}); got != want {
			t.Fatalf("configuration %d is %q", i, got)
		}
	}
	looptest.Send(t, c, command(100))
	if got := looptest.Receive(t, r.commands, "command"); got.Speed != 100 {
		t.Fatalf("speed %d", got.Speed)
	}
	c.Close()
	if got := looptest.Receive(t, r.commands, "stop"); got.Speed != 0 {
		t.Fatalf("speed %d after the client left", got.Speed)
	}
	s.Await("descriptors are given back", func(time.Duration) bool { return free(s) })
}

// Records that are forged end the connection, and stop the robot.
func TestForgedRecords(t *testing.T) {
	r := newRobot()
	s := serve(t, r, nil)
	c := encrypts(t, s, 0)()
	request(t, c, "pw", "pw")
	looptest.Send(t, c, command(100))
	if got := looptest.Receive(t, r.commands, "command"); got.Speed != 100 {
		t.Fatalf("speed %d", got.Speed)
	}
	looptest.Send(t, c.NetConn(), slices.Concat([]byte{23, 3, 3, 0, 20}, make([]byte, 20)))
	if got := looptest.Receive(t, r.commands, "stop"); got.Speed != 0 {
		t.Fatalf("speed %d", got.Speed)
	}
	if err := c.SetReadDeadline(time.Now().Add(looptest.Patience)); err != nil {
		t.Fatal(err)
	}
	for buffer, err := make([]byte, 1000), error(nil); err == nil; {
		if _, err = c.Read(buffer); err != nil && err.Error() != "remote error: tls: bad record MAC" {
			t.Errorf("the client has %v", err)
		}
	}
	s.Await("descriptors are given back", func(time.Duration) bool { return free(s) })
}

// A client for which there is no place, or no robot any more, is closed.
func TestNoPlaceByTLS(t *testing.T) {
	s := serve(t, newRobot(), func(c *Config) { c.MaxClients = 1 })
	closed := func(c *tls.Conn) {
		t.Helper()
		if err := c.SetReadDeadline(time.Now().Add(looptest.Patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read: %v", err)
		}
	}
	closed(encrypts(t, s, 7000)())
	connect := encrypts(t, s, 0)
	first := connect()
	request(t, first, "sr", "sr")
	closed(connect())
	block(t, first)
	first.Close()
	s.Await("descriptors are given back", func(time.Duration) bool { return free(s) })
}

// Clients whose handshake ends during a reload wait for its end, as those that connect do:
// one has the new driver of its robot, and one whose robot has gone is closed.
func TestTLSDuringReload(t *testing.T) {
	old, head := newCamera(true)
	s, table := serveBoth(t, newRobot(), head)
	request(t, s.Dial(), "za", "za")
	goes, goesLinks := attach(t, instance(newRobot()))
	stays := Robot{Table: table, Links: table.Links(), Address: s.Address}
	s.change(t, nil, stays, Robot{Table: goes, Links: goesLinks, Address: looptest.FreeAddress(t), Port: 7})

	_, nextHead := newCamera(false)
	_, links := attach(t, nextHead)
	stays.Links = []*devices.Link{table.Links()[0], links[0]}
	done := make(chan []int, 1)
	s.Do(func(now time.Duration) {
		s.server.Reload(now, []Robot{stays}, nil, func(_ time.Duration, refused []int) { done <- refused })
	})
	looptest.Receive(t, old.stops, "stop of the old driver")
	waits, lost := encrypts(t, s, 0)(), encrypts(t, s, 7)()
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
	s.Await("descriptors are given back", func(time.Duration) bool { return free(s) })
}

// A client that says goodbye right behind its requests has its replies, as one has
// that closes its half of a connection without TLS (PROTOCOL 5.4).
func TestReplyBeforeGoodbye(t *testing.T) {
	s := serve(t, newRobot(), nil)
	connect := encrypts(t, s, 0)
	for range 20 {
		c := connect()
		looptest.Send(t, c, codec.AppendRequest(codec.AppendRequest(nil, []byte("pr")), []byte("pa")))
		if err := c.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"pr", "pa"} {
			if letter, payload := block(t, c); letter != codec.KindReply || string(payload) != want {
				t.Fatalf("%q %q, want the reply %q", letter, payload, want)
			}
		}
		closed(t, c)
	}
	s.Await("descriptors are given back", func(time.Duration) bool { return free(s) })
}

// A panic of crypto/tls over what a client sends ends that client, and no other.
func TestPanicOverRecords(t *testing.T) {
	s := serve(t, newRobot(), nil)
	connect := encrypts(t, s, 0)
	victim, other := connect(), connect()
	request(t, victim, "pr", "pr")
	request(t, other, "pr", "pr")
	s.Do(func(time.Duration) {
		for c := range s.server.clients {
			if c.remote.String() == victim.LocalAddr().String() {
				broken := &secure.Conn{Local: c.tls.Local, Remote: c.tls.Remote} // it panics
				c.tls, c.conn.(*tlsConnection).tls = broken, broken
			}
		}
	})
	looptest.Send(t, victim, []byte("dr\x00\x00"))
	if err := victim.SetReadDeadline(time.Now().Add(looptest.Patience)); err != nil {
		t.Fatal(err)
	}
	for err := error(nil); err == nil; { // frames have left before
		if _, err = victim.Read(make([]byte, 1000)); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("the client is still connected")
		}
	}
	request(t, other, "sr", "sr")
}
