package p2os

import (
	"testing"

	"player/devices/devicetest"
)

const (
	sync0Echo = "\xFA\xFB\x03\x00\x00\x00"
	sync1Echo = "\xFA\xFB\x03\x01\x00\x01"
	closing   = "\xFA\xFB\x03\x02\x00\x02"
)

func TestProbe(t *testing.T) {
	p := probe()
	if string(p.Ask) != closing+sync0Echo || string(p.Leave) != closing {
		t.Errorf("ask % X, leave % X", p.Ask, p.Leave)
	}
	identity := string(appendPacket(nil, append([]byte{2}, "Ma\nx\x00Pioneer\x00p2dx\x00"...)...))
	sip := string(appendPacket(nil, append([]byte{0x32}, make([]byte, 40)...)...))
	answers := devicetest.Probe(t, p)
	answers("a wrong checksum", "\xFA\xFB\x03\x00\x00\x01 abc", false, "", "")
	answers("greeted", "junk"+sync0Echo, false, sync1Echo, "")
	answers("greeted twice", sync0Echo+sync1Echo, false, closing, "")
	answers("identity", identity, true, "", `Pioneer p2dx "Ma\nx"`)
	answers("a line that returns what it is sent", closing, false, "", "")
	answers("left open", sip+sip[:20], true, closing+sync0Echo, "")
	answers("left open, with other packets", string(appendPacket(nil, 0x20, 1)), true, closing+sync0Echo, "")
	answers("left open, and greeted", sip+sync0Echo, false, sync1Echo, "")
}
