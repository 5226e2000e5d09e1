package stage

import (
	"cmp"
	"slices"

	"player/codec"
)

// run is a run of pixels of one channel in a row.
type run struct {
	row, first, last int
	channel          int8
	root             int // index of the run that represents the blob
}

// patch is a blob under construction.
type patch struct {
	codec.Blob
	channel    int8
	sumX, sumY int
}

// tracker finds blobs in images. It keeps its buffers between images.
type tracker struct {
	pixels  *canvas[int8] // channels
	runs    []run
	patches []patch
	largest []*patch // the same, sorted: pointers, because a sort of patches would be 12 kB of the binary
	place   []int    // index of a root run's patch
}

func newTracker() tracker { return tracker{pixels: newCanvas[int8](imageWidth, imageHeight)} }

// find reports the connected patches of every channel, at most
// [codec.MaxBlobs], largest first.
func (t *tracker) find(out *codec.VisionData) {
	t.findRuns()
	t.patches, t.place = t.patches[:0], t.place[:0]
	for i := range t.runs {
		r := &t.runs[i]
		root := t.root(i)
		t.place = append(t.place, len(t.patches))
		if root == i {
			t.patches = append(t.patches, patch{channel: r.channel,
				Blob: codec.Blob{Left: r.first, Right: r.last, Top: r.row, Bottom: r.row}})
		}
		p := &t.patches[t.place[root]]
		n := r.last - r.first + 1
		p.Area += n
		p.sumX += (r.first + r.last) * n // twice the sum
		p.sumY += r.row * n
		p.Left, p.Right, p.Bottom = min(p.Left, r.first), max(p.Right, r.last), r.row
	}
	t.largest = t.largest[:0]
	for i := range t.patches {
		t.largest = append(t.largest, &t.patches[i])
	}
	slices.SortFunc(t.largest, func(a, b *patch) int {
		return cmp.Or(cmp.Compare(a.channel, b.channel), cmp.Compare(b.Area, a.Area),
			cmp.Compare(a.Left, b.Left), cmp.Compare(a.Top, b.Top))
	})
	out.Count, out.Blobs = [codec.VisionChannels]uint8{}, out.Blobs[:0]
	for _, p := range t.largest {
		if out.Count[p.channel] == codec.MaxBlobs {
			continue
		}
		out.Count[p.channel]++
		p.X, p.Y = (p.sumX/2+p.Area/2)/p.Area, (p.sumY+p.Area/2)/p.Area
		out.Blobs = append(out.Blobs, p.Blob)
	}
}

// findRuns splits the image into runs and joins each with those it touches in
// the row above. A root comes before the runs it represents.
func (t *tracker) findRuns() {
	t.runs = t.runs[:0]
	above := 0 // first run of the row above
	for y := range imageHeight {
		row := t.pixels.paint[y*imageWidth : (y+1)*imageWidth]
		start := len(t.runs)
		for x := 0; x < imageWidth; {
			c, first := row[x], x
			for x < imageWidth && row[x] == c {
				x++
			}
			if c < 0 {
				continue
			}
			i := len(t.runs)
			t.runs = append(t.runs, run{y, first, x - 1, c, i})
			for k := above; k < start; k++ {
				if up := &t.runs[k]; up.row == y-1 && up.channel == c && up.first < x && up.last >= first {
					t.join(i, k)
				}
			}
		}
		above = start
	}
}

func (t *tracker) root(i int) int {
	for t.runs[i].root != i {
		t.runs[i].root = t.runs[t.runs[i].root].root
		i = t.runs[i].root
	}
	return i
}

func (t *tracker) join(a, b int) {
	a, b = t.root(a), t.root(b)
	t.runs[max(a, b)].root = min(a, b)
}
