package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"player/codec"
	"player/devices"
)

// severalLasers connects to a robot with two more lasers and a second sonar, and with wheels behind a virtual device.
func severalLasers(t *testing.T) (*robot, *peer) {
	t.Helper()
	r := newRobot(t)
	r.attach(t, "rear", devices.Laser().At(1), devices.Sonar().At(1))
	r.attach(t, "wheels", devices.Position().At(1))
	r.attach(t, "top", devices.Laser().At(7))
	return r, newPeer(t, r)
}

// 2.11, 8.9.5: a client that asks gets the bytes of all devices.
func TestDevicesOfARobot(t *testing.T) {
	_, p := severalLasers(t)
	p.expectAnswer('d', "112 position 0 base", "103 gripper 0 base", "109 misc 0 base", "115 sonar 0 base", "108 laser 0 laser",
		"122 ptz 0 camera", "118 vision 0 vision", "128 laser 1 rear", "129 sonar 1 rear", "130 laser 7 top")
	p.Restrict(0)
	p.expectAnswer('d')
}

// A device without a letter is opened, read, commanded, refused and closed as any other.
func TestDeviceWithoutALetter(t *testing.T) {
	r, p := severalLasers(t)
	p.request("\x80rlr\x81r\x83r", "\x80rlr\x81r\x83e")
	r.expect(t, "setup rear", "setup laser")
	p.expectAnswer('e') // for an older client the byte has no name
	p.request("\x83r", "\x83e")
	p.answer('d')
	p.expectAnswer('e')
	if got := p.Access(); got != "lr laser:1=r sonar:1=r" {
		t.Errorf("open are %q", got)
	}
	frame := string(p.AppendFrame(nil, r.now))
	var order []byte
	for rest := []byte(frame); len(rest) > 0; {
		code, payload, left, ok := codec.Block(rest)
		if !ok || len(payload) == 0 {
			t.Fatalf("frame % X", frame)
		}
		order, rest = append(order, code), left
	}
	if string(order) != "\x80l\x81" {
		t.Errorf("the frame has the devices %q", order)
	}
	p.request("\x80c", "\x80c")
	r.expect(t)
	p.request("\x81c", "\x81c")
	r.expect(t, "shutdown rear")
}

// The answers to other questions name a device without a letter by its address, and only to clients that have asked
// which devices there are.
func TestKeysOfDevices(t *testing.T) {
	for _, asks := range []bool{false, true} {
		r, p := severalLasers(t)
		r.parts[len(r.parts)-3].mood = broken
		if asks {
			p.answer('d')
		}
		p.request("\x80r", "\x80e")
		want := []string{"laser:1 hardware broken"}
		p.expectAnswer('e', want...)
		if !asks {
			want = nil
		}
		p.expectAnswer('s', append(slices.Clone(want), strings.Replace(strings.Join(want, ""), "laser", "sonar", 1))[:2*len(want)]...)
	}
}

// A compact item has the byte of its device.
func TestCompactItemsOfDevices(t *testing.T) {
	r, p := severalLasers(t)
	p.request("\x80rlr", "\x80rlr")
	p.send(config(codec.ConfigCompact, 1))
	frame := p.AppendFrame(nil, r.now)
	_, items, _, _ := codec.Block(frame)
	if items[0] != 0x80 {
		t.Errorf("the first item is of %q", items[0])
	}
}

// 200 devices are no problem, and the answer comes in parts.
func TestManyDevices(t *testing.T) {
	r := newRobot(t)
	for i := range 200 {
		r.attach(t, fmt.Sprint("driver", i), devices.Laser().At(i+1))
	}
	p := newPeer(t, r)
	p.send(question('d'))
	var lines []string
	seen := map[byte]bool{}
	for out := p.Output(); len(out) > 0; {
		kind, payload, rest, ok := codec.Block(out)
		if !ok || kind != codec.KindAnswer || len(payload) > codec.MaxAnswer {
			t.Fatalf("answer % X", out)
		}
		_, some := codec.Answer(payload)
		lines, out = append(lines, some...), rest
	}
	for _, line := range lines {
		e, ok := codec.ParseEntry(line)
		if !ok || seen[e.Code] || strings.IndexByte("rdcxyYZ", e.Code) >= 0 {
			t.Errorf("line %q", line)
		}
		seen[e.Code] = true
	}
	if len(lines) != 207 {
		t.Errorf("%d lines", len(lines))
	}
}

// 8.9.8: the answer has the colours of channels, of devices without letters only for clients that know of them.
func TestColors(t *testing.T) {
	r := newRobot(t)
	second := devices.Vision()
	second.Index = 1
	r.attach(t, "second", second)
	p := newPeer(t, r)
	p.expectAnswer('v', "v 0 ffa500", "v 1 00008b")
	p.answer('d')
	p.expectAnswer('v', "v 0 ffa500", "v 1 00008b", "vision:1 0 ffa500", "vision:1 1 00008b")
}

// 8.9.6 and 8.9.7: rays and channels are described, as devices without letters are, and the answer comes in parts.
func TestRaysAndChannels(t *testing.T) {
	r := newRobot(t)
	r.attach(t, "board", devices.IO(), devices.Ranger())
	p := newPeer(t, r)
	p.expectAnswer('r')
	p.expectAnswer('i')
	r.parts[len(r.parts)-1].channels = 1
	p.expectAnswer('i')
	p.answer('d')
	p.expectAnswer('i', "io:0 0 output bit 0 1 Lamp")
	r.parts[len(r.parts)-1].channels = 100
	p.expectAnswer('r', "ranger:0 0 90 0 0 -135 3 0 8000 0")
	p.send(question('i'))
	n := 0
	for out := p.Output(); len(out) > 0; {
		_, payload, rest, _ := codec.Block(out)
		to, lines := codec.Answer(payload)
		if to != 'i' || len(payload) > codec.MaxAnswer {
			t.Errorf("an answer of %d bytes to %c", len(payload), to)
		}
		for ; len(lines) > 0; lines, n = lines[1:], n+1 {
			if want := fmt.Sprintf("io:0 %d output bit 0 1 Lamp", n); lines[0] != want {
				t.Errorf("%q, want %q", lines[0], want)
			}
		}
		out = rest
	}
	if n != 100 {
		t.Errorf("%d channels", n)
	}
	p.Flushed()
	p.Restrict(0)
	p.expectAnswer('r')
	p.expectAnswer('i')
}

// 5.3: of commands that come together, one to a joint overwrites only those to the same joint.
func TestCommandsToJoints(t *testing.T) {
	r := newRobot(t)
	r.attach(t, "arm", devices.Servo())
	p := newPeer(t, r)
	p.request("\x80w", "\x80w")
	r.take()
	command := func(joint byte, goal int32) []byte {
		return codec.AppendMessage(nil, codec.KindCommand, 0x80, codec.ServoCommand{Joint: joint, Goal: goal}.Append(nil))
	}
	p.send(slices.Concat(command(1, 1), command(1, 2), command(2, 3), command(1, 4)))
	r.expect(t, "command S 010000000200000000", "command S 020000000300000000", "command S 010000000400000000")
	// 5.4: the joints stop when the client leaves.
	p.request("\x80c", "\x80c")
	r.expect(t, "command S FF8000000000000000", "shutdown arm")
}

// A goal moves the wheels: its commander has control of position, its lifetime ends as the lifetime of a command to position does,
// and it may also stop position, on which the device drives (5.5, 5.6, 8.6).
func TestGoalsMoveTheWheels(t *testing.T) {
	goal := codec.GotoCommand{X: 1000, Tag: 1}.Append(nil)
	send := string(message('c', 0x80, goal...))
	stop := fmt.Sprintf("T %X", codec.StopGoto().Append(nil))
	driven := fmt.Sprintf("T %X", goal)
	for _, first := range []bool{false, true} {
		r, p := newDrivers(t, &Control{First: first})
		r.attach(t, "driver", devices.Goto())
		for _, peer := range p {
			peer.request("\x80a", "\x80a")
			peer.send(config(codec.ConfigLifetime, 1, 144)) // 400 ms
		}
		r.take()
		expect := func(what, want string) {
			t.Helper()
			if got := r.commands(); got != want {
				t.Errorf("%s, control first %v: %q, want %q", what, first, got, want)
			}
		}
		drive := func() { // what the driver does for a goal
			p[0].send([]byte(send))
			r.table.Device('p').SetCommand(r.now, []byte{1, 2, 3, 4})
		}
		drive()
		expect("a goal", driven+"A")
		p[1].send(halt)
		expect("a stop of a client that drives nothing", "")
		p[0].send(halt)
		expect("a stop of the wheels by the client with the goal", "0")
		drive()
		r.take()
		r.now += 400 * ms
		p[0].Lapse(r.now)
		expect("the end of the lifetime", stop)
		drive()
		r.take()
		p[1].send(ahead)
		if first {
			expect("a command of another client", "")
			p[0].Close(r.now)
			expect("the commander leaves", stop)
		} else {
			expect("a command of another client", "A")
		}
	}
}
