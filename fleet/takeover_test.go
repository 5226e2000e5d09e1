package main

import (
	"encoding/json"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"player/e2e/must"
	"player/e2e/programs"
	"player/e2e/waiting"
	"player/fleet/bridge"
)

// pair is two bridges that share one robot.
type pair struct {
	both   [2]*programs.Program
	status *nats.Subscription
	conn   *nats.Conn
	robot  robot
}

func startPair(t *testing.T) *pair {
	t.Helper()
	a := startRobot(t, "a")
	natsServer := startEmbedded(t)
	p := &pair{robot: a}
	for i := range p.both {
		p.both[i], p.conn = startFleet(t, []robot{a}, "-nats", natsServer.ClientURL(), "-http", "127.0.0.1:0")
	}
	p.status = subscribe(t, p.conn, "player.lab.a.status")
	// The first bridge may have served the robot until the second one came.
	waiting.Until(t, "robot that keeps its bridge", func() bool {
		before := p.serving(t)
		return p.serving(t) == before
	})
	return p
}

// serving returns the bridge that serves the robot, by its next status.
func (p *pair) serving(t *testing.T) *programs.Program {
	t.Helper()
	m := must.Get(p.status.NextMsg(patience))(t)
	var s struct{ Bridge string }
	must.Do(t, json.Unmarshal(m.Data, &s))
	for _, b := range p.both {
		if s.Bridge != "" && b.Printed(s.Bridge) {
			return b
		}
	}
	t.Fatalf("the bridge %q is unknown", s.Bridge)
	return nil
}

// Bridges share the robots. When one is killed, another one goes on with its leases.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	conn, measured := p.conn, p.robot.watch(t)
	token := acquire(t, conn, "alice")
	stop := drive(t, conn, token)
	defer stop()
	waiting.Until(t, "movement", func() bool { return measured() > 0 })
	killed := p.serving(t)
	killed.End(t, syscall.SIGKILL)
	waiting.Until(t, "other bridge that serves the robot", func() bool { return p.serving(t) != killed })
	// alice has commanded all the time, and goes on, unless this machine was so busy
	// that the lease ended first.
	if r := request(t, conn, command, token, speed(100)); !r.OK && r.Error != bridge.ErrNoLease.Error() {
		t.Errorf("after a bridge was killed, alice is answered %+v", r)
	} else if !r.OK {
		t.Log("the lease ended before it was taken over")
		token = acquire(t, conn, "alice")
		stop()
		stop = drive(t, conn, token)
	}
	waiting.Until(t, "movement with the other bridge", func() bool { return measured() > 0 })
	if r := request(t, conn, lease, "", []byte("bob")); r.Holder != "alice" || r.Token != "" {
		t.Errorf("while alice drives, bob is answered %+v", r)
	}
	stop()
	waiting.Until(t, "stop of the robot", func() bool { return measured() == 0 })
	acquire(t, conn, "bob")
	if r := request(t, conn, command, token, speed(100)); r.OK {
		t.Error("the earlier holder's command is obeyed")
	}
}

// A bridge that hangs keeps its connection, but its commands end. The other bridge gives
// the lease to the next holder, and the first bridge disturbs no program when it goes on.
func TestBridgeHangs(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	conn, measured := p.conn, p.robot.watch(t)
	token := acquire(t, conn, "alice")
	stop := drive(t, conn, token)
	waiting.Until(t, "movement", func() bool { return measured() > 0 })
	hung := p.serving(t)
	resume := hung.Pause(t)
	defer resume()
	stop()
	silent := time.Now()
	waiting.Until(t, "stop of the robot", func() bool { return measured() == 0 })
	t.Logf("the robot stood %v after its bridge hung and its holder was silent", time.Since(silent).Round(time.Millisecond))
	bobs := acquire(t, conn, "bob")
	defer keep(t, conn, lease, bobs)()
	// The messages that alice sent meanwhile wait in the socket of the bridge that hangs.
	for range 10 {
		m := nats.NewMsg(command)
		m.Header.Set(bridge.HeaderLease, token)
		m.Data = speed(100)
		must.Do(t, conn.PublishMsg(m))
	}
	must.Do(t, conn.Flush())
	resume()
	waiting.Until(t, "bridge that goes on", func() bool { return p.serving(t) == hung })
	if v := measured(); v != 0 {
		t.Errorf("the robot drives at %d mm/s by a command of an earlier holder", v)
	}
	for _, b := range p.both {
		served := map[bool]string{true: "1", false: "0"}[b == hung]
		awaitMetrics(t, pageURL(t, b), `player_fleet_bridges{fleet="lab"} 2`, `player_fleet_robot_served{fleet="lab",robot="a"} `+served)
	}
	hangs := regexp.MustCompile(`(?m)^player_fleet_hangs_total [1-9]`)
	if _, _, body := get(t, pageURL(t, hung)+"/metrics"); !hangs.MatchString(body) {
		t.Errorf("the bridge that hung says\n%s", body)
	}
}
