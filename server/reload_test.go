package server

import (
	"net"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/config/rights"
	"player/devices"
	"player/e2e/needs"
	"player/server/looptest"
)

// newCamera returns a driver of a camera's head. If it is slow, it stops when the test says so.
func newCamera(slow bool) (*robot, devices.Instance) {
	c := newRobot()
	c.setup = func(now time.Duration, l *devices.Link) { l.Ready(now) }
	if slow {
		c.shutdown = func(time.Duration) {}
	}
	return c, devices.Instance{Driver: c, Name: "camera", Provides: []devices.Spec{devices.PTZ()}}
}

// newHead returns the link of another camera.
func newHead(t *testing.T) *devices.Link {
	t.Helper()
	_, head := newCamera(false)
	_, links := attach(t, head)
	return links[0]
}

// serveBoth serves a robot with wheels and a camera, and returns its table.
func serveBoth(t *testing.T, wheels *robot, head devices.Instance) (*running, *devices.Table) {
	t.Helper()
	var table *devices.Table
	s := serve(t, wheels, func(c *Config) {
		table = c.Robots[0].Table
		_, err := table.Attach(head)
		looptest.Must(t, err)
	})
	return s, table
}

// change reloads the server and waits until it is done.
func (s *running) change(access rights.Rules, robots ...Robot) (refused []int) {
	s.T.Helper()
	return looptest.Receive(s.T, s.reload(access, robots...), "end of the reload")
}

// reload begins to reload the server.
func (s *running) reload(access rights.Rules, robots ...Robot) (refused <-chan []int) {
	s.T.Helper()
	done := make(chan []int, 1)
	s.Do(func(now time.Duration) {
		s.server.Reload(now, robots, access, func(_ time.Duration, refused []int) { done <- refused })
	})
	return done
}

// only returns the server's only robot.
func (s *running) only() (r Robot) {
	s.T.Helper()
	s.Do(func(time.Duration) { r = s.server.robots[0].Robot })
	r.Address, r.Links = s.Address, r.Table.Links()
	return r
}

// attach returns a link of a driver on a table of its own.
func attach(t *testing.T, instances ...devices.Instance) (*devices.Table, []*devices.Link) {
	t.Helper()
	table := devices.NewTable(zap.NewNop())
	for _, i := range instances {
		_, err := table.Attach(i)
		looptest.Must(t, err)
	}
	return table, table.Links()
}

// closed waits for the orderly end of a connection.
func closed(t *testing.T, c net.Conn) {
	t.Helper()
	if err := looptest.End(t, c); err != nil {
		t.Fatalf("the connection is not closed: %v", err)
	}
}

// A driver is replaced. Clients of the other driver stay, clients of the old one are disconnected, and
// clients that connect afterwards get the devices of the new one.
func TestReloadReplacesADriver(t *testing.T) {
	wheels := newRobot()
	old, head := newCamera(false)
	s, table := serveBoth(t, wheels, head)
	stays, goes, closes := s.Dial(), s.Dial(), s.Dial()
	request(t, stays, "pasr", "pasr")
	request(t, goes, "srza", "srza")
	request(t, closes, "zasr", "zasr")
	request(t, closes, "zc", "zc") // it has closed the device

	s.change(nil, Robot{Table: table, Links: []*devices.Link{table.Links()[0], newHead(t)}})
	looptest.Receive(t, old.stops, "stop of the old driver")
	closed(t, goes)
	request(t, closes, "za", "za")
	request(t, s.Dial(), "zasr", "zasr")
	for range 3 { // its frames go on
		if letter, _ := block(t, stays); letter != 'p' && letter != 's' {
			t.Fatalf("block %q", letter)
		}
	}
	wheels.drive(t, stays, 100)
	if len(wheels.stops) > 0 {
		t.Error("the driver that stays was stopped")
	}
}

// The motors of a removed driver are stopped, and then the driver. A client that connects meanwhile waits,
// and gets the new driver.
func TestReloadStopsFirst(t *testing.T) {
	wheels := newRobot()
	old, head := newCamera(true)
	s, table := serveBoth(t, wheels, head)
	driver := s.Dial()
	request(t, driver, "paza", "paza")
	wheels.drive(t, driver, 100)

	next := newRobot()
	_, links := attach(t, instance(next))
	done := s.reload(nil, Robot{Table: table, Links: []*devices.Link{links[0], newHead(t)}})
	closed(t, driver)
	wheels.expect(t, 0)
	looptest.Receive(t, wheels.stops, "stop of the wheels' driver")
	looptest.Receive(t, old.stops, "stop of the camera's driver")
	waits := s.Dial()
	looptest.Send(t, waits, codec.AppendRequest(nil, []byte("paza")))
	s.Do(func(time.Duration) {
		if len(done) > 0 {
			t.Error("the reload is done before the old driver is off")
		}
		if len(s.server.clients) != 0 {
			t.Error("a client is served during the reload")
		}
	})
	s.Do(func(now time.Duration) { old.link.Stopped(now) })
	looptest.Receive(t, done, "end of the reload")
	if letter, payload := block(t, waits); letter != codec.KindReply || string(payload) != "paza" {
		t.Errorf("the client that waited gets %q %q", letter, payload)
	}
	next.drive(t, waits, 50)
}

// Robots come and go. A port that is taken is reported, and the others are served.
func TestReloadRobots(t *testing.T) {
	_, s, stays := open(t, "sr", nil)

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	looptest.Must(t, err)
	defer taken.Close()
	second, secondLinks := attach(t, instance(newRobot()))
	third, thirdLinks := attach(t, instance(newRobot()))
	secondAddress := looptest.FreeAddress(t)
	robots := []Robot{
		s.only(),
		{Table: third, Links: thirdLinks, Address: taken.Addr().String(), Port: 7},
		{Table: second, Links: secondLinks, Address: secondAddress, Port: 8},
	}
	if refused := s.change(nil, robots...); len(refused) != 1 || refused[0] != 7 {
		t.Errorf("refused %v", refused)
	}
	other := looptest.Dial(t, net.Dialer{}, secondAddress)
	request(t, other, "sr", "sr")
	s.Do(func(now time.Duration) {
		if n := len(s.server.Status(now).Robots); n != 2 {
			t.Errorf("%d robots in the status", n)
		}
	})
	taken.Close()
	if refused := s.change(nil, robots...); refused != nil {
		t.Errorf("refused %v", refused)
	}
	request(t, looptest.Dial(t, net.Dialer{}, taken.Addr().String()), "sr", "sr")

	s.change(nil, robots[2]) // the others go
	closed(t, stays)
	if c, err := net.Dial("tcp", s.Address); err == nil {
		c.Close()
		t.Error("the port of a robot that is gone is listened on")
	}
	request(t, other, "pa", "pa")
}

// A client with fewer rights than before is disconnected; a client with more can use them.
func TestReloadAccess(t *testing.T) {
	here := netip.MustParsePrefix("127.0.0.1/32")
	s := serve(t, newRobot(), func(c *Config) { c.Access = rights.Rules{{Allow: rights.Read, From: []netip.Prefix{here}}} })
	robot := s.only()
	c := s.Dial()
	request(t, c, "pa", "pe")
	s.change(nil, robot)
	request(t, c, "pa", "pa")
	s.change(rights.Rules{{Allow: rights.Read | rights.Write, From: []netip.Prefix{here}}}, robot)
	closed(t, c)
	c = s.Dial()
	request(t, c, "pa", "pa")
	s.change(rights.Rules{{Allow: rights.Read | rights.Write, From: []netip.Prefix{here, netip.MustParsePrefix("10.0.0.0/8")}}}, robot)
	request(t, c, "sr", "sr")
}

// The server ends during a reload, with all drivers off.
func TestEndDuringReload(t *testing.T) {
	needs.Time(t)
	old, head := newCamera(true)
	s, table := serveBoth(t, newRobot(), head)
	request(t, s.Dial(), "za", "za")
	done := s.reload(nil, Robot{Table: table, Links: table.Links()[:1]})
	looptest.Receive(t, old.stops, "stop of the driver")
	s.Stop()
	if len(done) > 0 {
		t.Error("the reload is done")
	}
	s.server.Post(func(now time.Duration) { s.server.Reload(now, nil, nil, nil) })
}

// A hundred reloads leave nothing behind.
func TestReloadLeavesNothing(t *testing.T) {
	_, s, c := open(t, "sr", nil)
	first := s.only()
	wheels, other := first.Links[0], looptest.FreeAddress(t)
	port := int(netip.MustParseAddrPort(other).Port())
	for range 100 {
		second, secondLinks := attach(t, instance(newRobot()))
		first.Links = []*devices.Link{wheels, newHead(t)}
		s.change(nil, first, Robot{Table: second, Links: secondLinks, Address: other, Port: port})
		request(t, s.Dial(), "za", "za")
	}
	first.Links = []*devices.Link{wheels}
	s.change(nil, first)
	s.Do(func(time.Duration) {
		if n := reflect.ValueOf(s.server.host).Elem().FieldByName("wakes").Len(); n > 1 {
			t.Errorf("%d links have timers", n)
		}
		if n := len(s.server.robots); n != 1 {
			t.Errorf("%d robots", n)
		}
	})
	request(t, c, "pr", "pr")
}
