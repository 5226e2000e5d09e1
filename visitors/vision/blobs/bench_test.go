package blobs

import (
	"math/rand/v2"
	"testing"

	"player/codec"
	"player/e2e/must"
)

// A picture of 320x240, from the JPEG to the blobs.
func BenchmarkPicture(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	scene, _ := drawn(random)
	picture := anyView(random).take(scene, random)
	f := must.Get(NewFinder(colored))(b)
	var d codec.VisionData
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			must.Get(Decode(picture))(b)
		}
	})
	m := must.Get(Decode(picture))(b)
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			f.Find(m, &d)
		}
	})
}
