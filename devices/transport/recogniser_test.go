package transport

import (
	"math/rand/v2"
	"testing"
)

func TestRecogniser(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"a scan", "\x02\x80\xD6\x02\xB0\x69\x41", SICKLaser},
		{"a scan in noise", "\x02\x02\x80\x02\x80\xD6\x02\xB0", SICKLaser},
		{"the laser after power-up", "\x02\x80\x17\x00\x90LMS", SICKLaser},
		{"a request to a laser", "\x02\x00\x02\x00\x20\x24\x34\x08", ""},
		{"a robot that echoes", "\xFA\xFB\x03\x00\x00\x00", PioneerRobot},
		{"a robot that is open", "\xFA\xFB\x1B\x32\x00\x00", PioneerRobot},
		{"another packet of a robot", "\xFA\xFB\x1B\x90\x00\x00", ""},
		{"too long for a robot", "\xFA\xFB\xFB\x32\x00\x00", ""},
		{"cut short", "\xFA\xFB\x1B", ""},
	} {
		for cut := range len(tt.in) + 1 {
			var r Recogniser
			r.Receive([]byte(tt.in[:cut]))
			r.Receive([]byte(tt.in[cut:]))
			if got := r.Found(); got != tt.want {
				t.Errorf("%s cut at %d: %q, want %q", tt.name, cut, got, tt.want)
			}
		}
	}
}

// The promise about noise, with a fixed seed.
func TestRecogniserInNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	noise := make([]byte, 100_000)
	for range 100 {
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		var r Recogniser
		if r.Receive(noise); r.Found() != "" {
			found++
		}
	}
	if found > 10 {
		t.Errorf("noise of 100 kB was recognised as hardware %d times of 100", found)
	}
}
