package e2e

import (
	"fmt"
	"testing"

	"player/codec"
)

// Three servers in a row: a simulated robot, and two that pass it on.
func TestChain(t *testing.T) {
	dir := t.TempDir()
	robot := start(t, "-stage", room)
	pass := `driver ( name "passthrough" remote %q rate 50 provides ["position:0" "sonar:0" "laser:0"] )`
	middle := start(t, write(t, dir, "middle.cfg", fmt.Sprintf(pass, robot.address)))
	last := start(t, write(t, dir, "last.cfg", fmt.Sprintf(pass, middle.address)))
	p := last.dial(t)
	if reply := p.request("sryrlrpa"); reply != "sryrlrpa" {
		t.Fatalf("reply %q", reply)
	}
	if got := p.frame(4); got != "y20 s32 l722 p21" {
		t.Errorf("frame %s", got)
	}
	p.message('x', 'p', 'm', 1)
	p.drive(200, 0)
	for p.position().Speed < 100 {
	}
	p.conn.Close()
	p = robot.dial(t)
	p.request("pr")
	await(t, "the robot to stop, three servers away", func() bool { return p.position().Speed == 0 })
}

// A robot that is lost and comes back is served again.
func TestChainReconnects(t *testing.T) {
	dir := t.TempDir()
	port := freePort(t)
	pattern := write(t, dir, "robot.cfg", `driver ( name "testpattern" provides ["sonar:0" "position:0"] )`)
	robot := startAt(t, port, pattern)
	chain := start(t, write(t, dir, "chain.cfg", fmt.Sprintf(`driver ( name "passthrough" remote "127.0.0.1:%d" provides ["sonar:0" "position:0"] )`, port)))
	p := chain.dial(t)
	if reply := p.request("yrsrpa"); reply != "yrsrpa" {
		t.Fatalf("reply %q", reply)
	}
	age := func() (d codec.FreshnessData) {
		for {
			if letter, payload := p.block(); letter == codec.Server {
				if err := d.Decode(payload); err != nil {
					t.Fatal(err)
				}
				return d
			}
		}
	}
	await(t, "fresh data", func() bool { return age().Ages[0] < 200_000 })
	_ = robot.cmd.Process.Kill()
	<-robot.exited
	await(t, "data to grow old", func() bool { return age().Ages[0] > 500_000 })
	startAt(t, port, pattern)
	await(t, "fresh data again", func() bool { return age().Ages[0] < 200_000 })
	p.drive(123, 0)
	await(t, "a command to arrive", func() bool { return p.position().Speed == 123 })
}

// A program that hangs, on a robot with a deadman.
func TestDeadman(t *testing.T) {
	s := start(t, "../configs/virtual.cfg")
	p := s.dial(t)
	if reply := p.request("srpa"); reply != "srpa" {
		t.Fatalf("reply %q", reply)
	}
	if got := p.frame(2); got != "s32 p21" {
		t.Errorf("frame %s", got)
	}
	p.message('x', 'p', 'm', 1)
	p.drive(100, 0)
	for p.position().Speed < 50 {
	}
	await(t, "the wheels to stop", func() bool { return p.position().Speed == 0 })
}
