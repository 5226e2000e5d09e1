package acts

import (
	"bytes"
	"slices"
	"testing"

	"player/codec"
)

// fullImage has as many blobs as a packet can carry, all different.
func fullImage() (blobs []Blob) {
	for channel := range codec.VisionChannels {
		for i := range codec.MaxBlobs {
			blobs = append(blobs, Blob{channel, 1000*channel + i, channel, i, channel + i, 50 + i, 60 + i, 70 + i})
		}
	}
	return blobs
}

// recordedBlobs are the blobs of both recorded packets.
var recordedBlobs = []Blob{
	{0, 1234, 80, 60, 70, 90, 50, 70},
	{4, 77, 10, 20, 5, 15, 18, 22},
	{4, 131070, 150, 110, 140, 159, 100, 119},
}

func TestBlobs(t *testing.T) {
	for v, name := range recordings {
		packet := recording(t, name)
		if got := v.AppendBlobs(nil, packet); !slices.Equal(got, recordedBlobs) {
			t.Errorf("version %d: %+v, want %+v", v, got, recordedBlobs)
		}
		if got := v.AppendPacket(nil, recordedBlobs); !bytes.Equal(got, packet) {
			t.Errorf("version %d: packet % X, want % X", v, got, packet)
		}
		full := fullImage()
		if got := v.AppendBlobs(nil, v.AppendPacket(nil, full)); !slices.Equal(got, full) {
			t.Errorf("version %d: a full image is %+v", v, got)
		}
	}
}

func TestAppendV10(t *testing.T) {
	old, recent := recording(t, "acts10.hex"), recording(t, "acts12.hex")
	if got := AppendV10([]byte{9}, recent); !bytes.Equal(got, append([]byte{9}, old...)) {
		t.Errorf("% X, want % X", got, old)
	}
	wide := V12.AppendPacket(nil, []Blob{{31, maxArea, 320, 240, 0, 639, 254, 255}})
	want := V10.AppendPacket(nil, []Blob{{31, maxArea, 254, 240, 0, 254, 254, 254}})
	if got := AppendV10(nil, wide); !bytes.Equal(got, want) {
		t.Errorf("% X, want % X", got, want)
	}
	full := AppendV10(nil, V12.AppendPacket(nil, fullImage()))
	if len(full) != V10.MaxPacket() || bytes.IndexByte(full, 0) >= 0 {
		t.Errorf("a full image has %d bytes, zero at %d", len(full), bytes.IndexByte(full, 0))
	}
	// Blobs 250 to 259 are of channel 25; from channel 26 on no index fits.
	if index := full[2*25]; index != 251 || full[2*26] != 255 || full[2*31] != 255 {
		t.Errorf("indices %d, %d, %d, want 251, 255, 255", index, full[2*26], full[2*31])
	}
}
