package pictures

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"slices"
	"testing"

	"player/e2e/must"
)

// draw returns a picture of one colour with some noise.
func draw(tb testing.TB, shade uint8, width, height int) []byte {
	tb.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = shade + uint8(i*i%97)
	}
	m.Set(0, 0, color.White)
	var b bytes.Buffer
	must.Do(tb, jpeg.Encode(&b, m, nil))
	return b.Bytes()
}

// withThumbnail returns a picture with another one in a segment of it, as cameras write
// them, and with fill bytes before a marker.
func withThumbnail(picture, thumbnail []byte) []byte {
	n := len(thumbnail) + 2
	return slices.Concat(picture[:2], []byte{0xFF, 0xFF, 0xE1, byte(n >> 8), byte(n)}, thumbnail, picture[2:])
}

// split returns copies of the pictures in parts of a stream.
func split(s *Splitter, parts ...[]byte) (pictures [][]byte, err error) {
	for _, in := range parts {
		for {
			picture, rest, err := s.Next(in)
			if err != nil {
				return pictures, err
			}
			if picture == nil {
				break
			}
			pictures = append(pictures, picture)
			in = rest
		}
	}
	return pictures, nil
}

func equal(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

// Pictures are found in the output of programs and HTTP servers, wherever the bytes are cut.
func TestSplit(t *testing.T) {
	small, other := draw(t, 10, 8, 8), draw(t, 90, 24, 16)
	nested := withThumbnail(other, small)
	const header = "\r\n--frame\r\nContent-Type: image/jpeg\r\nContent-Length: 12\r\n\r\n"
	for name, tt := range map[string]struct {
		stream []byte
		want   [][]byte
		broken uint64
	}{
		"one":          {small, [][]byte{small}, 0},
		"back to back": {slices.Concat(small, other, small), [][]byte{small, other, small}, 0},
		"thumbnail":    {slices.Concat(nested, small), [][]byte{nested, small}, 0},
		"parts":        {slices.Concat([]byte(header), small, []byte(header), other, []byte("\r\n")), [][]byte{small, other}, 0},
		"cut start":    {slices.Concat(small[len(small)/2:], other), [][]byte{other}, 0},
		"cut end":      {slices.Concat(small[:len(small)-9], other), [][]byte{other}, 1},
		"cut header":   {slices.Concat(small[:2], other), [][]byte{other}, 1},
		"empty":        {slices.Concat([]byte{0xFF, 0xD8, 0xFF, 0xD9}, other), [][]byte{other}, 1},
		"prefixes":     {slices.Concat([]byte{0xFF, 0xFF, 0xFF}, other), [][]byte{other}, 0},
		"bad length":   {slices.Concat([]byte{0xFF, 0xD8, 0xFF, 0xE0, 0, 1}, other), [][]byte{other}, 1},
	} {
		for cut := range tt.stream {
			var s Splitter
			got, err := split(&s, tt.stream[:cut], tt.stream[cut:])
			if err != nil || !equal(got, tt.want) || s.Broken != tt.broken {
				t.Fatalf("%s, cut at %d: %d pictures, want %d; %d broken, want %d; %v", name, cut, len(got), len(tt.want), s.Broken, tt.broken, err)
			}
		}
	}
}

// A picture that is too large is dropped; the next one is found.
func TestTooLarge(t *testing.T) {
	small := draw(t, 10, 8, 8)
	large := slices.Concat(small[:len(small)-2], make([]byte, MaxPicture), small[len(small)-2:])
	var s Splitter
	if got, err := split(&s, small, large, small); err != nil || !equal(got, [][]byte{small, small}) || s.Broken != 1 {
		t.Errorf("%d pictures, %d broken: %v", len(got), s.Broken, err)
	}
	fits := slices.Concat(small[:len(small)-2], make([]byte, MaxPicture-len(small)), small[len(small)-2:])
	if got, err := split(&s, fits); err != nil || !equal(got, [][]byte{fits}) {
		t.Errorf("a picture of %d bytes: %d pictures: %v", len(fits), len(got), err)
	}
}

func TestRubbish(t *testing.T) {
	rubbish := bytes.Repeat([]byte("this is no picture\n"), maxRubbish/19+1)
	if _, err := split(&Splitter{}, rubbish[:maxRubbish]); err != nil {
		t.Errorf("%d bytes: %v", maxRubbish, err)
	}
	if _, err := split(&Splitter{}, rubbish[:maxRubbish+1]); !errors.Is(err, ErrRubbish) {
		t.Errorf("%d bytes: %v, want %v", maxRubbish+1, err, ErrRubbish)
	}
}

// The pictures do not depend on where the bytes are cut, and are complete and bounded.
func FuzzSplit(f *testing.F) {
	small := draw(f, 10, 8, 8)
	f.Add(small, uint16(7))
	f.Add(withThumbnail(small, small), uint16(1))
	f.Add([]byte{0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 0xFF, 0xD0, 0xFF, 0, 0xFF, 0xD9}, uint16(3))
	f.Fuzz(func(t *testing.T, in []byte, size uint16) {
		var whole, cut Splitter
		want, err := split(&whole, in)
		got, errCut := split(&cut, slices.Collect(slices.Chunk(in, max(int(size), 1)))...)
		if err != nil || errCut != nil { // only of more than maxRubbish bytes
			return
		}
		if !equal(got, want) || whole.Broken != cut.Broken {
			t.Fatalf("%d pictures whole, %d in pieces of %d", len(want), len(got), size)
		}
		for _, picture := range want {
			if len(picture) > MaxPicture || !bytes.HasPrefix(picture, []byte{0xFF, 0xD8, 0xFF}) || !bytes.HasSuffix(picture, []byte{0xFF, 0xD9}) {
				t.Fatalf("%d bytes are no picture", len(picture))
			}
		}
	})
}
