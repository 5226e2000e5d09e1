package acts

import (
	"bytes"
	"testing"

	"player/e2e/must"
	"player/simulation/emulator/internal/rawhost"
)

// The example is from a recording: one blob in channel 0, two in 4.
func recorded() *[Channels][]Blob {
	var b [Channels][]Blob
	b[0] = []Blob{{1234, 80, 60, 70, 90, 50, 70}}
	b[4] = []Blob{{77, 10, 20, 5, 15, 18, 22}, {131070, 150, 110, 140, 159, 100, 119}}
	return &b
}

func TestPackets(t *testing.T) {
	tests := []struct {
		v            Version
		header, tail string
		headerLen    int
	}{
		{V10, "01 02 02 01 02 01 02 01 02 03 04 01 04 01",
			"04 01 01 01 14 13 51 3D 47 5B 33 47 01 01 02 0E 0B 15 06 10 13 17 01 20 40 3F 97 6F 8D A0 65 78", 64},
		{V12, "01 01 01 02 01 02 01 01 01 02 01 01 01 02 01 01 01 02 01 03 01 04 01 01 01 04 01 01",
			"01 04 01 01 01 01 14 13 02 11 01 3D 02 07 02 1B 01 33 02 07 01 01 02 0E 01 0B 01 15 01 06 01 10 01 13 01 17 " +
				"01 20 40 3F 03 17 02 2F 03 0D 03 20 02 25 02 38", 128},
	}
	for _, tt := range tests {
		got := tt.v.appendPacket(nil, recorded())
		blobs := map[Version]int{V10: 10, V12: 16}[tt.v]
		if len(got) != tt.headerLen+3*blobs ||
			!bytes.HasPrefix(got, rawhost.Bytes(t, tt.header)) || !bytes.HasSuffix(got, rawhost.Bytes(t, tt.tail)) {
			t.Errorf("version %d: %d bytes\n% X", tt.v, len(got), got)
		}
	}
}

func TestLargestPackets(t *testing.T) {
	for v, want := range map[Version]int{V10: 3264, V12: 5248} {
		var blobs [Channels][]Blob
		top := limit(digits[v])
		for i := range blobs {
			blobs[i] = make([]Blob, MaxBlobs)
			for k := range blobs[i] {
				blobs[i][k] = Blob{limit(areaDigits), top, top, top, top, top, top}
			}
			must.Do(t, v.check(blobs[i]))
		}
		got := v.appendPacket(nil, &blobs)
		if len(got) != want || bytes.IndexByte(got, 0) >= 0 {
			t.Errorf("version %d: %d bytes, want %d; a byte of 0 at %d", v, len(got), want, bytes.IndexByte(got, 0))
		}
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		v     Version
		blobs []Blob
		ok    bool
	}{
		{V10, []Blob{{X: 254}}, true},
		{V10, []Blob{{X: 255}}, false},
		{V12, []Blob{{Bottom: 4095}}, true},
		{V12, []Blob{{Bottom: 4096}}, false},
		{V12, []Blob{{Left: -1}}, false},
		{V10, []Blob{{Area: 1 << 24}}, false},
		{V10, []Blob{{Area: -1}}, false},
		{V10, make([]Blob, MaxBlobs+1), false},
	}
	for _, tt := range tests {
		if err := tt.v.check(tt.blobs); (err == nil) != tt.ok {
			t.Errorf("version %d, %+v: %v", tt.v, tt.blobs, err)
		}
	}
}
