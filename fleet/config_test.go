package main

import (
	"encoding/json"
	"net"
	"testing"

	"player/codec"
	"player/e2e/must"
	"player/e2e/waiting"
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
		{"sonar", "m\x01", true},   // of the same microcontroller (PROTOCOL 6.4)
		{"server", "e\x01", false}, // whoever may configure may not stop and release
		{"joystick", "R", false},   // the robot has none
		{"lazer", "R", false},
	} {
		r := request(t, conn, "player.lab.a."+c.iface+".0.config", "", []byte(c.payload))
		if r.OK != c.ok || (r.Error == "") != c.ok {
			t.Errorf("%s %q: %+v", c.iface, c.payload, r)
		}
	}
	if a.report(t).Stopped {
		t.Error("a configuration stops the robot")
	}

	// The odometry of a robot that has driven.
	moved := subscribe(t, conn, "player.lab.a.position.0.json")
	x := func() int {
		var m struct{ Data struct{ X int } }
		must.Do(t, json.Unmarshal(next(t, moved).Data, &m))
		return m.Data.X
	}
	token := acquire(t, conn, "alice")
	waiting.Until(t, "movement", func() bool {
		if r := request(t, conn, command, token, speed(200)); !r.OK {
			token = acquire(t, conn, "alice")
		}
		return x() > 50
	})
	request(t, conn, lease, token, []byte("release"))
	request(t, conn, "player.lab.a.position.0.config", "", []byte("R"))
	waiting.Until(t, "reset of the odometry", func() bool { return x() < 50 })
}

// An emergency stop waits for no configuration: hardware that another one opens may need
// half a minute.
func TestStopPassesConfigurations(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	opening, stopped := make(chan struct{}, 10), make(chan struct{}, 10)
	go func() { // a robot whose hardware never answers
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				var d codec.Decoder
				for in := make([]byte, 1000); ; {
					n, err := conn.Read(in)
					if err != nil {
						return
					}
					for rest := in[:n]; ; {
						m, more, ok := d.Next(rest)
						if !ok {
							break
						}
						rest = more
						switch {
						case m.Kind == codec.KindRequest && len(m.Payload) > 0:
							opening <- struct{}{}
						case m.Kind == codec.KindRequest:
							_, _ = conn.Write(codec.AppendBlock(nil, codec.KindReply, nil)) // the bridge may have left
						case m.Kind == codec.KindConfig && m.Payload[0] == codec.ConfigStop:
							stopped <- struct{}{}
						}
					}
				}
			}()
		}
	}()
	a := newRobot(t, "a")
	a.address = l.Addr().String()
	_, conn := startFleet(t, []robot{a})
	stop := func() { request(t, conn, "player.lab.a.stop", "", nil) }
	stop() // the bridge serves the robot
	<-stopped
	for range 3 {
		must.Do(t, conn.Publish("player.lab.a.laser.0.config", []byte("r\x01")))
	}
	<-opening
	stop()
	<-stopped
	if n := len(opening); n > 0 {
		t.Errorf("the stop has waited for %d configurations", n)
	}
}
