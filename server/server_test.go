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
	"player/e2e/needs"
	"player/process/descriptors"
	"player/server/looptest"
)

// A setup that takes time delays its own client only.
func TestSetupDelaysOnlyItsClient(t *testing.T) {
	r := newRobot()
	r.setup = func(time.Duration, *devices.Link) {}
	s := serve(t, r, nil)
	slow, other := s.Dial(), s.Dial()
	looptest.Send(t, slow, codec.AppendRequest(nil, []byte("pr")))
	request(t, other, "", "")
	s.Do(r.ready)
	if _, payload := block(t, slow); string(payload) != "pr" {
		t.Fatalf("reply %q, want pr", payload)
	}
}

// A setup ends in a timer, and a frame is due in the same run of the timers: the reply comes first, because the client
// does not know the devices of the frame before it.
func TestReplyComesBeforeAFrame(t *testing.T) {
	r := newRobot()
	r.setup = func(time.Duration, *devices.Link) {}
	s := serve(t, r, nil)
	c := s.Dial()
	looptest.Send(t, c, codec.AppendRequest(nil, []byte("pr")))
	s.Await("setup", func(time.Duration) bool { return r.link != nil })
	s.Do(func(now time.Duration) {
		r.ready(now)
		for c := range s.server.clients {
			s.server.sendFrame(now, c)
		}
	})
	if letter, payload := block(t, c); letter != codec.KindReply {
		t.Fatalf("block %q with %d bytes in front of the reply", letter, len(payload))
	}
}

func TestAddressInUse(t *testing.T) {
	s := serve(t, newRobot(), nil)
	err := Run(t.Context(), Config{Robots: []Robot{{Address: s.Address, Table: devices.NewTable(zap.NewNop())}}, Descriptors: descriptors.New(0, false), Log: zap.NewNop()})
	if err == nil || !strings.Contains(err.Error(), "already in use") {
		t.Fatalf("second server on the same port: %v", err)
	}
}

func TestStopsInOrder(t *testing.T) {
	r, s, c := open(t, "pa", nil)
	r.drive(t, c, 300)
	s.Stop()
	r.expect(t, 0)
	looptest.Receive(t, r.stops, "shutdown")
	_ = looptest.End(t, c)
}

// A driver that needs time to stop gets it when its only client has disconnected and nothing else happens on
// the loop.
func TestTimersRunAfterTheLastClient(t *testing.T) {
	r := newRobot()
	r.shutdown = func(now time.Duration) { r.link.WakeAt(now + 20*time.Millisecond) }
	c := serve(t, r, nil).Dial()
	request(t, c, "pr", "pr")
	c.Close()
	looptest.Receive(t, r.stops, "shutdown")
	looptest.Receive(t, r.stops, "tick after shutdown")
}

// A driver that never reports that it has stopped does not delay the end.
func TestEndsWithoutTheDriver(t *testing.T) {
	needs.Time(t)
	r := newRobot()
	r.shutdown = func(time.Duration) {}
	s := serve(t, r, nil)
	request(t, s.Dial(), "pr", "pr")
	s.Stop()
	looptest.Receive(t, r.stops, "shutdown")
}

// Start calls a function at once, and then at the deadlines that it returns.
func TestStart(t *testing.T) {
	s := serve(t, newRobot(), nil)
	calls := make(chan time.Duration, 10)
	s.Do(func(begin time.Duration) {
		s.server.Start(func(now time.Duration) time.Duration {
			calls <- now - begin
			if len(calls) == 3 {
				return 0
			}
			return now + 10*time.Millisecond
		})
	})
	s.Await("all calls", func(time.Duration) bool { return len(calls) == 3 })
	for n := range time.Duration(3) {
		if after := <-calls; after < n*10*time.Millisecond {
			t.Errorf("call %d comes after %v", n, after)
		}
	}
	time.Sleep(20 * time.Millisecond)
	if len(calls) > 0 {
		t.Error("it is called after it returned zero")
	}
}

func TestManyConnectsAndDisconnects(t *testing.T) {
	n := 1000
	if acceptance.Wanted() {
		n = 10000
	}
	s := serve(t, newRobot(), nil)
	for i := range n {
		c, err := net.Dial("tcp", s.Address)
		looptest.Must(t, err)
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
	s.Await("the others are forgotten", func(time.Duration) bool { return len(s.server.clients) == 1 })
}
