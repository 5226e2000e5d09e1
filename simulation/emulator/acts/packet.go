package acts

import "fmt"

// Channels is the number of colours that ACTS distinguishes, MaxBlobs the most
// blobs it reports per colour.
const (
	Channels = 32
	MaxBlobs = 10
)

// A Blob is a patch of one colour, in pixels from the upper left corner.
type Blob struct {
	Area                           int
	X, Y, Left, Right, Top, Bottom int
}

// A Version is the protocol of an ACTS release.
type Version int

const (
	V10 Version = iota // 1.0: 64 bytes of header, 10 per blob
	V12                // 1.2 and 2.0: 128 bytes of header, 16 per blob
)

// digits is the number of bytes of a number, six bits each. A single byte has
// all eight bits. The area has four bytes in both versions.
var digits = map[Version]int{V10: 1, V12: 2}

const areaDigits = 4

// limit returns the largest number that n digits hold. Every byte is sent plus
// one, so that none is 0.
func limit(n int) int {
	if n == 1 {
		return 254
	}
	return 1<<(6*n) - 1
}

// appendNumber appends v as n digits, high digits first.
func appendNumber(dst []byte, v, n int) []byte {
	if n == 1 {
		return append(dst, byte(v+1))
	}
	for n--; n >= 0; n-- {
		dst = append(dst, byte(v>>(6*n)&0x3F)+1)
	}
	return dst
}

// check returns an error if the blobs of one channel cannot be sent.
func (v Version) check(blobs []Blob) error {
	if len(blobs) > MaxBlobs {
		return fmt.Errorf("acts: %d blobs in a channel, at most %d", len(blobs), MaxBlobs)
	}
	for _, b := range blobs {
		for _, n := range []int{b.X, b.Y, b.Left, b.Right, b.Top, b.Bottom} {
			if n < 0 || n > limit(digits[v]) {
				return fmt.Errorf("acts: %+v: a coordinate is 0 to %d", b, limit(digits[v]))
			}
		}
		if b.Area < 0 || b.Area > limit(areaDigits) {
			return fmt.Errorf("acts: %+v: an area is 0 to %d", b, limit(areaDigits))
		}
	}
	return nil
}

// appendPacket appends a packet: for each channel the index of its first blob
// among all blobs and the number of its blobs, then the blobs in channel
// order.
func (v Version) appendPacket(dst []byte, blobs *[Channels][]Blob) []byte {
	n := digits[v]
	index := 0
	for _, channel := range blobs {
		// In 1.0 an index above 254 does not fit. It wraps here so that no
		// byte is 0 (assumed).
		dst = appendNumber(dst, index%(limit(n)+1), n)
		dst = appendNumber(dst, len(channel), n)
		index += len(channel)
	}
	for _, channel := range blobs {
		for _, b := range channel {
			dst = appendNumber(dst, b.Area, areaDigits)
			for _, c := range []int{b.X, b.Y, b.Left, b.Right, b.Top, b.Bottom} {
				dst = appendNumber(dst, c, n)
			}
		}
	}
	return dst
}
