package pictures

import (
	"bytes"
	"errors"
)

const (
	// MaxPicture is the most bytes of a picture. A JPEG of 1920x1080 has about 300 kB; a
	// larger limit lets one viewer occupy the network of a robot.
	MaxPicture = 1 << 20
	// maxRubbish is how many bytes may come without a complete picture among them: two
	// pictures, one of which was cut where the camera was started.
	maxRubbish = 2 * MaxPicture
)

// ErrRubbish reports that a source sends something other than JPEG pictures.
var ErrRubbish = errors.New("it sends no JPEG pictures: it must write MJPEG")

// Markers of JPEG (ITU-T T.81, B.1.1.3): the byte after 0xFF.
const (
	stuffed      = 0x00 // a byte 0xFF of the scan's data
	temporary    = 0x01
	firstRestart = 0xD0
	lastRestart  = 0xD7
	startOfImage = 0xD8
	endOfImage   = 0xD9
	startOfScan  = 0xDA
	prefix       = 0xFF
)

type place uint8

const (
	outside  place = iota // between pictures
	begun                 // after a prefix between pictures
	between               // before the prefix of a marker
	marker                // after it
	length                // first byte of a segment's length
	length2               // second byte
	segment               // the segment to which the length belongs
	scan                  // data of a scan
	scanMark              // after a prefix in it
)

// Splitter cuts a stream of bytes into JPEG pictures. It skips the bytes between two
// pictures, so it accepts MJPEG as programs write it, and also the parts of an HTTP reply
// with their headers. It reads the segments of a picture, which may contain another picture
// (a thumbnail), and decodes nothing. The zero value is ready.
type Splitter struct {
	// Broken counts the pictures that were cut, too large, or not JPEG.
	Broken uint64

	at      place
	picture []byte // its bytes so far
	scans   int    // that it has begun
	code    byte   // marker of the segment
	left    int    // bytes of the segment that are still missing
	usual   int    // bytes of the last picture
	rubbish int    // bytes since the last complete picture
}

// Next takes bytes until a picture is complete, and returns the picture and the bytes behind
// it. picture is nil if all bytes are taken; otherwise it belongs to the caller. The error
// is ErrRubbish. A Splitter's memory is one picture.
func (s *Splitter) Next(in []byte) (picture, rest []byte, err error) {
	for len(in) > 0 {
		n, complete := s.take(in)
		if s.at > begun || complete {
			s.picture = append(s.picture, in[:n]...)
		}
		in = in[n:]
		if complete {
			picture, s.picture = s.picture, nil
			s.at, s.usual, s.rubbish = outside, len(picture), 0
			return picture, in, nil
		}
		if s.rubbish += n; s.rubbish > maxRubbish {
			return nil, nil, ErrRubbish
		}
		if len(s.picture) > MaxPicture {
			s.drop()
		}
	}
	return nil, nil, nil
}

func (s *Splitter) drop() {
	s.Broken++
	s.at, s.picture = outside, nil
}

// open begins a picture behind its first prefix. The caller appends the marker.
func (s *Splitter) open() {
	s.at, s.scans = between, 0
	s.picture = append(make([]byte, 0, s.usual+s.usual/8+2), prefix)
}

// take takes the next element of the stream, and reports whether it ends a picture. It takes
// at least one byte if there is one.
func (s *Splitter) take(in []byte) (n int, complete bool) {
	b := in[0]
	switch s.at {
	case outside, scan:
		switch i := bytes.IndexByte(in, prefix); {
		case i < 0:
			return s.bound(len(in)), false
		case i > 0: // the prefix is taken in the next call
			return s.bound(i), false
		}
		s.at++
	case begun:
		switch b {
		case startOfImage:
			s.open()
		case prefix:
		default:
			s.at = outside
		}
	case between:
		if b != prefix {
			s.drop()
			break
		}
		s.at = marker
	case marker, scanMark:
		return 1, s.marker(b)
	case length:
		s.left, s.at = int(b)<<8, length2
	case length2:
		s.left += int(b) - 2
		s.at = segment
		if s.left < 0 {
			s.drop()
		} else if s.left == 0 {
			s.after()
		}
	case segment:
		n := s.bound(min(len(in), s.left))
		if s.left -= n; s.left == 0 {
			s.after()
		}
		return n, false
	}
	return 1, false
}

// bound returns how many of n bytes are taken at once: at most one more than a picture
// may have.
func (s *Splitter) bound(n int) int { return min(n, MaxPicture+1-len(s.picture)) }

// marker takes the second byte of a marker, and reports whether it ends the picture.
func (s *Splitter) marker(code byte) (complete bool) {
	s.code = code
	switch {
	case code == prefix: // bytes that fill
	case code == endOfImage && s.scans > 0:
		return len(s.picture) < MaxPicture
	case code == startOfImage: // the last picture was cut
		s.drop()
		s.open()
	case code == endOfImage:
		s.drop()
	case s.at == scanMark && (code == stuffed || firstRestart <= code && code <= lastRestart):
		s.at = scan
	case code == stuffed:
		s.drop()
	case code == temporary, firstRestart <= code && code <= lastRestart:
		s.at = between
	default:
		s.at = length
	}
	return false
}

// after follows the end of a segment.
func (s *Splitter) after() {
	s.at = between
	if s.code == startOfScan {
		s.scans++
		s.at = scan
	}
}
