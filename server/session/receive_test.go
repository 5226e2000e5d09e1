package session

import (
	"fmt"
	"slices"
	"testing"

	"player/codec"
)

// 4.3: on a congested network, waiting requests collapse into one.
func TestCollapse(t *testing.T) {
	_, p := connect(t)
	p.Collapse()
	p.send(config('r', 1))
	p.request("sr", "sr")
	if p.Collapse(); p.Asked() != 0 {
		t.Errorf("%d frames asked for without a request", p.Asked())
	}
	p.send(config('d'), config('d'), config('d'))
	p.Collapse()
	p.expectFrame("s32")
	p.expectFrame("")
}

// Mode changes and requests for data in one burst with the device request, as
// the Tcl client and other hasty clients send them.
func TestConfigurationInABurst(t *testing.T) {
	_, p := connect(t)
	p.send(slices.Concat(config('r', 1), request("srpr"), config('d'), config('d')))
	p.expectReplies("srpr")
	p.expectFrame("s32 p21")
	p.expectFrame("s32 p21")
	p.expectFrame("")
}

// 5.1, 5.2: a command of the device's size reaches its driver, any other size
// is dropped.
func TestCommandSizes(t *testing.T) {
	for letter, right := range map[byte]int{'p': 4, 'z': 6, 'g': 2, 's': -1, 'l': -1, 'm': -1, 'v': -1, 'y': -1, 'q': -1} {
		r, p := connect(t)
		p.send(request(string([]byte{letter, 'a'})))
		p.replies()
		r.take()
		for size := range 12 {
			payload := slices.Repeat([]byte{0xA5}, size)
			p.send(message(codec.KindCommand, letter, payload...))
			want := ""
			if size == right {
				want = fmt.Sprintf("command %c %X", letter, payload)
			}
			if got := r.take(); got != want {
				t.Errorf("%d bytes to %c: %q, want %q", size, letter, got, want)
			}
		}
		p.expectReplies() // commands are not answered
	}
}

// 6.4 to 6.6: configurations need no access, reach the device's driver in
// order, and have no effect while the device is not open.
func TestDeviceConfiguration(t *testing.T) {
	r := newRobot(t)
	p, other := newPeer(t, r), newPeer(t, r)
	p.send(message('x', 'p', 'm', 1), message('x', 'q', 'm', 1), message('x', 0, 'm', 1), message('x', 0xFF))
	other.request("sr", "sr")
	r.expect(t, "setup base") // the configuration was not kept
	p.send(slices.Concat(message('x', 'p', 'm', 1), message('x', 'p', 'R'), message('x', 's', 'v', 0), message('x', 'm', 'Z'), message('x', 'g')))
	r.expect(t, `configure p "m\x01"`, `configure p "R"`, `configure s "v\x00"`, `configure m "Z"`, `configure g ""`)
	p.send(message('x', 'l', 'R'))
	r.expect(t)
	other.request("sc", "sc")
	p.send(message('x', 'p', 'm', 1))
	p.request("pr", "pr")
	r.expect(t, "shutdown base", "setup base")
	p.expectReplies()
}
