package e2e

import (
	"bytes"
	"net"
	"syscall"
	"testing"
	"time"

	"player/codec"
	"player/devices/transport"
	"player/e2e/waiting"
	"player/simulation/emulator/arduino"
	"player/simulation/emulator/line"
	robot "player/simulation/emulator/p2os"
)

// How a client that drives may end while its server does not run.
var departures = []struct {
	name  string
	leave func(p *peer)
}{
	{"closes", func(p *peer) { p.conn.Close() }},
	{"shuts down its half", func(p *peer) { _ = p.conn.(*net.TCPConn).CloseWrite() }},
	{"resets", func(p *peer) { _ = p.conn.(*net.TCPConn).SetLinger(0); p.conn.Close() }},
	{"commands and closes", func(p *peer) { p.drive(200, 0); p.drive(400, 10); p.conn.Close() }},
	{"floods with commands and closes", func(p *peer) {
		p.send(bytes.Repeat(codec.AppendMessage(nil, codec.KindCommand, codec.Position, codec.PositionCommand{Speed: 400}.Append(nil)), 2000)...)
		p.conn.Close()
	}},
	{"opens position again and closes", func(p *peer) { p.message('d', 'r', []byte("pcpa")...); p.drive(400, 0); p.conn.Close() }},
}

// gone ends a connection for certain: a child of this process that has not executed its
// program yet would keep it open.
func gone(end func()) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	end()
}

// pause stops the server for a while, in the middle of which something happens.
func (s *server) pause(t *testing.T, d time.Duration, happens func()) {
	t.Helper()
	defer s.Pause(t)()
	time.Sleep(d / 2)
	happens()
	time.Sleep(d / 2)
}

// velocities returns the effects of the record's packets on a robot: whether
// one moves it, and whether one stops it.
func velocities(record []line.Entry) (moves, stops bool) {
	for _, e := range record {
		if e.Dir != line.HostToDevice || len(e.Data) < 9 {
			continue
		}
		switch body := e.Data[3:]; body[0] {
		case 11, 21, 32: // VEL, RVEL, VEL2
			zero := body[2] == 0 && body[3] == 0
			moves, stops = moves || !zero, stops || zero
		}
	}
	return moves, stops
}

// silent reports whether an emulated robot has sent nothing for so long that its server gives the line up. On a busy
// machine the process of the tests may be held up for a time as long.
func silent(record []line.Entry) bool {
	last := time.Duration(0)
	for _, e := range record {
		if e.Dir == line.DeviceToHost {
			if e.At-last > 1500*time.Millisecond {
				return true
			}
			last = e.At
		}
	}
	return false
}

// The server is paused, by a signal, a virtual machine or a closed lid, and the
// client that drives leaves meanwhile. The first command after the pause ends
// the movement; no command of the client moves the robot any more.
func TestClientLeavesAPausedServer(t *testing.T) {
	t.Parallel()
	for i, d := range departures {
		pause, watched := 300*time.Millisecond, i%2 == 1
		if i%3 == 0 {
			pause = 3200 * time.Millisecond
		}
		name := pause.String() + ": it " + d.name
		if watched {
			name += ", another one reads"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRobot(t, robot.Options{MotorsOn: true})
			s := start(t, "-pp", r.Port())
			if watched {
				s.dial(t).mustOpen("pr", "pr")
			}
			c := s.dial(t)
			c.mustOpen("pa", "pa")
			c.drive(300, 0)
			// Not in the middle of an answer: that would be written behind the pause.
			waiting.Until(t, "the robot drives, and its last report is answered", func() bool {
				record := r.Record()
				return r.State().Left == 300 && record[len(record)-1].Dir == line.HostToDevice
			})
			before := 0
			s.pause(t, pause, func() {
				gone(func() { d.leave(c) })
				before = len(r.Record())
			})
			waiting.Until(t, "the robot is stopped", func() bool {
				_, stops := velocities(r.Record()[before:])
				return stops && r.State().WantLeft == 0 && r.State().WantRight == 0
			})
			if !watched {
				waiting.Until(t, "the robot is closed", func() bool { return !r.State().Open })
			} else {
				sips := r.State().SIPs
				waiting.Until(t, "the robot reports", func() bool { return r.State().SIPs > sips+3 })
			}
			if moves, _ := velocities(r.Record()[before:]); moves {
				t.Error("the robot was commanded to move for a client that has left")
			}
			if s.Printed(transport.ErrSilent.Error()) && !silent(r.Record()) {
				t.Error("the line was given up though the robot was heard")
			}
		})
	}
}

// The same holds for a robot behind another Player, whichever of the two is paused.
func TestClientLeavesAPausedChain(t *testing.T) {
	t.Parallel()
	for paused, watched := range map[string]bool{"the first": false, "the last": true} {
		t.Run(paused+" is paused", func(t *testing.T) {
			t.Parallel()
			r := startRobot(t, robot.Options{MotorsOn: true})
			last := start(t, "-pp", r.Port())
			first := passing(t, last.address, `"position:0"`)
			if watched {
				first.dial(t).mustOpen("pr", "pr")
			}
			c := first.dial(t)
			c.mustOpen("pa", "pa")
			c.drive(300, 0)
			waiting.Until(t, "the robot drives", func() bool { return r.State().Left == 300 })
			s := first
			if paused == "the last" {
				s = last
			}
			before := 0
			s.pause(t, 500*time.Millisecond, func() {
				c.drive(400, 0)
				gone(func() { c.conn.Close() })
				if s == last {
					first.Await(t, "client disconnected")
				}
				before = len(r.Record()) // the last one goes on until the next command
			})
			waiting.Until(t, "the robot is stopped", func() bool {
				_, stops := velocities(r.Record()[before:])
				return stops && r.State().WantLeft == 0
			})
			if moves, _ := velocities(r.Record()[before:]); moves && s == last {
				t.Error("the robot was commanded to move for a client that has left")
			}
		})
	}
}

// A robot that hears and is not heard is stopped when its line is given up, and does
// not move by itself when it is heard again.
func TestRobotIsNotHeard(t *testing.T) {
	t.Parallel()
	r, s := startArduino(t, arduino.Options{})
	c := s.dial(t)
	c.mustOpen("pw", "pw")
	c.drive(300, 0)
	waiting.Until(t, "the robot drives", func() bool { return r.State().Left == 300 })
	r.Silence()
	before := len(r.Record())
	s.Await(t, "silent for 2 s")
	var heard []byte // until its line is closed
	waiting.Until(t, "its line is closed", func() bool {
		heard = nil
		for _, e := range r.Record()[before:] {
			if e.Note == "host closed the port" {
				return true
			}
			heard = append(heard, e.Data...)
		}
		return false
	})
	if !bytes.HasSuffix(heard, []byte("V 0 0\n")) {
		t.Errorf("when it was given up, it was commanded %q", heard)
	}
	waiting.Until(t, "the robot is stopped", func() bool { return r.State().Left == 0 })
	r.Speak()
	s.Await(t, "device is back")
	if r.State().Left != 0 {
		t.Error("the robot moves by itself")
	}
}
