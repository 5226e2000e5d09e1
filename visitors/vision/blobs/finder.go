// Package blobs finds blobs of colours in pictures: connected patches of pixels whose hue,
// saturation and value are in given ranges.
//
// A picture is processed in the colours of JPEG, YCbCr. One table gives the colours of a
// pixel as bits, so all 32 cost no more than one. Lone pixels are noise: their neighbours
// outvote them. The other pixels are joined to runs in each row, and touching runs of a
// colour to blobs.
package blobs

import (
	"cmp"
	"image"
	"image/color"
	"slices"

	"player/codec"
)

const (
	channels = codec.VisionChannels
	// smallest is the least size of a blob, as a part of the picture: 15 pixels of 320x240.
	// Smaller patches are mostly noise, and a blob of 40 pixels is still larger when noise
	// and blur have taken its edges.
	smallest = 1.0 / 5000
	// thin is how thick a blob is at least, its area by its longer side, in pixels. Where a
	// red thing and a green one meet, a camera shows a line of yellow: the colours of JPEG
	// are 2 pixels wide.
	thin = 2.5
	// Width and Height are the size of an image of ACTS. Vision reports blobs in its pixels
	// (PROTOCOL 7.7): larger coordinates do not fit a byte.
	Width, Height = 160, 120
)

// Finder finds blobs. It keeps its buffers between pictures. One goroutine uses it.
type Finder struct {
	table    []uint32 // bits of the channels of each colour: see tableIndex
	channels []int    // of the colours, in order

	bits, voted []uint32 // of each pixel
	runs        [channels][]run
	rows        [channels]int // first run of the row being scanned
	above       [channels]int // first run of the row above
	patches     []patch
	place       []int // index of a root run's patch
}

// run is a run of pixels of one colour in a row.
type run struct {
	row, first, last int
	root             int // index of a run that represents the blob, or of one nearer to it
}

// patch is a blob under construction.
type patch struct {
	codec.Blob
	sumX, sumY int // sumX is twice the sum
}

// NewFinder returns a finder of colours. The error names the colours that cannot be found.
func NewFinder(colors []Color) (*Finder, error) {
	if err := check(colors); err != nil {
		return nil, err
	}
	f := &Finder{table: make([]uint32, 1<<(lightBits+2*tintBits))}
	for _, c := range colors {
		f.channels = append(f.channels, c.Channel)
	}
	slices.Sort(f.channels)
	for y := 0; y < 256; y += lightStep {
		for u := 0; u < 256; u += tintStep {
			for v := 0; v < 256; v += tintStep {
				pixel := hsvOf(color.YCbCr{Y: uint8(y + lightStep/2), Cb: uint8(u + tintStep/2), Cr: uint8(v + tintStep/2)})
				for i := range colors {
					if colors[i].has(pixel) {
						f.table[tableIndex(uint8(y), uint8(u), uint8(v))] |= 1 << colors[i].Channel
					}
				}
			}
		}
	}
	return f, nil
}

// The table has the upper bits of the components of a pixel: half a megabyte, of which a
// picture uses little, so that it stays in the caches of small processors.
const (
	lightBits, tintBits = 5, 6
	lightStep, tintStep = 256 >> lightBits, 256 >> tintBits
)

func tableIndex(y, u, v uint8) int {
	return (int(u)/tintStep<<tintBits|int(v)/tintStep)<<lightBits | int(y)/lightStep
}

// Find finds the blobs of a picture, at most [codec.MaxBlobs] of each channel, largest
// first, in pixels of the picture.
func (f *Finder) Find(m *image.YCbCr, out *codec.VisionData) {
	size := m.Rect.Size()
	f.classify(m)
	f.vote(size.X, size.Y)
	f.cut(size.X, size.Y)
	out.Count, out.Blobs = [channels]uint8{}, out.Blobs[:0]
	least := int(float64(size.X*size.Y) * smallest)
	for _, channel := range f.channels {
		f.gather(f.runs[channel])
		f.patches = slices.DeleteFunc(f.patches, func(p patch) bool {
			length := max(p.Right-p.Left, p.Bottom-p.Top) + 1
			return p.Area < least || float64(p.Area) < thin*float64(length)
		})
		slices.SortFunc(f.patches, func(a, b patch) int {
			return cmp.Or(cmp.Compare(b.Area, a.Area), cmp.Compare(a.Left, b.Left), cmp.Compare(a.Top, b.Top))
		})
		for _, p := range f.patches[:min(len(f.patches), codec.MaxBlobs)] {
			p.X, p.Y = (p.sumX/2+p.Area/2)/p.Area, (p.sumY+p.Area/2)/p.Area
			out.Count[channel]++
			out.Blobs = append(out.Blobs, p.Blob)
		}
	}
}

// classify gives each pixel the bits of its colours.
func (f *Finder) classify(m *image.YCbCr) {
	size := m.Rect.Size()
	f.bits = slices.Grow(f.bits[:0], size.X*size.Y)[:size.X*size.Y]
	for y := range size.Y {
		row := f.bits[y*size.X:][:size.X]
		light := m.Y[m.YOffset(m.Rect.Min.X, m.Rect.Min.Y+y):][:size.X]
		switch m.SubsampleRatio {
		case image.YCbCrSubsampleRatio420, image.YCbCrSubsampleRatio422:
			// The usual ones: two pixels have one colour.
			at := m.COffset(m.Rect.Min.X, m.Rect.Min.Y+y)
			us, vs := m.Cb[at:], m.Cr[at:]
			odd := m.Rect.Min.X & 1
			for x := range row {
				c := (x + odd) / 2
				row[x] = f.table[tableIndex(light[x], us[c], vs[c])]
			}
		default:
			for x := range row {
				c := m.COffset(m.Rect.Min.X+x, m.Rect.Min.Y+y)
				row[x] = f.table[tableIndex(light[x], m.Cb[c], m.Cr[c])]
			}
		}
	}
}

// majority returns the bits that most of three have.
func majority(a, b, c uint32) uint32 { return a&b | c&(a|b) }

// vote sets each pixel to the bits that most pixels have among it and its neighbours in the
// row, and then in the column: for all colours at once. Lone pixels and holes vanish. Pixels
// beyond the edge count as the pixels at the edge.
func (f *Finder) vote(width, height int) {
	f.voted = slices.Grow(f.voted[:0], width*height)[:width*height]
	for y := range height {
		row := f.bits[y*width:][:width]
		before := row[0]
		for x := range width - 1 {
			now := row[x]
			row[x] = majority(before, now, row[x+1])
			before = now
		}
	}
	for y := range height {
		up, row, down := f.bits[max(0, y-1)*width:][:width], f.bits[y*width:][:width], f.bits[min(y+1, height-1)*width:][:width]
		to := f.voted[y*width:][:width]
		for x := range to {
			to[x] = majority(up[x], row[x], down[x])
		}
	}
}

// cut cuts the picture into runs, and joins each with those that it touches in the row
// above. A root comes before the runs that it represents.
func (f *Finder) cut(width, height int) {
	for _, channel := range f.channels {
		f.runs[channel] = f.runs[channel][:0]
		f.rows[channel], f.above[channel] = 0, 0
	}
	var first [channels]int
	for y := range height {
		row := f.voted[y*width:][:width]
		before := uint32(0)
		for x, now := range row {
			if now == before {
				continue
			}
			for _, channel := range f.channels {
				switch bit := uint32(1) << channel; {
				case now&^before&bit != 0:
					first[channel] = x
				case before&^now&bit != 0:
					f.add(channel, y, first[channel], x-1)
				}
			}
			before = now
		}
		for _, channel := range f.channels {
			if before>>channel&1 != 0 {
				f.add(channel, y, first[channel], width-1)
			}
			f.above[channel], f.rows[channel] = f.rows[channel], len(f.runs[channel])
		}
	}
}

func (f *Finder) add(channel, row, first, last int) {
	i := len(f.runs[channel])
	runs := append(f.runs[channel], run{row, first, last, i})
	f.runs[channel] = runs
	for above := f.above[channel]; above < f.rows[channel]; above++ {
		switch up := runs[above]; {
		case up.first > last+1:
			return
		case up.last+1 < first:
			f.above[channel] = above + 1 // further runs of this row are farther to the right
		default:
			join(runs, i, above)
		}
	}
}

func root(runs []run, i int) int {
	for runs[i].root != i {
		runs[i].root = runs[runs[i].root].root
		i = runs[i].root
	}
	return i
}

func join(runs []run, a, b int) {
	a, b = root(runs, a), root(runs, b)
	runs[max(a, b)].root = min(a, b)
}

func (f *Finder) gather(runs []run) {
	f.patches, f.place = f.patches[:0], f.place[:0]
	for i, r := range runs {
		first := root(runs, i)
		f.place = append(f.place, len(f.patches))
		if first == i {
			f.patches = append(f.patches, patch{Blob: codec.Blob{Left: r.first, Right: r.last, Top: r.row, Bottom: r.row}})
		}
		p := &f.patches[f.place[first]]
		n := r.last - r.first + 1
		p.Area += n
		p.sumX += (r.first + r.last) * n
		p.sumY += r.row * n
		p.Left, p.Right, p.Bottom = min(p.Left, r.first), max(p.Right, r.last), r.row
	}
}

// Scale converts blobs of a picture of that size into blobs of an image of [Width] by [Height]
// pixels. A blob keeps at least one pixel.
func Scale(d *codec.VisionData, size image.Point) {
	for i := range d.Blobs {
		b := &d.Blobs[i]
		for _, x := range []*int{&b.X, &b.Left, &b.Right} {
			*x = *x * Width / size.X
		}
		for _, y := range []*int{&b.Y, &b.Top, &b.Bottom} {
			*y = *y * Height / size.Y
		}
		b.Area = max(1, (b.Area*Width*Height+size.X*size.Y/2)/(size.X*size.Y))
	}
}
