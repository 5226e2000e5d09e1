package server

import (
	"bytes"
	"net"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap/zaptest/observer"

	"player/codec"
	"player/server/fair"
	"player/server/looptest"
)

// serverSide returns the server's side of a connection.
func serverSide(t *testing.T, s *running, c net.Conn) (found *client) {
	t.Helper()
	s.Do(func(time.Duration) {
		for one := range s.server.clients {
			if one.remote.String() == c.LocalAddr().String() {
				found = one
			}
		}
	})
	if found == nil {
		t.Fatal("the client is not connected")
	}
	return found
}

// Clients that send much take turns: one address after the other, and the clients
// of an address one after the other. Counted on the loop.
func TestTurns(t *testing.T) {
	const slices, messages = 3, fair.SliceBytes / 8 // 8 bytes a message
	r := newRobot()
	s := serve(t, r, nil)
	var clients []*client
	for _, from := range []string{"127.0.0.2", "127.0.0.2", "127.0.0.3"} {
		c := s.DialFrom(from)
		request(t, c, "pw", "pw")
		clients = append(clients, serverSide(t, s, c))
	}
	executed := func() (n [3]int) {
		for len(r.configs) > 0 {
			n[(<-r.configs)[1]]++
		}
		return n
	}
	s.Do(func(now time.Duration) {
		for i, c := range clients {
			one := codec.AppendMessage(nil, codec.KindConfig, codec.Position, []byte{byte(i), 0, 0, 0})
			c.Receive(now, bytes.Repeat(one, slices*messages))
		}
		if got := executed(); got != [3]int{} {
			t.Errorf("%v messages were carried out at once, want none", got)
		}
		for round, want := range [][3]int{
			{messages, 0, 0}, {0, 0, messages}, {0, messages, 0}, {0, 0, messages}, {messages, 0, 0}, {0, 0, messages},
			{0, messages, 0}, {messages, 0, 0}, {0, messages, 0},
		} {
			s.server.serveNext(now)
			if got := executed(); got != want {
				t.Errorf("turn %d: %v messages, want %v", round, got, want)
			}
		}
		if !s.server.queue.Empty() {
			t.Error("somebody waits for nothing")
		}
	})
}

// While clients flood the server, another one of the same computer is served
// without turns, and little of their input is kept.
func TestFloodersTakeTurns(t *testing.T) {
	const flooders, rounds = 12, 200
	var logs *observer.ObservedLogs
	s := serve(t, newRobot(), logged(&logs))
	well := s.Dial()
	request(t, well, "sr", "sr")
	looptest.Send(t, well, config('y', 'r', 1))
	flood := bytes.Repeat(slices.Concat(bytes.Repeat(codec.AppendMessage(nil, '?', '!', nil), 90), config('y', 'n', 0)), 200)
	var theirs []*client
	for range flooders {
		c := s.Dial()
		request(t, c, "sr", "sr")
		theirs = append(theirs, serverSide(t, s, c))
		go func() {
			for {
				if _, err := c.Write(flood); err != nil {
					return
				}
			}
		}()
	}
	for _, c := range theirs {
		s.Await("the flood has begun", func(time.Duration) bool { return c.fair.Served() > fair.Flood })
	}
	ours := serverSide(t, s, well)
	for range rounds {
		looptest.Send(t, well, codec.AppendRequest(nil, nil))
		for letter := byte(0); letter != codec.KindReply; {
			letter, _ = block(t, well)
		}
		s.Do(func(time.Duration) {
			for _, c := range theirs {
				if len(c.input) > 2*4096 { // what two reads take
					t.Errorf("%d bytes of a flooder are kept", len(c.input))
				}
			}
		})
	}
	s.Do(func(time.Duration) {
		if ours.fair.Served() > 0 {
			t.Errorf("a client that asks for one thing at a time waited %d times", ours.fair.Served())
		}
	})
	if n := len(logs.FilterMessageSnippet("more than its share").All()); n == 0 || n > flooders {
		t.Errorf("%d lines name %d flooders", n, flooders)
	}
}

// A client that is gone takes no turn, and its address is forgotten.
func TestGoneWhileItWaits(t *testing.T) {
	r := newRobot()
	s := serve(t, r, nil)
	c := s.Dial()
	request(t, c, "pw", "pw")
	one := serverSide(t, s, c)
	s.Do(func(now time.Duration) {
		one.Receive(now, bytes.Repeat(command(1), fair.SliceBytes))
		one.conn.Close()
		one.Hangup(now, nil)
		if !s.server.queue.Empty() || len(s.server.addresses) != 0 {
			t.Errorf("somebody waits: %v; %d addresses are known", !s.server.queue.Empty(), len(s.server.addresses))
		}
	})
	if n := len(r.commands); n != 0 { // nor a stop: it has not commanded yet
		t.Errorf("%d commands", n)
	}
}

// What waits is carried out in order and before the end of the connection.
func TestInputBeforeTheEnd(t *testing.T) {
	const messages = 3000
	r := newRobot()
	s := serve(t, r, nil)
	c := s.Dial()
	request(t, c, "pw", "pw")
	var all []byte
	for i := range messages {
		all = codec.AppendMessage(all, codec.KindConfig, codec.Position, []byte{byte(i >> 8), byte(i)})
	}
	looptest.Send(t, c, all)
	c.Close()
	for i := range messages {
		if got, want := looptest.Receive(t, r.configs, "configuration"), string([]byte{'p', byte(i >> 8), byte(i)}); got != want {
			t.Fatalf("configuration %d is %q", i, got)
		}
	}
	looptest.Receive(t, r.stops, "end")
}

// Commands that wait when the connection ends move nothing any more, though they are
// carried out in turns: the stop is the last one (5.4).
func TestCommandsBehindTheEnd(t *testing.T) {
	const commands = 3000
	r := newRobot()
	s := serve(t, r, nil)
	c := s.Dial()
	request(t, c, "pw", "pw")
	looptest.Send(t, c, command(1))
	looptest.Receive(t, r.commands, "command")
	one := serverSide(t, s, c)
	s.Do(func(time.Duration) {
		looptest.Send(t, c, bytes.Repeat(command(2), commands))
		c.Close()
		for info, err := one.conn.TCPInfo(); ; info, err = one.conn.TCPInfo() {
			if err != nil {
				t.Fatal(err)
			}
			if info.State != tcpEstablished {
				break
			}
		}
		time.Sleep(5 * time.Millisecond) // a pause: within a millisecond the loop does not look twice
	})
	looptest.Receive(t, r.stops, "end")
	if got := looptest.Receive(t, r.commands, "stop"); got.Speed != 0 || len(r.commands) != 0 {
		t.Errorf("speed %d after the client has left, and %d more commands", got.Speed, len(r.commands))
	}
}

// tcpEstablished is the kernel's TCP_ESTABLISHED: no FIN has come.
const tcpEstablished = 1
