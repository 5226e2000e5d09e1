package stage

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/bmp"

	"player/e2e/acceptance"
	"player/e2e/must"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must.Get(w.Write([]byte(text)))(t)
	must.Do(t, w.Close())
	return b.String()
}

// Every kind of netpbm's files, with comments where they may be; black, white, white in
// the first row and white, black, black in the second.
func TestPicturesOfNetpbm(t *testing.T) {
	acceptance.Alone(t)
	for name, text := range map[string]string{
		"pbm text":          "P1\n3 2\n1 0 0\n0 1 1\n",
		"pbm digits":        "P1 # by hand\n3 2\n100\n011\n",
		"pgm text":          "P2\n3 2 15\n0 15 15 # first row\n15 0 0",
		"ppm text":          "P3\n3 2\n255\n0 0 0 255 255 255 255 255 255\n255 255 255 0 0 0 0 0 0\n",
		"pbm":               "P4\n3 2\n\x80\x60",
		"pgm":               "P5\n3 2\n255\n\x00\xff\xff\xff\x00\x00",
		"pgm of map_saver":  "P5\n# CREATOR: map_saver.cpp 0.050 m/pix\n3 2\n255\n\x00\xfe\xfe\xfe\x00\x00",
		"pgm of GIMP":       "P5\n# Created by GIMP version 2.10.34 PNM plug-in\n3 2\n255\n\x00\xff\xff\xff\x00\x00",
		"comment in line":   "P5 3#wide\n2 #high\n255\n\x00\xff\xff\xff\x00\x00",
		"pgm of two bytes":  "P5\n3 2\n65535\n\x00\x00\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00",
		"ppm":               "P6\n3 2\n255\n\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00",
		"pgm, zipped":       zipped(t, "P5\n3 2\n255\n\x00\xff\xff\xff\x00\x00"),
		"windows' newlines": "P2\r\n3 2\r\n255\r\n0 255 255\r\n255 0 0\r\n",
	} {
		picture, err := decodePicture([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got string
		for y := range 2 {
			for x := range 3 {
				got += fmt.Sprint(color.GrayModel.Convert(picture.At(x, y)).(color.Gray).Y/128, " ")
			}
		}
		if b := picture.Bounds(); b.Dx() != 3 || b.Dy() != 2 || got != "0 1 1 1 0 0 " {
			t.Errorf("%s: %v, %s", name, b, got)
		}
	}
	for text, want := range map[string]string{
		"P5\n2 2\n70000\n12345678":  "1 to 65535",
		"P5\n2 2\n0\n1234":          "1 to 65535",
		"P5\n90000 90000\n255\n123": "at most",
		"P5\n0 2\n255\n123":         "at most",
		"P5\n2 2\n255\n123":         "pixel 3 of 4",
		"P2\n2 2\n255\n1 2 x":       "not a number",
		"P5\n2":                     "width, height",
		"P5\n":                      "width, height",
		"GIF89a":                    "save a GIF as PNG",
		"RIFF":                      "map.yaml",
		"\x1f\x8bno":                "EOF",
		zipped(t, strings.Repeat("0", maxUnpacked+1000)): "unpacked",
	} {
		_, err := decodePicture([]byte(text))
		refused(t, fmt.Sprintf("%.20q", text), err, want)
	}
}

// hugePNG returns the beginning of a PNG file of 16-bit colours with transparency: its
// header, and the begin of the data.
func hugePNG(width, height uint32) string {
	size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	text := "\x89PNG\r\n\x1a\n"
	for _, chunk := range []string{"IHDR" + string(size) + "\x10\x06\x00\x00\x00", "IDAT\x78\x9c"} {
		length := binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-4))
		sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(chunk)))
		text += string(length) + chunk + string(sum)
	}
	return text
}

// A file is refused because of its header, before memory is spent on it.
func TestPicturesThatClaimTooMuch(t *testing.T) {
	for name, text := range map[string]string{
		"png":           hugePNG(60000, 60000),
		"flat png":      hugePNG(1<<31-1, 1),
		"png, zipped":   zipped(t, hugePNG(60000, 60000)),
		"pgm":           "P5\n60000 60000\n65535\n",
		"ppm as text":   "P3\n60000 60000\n255\n",
		"pbm":           "P4\n1 999999999\n",
		"pgm, overflow": "P5\n99999999999999999999 2\n255\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decodePicture([]byte(text))
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "at most") && !strings.Contains(err.Error(), "not a number") {
			t.Errorf("%s: %v", name, err)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 1<<20 {
			t.Errorf("%s: %d bytes were spent", name, spent)
		}
	}
}

// ahead returns the reading straight ahead of the laser of a world's first robot, mm.
func ahead(w *World) uint16 {
	return w.robots[0].readLaser()[180]
}

const laserAt = ` position ( pose [%v %v 0 %v] ranger ( sensor ( samples 361 range [0 30] ) ) )`

// The walls of a picture fill size, as in Stage; if the picture has a margin, a warning says
// so, unless the world has the field fit.
func TestFitOfPictures(t *testing.T) {
	margin := writePNG(t,
		"        ",
		"  ####  ",
		"  #  #  ",
		"  ####  ",
		"        ")
	robot := fmt.Sprintf(laserAt, 0, 0, 0)
	for fit, want := range map[string]uint16{"": 2000, ` fit "walls"`: 2000, ` fit "picture"`: 1000} {
		w := withWarnings(t, fmt.Sprintf("resolution 0.05 model ( bitmap %q size [8 6 1]%s )\n", margin, fit)+robot)
		if got := ahead(w); got != want {
			t.Errorf("with%q the wall is %d mm ahead, want %d", fit, got, want)
		}
		if warned := len(w.Warnings()) == 1 && strings.Contains(w.Warnings()[0], "2 by 1.67 times as large"); warned != (fit == "") {
			t.Errorf("with%q the warnings are %q", fit, w.Warnings())
		}
	}
	// Less than a cell is no matter.
	if w, err := parseWorld(fmt.Sprintf("resolution 1 model ( bitmap %q size [2 1.5 1] )\n", margin)); err != nil || len(w.Warnings()) != 0 {
		t.Errorf("less than a cell: %v, %v", w.Warnings(), err)
	}
	_, err := parseWorld(fmt.Sprintf("model ( bitmap %q fit \"tight\" size [8 6 1] )\n", margin))
	refused(t, "another word", err, `write "walls" or "picture"`)
}

// A picture without a margin fills size whichever way it is fitted, and needs no warning. Cells darker than middle grey
// are walls, so a frame of a light grey is a margin, and a frame of a dark one is none.
func TestFitWithoutAMargin(t *testing.T) {
	for frame, factor := range map[int]string{0: "", 127: "", 128: "1.67 by 1.67"} {
		f := strings.Repeat(fmt.Sprintf(" %d", frame), 5)
		path := write(t, t.TempDir(), "plan.pgm",
			fmt.Sprintf("P2 5 5 255 %s %[2]d 0 0 0 %[2]d %[2]d 0 255 0 %[2]d %[2]d 0 0 0 %[2]d %[1]s", f, frame))
		ranges := map[string]uint16{}
		for _, fit := range []string{"", ` fit "walls"`, ` fit "picture"`} {
			w := withWarnings(t, fmt.Sprintf("resolution 0.05 model ( bitmap %q size [5 5 1]%s )\n"+laserAt, path, fit, 0, 0, 0))
			ranges[fit] = ahead(w)
			if fit == "" && (len(w.Warnings()) > 0) != (factor != "") || factor != "" && fit == "" && !strings.Contains(w.Warnings()[0], factor) {
				t.Errorf("frame %d: warnings %q", frame, w.Warnings())
			}
		}
		if same := ranges[""] == ranges[` fit "picture"`]; same != (factor == "") || ranges[""] != ranges[` fit "walls"`] {
			t.Errorf("frame %d: %v mm ahead", frame, ranges)
		}
	}
}

// A map of ROS has its own size and place. Unknown cells are free.
func TestMapOfROS(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string { return write(t, folder, name, text) }
	// Four by two pixels of a metre: the upper left one a wall, the one right of it unknown.
	file("plan.pgm", "P5\n# CREATOR: map_saver.cpp\n4 2\n255\n\x00\xcd\xfe\xfe\xfe\xfe\xfe\xfe")
	file("light.pgm", "P5\n4 2\n255\n\xff\x40\x00\x00\x00\x00\x00\x00")
	const rest = "negate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n"
	straight := file("straight.yaml", "image: plan.pgm\nresolution: 1.0\norigin: [10.0, 20.0, 0.0]\n"+rest)
	turned := file("turned.yml", "image: plan.pgm\nmode: scale\nresolution: 1.0\norigin: [10, 20, 1.5707963267948966]\n"+rest)
	negated := file("light.yaml", "image: light.pgm\nresolution: 1\norigin: [10, 20]\nnegate: 1\n")
	byHand := file("hand.yaml", "%YAML 1.1\n---\n# by hand\nimage: \"plan.pgm\" # next to it\n'resolution':  1.\nother: {a: [1, 2]}\norigin:\n  - 1e1\n- 20 # m\n- .0\nnegate: false\r\n...\n")
	file("raw.pgm", "P5\n4 2\n255\n\x64\x41\xff\x00\x00\x00\x00\x00")
	raw := file("raw.yaml", "image: raw.pgm\nresolution: 1\norigin: [10, 20]\nmode: Raw\n")
	flow := file("flow.yaml", "{image: plan.pgm, resolution: 1, origin: [10, 20.0, 0.0], negate: 0, occupied_thresh: 0.65, free_thresh: 0.2}\n")
	json := file("json.yaml", "---\n{\n  \"image\":\"plan.pgm\", # next to it\n  \"resolution\":1, \"other\": {\"image\": [\"}\"]},\n  'origin': [\n 10,\n 20, 0]}\n...\n")
	long := file("long.yaml", "\ufeffimage:\n  'plan.pgm'\nother:\n  image: none.pgm\n  deep:\n    - x: 1\nalso:\n- [1, {a: b}]\ntext: |\n  \"a: b\n  image: none.pgm\norigin: [10,\n  # y\n  20,\n  0\n  ]\nresolution: 1.0\n")
	carriage := file("cr.yaml", "image: plan.pgm\rresolution: 1 # m\rorigin: [10, 20, 0]\r")
	for _, tt := range []struct {
		world     string
		x, y, yaw float64
		want      uint16
	}{
		{fmt.Sprintf("model ( bitmap %q )", straight), 13.5, 21.5, 180, 2500},
		{fmt.Sprintf("model ( bitmap %q size [4 2 0.5] )", straight), 13.5, 21.5, 180, 2500},
		{fmt.Sprintf("model ( bitmap %q pose [1 0 0 0] )", straight), 14.5, 21.5, 180, 2500},
		{fmt.Sprintf("environment ( file %q )", straight), 13.5, 21.5, 180, 2500},
		{fmt.Sprintf("model ( bitmap %q )", negated), 13.5, 21.5, 180, 2500},
		{fmt.Sprintf("model ( bitmap %q )", byHand), 13.5, 21.5, 180, 2500},
		{fmt.Sprintf("model ( bitmap %q )", raw), 13.5, 21.5, 180, 2500},
		{fmt.Sprintf("model ( bitmap %q )", flow), 13.5, 21.5, 180, 2500},
		{fmt.Sprintf("model ( bitmap %q )", json), 13.5, 21.5, 180, 2500},
		{fmt.Sprintf("model ( bitmap %q )", long), 13.5, 21.5, 180, 2500},
		{fmt.Sprintf("model ( bitmap %q )", carriage), 13.5, 21.5, 180, 2500},
		// The wall is the square from (0,1) to (1,2) of the map: now it is up and left.
		{fmt.Sprintf("model ( bitmap %q )", turned), 8.5, 23.5, -90, 2500},
		{"include \"map.inc\"\n" + fmt.Sprintf("floorplan ( bitmap %q )", straight), 13.5, 20.5, 180, 3490},
	} {
		w, err := parseWorld("resolution 0.01\n" + tt.world + "\n" + fmt.Sprintf(laserAt, tt.x, tt.y, tt.yaw))
		if err != nil {
			t.Errorf("%s: %v", tt.world, err)
			continue
		}
		if len(w.Warnings()) != 0 {
			t.Errorf("%s: warnings %v", tt.world, w.Warnings())
		}
		if got := ahead(w); math.Abs(float64(got)-float64(tt.want)) > 10 {
			t.Errorf("%s: a wall %d mm ahead, want %d", tt.world, got, tt.want)
		}
	}
	for text, want := range map[string]string{
		"resolution: 1\norigin: [0, 0, 0]":                             "image is missing",
		"image: plan.pgm\norigin: [0, 0, 0]":                           "resolution is 0",
		"image: plan.pgm\nresolution: 1\n":                             "origin wants",
		"image: plan.pgm\nresolution: 1\norigin: [.nan, 0]":            "origin has NaN",
		"image: plan.pgm\nresolution: 1\norigin: [0, 0]\nmode: any":    "write trinary, scale or raw",
		"image: plan.pgm\nresolution: one\norigin: [0, 0]":             `line 2: resolution: "one" is not a number`,
		"image: none.pgm\nresolution: 1\norigin: [0, 0]":               "no such file",
		"image: plan.pgm\nresolution: 1\norigin: [0]\noccupied_thresh": "line 4: write a key",
		"image: plan.pgm\nresolution: 1\norigin: {x: 0}":               `line 3: origin: "{x: 0}" is not a number`,
		"image: plan.pgm\nresolution: 1\norigin: [0,\n 0":              `line 3: "[" has no closing bracket`,
		"{image: plan.pgm,\nresolution: 1,\norigin: [0, x]}":           `line 3: origin: "x" is not a number`,
		"{image: plan.pgm, resolution: 1":                              `line 1: "{" has no closing bracket`,
		"image: \"plan.pgm\nresolution: 1":                             `line 1: there is no closing "`,
		"image: \"plan.pgm\" map\nresolution: 1":                       `line 1: image: unexpected 'm' behind the value`,
		"origin: " + strings.Repeat("[", 100000):                       "nested more than 32 deep",
		"\xff\xfei\x00":                                                "save it as UTF-8",
	} {
		_, err := parseWorld(fmt.Sprintf("model ( bitmap %q )\n", file("wrong.yaml", text)))
		refused(t, fmt.Sprintf("%.80q", text), err, want)
	}
	_, err := parseWorld(fmt.Sprintf("model ( bitmap %q size [8 4 1] )\n", straight))
	refused(t, "another size", err, "4.000 m by 2.000 m: leave out size")
}

// The time to read a map file grows with its size, not with the square of it, which would be half
// an hour here.
func TestMapOfOneLine(t *testing.T) {
	acceptance.Alone(t)
	t.Parallel()
	for _, document := range []string{"{}", "---"} {
		m, err := readMapFile("map.yaml", []byte(strings.Repeat(document, 2<<20)+"\nimage: plan.pgm\nresolution: 1\norigin: [0, 0]\n"))
		if err != nil || m.Resolution != 1 {
			t.Errorf("%s: %+v, %v", document, m, err)
		}
	}
}

// Pictures of other kinds than PNG are floor plans.
func TestPicturesOfOtherKinds(t *testing.T) {
	t.Parallel()
	dark := image.NewPaletted(image.Rect(0, 0, 16, 16), color.Palette{color.White, color.Black})
	for y := range 8 {
		for x := range 16 {
			dark.SetColorIndex(x, y, 1)
		}
	}
	for name, encode := range map[string]func(io.Writer) error{
		"plan.jpeg": func(w io.Writer) error { return jpeg.Encode(w, dark, nil) },
		"plan.bmp":  func(w io.Writer) error { return bmp.Encode(w, dark) },
	} {
		var data bytes.Buffer
		must.Do(t, encode(&data))
		if walls := readPlan(t, write(t, t.TempDir(), name, data.String()), Vec{X: 16, Y: 16}); len(walls) != 1 || !slices.Equal(walls[0], []Vec{{X: -8}, {X: 8}, {X: 8, Y: 8}, {X: -8, Y: 8}}) {
			t.Errorf("%s: walls %v", name, walls)
		}
	}
	huge := []byte("BM\x36\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x01\x00\x18\x00")
	_, err := decodePicture(append(huge, make([]byte, 24)...))
	refused(t, "a picture of 65536 x 65536", err, "at most")
}
