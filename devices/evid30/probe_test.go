package evid30

import "testing"

func TestProbeAsks(t *testing.T) {
	if p := probe(); string(p.Ask) != "\xFF\x88\x30\x01\xFF" || len(p.Leave) != 0 {
		t.Errorf("ask % X, leave % X", p.Ask, p.Leave)
	}
}

func TestRecognise(t *testing.T) {
	for _, tt := range []struct {
		name, heard string
		found       bool
		next, model string
	}{
		{"nothing", "", false, "", ""},
		{"a line that returns what it is sent", "\xFF\x88\x30\x01\xFF", false, "", ""},
		{"addressed", "\x88\x30\x02\xFF", true, InquireVersion, ""},
		{"addressed, behind an error", "\x90\x60\x02\xFF\x88\x30\x02\xFF", true, InquireVersion, ""},
		{"version of an EVI-D30", "\x90\x50\x00\x20\x04\x02\x00\x01\x02\xFF", true, "", "Sony EVI-D30, model 0402 of vendor 0020, ROM 0001"},
		{"version of another", "\x90\x50\x00\x01\x05\x11\x00\x01\x02\xFF", true, "", "model 0511 of vendor 0001, ROM 0001"},
		{"no version", "\x90\x60\x02\xFF", true, "", ""},
		{"something else", "\x90\x41\xFF", false, "", ""},
	} {
		a := recognise([]byte(tt.heard))
		if a.Found != tt.found || string(a.Next) != tt.next || a.Model != tt.model {
			t.Errorf("%s: %v, next % X, %s", tt.name, a.Found, a.Next, a.Model)
		}
	}
}
