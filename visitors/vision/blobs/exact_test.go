package blobs

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"player/codec"
	"player/e2e/must"
)

// plain returns a picture of one colour, without the losses of JPEG.
func plain(width, height int, ratio image.YCbCrSubsampleRatio) *image.YCbCr {
	m := image.NewYCbCr(image.Rect(0, 0, width, height), ratio)
	for i := range m.Y {
		m.Y[i] = 128
	}
	for i := range m.Cb {
		m.Cb[i], m.Cr[i] = 128, 128
	}
	return m
}

// fill paints a box of a picture.
func fill(m *image.YCbCr, box image.Rectangle, c color.RGBA) {
	y, u, v := color.RGBToYCbCr(c.R, c.G, c.B)
	for py := box.Min.Y; py < box.Max.Y; py++ {
		for px := box.Min.X; px < box.Max.X; px++ {
			m.Y[m.YOffset(px, py)], m.Cb[m.COffset(px, py)], m.Cr[m.COffset(px, py)] = y, u, v
		}
	}
}

var (
	red    = color.RGBA{230, 30, 30, 255}
	orange = color.RGBA{240, 130, 20, 255}
	blue   = color.RGBA{30, 60, 230, 255}
)

// colored are three colours: the second has the hues of the first also.
var colored = []Color{
	{Name: "red", Channel: 3, Hue: Range{345, 15}, Saturation: Range{50, 100}, Value: Range{30, 100}},
	{Name: "warm", Channel: 31, Hue: Range{330, 60}, Saturation: Range{50, 100}, Value: Range{30, 100}},
	{Name: "blue", Channel: 0, Hue: Range{210, 250}, Saturation: Range{50, 100}, Value: Range{30, 100}},
}

func newFinder(t *testing.T, colors ...Color) *Finder {
	t.Helper()
	return must.Get(NewFinder(colors))(t)
}

// Boxes are reported as they are, however a picture samples its colours, also at its edges,
// and in each channel that has their colour.
func TestBoxes(t *testing.T) {
	f := newFinder(t, colored...)
	for _, ratio := range []image.YCbCrSubsampleRatio{image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420, image.YCbCrSubsampleRatio440} {
		for _, box := range []image.Rectangle{image.Rect(20, 30, 40, 60), image.Rect(0, 0, 10, 8), image.Rect(310, 200, 320, 240), image.Rect(0, 0, 320, 240)} {
			m := plain(320, 240, ratio)
			fill(m, box, red)
			var d codec.VisionData
			f.Find(m, &d)
			// The vote removes the four corners of a box within the picture.
			corners := 0
			for _, edge := range []bool{box.Min.X > 0 && box.Min.Y > 0, box.Min.X > 0 && box.Max.Y < 240, box.Max.X < 320 && box.Min.Y > 0, box.Max.X < 320 && box.Max.Y < 240} {
				if edge {
					corners++
				}
			}
			for _, channel := range []int{3, 31} {
				got := d.Channel(channel)
				if len(got) != 1 || got[0].Left != box.Min.X || got[0].Right != box.Max.X-1 || got[0].Top != box.Min.Y || got[0].Bottom != box.Max.Y-1 ||
					got[0].Area != box.Dx()*box.Dy() && got[0].Area != box.Dx()*box.Dy()-corners ||
					abs(2*got[0].X-box.Min.X-box.Max.X) > 1 || abs(2*got[0].Y-box.Min.Y-box.Max.Y) > 1 {
					t.Errorf("%v, %v, channel %d: %+v", ratio, box, channel, got)
				}
			}
			if len(d.Channel(0)) > 0 {
				t.Errorf("%v: blue %+v", box, d.Channel(0))
			}
		}
	}
}

// Patches that touch are one blob, also if they touch late or at corners; separate patches are
// several. Lone pixels and lines are none.
func TestShapes(t *testing.T) {
	f := newFinder(t, colored...)
	m := plain(320, 240, image.YCbCrSubsampleRatio444)
	for _, box := range []image.Rectangle{
		image.Rect(10, 10, 20, 60), image.Rect(40, 10, 50, 60), image.Rect(10, 60, 50, 70), // a U
		image.Rect(100, 100, 110, 110), image.Rect(110, 110, 120, 120), // a stair: its corners are voted together
		image.Rect(200, 100, 210, 110), image.Rect(213, 100, 223, 110), // two
		image.Rect(5, 200, 6, 201), image.Rect(100, 200, 300, 202), // a pixel, and a line
	} {
		fill(m, box, red)
	}
	fill(m, image.Rect(250, 50, 260, 60), orange)
	fill(m, image.Rect(260, 50, 270, 60), red)
	var d codec.VisionData
	f.Find(m, &d)
	var areas []int
	for _, b := range d.Channel(3) {
		areas = append(areas, b.Area)
	}
	if len(areas) != 5 || areas[0] < 1390 || areas[0] > 1400 || areas[1] < 190 || areas[1] > 200 {
		t.Errorf("areas of red %v", areas)
	}
	if warm := d.Channel(31); len(warm) != 5 || !slices.ContainsFunc(warm, func(b codec.Blob) bool { return b.Left == 250 && b.Right == 269 }) {
		t.Errorf("warm %+v", warm)
	}
}

// If there are more blobs than fit in a packet, the largest are reported. A picture without
// any, or without colours to find, reports none.
func TestTen(t *testing.T) {
	f := newFinder(t, colored...)
	m := plain(320, 240, image.YCbCrSubsampleRatio420)
	for i := range 12 {
		fill(m, image.Rect(20*i, 20, 20*i+8, 28+2*i), blue)
	}
	var d codec.VisionData
	f.Find(m, &d)
	if got := d.Channel(0); len(got) != codec.MaxBlobs || got[0].Left != 220 || got[9].Left != 40 {
		t.Errorf("%+v", got)
	}
	newFinder(t).Find(m, &d)
	if len(d.Blobs) != 0 || d.Count != [32]uint8{} {
		t.Errorf("without colours %+v", d)
	}
	f.Find(plain(320, 240, image.YCbCrSubsampleRatio420), &d)
	if len(d.Blobs) != 0 {
		t.Errorf("without things %+v", d)
	}
}

func TestFindAllocatesNothing(t *testing.T) {
	f := newFinder(t, colored...)
	m := plain(320, 240, image.YCbCrSubsampleRatio420)
	fill(m, image.Rect(20, 20, 60, 60), blue)
	var d codec.VisionData
	f.Find(m, &d)
	if n := testing.AllocsPerRun(10, func() { f.Find(m, &d) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestScale(t *testing.T) {
	d := codec.VisionData{Blobs: []codec.Blob{{Area: 400, X: 639, Y: 479, Left: 0, Right: 639, Top: 2, Bottom: 479}, {Area: 3}}}
	Scale(&d, image.Pt(640, 480))
	if want := []codec.Blob{{Area: 25, X: 159, Y: 119, Left: 0, Right: 159, Top: 0, Bottom: 119}, {Area: 1}}; !slices.Equal(d.Blobs, want) {
		t.Errorf("%+v", d.Blobs)
	}
}

// Pictures of USB cameras have no Huffman tables.
func TestDecodeWithoutTables(t *testing.T) {
	m := plain(64, 48, image.YCbCrSubsampleRatio420)
	fill(m, image.Rect(10, 10, 40, 30), red)
	whole := encode(m)
	tables, err := segments(whole, huffmanTables)
	if err != nil || len(tables) < 400 {
		t.Fatalf("%d bytes of tables: %v", len(tables), err)
	}
	bare := bytes.Replace(whole, tables, nil, 1)
	if _, err := jpeg.Decode(bytes.NewReader(bare)); err == nil {
		t.Fatal("the tables are still there")
	}
	want := must.Get(Decode(whole))(t)
	got, err := Decode(bare)
	if err != nil || !bytes.Equal(got.Y, want.Y) || !bytes.Equal(got.Cb, want.Cb) {
		t.Errorf("another picture, or %v", err)
	}
	for n := range bare {
		if _, err := Decode(bare[:n]); err == nil && n < len(bare)/2 {
			t.Errorf("%d bytes of it are a picture", n)
		}
	}
	if _, err := Decode(encode(image.NewGray(image.Rect(0, 0, 8, 8)))); err == nil || !strings.Contains(err.Error(), "YCbCr") {
		t.Errorf("a grey picture: %v", err)
	}
}

func TestCalibrated(t *testing.T) {
	var samples []color.YCbCr
	for _, c := range []color.RGBA{{230, 30, 40, 255}, {230, 40, 30, 255}, {200, 28, 28, 255}} { // hues around 0
		y, u, v := color.RGBToYCbCr(c.R, c.G, c.B)
		samples = append(samples, color.YCbCr{Y: y, Cb: u, Cr: v})
	}
	c := Calibrated("ball", 2, samples)
	if c.Name != "ball" || c.Channel != 2 || c.Hue.Low < 338 || c.Hue.High > 22 || c.Hue.High < 8 || c.Hue.Low > 352 ||
		c.Saturation.Low < 45 || c.Saturation.Low > 60 || c.Saturation.High != 100 || c.Value.Low < 30 || c.Value.Low > 40 || c.Value.High != 100 {
		t.Errorf("%+v", c)
	}
	for _, s := range samples {
		if !c.has(hsvOf(s)) {
			t.Errorf("it has not its sample %v", s)
		}
	}
}

func TestWidened(t *testing.T) {
	for _, tt := range []struct{ a, b, want Range }{
		{Range{10, 20}, Range{30, 40}, Range{10, 40}},
		{Range{30, 40}, Range{10, 20}, Range{10, 40}},
		{Range{350, 10}, Range{5, 20}, Range{350, 20}},
		{Range{350, 10}, Range{340, 355}, Range{340, 10}},
		{Range{350, 10}, Range{0, 5}, Range{350, 10}},
		{Range{0, 200}, Range{190, 10}, Range{0, 359}},
	} {
		if got := (Color{Hue: tt.a}).Widened(Color{Hue: tt.b}).Hue; got != tt.want {
			t.Errorf("%v and %v: %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
	a, b := Color{Name: "a", Saturation: Range{50, 90}, Value: Range{20, 80}}, Color{Name: "b", Saturation: Range{40, 95}, Value: Range{30, 100}}
	if got := a.Widened(b); got.Name != "a" || got.Saturation != (Range{40, 95}) || got.Value != (Range{20, 100}) {
		t.Errorf("%+v", got)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "colors.cfg")
	colors := []Color{{"ball", 0, Range{350, 12}, Range{50, 100}, Range{30, 90}}, {"the goal", 31, Range{200, 250}, Range{0, 100}, Range{1, 2}}}
	must.Do(t, WriteColors(path, colors))
	got, err := ReadColors(path)
	if err != nil || !slices.Equal(got, colors) {
		t.Errorf("%+v: %v", got, err)
	}
	if rest, err := filepath.Glob(path + ".*"); err != nil || len(rest) > 0 {
		t.Errorf("it leaves %v", rest)
	}
	for text, want := range map[string]string{
		`color ( name "a" channel 0 hue [0 360] )`:                         "whole numbers from 0 to 359",
		`color ( name "a" channel 0 hue [1.5 3] )`:                         "whole numbers from 0 to 359",
		`color ( name "a" channel 0 value [50 20] )`:                       "whole numbers from 0 to 100",
		`color ( name "a" channel 0 value [5 6 7] )`:                       "color",
		`color ( name "a" )`:                                               "channels are 0 to 31",
		`color ( name "a" channel 32 )`:                                    "channels are 0 to 31",
		`color ( name "a" channel 1 ) color ( name "b" channel 1 )`:        "same channel 1",
		`color ( name "a" channel 1 colour "red" )`:                        "not used",
		`color ( name 'a"b' channel 1 )`:                                   "no quotes",
		`color ( name "a" channel 1`:                                       "colors.cfg:1",
		"color ( name \"a\" channel 40 )\ncolor ( channel 2 hue [0 400] )": "colors.cfg:2",
	} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		if got, err := ReadColors(path); err == nil || !strings.Contains(err.Error(), want) || got != nil {
			t.Errorf("%s: %+v, %v, want %q", text, got, err, want)
		}
	}
}

// TestDecodeRefusesHugePictures: a small picture that claims the largest size in its header
// would take gigabytes.
func TestDecodeRefusesHugePictures(t *testing.T) {
	picture := encode(image.NewYCbCr(image.Rect(0, 0, 8, 8), image.YCbCrSubsampleRatio420))
	at := bytes.Index(picture, []byte{0xFF, 0xC0}) // start of frame: size, precision, height, width (T.81, B.2.2)
	copy(picture[at+5:], []byte{0xFF, 0xFF, 0xFF, 0xFF})
	if _, err := Decode(picture); err == nil || !strings.Contains(err.Error(), "65535 x 65535") {
		t.Errorf("a picture of 65535 x 65535 pixels: %v", err)
	}
}
