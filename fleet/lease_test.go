package main

import (
	"syscall"
	"testing"

	"player/e2e/waiting"
)

func TestLease(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	_, conn := startFleet(t, []robot{a})
	refused := func(what, subject, token, body, holder string) {
		t.Helper()
		r := request(t, conn, subject, token, []byte(body))
		if r.Error == "" || r.OK || r.Token != "" || r.Holder != holder {
			t.Errorf("%s: %+v, want an error and the holder %q", what, r, holder)
		}
	}
	refused("a command without a lease", command, "", string(speed(100)), "")
	refused("a command with a token of nothing", command, "1-AAAAAAAAAAAAAAAAAAAAAAAAAA", string(speed(100)), "")
	refused("release without a token", lease, "", "release", "")
	refused("a holder with a bad name", lease, "", "\n", "")

	first := request(t, conn, lease, "", []byte("alice"))
	if first.Token == "" || first.TTL != 1000 || first.Holder != "alice" {
		t.Fatalf("the lease: %+v", first)
	}
	stop := keep(t, conn, lease, first.Token)
	refused("a second holder", lease, "", "bob", "alice")
	refused("a command without a token", command, "", string(speed(100)), "alice")
	refused("a command with a token made up", command, "1-AAAAAAAAAAAAAAAAAAAAAAAAAA", string(speed(100)), "alice")
	refused("a renewal with a token made up", lease, "1-AAAAAAAAAAAAAAAAAAAAAAAAAA", "", "alice")
	refused("a release with a token made up", lease, "1-AAAAAAAAAAAAAAAAAAAAAAAAAA", "release", "alice")
	refused("a command of wrong size", command, first.Token, "abc", "alice")
	if r := request(t, conn, command, first.Token, speed(100)); !r.OK {
		t.Errorf("the holder's command: %+v", r)
	}
	if r := request(t, conn, lease, first.Token, nil); r.Token != first.Token || r.Holder != "alice" {
		t.Errorf("a renewal: %+v", r)
	}
	// Another device has its own lease.
	if r := request(t, conn, "player.lab.a.ptz.0.lease", "", []byte("bob")); r.Token == "" {
		t.Errorf("the lease of the camera: %+v", r)
	}
	stop()
	if r := request(t, conn, lease, first.Token, []byte("release")); !r.OK {
		t.Fatalf("the release: %+v", r)
	}
	second := request(t, conn, lease, "", nil)
	if second.Token == "" || second.Token == first.Token {
		t.Fatalf("the next lease: %+v", second)
	}
	defer keep(t, conn, lease, second.Token)()
	refused("a command with an earlier token", command, first.Token, string(speed(100)), second.Holder)
	if clients := a.report(t).Clients; len(clients) == 0 {
		t.Error("a lease is held, and the robot has no client")
	}
}

func TestSignalStopsTheRobots(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	natsServer := startEmbedded(t)
	p, conn := startFleet(t, []robot{a}, "-nats", natsServer.ClientURL())
	measured := a.watch(t)
	token := acquire(t, conn, "alice")
	defer drive(t, conn, token)()
	waiting.Until(t, "movement", func() bool { return measured() > 0 })
	if code := p.End(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	waiting.Until(t, "stop of the robot", func() bool { return measured() == 0 })

	// The lease was given up, so the next bridge gives it to the next one.
	startFleet(t, []robot{a}, "-nats", natsServer.ClientURL())
	r := request(t, conn, lease, "", []byte("bob"))
	if r.Holder != "bob" {
		t.Errorf("after the end of the bridge, bob is answered %+v", r)
	}
	if r := request(t, conn, command, token, speed(100)); r.OK {
		t.Error("a token of before the end of the bridge is good")
	}
}

// Without NATS there are no commands, so the robot stops.
func TestNATSEnds(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	natsServer := startEmbedded(t)
	p, conn := startFleet(t, []robot{a}, "-nats", natsServer.ClientURL())
	measured := a.watch(t)
	defer drive(t, conn, acquire(t, conn, "alice"))()
	waiting.Until(t, "movement", func() bool { return measured() > 0 })
	natsServer.Shutdown()
	waiting.Until(t, "stop of the robot", func() bool { return measured() == 0 })
	if code := p.End(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}
