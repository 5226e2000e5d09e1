package stage

import (
	"player/codec"
	"player/codec/patches"
)

// tracker finds blobs in images. It keeps its buffers between images.
type tracker struct {
	pixels *canvas[int8] // channels
	runs   [codec.VisionChannels]patches.Runs
}

func newTracker() tracker { return tracker{pixels: newCanvas[int8](imageWidth, imageHeight)} }

// find reports the connected patches of every channel, at most
// [codec.MaxBlobs], largest first.
func (t *tracker) find(out *codec.VisionData) {
	for i := range t.runs {
		t.runs[i].Reset()
	}
	for y := range imageHeight {
		row := t.pixels.paint[y*imageWidth : (y+1)*imageWidth]
		for x := 0; x < imageWidth; {
			c, first := row[x], x
			for x < imageWidth && row[x] == c {
				x++
			}
			if c >= 0 {
				t.runs[c].Add(y, first, x-1)
			}
		}
	}
	out.Blobs = out.Blobs[:0]
	for i := range t.runs {
		before := len(out.Blobs)
		out.Blobs = t.runs[i].AppendBlobs(out.Blobs, nil)
		out.Count[i] = uint8(len(out.Blobs) - before)
	}
}
