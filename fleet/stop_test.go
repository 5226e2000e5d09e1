package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/programs"
	"player/e2e/waiting"
	"player/fleet/bridge"
)

// statusOf returns the next status that fits.
func statusOf(t *testing.T, sub *nats.Subscription, what string, fits func(bridge.RobotStatus) bool) {
	t.Helper()
	for {
		m, err := sub.NextMsg(patience)
		if err != nil {
			t.Fatalf("%s: no %s: %v", sub.Subject, what, err)
		}
		s := must.Get(bridge.ReadStatus(m.Subject, m.Data))(t)
		if fits(s) {
			return
		}
	}
}

func stopIs(on bool) func(bridge.RobotStatus) bool {
	return func(s bridge.RobotStatus) bool { return s.Stopped != nil && *s.Stopped == on }
}

// A plain message stops a robot, or all, and another one releases them. The status says
// that they are stopped.
func TestStop(t *testing.T) {
	t.Parallel()
	a, b := startRobot(t, "a"), startRobot(t, "b")
	_, conn := startFleet(t, []robot{a, b})
	status := subscribe(t, conn, "player.lab.a.status")
	statusOf(t, status, "robot that is free", stopIs(false))
	check := func(stoppedA, stoppedB bool) {
		t.Helper()
		if got := [2]bool{a.report(t).Stopped, b.report(t).Stopped}; got != [2]bool{stoppedA, stoppedB} {
			t.Errorf("the robots are stopped: %v, want %v, %v", got, stoppedA, stoppedB)
		}
	}
	if r := request(t, conn, "player.lab.a.stop", "", []byte("there is smoke")); !r.OK {
		t.Errorf("a stop is answered %+v", r)
	}
	check(true, false)
	statusOf(t, status, "robot that is stopped", stopIs(true))
	if r := request(t, conn, "player.lab.a.release", "", nil); !r.OK {
		t.Errorf("a release is answered %+v", r)
	}
	check(false, false)

	all := func(verb string) {
		t.Helper()
		answers, err := conn.SubscribeSync(conn.NewInbox())
		if err == nil {
			err = conn.PublishRequest("player.lab."+verb, answers.Subject, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for range 2 {
			m := must.Get(answers.NextMsg(patience))(t)
			var r struct {
				Robot string
				OK    bool
			}
			if err := json.Unmarshal(m.Data, &r); err != nil || !r.OK {
				t.Errorf("%s is answered %s, %v", verb, m.Data, err)
			}
			names[r.Robot] = true
		}
		if fmt.Sprint(names) != "map[a:true b:true]" {
			t.Errorf("answers for %v", names)
		}
	}
	all("stop")
	check(true, true)
	all("release")
	check(false, false)
}

// The answer to a stop of a robot that cannot be reached is an error.
func TestStopOfNoRobot(t *testing.T) {
	t.Parallel()
	_, conn := startFleet(t, []robot{newRobot(t, "a")})
	waiting.Until(t, "error", func() bool {
		answer, err := conn.Request("player.lab.a.stop", nil, time.Second)
		var r reply
		return err == nil && json.Unmarshal(answer.Data, &r) == nil && !r.OK && r.Error != ""
	})
}

// A stop does not wait until another bridge takes over from one that has been killed.
func TestStopWithoutItsBridge(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	p.serving(t).End(t, syscall.SIGKILL)
	began := time.Now()
	answer, err := p.conn.Request("player.lab.stop", nil, patience)
	took := time.Since(began)
	var r reply
	if err == nil {
		err = json.Unmarshal(answer.Data, &r)
	}
	if err != nil || !r.OK || !p.robot.report(t).Stopped {
		t.Errorf("right after its bridge was killed, a robot is not stopped: %+v, %v", r, err)
	}
	t.Logf("stopped after %v", took.Round(time.Millisecond))
}

// holdRobot drives a robot until ctx ends: it asks for the lease whenever it has none. It sends no command before the
// last one is answered, so a slow machine gets fewer. drives receives a value when the robot has obeyed the first.
func holdRobot(ctx context.Context, conn *nats.Conn, device string, drives chan<- struct{}) {
	ask := func(last, token string, body []byte) (r reply) {
		m := nats.NewMsg(device + last)
		m.Data = body
		if token != "" {
			m.Header.Set(bridge.HeaderLease, token)
		}
		limited, cancel := context.WithTimeout(ctx, 3*bridge.TTL)
		defer cancel()
		if answer, err := conn.RequestMsgWithContext(limited, m); err == nil {
			_ = json.Unmarshal(answer.Data, &r) // without a token or ok it asks again
		}
		return r
	}
	var token string
	for drove := false; ctx.Err() == nil; {
		if token == "" {
			token = ask(bridge.Lease, "", []byte("alice")).Token
		} else if !ask(bridge.Command, token, speed(100)).OK {
			token = ""
		} else if !drove {
			drove = true
			drives <- struct{}{}
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// A hundred robots that are driven stop at one message, right after one of two bridges has
// been killed.
func TestStopOfAHundred(t *testing.T) {
	t.Parallel()
	const count = 100
	var world, list strings.Builder
	world.WriteString("include \"pioneer.inc\"\n")
	for i := range count {
		port := ports.Free(t, 1)
		fmt.Fprintf(&world, "pioneer2dx ( port %d pose [%d %d 0 0] )\n", port, 5*(i%10), 5*(i/10))
		fmt.Fprintf(&list, "r%d 127.0.0.1:%d\n", i, port)
	}
	dir := t.TempDir()
	hall, robots := filepath.Join(dir, "hall.world"), filepath.Join(dir, "robots.txt")
	must.Do(t, errors.Join(os.WriteFile(hall, []byte(world.String()), 0o600), os.WriteFile(robots, []byte(list.String()), 0o600)))
	start(t, player, "-bind", "127.0.0.1", "-http", "off", "-stage", hall)
	natsServer := startEmbedded(t)
	var both [2]*programs.Program
	var conn *nats.Conn
	for i := range both {
		both[i], conn = startFleet(t, nil, "-robots", robots, "-nats", natsServer.ClientURL())
	}
	statuses := subscribe(t, conn, "player.lab.*.status")
	served := map[string]bool{}
	for len(served) < count {
		m := must.Get(statuses.NextMsg(patience))(t)
		served[m.Subject] = true
	}
	must.Do(t, statuses.Unsubscribe())

	drives := make(chan struct{}, count)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for i := range count {
		all.Go(func() { holdRobot(ctx, conn, fmt.Sprintf("player.lab.r%d.position.0.", i), drives) })
	}
	for range count { // on a slow machine this takes long: one robot after the other drives
		waiting.Receive(t, drives, "robot that drives")
	}
	answers := subscribe(t, conn, conn.NewInbox())
	must.Do(t, both[0].Cmd.Process.Kill())
	began := time.Now()
	must.Do(t, conn.PublishRequest("player.lab.stop", answers.Subject, nil))
	stopped := map[string]bool{}
	for len(stopped) < count {
		m, err := answers.NextMsg(patience)
		if err != nil {
			t.Fatalf("%d of %d robots are stopped: %v", len(stopped), count, err)
		}
		var r struct {
			Robot string
			OK    bool
		}
		if err := json.Unmarshal(m.Data, &r); err != nil || !r.OK {
			t.Errorf("a stop is answered %s, %v", m.Data, err)
		}
		stopped[r.Robot] = true
	}
	t.Logf("%d robots were stopped after %v", count, time.Since(began).Round(time.Millisecond))
}
