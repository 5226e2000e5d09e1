package stage

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

const (
	// maxPixels bounds a floor plan: a picture of 4096 x 4096 takes up to 128
	// MB while it is read. A larger one is refused.
	maxPixels = 1 << 24
	// maxWalls bounds the walls of a floor plan: a million rectangles take 90
	// MB. A picture of noise has more and is refused.
	maxWalls = 1 << 20
	// maxMovingWalls bounds the rectangles of a picture that moves: each ray that comes
	// near it checks them one by one. A picture with more becomes a box.
	maxMovingWalls = 256
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

// readBitmap reads the floor plan of a world.
func (l *loader) readBitmap(path string, size Vec) ([][]Vec, error) {
	file, err := l.open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	picture := file.(io.ReadSeeker) // files of os and embed can seek
	_, err = io.Copy(l.digest, picture)
	if err == nil {
		_, err = picture.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, err
	}
	walls, err := decodeBitmap(picture, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return walls, nil
}

// decodeBitmap reads a floor plan from a picture: dark pixels are walls, light
// and transparent ones are free. It returns the walls as rectangles, one for
// each run of dark pixels that is the same in a number of rows. In their frame the
// picture is centred on the origin and has the given size; with size zero, its lower
// left corner is at the origin and a pixel has the side 1.
func decodeBitmap(file io.ReadSeeker, size Vec) ([][]Vec, error) {
	picture, err := decodePicture(file)
	if err != nil {
		return nil, err
	}
	bounds := picture.Bounds()
	centre := size.scale(0.5)
	if size == (Vec{}) {
		size = Vec{float64(bounds.Dx()), float64(bounds.Dy())}
	}
	scale := Vec{size.X / float64(bounds.Dx()), size.Y / float64(bounds.Dy())}
	type run struct{ start, end, wall int } // wall is its rectangle's number
	var walls [][]Vec
	var above, row []run
	for y := range bounds.Dy() {
		above, row = row, above[:0]
		// The top row of the picture is the far end of the floor.
		top := size.Y - centre.Y - float64(y)*scale.Y
		start := -1
		for x := range bounds.Dx() + 1 {
			wall := x < bounds.Dx() && isWall(picture.At(bounds.Min.X+x, bounds.Min.Y+y))
			switch {
			case wall && start < 0:
				start = x
			case !wall && start >= 0:
				left, right, bottom := float64(start)*scale.X-centre.X, float64(x)*scale.X-centre.X, top-scale.Y
				for len(above) > 0 && above[0].start < start {
					above = above[1:]
				}
				r := run{start, x, len(walls)}
				if len(above) > 0 && above[0].start == start && above[0].end == x {
					r.wall = above[0].wall
					walls[r.wall][0].Y, walls[r.wall][1].Y = bottom, bottom
				} else {
					walls = append(walls, []Vec{{left, bottom}, {right, bottom}, {right, top}, {left, top}})
				}
				row, start = append(row, r), -1
			}
		}
		if len(walls) > maxWalls {
			return nil, fmt.Errorf("too much detail: more than %d wall segments", maxWalls)
		}
	}
	if walls == nil {
		return nil, errors.New("no dark pixel: draw walls dark on light")
	}
	return walls, nil
}

// decodePicture reads a PNG file, or a PGM file with a byte for each pixel, as the
// worlds of Stage 1 have (netpbm.sourceforge.net/doc/pgm.html).
func decodePicture(file io.ReadSeeker) (image.Image, error) {
	magic := make([]byte, 2)
	if _, err := io.ReadFull(file, magic); err != nil {
		return nil, fmt.Errorf("%w: a floor plan must be a PNG or PGM file", err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if string(magic) == "P5" {
		return decodePGM(bufio.NewReader(file))
	}
	config, err := png.DecodeConfig(file)
	if err != nil {
		return nil, fmt.Errorf("%w: a floor plan must be a PNG or PGM file", err)
	}
	if err := checkPixels(config.Width, config.Height); err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return png.Decode(file)
}

func decodePGM(file *bufio.Reader) (image.Image, error) {
	// One byte ends the header. A line is longer than the buffer in no real file.
	var words []string
	for range 3 {
		line, err := file.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		words = append(words, strings.Fields(string(line))...)
	}
	if len(words) != 4 || words[3] != "255" {
		return nil, errors.New("a PGM file must begin with P5, width and height, and 255, on three lines without comments")
	}
	width, errWidth := strconv.Atoi(words[1])
	height, errHeight := strconv.Atoi(words[2])
	if err := errors.Join(errWidth, errHeight); err != nil {
		return nil, err
	}
	if err := checkPixels(width, height); err != nil {
		return nil, err
	}
	grey := image.NewGray(image.Rect(0, 0, width, height))
	_, err := io.ReadFull(file, grey.Pix)
	return grey, err
}

func checkPixels(width, height int) error {
	if width < 1 || height < 1 || width > maxPixels/height {
		return fmt.Errorf("%d x %d pixels, at most %d in all", width, height, maxPixels)
	}
	return nil
}

func isWall(c color.Color) bool {
	r, g, b, a := c.RGBA()
	// Premultiplied: the background behind a transparent pixel is white.
	return (299*r+587*g+114*b)/1000+(0xffff-a) < dark
}
