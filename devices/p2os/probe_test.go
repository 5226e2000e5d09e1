package p2os

import (
	"testing"
)

const (
	sync0Echo = "\xFA\xFB\x03\x00\x00\x00"
	sync1Echo = "\xFA\xFB\x03\x01\x00\x01"
	closing   = "\xFA\xFB\x03\x02\x00\x02"
)

func TestProbeAsks(t *testing.T) {
	if p := probe(); string(p.Ask) != closing+sync0Echo || string(p.Leave) != closing {
		t.Errorf("ask % X, leave % X", p.Ask, p.Leave)
	}
}

func TestRecognise(t *testing.T) {
	identity := string(appendPacket(nil, append([]byte{2}, "Ma\nx\x00Pioneer\x00p2dx\x00"...)...))
	sip := string(appendPacket(nil, append([]byte{0x32}, make([]byte, 40)...)...))
	for _, tt := range []struct {
		name, heard string
		found       bool
		next, model string
	}{
		{"nothing", "", false, "", ""},
		{"noise", "\xFA\xFB\x03\x00\x00\x01 abc", false, "", ""},
		{"greeted", "junk" + sync0Echo, false, sync1Echo, ""},
		{"greeted twice", sync0Echo + sync1Echo, false, closing, ""},
		{"identity", identity, true, "", `Pioneer p2dx "Ma\nx"`},
		{"a line that returns what it is sent", closing, false, "", ""},
		{"left open", sip + sip[:20], true, closing + sync0Echo, ""},
		{"left open, and greeted", sip + sync0Echo, false, sync1Echo, ""},
	} {
		a := recognise([]byte(tt.heard))
		if a.Found != tt.found || string(a.Next) != tt.next || a.Model != tt.model {
			t.Errorf("%s: %v, next % X, %s", tt.name, a.Found, a.Next, a.Model)
		}
	}
}
