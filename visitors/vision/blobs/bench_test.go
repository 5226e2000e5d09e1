package blobs

import (
	"math/rand/v2"
	"testing"

	"player/codec"
)

// A picture of 320x240, from the JPEG to the blobs.
func BenchmarkPicture(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	scene, _ := drawn(random)
	picture := anyView(random).take(scene, random)
	f, err := NewFinder(colored)
	if err != nil {
		b.Fatal(err)
	}
	var d codec.VisionData
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := Decode(picture); err != nil {
				b.Fatal(err)
			}
		}
	})
	m, err := Decode(picture)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			f.Find(m, &d)
		}
	})
}
