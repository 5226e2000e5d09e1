package line

import (
	"math/rand/v2"
	"slices"
)

// Noise configures how a cable corrupts packets. Each field is a probability,
// 0 to 1, per packet; several faults can affect one packet. The same seed
// corrupts the same sequence of packets in the same way.
type Noise struct {
	Seed     uint64
	Garbage  float64 // 1 to 8 random bytes come before the packet
	Flip     float64 // one bit is inverted
	Swallow  float64 // one byte is missing
	Truncate float64 // the packet ends early, possibly before its first byte
	Both     bool    // also corrupts the host's bytes, read by read
}

type noise struct {
	Noise
	rnd *rand.Rand
}

func newNoise(n Noise) *noise {
	return &noise{n, rand.New(rand.NewPCG(n.Seed, 0))}
}

// corrupt returns a copy of p, corrupted or not.
func (n *noise) corrupt(p []byte) []byte {
	p = slices.Clone(p)
	if len(p) > 0 && n.happens(n.Flip) {
		p[n.rnd.IntN(len(p))] ^= 1 << n.rnd.IntN(8)
	}
	if len(p) > 0 && n.happens(n.Swallow) {
		i := n.rnd.IntN(len(p))
		p = slices.Delete(p, i, i+1)
	}
	if len(p) > 0 && n.happens(n.Truncate) {
		p = p[:n.rnd.IntN(len(p))]
	}
	if n.happens(n.Garbage) {
		p = append(n.bytes(1+n.rnd.IntN(8)), p...)
	}
	return p
}

// happens reports whether a fault of the given probability happens. It draws a
// random number only for an enabled fault, so that one fault is the same with
// or without the others.
func (n *noise) happens(chance float64) bool { return chance > 0 && n.rnd.Float64() < chance }

// bytes returns count random bytes.
func (n *noise) bytes(count int) []byte {
	b := make([]byte, count)
	for i := range b {
		b[i] = byte(n.rnd.Uint32())
	}
	return b
}
