package stage

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/image/bmp"

	"player/devices/stage/floor"
	"player/formats/syntax"
	"player/formats/textfile"
)

const (
	// maxPixels bounds a floor plan: a picture of 4096 x 4096 takes up to 128
	// MB while it is read. A larger one is refused.
	maxPixels = 1 << 24
	// maxWalls bounds the walls of a floor plan: a million rectangles take 90
	// MB. A picture of noise has more and is refused.
	maxWalls = 1 << 20
	// maxMovingWalls bounds the rectangles of a moving picture: each ray near it is checked
	// against all of them. A picture with more becomes a box.
	maxMovingWalls = 256
	// maxUnpacked bounds the file in a gzip archive, in bytes: a picture of maxPixels with
	// three bytes each fits. A few kilobytes can unpack to gigabytes.
	maxUnpacked = 3*maxPixels + 1<<10
	// dark is the luminance, of 65535, below which a pixel is a wall.
	dark = 0x8000
)

// openFile opens a regular file on the disk. To open a pipe would wait for a writer
// that may never come.
func openFile(path string) (fs.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New(path + ": not a regular file")
	}
	return os.Open(path)
}

// floorPlan is a picture of walls as it was read.
type floorPlan struct {
	// walls are rectangles in pixels, counterclockwise; the picture's lower left corner is (0,0); nil without
	// a dark pixel.
	walls  [][]Vec
	dark   floor.Box // around the walls, in pixels
	size   Vec       // of the picture, in pixels
	placed *mapFile
}

// readBitmap reads a floor plan: a picture, or the map file of one.
func (l *loader) readBitmap(path string) (*floorPlan, error) {
	isWall := func(luminance uint32) bool { return luminance < dark }
	var placed *mapFile
	if ext := filepath.Ext(path); ext == ".yaml" || ext == ".yml" {
		data, err := l.readFile(path)
		if err != nil {
			return nil, err
		}
		if data, err = textfile.Clean(data); err == nil {
			placed, err = readMapFile(path, textfile.Lines(data))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		path, isWall = placed.Image, placed.isWall
	}
	data, err := l.readFile(path)
	if err != nil {
		return nil, err
	}
	picture, err := decodePicture(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	plan, err := trace(picture, isWall)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	plan.placed = placed
	return plan, nil
}

// readFile reads a file that belongs to the world.
func (l *loader) readFile(path string) ([]byte, error) {
	file, err := l.open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxUnpacked+1))
	if err == nil && len(data) > maxUnpacked {
		err = fmt.Errorf("%s: a file of more than %d MB", path, maxUnpacked>>20)
	}
	l.digest.Write(data)
	return data, err
}

// trace finds the walls of a floor plan, one rectangle for each run of wall pixels that is
// the same in a number of rows. The argument of isWall is the luminance of a pixel, 0 to
// 65535; transparent pixels are on white.
func trace(picture image.Image, isWall func(luminance uint32) bool) (*floorPlan, error) {
	bounds := picture.Bounds()
	plan := &floorPlan{dark: floor.BoxOf(), size: Vec{X: float64(bounds.Dx()), Y: float64(bounds.Dy())}}
	type run struct{ start, end, wall int } // wall is its rectangle's number
	var above, row []run
	for y := range bounds.Dy() {
		above, row = row, above[:0]
		// The top row of the picture is the far end of the floor.
		top := plan.size.Y - float64(y)
		start := -1
		for x := range bounds.Dx() + 1 {
			wall := x < bounds.Dx() && isWall(luminance(picture.At(bounds.Min.X+x, bounds.Min.Y+y)))
			switch {
			case wall && start < 0:
				start = x
			case !wall && start >= 0:
				left, right, bottom := float64(start), float64(x), top-1
				for len(above) > 0 && above[0].start < start {
					above = above[1:]
				}
				r := run{start, x, len(plan.walls)}
				if len(above) > 0 && above[0].start == start && above[0].end == x {
					r.wall = above[0].wall
					plan.walls[r.wall][0].Y, plan.walls[r.wall][1].Y = bottom, bottom
				} else {
					plan.walls = append(plan.walls,
						[]Vec{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
				}
				plan.dark.Include(Vec{X: left, Y: bottom}, Vec{X: right, Y: top})
				row, start = append(row, r), -1
			}
		}
		if len(plan.walls) > maxWalls {
			return nil, fmt.Errorf("too much detail: more than %d wall segments", maxWalls)
		}
	}
	return plan, nil
}

// stretch puts the walls where the box from, in pixels, has the given size in metres and
// is centred on the origin.
func (p *floorPlan) stretch(from floor.Box, size Vec) {
	extent, half := from.Size(), size.Scale(0.5)
	scale := Vec{X: size.X / extent.X, Y: size.Y / extent.Y}
	for _, outline := range p.walls {
		for i, v := range outline {
			v = v.Sub(from.Min)
			outline[i] = Vec{X: v.X*scale.X - half.X, Y: v.Y*scale.Y - half.Y}
		}
	}
}

// fitPlan scales the walls of a picture to size, by the field fit of s: the whole picture, or,
// as Stage does, the walls alone. If the two differ by a cell or more and s has no fit, it
// warns.
func (l *loader) fitPlan(s *syntax.Section, p *floorPlan, size Vec) {
	whole := floor.Box{Max: p.size}
	switch fit := s.String("fit", "walls"); fit {
	case "walls":
	case "picture":
		p.stretch(whole, size)
		return
	default:
		l.fail(s, "fit", `fit %.40q: write "walls" or "picture"`, fit)
	}
	if p.walls == nil {
		return
	}
	walls := p.dark.Size()
	factor := Vec{X: p.size.X / walls.X, Y: p.size.Y / walls.Y}
	moved := max(p.dark.Min.X/p.size.X*size.X, (p.size.X-p.dark.Max.X)/p.size.X*size.X,
		p.dark.Min.Y/p.size.Y*size.Y, (p.size.Y-p.dark.Max.Y)/p.size.Y*size.Y)
	if s.Field("fit") == nil && moved >= l.world.resolution {
		l.warn(s, `%s has a margin, and its walls are fitted to size as in Stage, %.3g by %.3g times as large as the whole picture would be: write fit "walls" or fit "picture"`,
			filepath.Base(s.Path("bitmap", "")), factor.X, factor.Y)
	}
	p.stretch(p.dark, size)
}

// decodePicture decodes a picture in a format that Stage reads. It may be compressed by gzip, like the
// pictures of Stage 1.
func decodePicture(data []byte) (image.Image, error) {
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		unpacked, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = io.ReadAll(io.LimitReader(unpacked, maxUnpacked+1))
		}
		if err != nil {
			return nil, err
		}
	}
	if len(data) > maxUnpacked {
		return nil, fmt.Errorf("more than %d MB unpacked", maxUnpacked>>20)
	}
	if len(data) >= 2 && data[0] == 'P' && data[1] >= '1' && data[1] <= '6' {
		return decodePNM(data[1], bufio.NewReader(bytes.NewReader(data[2:])))
	}
	for _, kind := range [...]struct {
		magic  string
		config func(io.Reader) (image.Config, error)
		decode func(io.Reader) (image.Image, error)
	}{
		{"\x89PNG", png.DecodeConfig, png.Decode},
		{"\xff\xd8", jpeg.DecodeConfig, jpeg.Decode},
		{"BM", bmp.DecodeConfig, bmp.Decode},
	} {
		if !bytes.HasPrefix(data, []byte(kind.magic)) {
			continue
		}
		config, err := kind.config(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if err := checkPixels(config.Width, config.Height); err != nil {
			return nil, err
		}
		return kind.decode(bytes.NewReader(data))
	}
	return nil, errors.New("a floor plan must be a PNG or PNM file, a BMP or JPEG, or the map.yaml of one; save a GIF as PNG")
}

// decodePNM reads the rest of a picture of netpbm behind P and its kind (pbm(5), pgm(5), ppm(5)):
// '1' and '4' are black and white, '2' and '5' grey, '3' and '6' coloured; up to '3' they
// are text.
func decodePNM(kind byte, file *bufio.Reader) (image.Image, error) {
	header := [3]int{2: 1} // width, height, largest sample
	fields := header[:]
	bits := kind == '1' || kind == '4'
	if bits {
		fields = header[:2]
	}
	for i := range fields {
		n, err := readNumber(file)
		if err != nil {
			return nil, fmt.Errorf("its header has width, height and largest sample: %w", err)
		}
		fields[i] = n
	}
	width, height, most := header[0], header[1], header[2]
	if err := checkPixels(width, height); err != nil {
		return nil, err
	}
	if most < 1 || most > math.MaxUint16 {
		return nil, fmt.Errorf("the largest sample is %d, not 1 to 65535", most)
	}
	column, octet := 0, byte(0) // of a row of packed bits
	sample := func() (int, error) {
		switch {
		case kind == '1': // digits need nothing between them
			c, err := nextByte(file)
			return int(1 - (c-'0')&1), err
		case kind <= '3':
			return readNumber(file)
		case kind == '4':
			var err error
			if column%8 == 0 {
				octet, err = file.ReadByte()
			}
			bit := 1 - octet>>7
			octet <<= 1
			column = (column + 1) % width
			return int(bit), err
		}
		high, low := byte(0), byte(0)
		var err error
		if most > math.MaxUint8 {
			high, err = file.ReadByte()
		}
		if err == nil {
			low, err = file.ReadByte()
		}
		return int(high)<<8 | int(low), err
	}
	grey := image.NewGray(image.Rect(0, 0, width, height))
	for i := range grey.Pix {
		var samples [3]int
		for k := range samples {
			if k > 0 && kind != '3' && kind != '6' {
				samples[k] = samples[0]
				continue
			}
			n, err := sample()
			if err != nil {
				return nil, fmt.Errorf("it ends at pixel %d of %d: %w", i, len(grey.Pix), err)
			}
			samples[k] = min(n, most) * math.MaxUint8 / most
		}
		grey.Pix[i] = uint8((299*samples[0] + 587*samples[1] + 114*samples[2]) / 1000)
	}
	return grey, nil
}

// nextByte returns the next byte that is neither white space nor in a comment.
func nextByte(file *bufio.Reader) (byte, error) {
	for comment := false; ; {
		c, err := file.ReadByte()
		switch {
		case err != nil:
			return 0, err
		case c == '#':
			comment = true
		case c == '\n' || c == '\r':
			comment = false
		case !comment && c != ' ' && c != '\t' && c != '\v' && c != '\f':
			return c, nil
		}
	}
}

// readNumber reads a number, and the one byte behind it.
func readNumber(file *bufio.Reader) (n int, err error) {
	c, err := nextByte(file)
	for digits := 0; err == nil; digits++ {
		switch {
		case c >= '0' && c <= '9' && digits < 9:
			n = 10*n + int(c-'0')
		case digits > 0 && (c < '0' || c > '9'):
			if c == '#' {
				_, err = file.ReadSlice('\n')
			}
			return n, err
		default:
			return 0, fmt.Errorf("%q is not a number", c)
		}
		if c, err = file.ReadByte(); err == io.EOF {
			return n, nil
		}
	}
	return 0, err
}

func checkPixels(width, height int) error {
	if width < 1 || height < 1 || width > maxPixels/height {
		return fmt.Errorf("%d x %d pixels, at most %d in all", width, height, maxPixels)
	}
	return nil
}

// luminance returns a colour's luminance, 0 to 65535.
func luminance(c color.Color) uint32 {
	r, g, b, a := c.RGBA()
	// Premultiplied: the background behind a transparent pixel is white.
	return (299*r+587*g+114*b)/1000 + (0xffff - a)
}
