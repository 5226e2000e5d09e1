package server

import (
	"bytes"
	"net"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap/zaptest/observer"

	"player/codec"
	"player/e2e/acceptance"
	"player/server/fair"
	"player/server/looptest"
)

// Clients that send much are served one slice after the other, in the order of package
// fair. Counted on the loop.
func TestInputIsServedInSlices(t *testing.T) {
	const messages = fair.SliceBytes / 8 // 8 bytes a message
	r, s, first := open(t, "pw", nil)
	other := looptest.Dial(t, net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}, s.Address)
	request(t, other, "pw", "pw")
	s.Do(func(now time.Duration) {
		for i, c := range []net.Conn{first, other} {
			one := codec.AppendMessage(nil, codec.KindConfig, codec.Position, []byte{byte(i), 0, 0, 0})
			s.clientOf(c).Receive(now, bytes.Repeat(one, 3*messages))
		}
		if n := len(r.configs); n != 0 {
			t.Errorf("%d messages were carried out at once, want none", n)
		}
		for slice := range 6 {
			s.server.serveClient(now)
			n := [2]int{}
			for len(r.configs) > 0 {
				n[(<-r.configs)[1]]++
			}
			if n[slice%2] != messages || n[1-slice%2] != 0 {
				t.Errorf("slice %d: %v messages", slice, n)
			}
		}
		if !s.server.inputQueue.Empty() {
			t.Error("a client waits for nothing")
		}
	})
}

// While clients flood the server, some by TLS, another one of the same computer is served
// at once, and little of their input is kept.
func TestFloodersWait(t *testing.T) {
	const flooders = 12
	rounds := acceptance.Rounds(50, 200)
	var logs *observer.ObservedLogs
	_, s, well := open(t, "sr", logged(&logs))
	looptest.Send(t, well, config('y', 'r', 1))
	flood := bytes.Repeat(slices.Concat(bytes.Repeat(codec.AppendMessage(nil, '?', '!', nil), 90), config('y', 'n', 0)), 200)
	byTLS := serveTLS(t, s, 0)
	for i := range flooders {
		dial := s.Dial
		if i%3 == 0 {
			dial = func() net.Conn { return byTLS() }
		}
		c := dial()
		request(t, c, "sr", "sr")
		go func() {
			for err := error(nil); err == nil; {
				_, err = c.Write(flood)
			}
		}()
	}
	others := func(is func(c *client) bool) bool {
		ours := s.clientOf(well)
		for c := range s.server.clients {
			if c != ours && !is(c) {
				return false
			}
		}
		return true
	}
	s.Await("the flood has begun", func(time.Duration) bool {
		return others(func(c *client) bool { return c.fair.Served() > fair.Flood })
	})
	for range rounds {
		request(t, well, "", "")
		s.Do(func(time.Duration) {
			if !others(func(c *client) bool { return len(c.input) <= 2*4096 }) { // what two reads take
				t.Error("much of a flooder's input is kept")
			}
		})
	}
	s.Do(func(time.Duration) {
		if n := s.clientOf(well).fair.Served(); n > 0 {
			t.Errorf("a client that asks for one thing at a time waited %d times", n)
		}
	})
	if n := len(logs.FilterMessage(LogFloods).All()); n == 0 || n > flooders {
		t.Errorf("%d lines name %d flooders", n, flooders)
	}
}

// A client that has disconnected is removed from the queue, and so is its address.
func TestGoneWhileItWaits(t *testing.T) {
	r, s, _ := open(t, "pw", nil)
	s.Do(func(now time.Duration) {
		c := s.theClient()
		c.Receive(now, bytes.Repeat(command(1), fair.SliceBytes))
		c.conn.Close()
		c.Hangup(now, nil)
		if !s.server.inputQueue.Empty() || len(s.server.addresses) != 0 {
			t.Errorf("the queue is empty: %v; %d addresses are known", s.server.inputQueue.Empty(), len(s.server.addresses))
		}
	})
	if n := len(r.commands); n != 0 { // nor a stop: it has not commanded yet
		t.Errorf("%d commands", n)
	}
}

// Input that waits is carried out in order and before the end of the connection.
func TestInputBeforeTheEnd(t *testing.T) {
	r, _, c := open(t, "pw", nil)
	looptest.Send(t, c, configs(3000))
	c.Close()
	r.expectConfigs(t, 3000)
	looptest.Receive(t, r.stops, "end")
}

// Commands that wait when the connection ends move nothing any more, though they are
// carried out later: the stop is the last one (5.4).
func TestCommandsBehindTheEnd(t *testing.T) {
	r, s, c := open(t, "pw", nil)
	r.drive(t, c, 1)
	s.Do(func(time.Duration) {
		one := s.theClient()
		looptest.Send(t, c, bytes.Repeat(command(2), 3000))
		c.Close()
		for info, err := one.conn.TCPInfo(); ; info, err = one.conn.TCPInfo() {
			looptest.Must(t, err)
			if info.State != tcpEstablished {
				break
			}
		}
		time.Sleep(5 * time.Millisecond) // a pause: within a millisecond the loop does not check twice
	})
	looptest.Receive(t, r.stops, "end")
	if r.expect(t, 0); len(r.commands) != 0 {
		t.Errorf("%d more commands", len(r.commands))
	}
}

// tcpEstablished is the kernel's TCP_ESTABLISHED: no FIN has come.
const tcpEstablished = 1
