package main

import (
	"encoding/json"
	"testing"
)

func TestConfigurations(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	_, conn := startFleet(t, []robot{a})
	for _, c := range []struct {
		iface, payload string
		ok             bool
	}{
		{"position", "R", true},
		{"position", "m\x01", true},
		{"sonar", "m\x01", true}, // of the same microcontroller (PROTOCOL 6.4)
		{"server", "e\x01", true},
		{"server", "f\x00\x01", false},
		{"joystick", "R", false}, // the robot has none
		{"lazer", "R", false},
	} {
		r := request(t, conn, "player.lab.a."+c.iface+".0.config", "", []byte(c.payload))
		if r.OK != c.ok || (r.Error == "") != c.ok {
			t.Errorf("%s %q: %+v", c.iface, c.payload, r)
		}
	}
	if !a.report(t).Stopped {
		t.Error("the emergency stop did not reach the robot")
	}
	request(t, conn, "player.lab.a.server.0.config", "", []byte("e\x00"))
	if a.report(t).Stopped {
		t.Error("the release of the emergency stop did not reach the robot")
	}

	// The odometry of a robot that has driven.
	moved := subscribe(t, conn, "player.lab.a.position.0.json")
	x := func() int {
		var m struct{ Data struct{ X int } }
		if err := json.Unmarshal(next(t, moved).Data, &m); err != nil {
			t.Fatal(err)
		}
		return m.Data.X
	}
	token := acquire(t, conn, "alice")
	wait(t, "movement", func() bool {
		if r := request(t, conn, command, token, speed(200)); !r.OK {
			token = acquire(t, conn, "alice")
		}
		return x() > 50
	})
	request(t, conn, lease, token, []byte("release"))
	request(t, conn, "player.lab.a.position.0.config", "", []byte("R"))
	wait(t, "reset of the odometry", func() bool { return x() < 50 })
}
