package acts

import "player/codec"

const (
	maxDigit = 63        // six bits
	maxArea  = 1<<24 - 1 // four digits of six bits
)

// Blob is a blob of a channel.
type Blob struct {
	Channel                        int // 0 to 31
	Area                           int // pixels, 0 to 16777215
	X, Y, Left, Right, Top, Bottom int // 0 to 254 in V10, to 4095 in V12
}

// AppendBlobs appends the blobs of a packet.
func (v Version) AppendBlobs(dst []Blob, p Packet) []Blob {
	var d codec.VisionData
	v.Decode(&d, p)
	for channel := range codec.VisionChannels {
		for _, b := range d.Channel(channel) {
			dst = append(dst, Blob{channel, b.Area, b.X, b.Y, b.Left, b.Right, b.Top, b.Bottom})
		}
	}
	return dst
}

// AppendV10 appends the version 1.0 of a packet of V12, as the driver publishes it.
func AppendV10(dst []byte, p Packet) []byte {
	var d codec.VisionData
	V12.Decode(&d, p)
	return d.Append(dst)
}

// AppendPacket appends the packet of blobs, which are in channel order, at most ten of a
// channel. An index beyond the version's largest is clipped to that, from the 255th blob
// on in V10; then only the counts say where blobs are.
func (v Version) AppendPacket(dst []byte, blobs []Blob) []byte {
	var counts [codec.VisionChannels]int
	for _, b := range blobs {
		counts[b.Channel]++
	}
	index := 0
	for _, count := range counts {
		dst = v.appendNumber(dst, index)
		dst = v.appendNumber(dst, count)
		index += count
	}
	for _, b := range blobs {
		dst = v.appendBlob(dst, b)
	}
	return dst
}

// appendNumber appends a number, clipped to maxNumber.
func (v Version) appendNumber(dst []byte, n int) []byte {
	n = max(0, min(n, v.maxNumber()))
	if v == V10 {
		return append(dst, byte(n+1))
	}
	return appendDigits(dst, n, 2)
}

func (v Version) appendBlob(dst []byte, b Blob) []byte {
	dst = appendDigits(dst, max(0, min(b.Area, maxArea)), areaSize)
	for _, n := range []*int{&b.X, &b.Y, &b.Left, &b.Right, &b.Top, &b.Bottom} {
		dst = v.appendNumber(dst, *n)
	}
	return dst
}

// appendDigits appends n in count digits of six bits, the highest first.
func appendDigits(dst []byte, n, count int) []byte {
	for shift := 6 * (count - 1); shift >= 0; shift -= 6 {
		dst = append(dst, byte(n>>shift&maxDigit)+1)
	}
	return dst
}
