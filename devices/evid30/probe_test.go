package evid30

import (
	"testing"

	"player/devices/devicetest"
)

func TestProbe(t *testing.T) {
	p := probe()
	if string(p.Ask) != "\xFF\x88\x30\x01\xFF" || len(p.Leave) != 0 {
		t.Errorf("ask % X, leave % X", p.Ask, p.Leave)
	}
	answers := devicetest.Probe(t, p)
	answers("addressed", "\x88\x30\x02\xFF", true, InquireVersion, "")
	answers("addressed, behind an error", "\x90\x60\x02\xFF\x88\x30\x02\xFF", true, InquireVersion, "")
	answers("version of an EVI-D30", "\x90\x50\x00\x20\x04\x02\x00\x01\x02\xFF", true, "", "Sony EVI-D30, model 0402 of vendor 0020, ROM 0001")
	answers("version of another", "\x90\x50\x00\x01\x05\x11\x00\x01\x02\xFF", true, "", "model 0511 of vendor 0001, ROM 0001")
	answers("no version", "\x90\x60\x02\xFF", true, "", "")
	answers("something else", "\x90\x41\xFF", false, "", "")
}
