// Package blobs finds blobs of colours in pictures: connected patches of pixels whose hue,
// saturation and value are in given ranges.
//
// A picture is processed in the colours of JPEG, YCbCr. One table gives the colours of a
// pixel as bits, so all 32 cost no more than one. Lone pixels are noise: their neighbours
// outvote them. The other pixels are joined to runs in each row, and touching runs of a
// colour to blobs.
package blobs

import (
	"image"
	"image/color"
	"slices"

	"player/codec"
	"player/codec/patches"
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
	runs        [channels]patches.Runs
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
	for i := range f.runs {
		f.runs[i].Diagonal = true
	}
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
		before := len(out.Blobs)
		out.Blobs = f.runs[channel].AppendBlobs(out.Blobs, func(b codec.Blob) bool {
			length := max(b.Right-b.Left, b.Bottom-b.Top) + 1
			return b.Area < least || float64(b.Area) < thin*float64(length)
		})
		out.Count[channel] = uint8(len(out.Blobs) - before)
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

// cut cuts the picture into runs.
func (f *Finder) cut(width, height int) {
	for _, channel := range f.channels {
		f.runs[channel].Reset()
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
					f.runs[channel].Add(y, first[channel], x-1)
				}
			}
			before = now
		}
		for _, channel := range f.channels {
			if before>>channel&1 != 0 {
				f.runs[channel].Add(y, first[channel], width-1)
			}
		}
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
