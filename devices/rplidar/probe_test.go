package rplidar

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestProbe(t *testing.T) {
	p := probe()
	info := append(unhex(t, "A5 5A 14 00 00 00 04 18 1D 01 07"), make([]byte, 16)...)
	noise := make([]byte, 1000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	for name, tt := range map[string]struct {
		heard []byte
		model string
		found bool
	}{
		"nothing":         {nil, "", false},
		"an A1":           {info, "RPLIDAR A1, firmware 1.29", true},
		"half an answer":  {info[:12], "", false},
		"an S2":           {append(unhex(t, "A5 5A 14 00 00 00 04 71 02 01 12"), make([]byte, 16)...), "RPLIDAR S2, firmware 1.02", true},
		"its own request": {p.Ask, "", false},
		"standard scan":   {bytes.Repeat(unhex(t, "3E 01 2D A0 0F"), 30), "", true},
		"a few samples":   {bytes.Repeat(unhex(t, "3E 01 2D A0 0F"), 10), "", false},
		"express scan":    {append([]byte{1, 2}, bytes.Repeat(packet(64, 1, 2, 3, 4, 5), 4)...), "", true},
		"a few packets":   {bytes.Repeat(packet(64, 0, 0, 0, 0, 0), 3), "", false},
		"a YDLIDAR":       {append(unhex(t, "A5 5A 14 00 00 00 04 06 04 01 01"), make([]byte, 16)...), "", false},
		"the first A1":    {append(unhex(t, "A5 5A 14 00 00 00 04 00 0F 01 00"), make([]byte, 16)...), "RPLIDAR model 0x00, firmware 1.15", true},
		"noise":           {noise, "", false},
	} {
		if a := p.Recognise(tt.heard); a.Found != tt.found || a.Model != tt.model {
			t.Errorf("%s: %+v", name, a)
		}
	}
}
