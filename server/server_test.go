package server

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/e2e/acceptance"
	"player/process/descriptors"
	"player/server/looptest"
)

func TestServesFrames(t *testing.T) {
	s := serve(t, newRobot(), nil)
	c := s.Dial()
	request(t, c, "srpr", "srpr")
	for range 3 {
		for _, want := range []byte("sp") {
			if letter, _ := block(t, c); letter != want {
				t.Fatalf("block %q, want %q", letter, want)
			}
		}
	}
}

func TestMotorsStopWhenTheDriverLeaves(t *testing.T) {
	r := newRobot()
	s := serve(t, r, nil)
	c := s.Dial()
	request(t, c, "pa", "pa")
	looptest.Send(t, c, codec.AppendMessage(nil, codec.KindCommand, codec.Position, codec.PositionCommand{Speed: 200, TurnRate: -5}.Append(nil)))
	if got := looptest.Receive(t, r.commands, "command"); got != (codec.PositionCommand{Speed: 200, TurnRate: -5}) {
		t.Fatalf("command %+v", got)
	}
	c.Close()
	if got := looptest.Receive(t, r.commands, "stop command"); got != (codec.PositionCommand{}) {
		t.Fatalf("command %+v after the client left, want zero", got)
	}
	looptest.Receive(t, r.stops, "shutdown")
}

// A setup that takes time delays its own client only.
func TestSetupDelaysOnlyItsClient(t *testing.T) {
	r := newRobot()
	proceed := make(chan struct{})
	var s *running
	r.setup = func(now time.Duration, l *devices.Link) {
		go func() {
			<-proceed
			s.server.Post(func(now time.Duration) { r.ready(now) })
		}()
	}
	s = serve(t, r, nil)
	slow, other := s.Dial(), s.Dial()
	looptest.Send(t, slow, codec.AppendRequest(nil, []byte("pr")))
	looptest.Send(t, slow, codec.AppendRequest(nil, nil)) // must wait behind it
	looptest.Send(t, other, codec.AppendRequest(nil, nil))
	if letter, payload := block(t, other); letter != 'r' || len(payload) != 0 {
		t.Fatalf("other client got %q %q", letter, payload)
	}
	close(proceed)
	if _, payload := block(t, slow); string(payload) != "pr" {
		t.Fatalf("first reply %q, want pr", payload)
	}
	if letter, payload := block(t, slow); letter != 'r' || len(payload) != 0 {
		t.Fatalf("second reply %q %q, want the empty one", letter, payload)
	}
}

func TestRequestReplyAnswersEveryRequest(t *testing.T) {
	s := serve(t, newRobot(), nil)
	c := s.Dial()
	looptest.Send(t, c, config('y', 'r', 1))
	request(t, c, "sr", "sr")
	var burst []byte
	for range 10 {
		burst = append(burst, config('y', 'd')...)
	}
	looptest.Send(t, c, burst)
	for range 10 {
		if letter, _ := block(t, c); letter != 's' {
			t.Fatalf("block %q", letter)
		}
	}
	// and no more than asked for: the next thing is a reply
	looptest.Send(t, c, codec.AppendRequest(nil, nil))
	if letter, _ := block(t, c); letter != 'r' {
		t.Fatalf("block %q without being asked", letter)
	}
}

func TestAddressInUse(t *testing.T) {
	s := serve(t, newRobot(), nil)
	err := Run(t.Context(), Config{Robots: []Robot{{Address: s.Address, Table: devices.NewTable(zap.NewNop())}}, Descriptors: descriptors.New(0, false), Log: zap.NewNop()})
	if err == nil || !strings.Contains(err.Error(), "already in use") {
		t.Fatalf("second server on the same port: %v", err)
	}
}

func TestMaxClients(t *testing.T) {
	s := serve(t, newRobot(), func(c *Config) { c.MaxClients, c.MaxPerAddress = 2, 2 })
	var kept []net.Conn
	for range 2 { // the connection that the server makes to itself takes no place
		c := s.Dial()
		if !answers(c) {
			t.Fatalf("only %d clients are served", len(kept))
		}
		kept = append(kept, c)
	}
	if answers(s.Dial()) {
		t.Fatal("a third client is served")
	}
	kept[0].Close()
	for deadline := time.Now().Add(looptest.Patience); !answers(s.Dial()); {
		if time.Now().After(deadline) {
			t.Fatal("no new client is served when one has left")
		}
	}
}

func TestStopsInOrder(t *testing.T) {
	r := newRobot()
	s := serve(t, r, nil)
	c := s.Dial()
	request(t, c, "pa", "pa")
	drive := codec.PositionCommand{Speed: 300}
	looptest.Send(t, c, codec.AppendMessage(nil, codec.KindCommand, codec.Position, drive.Append(nil)))
	if got := looptest.Receive(t, r.commands, "command"); got != drive {
		t.Fatalf("command %+v", got)
	}
	s.Stop()
	if got := looptest.Receive(t, r.commands, "stop command"); got != (codec.PositionCommand{}) {
		t.Fatalf("command %+v at shutdown, want zero", got)
	}
	looptest.Receive(t, r.stops, "shutdown")
	for {
		if _, err := c.Read(make([]byte, 100)); err != nil {
			return // the client is closed
		}
	}
}

// A driver that needs time to stop gets it when its only client has left, and
// nothing else happens on the loop.
func TestTimersRunAfterTheLastClient(t *testing.T) {
	d := &slowStop{robot: *newRobot()}
	s := serve(t, d, nil)
	c := s.Dial()
	request(t, c, "pr", "pr")
	c.Close()
	looptest.Receive(t, d.stops, "shutdown")
	looptest.Receive(t, d.stops, "tick after shutdown")
}

type slowStop struct{ robot }

func (d *slowStop) Shutdown(now time.Duration) {
	d.stops <- struct{}{}
	d.link.WakeAt(now + 20*time.Millisecond)
}

func (d *slowStop) Tick(now time.Duration) time.Duration {
	d.stops <- struct{}{}
	d.link.Stopped(now)
	return 0
}

// A driver that never reports that it has stopped does not hold up the end.
func TestEndsWithoutTheDriver(t *testing.T) {
	d := &neverStops{robot: *newRobot()}
	s := serve(t, d, nil)
	request(t, s.Dial(), "pr", "pr")
	s.Stop()
	looptest.Receive(t, d.stops, "shutdown")
}

type neverStops struct{ robot }

func (d *neverStops) Shutdown(time.Duration) { d.stops <- struct{}{} }

// Start calls a function at once, and then at the deadlines that it returns.
func TestStart(t *testing.T) {
	s := serve(t, newRobot(), nil)
	calls := make(chan time.Duration, 10)
	var begin time.Duration
	s.Do(func(now time.Duration) {
		begin = now
		left := 3
		s.server.Start(func(now time.Duration) time.Duration {
			calls <- now
			if left--; left == 0 {
				return 0
			}
			return now + 10*time.Millisecond
		})
	})
	for n := range time.Duration(3) {
		if at := looptest.Receive(t, calls, "call") - begin; at < n*10*time.Millisecond {
			t.Errorf("call %d comes after %v", n, at)
		}
	}
	s.Do(func(time.Duration) {
		if len(calls) > 0 {
			t.Error("it is called after it returned zero")
		}
	})
}

func TestManyConnectsAndDisconnects(t *testing.T) {
	n := 1000
	if acceptance.Wanted() {
		n = 10000
	}
	s := serve(t, newRobot(), nil)
	for i := range n {
		c, err := net.Dial("tcp", s.Address)
		if err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			_, _ = fmt.Fprint(c, "dr\x00\x02pr")
		}
		if i%2 == 0 { // RST instead of FIN
			_ = c.(*net.TCPConn).SetLinger(0)
		}
		c.Close()
	}
	c := s.Dial()
	request(t, c, "sr", "sr")
	count := make(chan int)
	for deadline := time.Now().Add(looptest.Patience); ; {
		s.server.Post(func(time.Duration) { count <- len(s.server.clients) })
		if <-count == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("clients are left over")
		}
	}
}
