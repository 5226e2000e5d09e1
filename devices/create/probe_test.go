package create

import (
	"slices"
	"testing"
)

func TestProbe(t *testing.T) {
	p := probe()
	report := frame(0, 0, 0, 15000, 1, 2, 3)
	for name, tt := range map[string]struct {
		heard []byte
		found bool
	}{
		"nothing":                 {nil, false},
		"a report behind garbage": {slices.Concat([]byte{0, 19, 1}, report), true},
		"half a report":           {report[:20], false},
		"its own request":         {p.Ask, false},
		"a robot's packet":        {[]byte{0xFA, 0xFB, 3, 0, 0, 0}, false},
	} {
		if a := p.Recognise(tt.heard); a.Found != tt.found || len(a.Next) != 0 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}
