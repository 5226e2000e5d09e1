package codec

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"player/e2e/must"
)

// Packets as ACTS 1.0 sends them.
var visions = []struct {
	name  string
	bytes string
	image *VisionData
}{
	{"empty", strings.Repeat("01", 64), &VisionData{Blobs: []Blob{}}},
	{"one blob in channel 0",
		"0102" + strings.Repeat("0201", 31) + "01011413 51 3D 47 5B 33 47",
		image(map[int][]Blob{0: {{Area: 1234, X: 80, Y: 60, Left: 70, Right: 90, Top: 50, Bottom: 70}}})},
	{"blobs in channels 0 and 4",
		"0102 0201 0201 0201 0203" + strings.Repeat("0401", 27) +
			"01011413 51 3D 47 5B 33 47" + "0101020E 0B 15 06 10 13 17" + "01204040 97 6F 8D A0 65 78",
		image(map[int][]Blob{
			0: {{Area: 1234, X: 80, Y: 60, Left: 70, Right: 90, Top: 50, Bottom: 70}},
			4: {{Area: 77, X: 10, Y: 20, Left: 5, Right: 15, Top: 18, Bottom: 22},
				{Area: 31<<12 | 63<<6 | 63, X: 150, Y: 110, Left: 140, Right: 159, Top: 100, Bottom: 119}},
		})},
	{"all ones and all largest",
		strings.Repeat("0101", 31) + "0103" + "01010101 01 01 01 01 01 01" + "40404040 FF FF FF FF FF FF",
		image(map[int][]Blob{31: {{}, {Area: maxArea, X: 254, Y: 254, Left: 254, Right: 254, Top: 254, Bottom: 254}}})},
}

func image(channels map[int][]Blob) *VisionData {
	d := new(VisionData)
	for c := range VisionChannels {
		d.Count[c] = uint8(len(channels[c]))
		d.Blobs = append(d.Blobs, channels[c]...)
	}
	return d
}

// fullVision is an image with as many blobs as ACTS can report.
func fullVision() *VisionData {
	d := new(VisionData)
	for c := range VisionChannels {
		d.Count[c] = MaxBlobs
		for i := range MaxBlobs {
			d.Blobs = append(d.Blobs, Blob{Area: 1000*c + i, X: c, Y: i, Left: c - 1, Right: c + 1, Top: i - 1, Bottom: i + 1})
		}
	}
	for i := range d.Blobs { // blobs at the left and top edges of the image
		d.Blobs[i].Left, d.Blobs[i].Top = max(0, d.Blobs[i].Left), max(0, d.Blobs[i].Top)
	}
	return d
}

func TestVision(t *testing.T) {
	for _, tt := range visions {
		t.Run(tt.name, func(t *testing.T) {
			want := unhex(tt.bytes)
			if got := tt.image.Append([]byte("ab")); string(got) != "ab"+string(want) {
				t.Fatalf("encoded % X\nwant    % X", got[2:], want)
			}
			got := fullVision()
			must.Do(t, got.Decode(want))
			if !reflect.DeepEqual(got, tt.image) {
				t.Fatalf("decoded %+v\nwant    %+v", got, tt.image)
			}
		})
	}
}

func TestVisionChannel(t *testing.T) {
	d := image(map[int][]Blob{3: {{Area: 9}, {Area: 4}}, 31: {{Area: 1}}})
	for c := range VisionChannels {
		want := map[int][]Blob{3: d.Blobs[:2], 31: d.Blobs[2:]}[c]
		if got := d.Channel(c); len(got) != len(want) || len(got) > 0 && &got[0] != &want[0] {
			t.Errorf("channel %d: %+v", c, got)
		}
	}
}

// The largest packet: its channel indices no longer fit their byte.
func TestVisionFull(t *testing.T) {
	want := fullVision()
	b := want.Append(nil)
	if len(b) != MaxVisionSize || MaxVisionSize != 3264 {
		t.Fatalf("%d bytes, want %d", len(b), MaxVisionSize)
	}
	if b[2*25] != 251 || b[2*26] != 255 || b[2*31] != 255 {
		t.Errorf("index bytes % X", b[:VisionHeaderSize])
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		t.Errorf("zero byte at %d", i)
	}
	got := new(VisionData)
	must.Do(t, got.Decode(b))
	if !reflect.DeepEqual(got, want) {
		t.Error("decoded another image")
	}
}

func TestVisionClips(t *testing.T) {
	d := image(map[int][]Blob{0: {
		{Area: -1, X: -1, Y: -300, Left: -2, Right: -3, Top: -4, Bottom: -5},
		{Area: maxArea + 1, X: 255, Y: 256, Left: 300, Right: 1 << 20, Top: 255, Bottom: 999},
	}})
	b := d.Append(nil)
	if want := unhex("01010101 010101010101 40404040 FFFFFFFFFFFF"); !bytes.Equal(b[VisionHeaderSize:], want) {
		t.Errorf("% X, want % X", b[VisionHeaderSize:], want)
	}
}

// Every cut, every added byte and every byte that ACTS cannot send is an
// error. After it the image is usable and empty.
func TestVisionErrors(t *testing.T) {
	b := unhex(visions[2].bytes)
	check := func(what string, i int, in []byte) {
		t.Helper()
		d := fullVision()
		if err := d.Decode(in); !errors.Is(err, errVision) {
			t.Errorf("%s %d: %v", what, i, err)
		}
		for c := range VisionChannels {
			if blobs := d.Channel(c); len(blobs) != 0 {
				t.Errorf("%s %d: channel %d has blobs after the error", what, i, c)
			}
		}
	}
	for cut := range b {
		check("cut at", cut, b[:cut])
	}
	check("one byte more than", len(b), append(bytes.Clone(b), 1))
	for i := range b {
		in := bytes.Clone(b)
		in[i] = 0
		check("zero at", i, in)
	}
	for i := range VisionHeaderSize {
		in := bytes.Clone(b)
		in[i]++
		check("raised header byte", i, in)
	}
	in := append(bytes.Clone(b[:VisionHeaderSize]), b[VisionHeaderSize:]...)
	in[VisionHeaderSize] = 65 // seven bits
	check("area digit", VisionHeaderSize, in)
	// Eleven complete blobs in one channel.
	check("eleven blobs", 11, bytes.Join([][]byte{
		unhex("010C" + strings.Repeat("0C01", 31)), bytes.Repeat([]byte{1}, 11*BlobSize)}, nil))
}

func FuzzVisionData(f *testing.F) {
	var seeds [][]byte
	for _, tt := range visions {
		seeds = append(seeds, unhex(tt.bytes))
	}
	fuzzPayload[*VisionData](f, -1, seeds...)
}
