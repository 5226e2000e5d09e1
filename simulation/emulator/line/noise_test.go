package line

import (
	"bytes"
	"math/bits"
	"testing"
)

var packet = []byte("0123456789ABCDEF")

func TestNoiseKinds(t *testing.T) {
	tests := []struct {
		name  string
		noise Noise
		ok    func(got []byte) bool
	}{
		{"none", Noise{}, func(got []byte) bool { return bytes.Equal(got, packet) }},
		{"garbage", Noise{Garbage: 1}, func(got []byte) bool {
			n := len(got) - len(packet)
			return n >= 1 && n <= 8 && bytes.HasSuffix(got, packet)
		}},
		{"flip", Noise{Flip: 1}, func(got []byte) bool {
			flipped := 0
			for i := range packet {
				flipped += bits.OnesCount8(got[i] ^ packet[i])
			}
			return len(got) == len(packet) && flipped == 1
		}},
		{"swallow", Noise{Swallow: 1}, func(got []byte) bool {
			i := 0
			for i < len(got) && got[i] == packet[i] {
				i++
			}
			return len(got) == len(packet)-1 && bytes.Equal(got[i:], packet[i+1:])
		}},
		{"truncate", Noise{Truncate: 1}, func(got []byte) bool {
			return len(got) < len(packet) && bytes.HasPrefix(packet, got)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(200) {
				tt.noise.Seed = seed
				if got := newNoise(tt.noise).corrupt(packet); !tt.ok(got) {
					t.Fatalf("seed %d: %q", seed, got)
				}
			}
		})
	}
	if string(packet) != "0123456789ABCDEF" {
		t.Error("the caller's packet was changed")
	}
}

func TestNoiseRepeats(t *testing.T) {
	some := Noise{Seed: 7, Garbage: .3, Flip: .3, Swallow: .3, Truncate: .3}
	run := func(n Noise) (all []byte) {
		c := newNoise(n)
		for range 100 {
			all = append(all, c.corrupt(packet)...)
			all = append(all, '|')
		}
		return all
	}
	if !bytes.Equal(run(some), run(some)) {
		t.Error("the same seed gives other faults")
	}
	other := some
	other.Seed++
	if bytes.Equal(run(some), run(other)) {
		t.Error("another seed gives the same faults")
	}
	if got := newNoise(Noise{Flip: 1, Swallow: 1, Truncate: 1}).corrupt(nil); len(got) != 0 {
		t.Errorf("an empty packet became % X", got)
	}
}
