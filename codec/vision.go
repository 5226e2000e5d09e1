package codec

import (
	"errors"
	"fmt"
)

// Vision data is a packet of ACTS 1.0, forwarded unchanged (manual 3.5.1, PROTOCOL 7.7): a
// header of two bytes for each channel, then ten bytes for each blob, in channel order. No
// byte is zero: every byte is stored as its value plus one. Numbers larger than a byte are
// split into six-bit digits, highest first.
const (
	VisionChannels   = 32
	VisionHeaderSize = 2 * VisionChannels
	BlobSize         = 10
	// MaxBlobs is the most blobs that ACTS reports for one channel, largest
	// first.
	MaxBlobs = 10
	// MaxVisionSize is the largest vision payload in bytes: 3264.
	MaxVisionSize = VisionHeaderSize + VisionChannels*MaxBlobs*BlobSize

	maxArea  = 1<<24 - 1 // four six-bit digits
	maxPixel = 254       // a byte that stores value+1
)

// Blob is one patch of colour in the camera image. Coordinates are pixels,
// 0..254, from the top left.
type Blob struct {
	Area   int `json:"area"` // pixels, 0..16777215
	X      int `json:"x"`    // centre
	Y      int `json:"y"`
	Left   int `json:"left"` // bounding box
	Right  int `json:"right"`
	Top    int `json:"top"`
	Bottom int `json:"bottom"`
}

// VisionData holds the blobs of one image by channel. The zero value is an
// image without blobs.
type VisionData struct {
	Count [VisionChannels]uint8 // number of blobs in each channel, at most MaxBlobs
	Blobs []Blob                // of all channels, in channel order
}

var errVision = errors.New("vision payload is not an ACTS 1.0 packet")

// Channel returns the blobs of one channel, largest first.
func (d *VisionData) Channel(channel int) []Blob {
	first := 0
	for _, n := range d.Count[:channel] {
		first += int(n)
	}
	return d.Blobs[first : first+int(d.Count[channel])]
}

// Append appends the payload: 64 bytes, then 10 for each blob. Values outside
// their range are clipped. A channel's index above 254 does not fit its byte
// and is sent as 254; readers locate blobs by the counts alone.
func (d *VisionData) Append(dst []byte) []byte {
	index := 0
	for _, n := range d.Count {
		dst = append(dst, pixel(index), n+1)
		index += int(n)
	}
	for i := range d.Blobs {
		dst = d.Blobs[i].append(dst)
	}
	return dst
}

func (b *Blob) append(dst []byte) []byte {
	area := max(0, min(b.Area, maxArea))
	return append(dst,
		byte(area>>18&63)+1, byte(area>>12&63)+1, byte(area>>6&63)+1, byte(area&63)+1,
		pixel(b.X), pixel(b.Y), pixel(b.Left), pixel(b.Right), pixel(b.Top), pixel(b.Bottom))
}

func pixel(v int) byte { return byte(max(0, min(v, maxPixel))) + 1 }

// Decode reads a payload, reusing d.Blobs. It accepts exactly the payloads that Append
// writes. After an error d is an image without blobs.
func (d *VisionData) Decode(b []byte) error {
	err := d.decode(b)
	if err != nil { // counts without blobs would make Channel panic
		*d = VisionData{Blobs: d.Blobs[:0]}
	}
	return err
}

func (d *VisionData) decode(b []byte) error {
	if len(b) < VisionHeaderSize {
		return fmt.Errorf("%w: %d bytes, shorter than the header", errVision, len(b))
	}
	total := 0
	for c := range d.Count {
		if b[2*c] != pixel(total) || b[2*c+1] == 0 || b[2*c+1] > MaxBlobs+1 {
			return fmt.Errorf("%w: channel %d has index byte %d, count byte %d", errVision, c, b[2*c], b[2*c+1])
		}
		d.Count[c] = b[2*c+1] - 1
		total += int(d.Count[c])
	}
	b = b[VisionHeaderSize:]
	if len(b) != total*BlobSize {
		return fmt.Errorf("%w: %d bytes of blobs for %d blobs", errVision, len(b), total)
	}
	d.Blobs = d.Blobs[:0]
	for ; len(b) > 0; b = b[BlobSize:] {
		var blob Blob
		for _, digit := range b[:4] {
			if digit == 0 || digit > 64 {
				return fmt.Errorf("%w: area digit %d", errVision, digit)
			}
			blob.Area = blob.Area<<6 | int(digit-1)
		}
		for i, p := range []*int{&blob.X, &blob.Y, &blob.Left, &blob.Right, &blob.Top, &blob.Bottom} {
			if b[4+i] == 0 {
				return fmt.Errorf("%w: zero byte in a blob", errVision)
			}
			*p = int(b[4+i]) - 1
		}
		d.Blobs = append(d.Blobs, blob)
	}
	return nil
}
