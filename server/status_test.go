package server

import (
	"errors"
	"net"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/server/looptest"
	"player/server/status"
)

// statusOf returns the status of the only robot, and of the loop, some time from
// now.
func statusOf(t *testing.T, s *running, later time.Duration) (r status.Robot, l status.Loop) {
	t.Helper()
	s.Do(func(now time.Duration) {
		all := s.server.Status(now + later)
		if len(all.Robots) != 1 {
			t.Errorf("%d robots", len(all.Robots))
			return
		}
		r, l = all.Robots[0], all.Loop
	})
	return r, l
}

func addressAt(c net.Conn) netip.AddrPort { return addressOf(c.LocalAddr()) }

// The status of a robot without clients, of its devices, and the counts of clients that have disconnected.
func TestStatus(t *testing.T) {
	driver := newRobot()
	s := serve(t, driver, func(c *Config) {
		c.Robots[0].Name, c.Robots[0].Port, c.Robots[0].KeepControl = "rover", 6665, true
		c.MaxClients = 7
	})
	r, l := statusOf(t, s, 0)
	if r.Name != "rover" || r.Port != 6665 || r.Control != "first" || r.Commander != nil || r.Stopped || len(r.Clients) != 0 || r.Totals != (status.Counts{}) {
		t.Errorf("without clients: %+v", r)
	}
	if r.Clients == nil {
		t.Error("the JSON of no clients is null, not []")
	}
	if l.Clients != 0 || l.MaxClients != 7 {
		t.Errorf("without clients: %+v", l)
	}
	idle := status.Device{Driver: "robot", State: status.Idle}
	if len(r.Devices) != 2 || !reflect.DeepEqual(r.Devices["position"], idle) || !reflect.DeepEqual(r.Devices["sonar"], idle) {
		t.Errorf("devices that no client has open: %+v", r.Devices)
	}

	pilot, viewer := s.Dial(), s.Dial()
	looptest.Send(t, pilot, config(codec.Server, append([]byte{codec.ConfigName}, "pilot"...)...))
	looptest.Send(t, pilot, config(codec.Server, codec.ConfigFrequency, 0, 20))
	request(t, pilot, "pa", "pa")
	driver.drive(t, pilot, 100)
	request(t, viewer, "yrsrpw", "yrsrpw")
	looptest.Send(t, viewer, command(300)) // refused: the pilot keeps control
	request(t, viewer, "pc", "pc")

	r, l = statusOf(t, s, 0)
	if l.Clients != 2 || len(r.Clients) != 2 || r.Commander == nil || *r.Commander != addressAt(pilot) {
		t.Fatalf("two clients: %+v, %+v", r, l)
	}
	if d := r.Devices["position"]; d.State != status.Ready || !d.Open || d.Age == nil || d.Setups != 1 || d.Error != "" {
		t.Errorf("position is open: %+v", d)
	}
	byAddress := map[netip.AddrPort]status.Client{}
	for _, c := range r.Clients {
		byAddress[c.Address] = c
	}
	if c := byAddress[addressAt(pilot)]; c.Name != "pilot" || c.Devices != "pa" || c.Rate != 20 || c.Commands != 1 || c.Refused != 0 || c.Last == nil || c.Age == nil {
		t.Errorf("the pilot: %+v", c)
	}
	if c := byAddress[addressAt(viewer)]; c.Name != "" || c.Devices != "yrsr" || c.Rate != 10 || c.Commands != 0 || c.Refused != 1 || c.Last != nil || c.Age == nil {
		t.Errorf("the viewer: %+v", c)
	}
	if r, _ := statusOf(t, s, time.Minute); r.Devices["position"].State != status.Stale || *r.Devices["position"].Age < status.Millis(time.Minute) {
		t.Errorf("a minute later: %+v", r.Devices["position"])
	}

	pilot.Close()
	s.Await("the pilot has left", func(now time.Duration) bool { return len(s.server.clients) == 1 })
	if r, _ := statusOf(t, s, 0); r.Commander != nil || len(r.Clients) != 1 || r.Totals.Commands != 1 || r.Totals.Refused != 1 {
		t.Errorf("the pilot has left: %+v", r)
	}
}

// A device whose setup has failed says so until it works.
func TestStatusOfFailedSetup(t *testing.T) {
	driver := newRobot()
	driver.setup = func(now time.Duration, l *devices.Link) { l.Fail(now, errors.New("no answer")) }
	s := serve(t, driver, nil)
	request(t, s.Dial(), "pr", "pe")
	r, _ := statusOf(t, s, 0)
	if d := r.Devices["position"]; d.State != status.Failed || d.Error != "no answer" || d.Open || d.Setups != 1 || d.Errors != 1 || d.Age != nil {
		t.Errorf("%+v", d)
	}
	s.Do(func(time.Duration) { driver.setup = nil })
	request(t, s.Dial(), "pr", "pr")
	if r, _ := statusOf(t, s, 0); r.Devices["position"].State == status.Failed || r.Devices["position"].Error != "" {
		t.Errorf("it works again: %+v", r.Devices["position"])
	}
}

// The emergency stop of a visitor that is not a client.
func TestStatusOfStop(t *testing.T) {
	driver, s, c := open(t, "pa", func(c *Config) { c.Robots[0].Port = 6665 })
	stop := func(port int, on bool) (found bool) {
		s.Do(func(now time.Duration) { found = s.server.EmergencyStop(now, port, on, "test") })
		return found
	}
	if stop(6666, true) {
		t.Error("there is no robot on port 6666")
	}
	if !stop(6665, true) {
		t.Error("it was not stopped")
	}
	driver.expect(t, 0)
	looptest.Send(t, c, command(100))
	request(t, c, "", "")
	if r, _ := statusOf(t, s, 0); !r.Stopped || r.Commander != nil || r.Clients[0].Refused != 1 {
		t.Errorf("stopped: %+v", r)
	}
	if !stop(6665, false) {
		t.Error("it was not released")
	}
	driver.drive(t, c, 100)
	if r, _ := statusOf(t, s, 0); r.Stopped || *r.Commander != addressAt(c) {
		t.Errorf("released: %+v", r)
	}
}
