// Package patches joins the pixels of a picture to patches, which vision devices report as blobs (PROTOCOL 7.7).
package patches

import (
	"cmp"
	"slices"

	"player/codec"
)

// Runs are the runs of pixels of one channel, and the patches that they are. They keep their buffers between pictures.
type Runs struct {
	// Diagonal is whether pixels that touch at a corner only are of one patch.
	Diagonal bool

	runs    []run
	row     int // of the newest run
	begin   int // its first run
	above   int // first run of the row above that may touch the next run
	patches []patch
	place   []int    // index of a root run's patch
	largest []*patch // sorted: pointers, because a sort of patches would be 12 kB of the binary
}

// run is a run of pixels in a row.
type run struct {
	row, first, last int
	root             int // index of a run that represents the patch, or of one nearer to it
}

// patch is a patch under construction.
type patch struct {
	codec.Blob
	sumX, sumY int // sumX is twice the sum
}

// Reset forgets the runs, for another picture.
func (r *Runs) Reset() { r.runs, r.row, r.begin, r.above = r.runs[:0], 0, 0, 0 }

// Add adds the run of pixels first to last of a row. Runs are added row by row from the top, and in a row from the left.
// A run comes after those that it touches, so the root of a patch is its first run.
func (r *Runs) Add(row, first, last int) {
	i := len(r.runs)
	if row != r.row {
		r.row, r.above, r.begin = row, r.begin, i
		if i > 0 && r.runs[i-1].row != row-1 { // an empty row between
			r.above = i
		}
	}
	r.runs = append(r.runs, run{row, first, last, i})
	reach := 0
	if r.Diagonal {
		reach = 1
	}
	for k := r.above; k < r.begin; k++ {
		switch up := &r.runs[k]; {
		case up.first > last+reach:
			return
		case up.last+reach < first:
			r.above = k + 1 // further runs of this row are farther to the right
		default:
			r.join(i, k)
		}
	}
}

func (r *Runs) root(i int) int {
	for r.runs[i].root != i {
		r.runs[i].root = r.runs[r.runs[i].root].root
		i = r.runs[i].root
	}
	return i
}

func (r *Runs) join(a, b int) {
	a, b = r.root(a), r.root(b)
	r.runs[max(a, b)].root = min(a, b)
}

// AppendBlobs appends the patches as blobs, largest first, at most [codec.MaxBlobs], without those that skip reports; nil
// skips none.
func (r *Runs) AppendBlobs(dst []codec.Blob, skip func(codec.Blob) bool) []codec.Blob {
	r.gather()
	r.largest = r.largest[:0]
	for i := range r.patches {
		if p := &r.patches[i]; skip == nil || !skip(p.Blob) {
			r.largest = append(r.largest, p)
		}
	}
	slices.SortFunc(r.largest, func(a, b *patch) int {
		return cmp.Or(cmp.Compare(b.Area, a.Area), cmp.Compare(a.Left, b.Left), cmp.Compare(a.Top, b.Top))
	})
	for _, p := range r.largest[:min(len(r.largest), codec.MaxBlobs)] {
		p.X, p.Y = (p.sumX/2+p.Area/2)/p.Area, (p.sumY+p.Area/2)/p.Area
		dst = append(dst, p.Blob)
	}
	return dst
}

// gather adds the runs up to patches.
func (r *Runs) gather() {
	r.patches, r.place = r.patches[:0], r.place[:0]
	for i := range r.runs {
		part := &r.runs[i]
		root := r.root(i)
		r.place = append(r.place, len(r.patches))
		if root == i {
			r.patches = append(r.patches, patch{Blob: codec.Blob{Left: part.first, Right: part.last, Top: part.row, Bottom: part.row}})
		}
		p := &r.patches[r.place[root]]
		n := part.last - part.first + 1
		p.Area += n
		p.sumX += (part.first + part.last) * n
		p.sumY += part.row * n
		p.Left, p.Right, p.Bottom = min(p.Left, part.first), max(p.Right, part.last), part.row
	}
}
