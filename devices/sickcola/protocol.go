// Package sickcola drives SICK's TiM5xx, TiM7xx, LMS1xx and LMS5xx laser scanners over TCP,
// Player's laser device.
//
// Sources: SICK, "Telegram Listing" 8014631 ("the listing"), and SICK's own driver,
// sick_scan_xd. Both forms of the protocol are understood: CoLa A, which is text, and CoLa B,
// with numbers as bytes, the high one first. Angles of the sensor are counterclockwise, 90
// degrees ahead.
package sickcola

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"

	"player/devices/scan"
	"player/devices/transport"
)

const (
	stx = 0x02 // before a telegram of CoLa A; CoLa B has four of them
	etx = 0x03 // behind a telegram of CoLa A

	headSize = 8 // of CoLa B: four STX, the length of the content
	// maxSize bounds a telegram. An LMS5xx sends the longest, which has distances and
	// intensities of five echoes at 1141 angles, five characters each. With more, a false
	// beginning would keep good telegrams waiting.
	maxSize = 64 << 10
	// ahead is the angle straight ahead of the sensor, and degree is one degree, both in its
	// unit of angles.
	ahead  = 90 * degree
	degree = 10000
	// valid is the least value of a distance; lower ones are codes for missing distances
	// (the listing, "LMDscandata - reserved values").
	valid = 16
	// noEcho is the code of a direction in which nothing was seen: it is too dark, or not within the range. Of the other
	// codes, 1 is a sensor that was dazzled (the same).
	noEcho = 0
)

// request is a telegram to the sensor, as CoLa A and as CoLa B. The last byte of CoLa B is its checksum.
type request [2]string

// The forms of a request.
const (
	formA = iota
	formB
)

var (
	identify = request{"\x02sRN DeviceIdent\x03", "\x02\x02\x02\x02\x00\x00\x00\x0FsRN DeviceIdent\x25"}
	// login is with the password of an authorized client that sensors have from the factory.
	login = request{"\x02sMN SetAccessMode 03 F4724744\x03", "\x02\x02\x02\x02\x00\x00\x00\x17sMN SetAccessMode \x03\xF4\x72\x47\x44\xB3"}
	start = request{"\x02sMN LMCstartmeas\x03", "\x02\x02\x02\x02\x00\x00\x00\x10sMN LMCstartmeas\x68"}
	run   = request{"\x02sMN Run\x03", "\x02\x02\x02\x02\x00\x00\x00\x07sMN Run\x19"} // ends the login, in which the sensor does not measure
	scans = request{"\x02sEN LMDscandata 1\x03", "\x02\x02\x02\x02\x00\x00\x00\x11sEN LMDscandata \x01\x33"}
	quiet = request{"\x02sEN LMDscandata 0\x03", "\x02\x02\x02\x02\x00\x00\x00\x11sEN LMDscandata \x00\x32"}
)

// sum returns the checksum of CoLa B, the exclusive or of all bytes.
func sum(p []byte) (x byte) {
	for _, b := range p {
		x ^= b
	}
	return x
}

// inspect recognises a telegram of either form.
func inspect(b []byte) (size int, v transport.Verdict) {
	switch {
	case len(b) > 0 && b[0] != stx:
		return 0, transport.Junk
	case len(b) < 2:
		return 0, transport.Partial
	case b[1] == stx:
		return inspectBinary(b)
	}
	for i, c := range b[1:] {
		if c == etx {
			return i + 2, transport.Whole
		}
		if c < ' ' {
			return 0, transport.Damaged
		}
	}
	if len(b) >= maxSize {
		return 0, transport.Damaged
	}
	return 0, transport.Partial
}

// inspectBinary recognises a telegram of CoLa B.
func inspectBinary(b []byte) (size int, v transport.Verdict) {
	if v := transport.Begins(b, []byte{stx, stx, stx, stx}, headSize); v != transport.Whole {
		return 0, v
	}
	content := binary.BigEndian.Uint32(b[4:])
	if content > maxSize-headSize-1 {
		return 0, transport.Damaged
	}
	if size = headSize + int(content) + 1; len(b) < size {
		return 0, transport.Partial
	}
	if sum(b[headSize:size-1]) != b[size-1] {
		return 0, transport.Damaged
	}
	return size, transport.Whole
}

// telegram is read from its beginning to its end. After a mistake all reads return zero.
type telegram struct {
	rest   []byte
	binary bool
	bad    bool // it ends early, or a number is none
}

// open returns the telegram that inspect has recognised.
func open(b []byte) telegram {
	if b[1] == stx {
		return telegram{rest: b[headSize : len(b)-1], binary: true}
	}
	return telegram{rest: b[1 : len(b)-1]}
}

// word returns the text before the next space.
func (t *telegram) word() (w []byte) {
	w, t.rest, _ = bytes.Cut(t.rest, []byte{' '})
	return w
}

// bytes returns the next n bytes.
func (t *telegram) bytes(n int) (p []byte) {
	if len(t.rest) < n {
		t.bad, t.rest = true, nil
		return nil
	}
	p, t.rest = t.rest[:n], t.rest[n:]
	return p
}

// number returns the next number, which has up to size bytes. In CoLa A it is hexadecimal;
// negative ones are two's complements.
func (t *telegram) number(size int) (n uint32) {
	if t.binary {
		for _, c := range t.bytes(size) {
			n = n<<8 | uint32(c)
		}
		return n
	}
	w := t.word()
	for _, c := range w {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | uint32(c-'0')
		case c >= 'A' && c <= 'F':
			n = n<<4 | uint32(c-'A'+10)
		default:
			w = nil
		}
	}
	if len(w) == 0 || len(w) > 8 || uint64(n)>>(8*size) != 0 {
		t.bad, t.rest = true, nil
		return 0
	}
	return n
}

// skip skips numbers of the given sizes.
func (t *telegram) skip(sizes ...int) {
	for _, size := range sizes {
		t.number(size)
	}
}

// text returns the next text, which its length is in front of.
func (t *telegram) text() string {
	s := string(t.bytes(int(t.number(2))))
	if !t.binary && len(t.rest) > 0 {
		t.rest = t.rest[1:] // the space
	}
	return s
}

// measured is the distances of a telegram of measurements.
type measured struct {
	status        uint8
	scale, offset float64 // mm = value * scale + offset
	first, step   int     // angle of the first value and from each to the next, 1/10000 degree
	count         int
	values        telegram // count numbers of two bytes
}

// scan reads the rest of a telegram of measurements, behind its name. It reports whether the
// telegram is complete and has distances. Only values of the first echo are read.
func (t *telegram) scan() (s measured, ok bool) {
	t.skip(2, 2, 4, 1) // version, device, serial number, high byte of the status
	s.status = uint8(t.number(1))
	t.skip(2, 2, 4, 4, 1, 1, 1, 1, 2, 4, 4) // telegrams, scans, times, inputs, outputs, layer, frequencies
	for n := t.number(2); n > 0 && !t.bad; n-- {
		t.skip(4, 2) // an encoder
	}
	for _, size := range [...]int{2, 1} { // channels of two bytes a value, and of one
		for n := t.number(2); n > 0 && !t.bad; n-- {
			t.channel(&s, size)
		}
	}
	return s, !t.bad && s.count > 0
}

// channel reads a channel of values of some bytes each. Distances of the first echo go to s.
func (t *telegram) channel(s *measured, size int) {
	var name []byte
	if t.binary {
		name = t.bytes(5)
	} else {
		name = t.word()
	}
	scale, offset := math.Float32frombits(t.number(4)), math.Float32frombits(t.number(4))
	first, step, count := int(int32(t.number(4))), int(t.number(2)), int(t.number(2))
	if size == 2 && string(name) == "DIST1" {
		// Outside of these bounds no distance would fit into a reading. Comparisons with NaN
		// are false.
		if !(scale > 0 && scale <= 1000 && offset >= -1e6 && offset <= 1e6) || step == 0 {
			t.bad = true
			return
		}
		s.scale, s.offset, s.first, s.step, s.count, s.values = float64(scale), float64(offset), first, step, count, *t
	}
	for ; count > 0 && !t.bad; count-- {
		t.number(size)
	}
}

// angle returns the angle of a value in degrees, counterclockwise, 0 ahead.
func (s *measured) angle(i int) float64 { return float64(s.first+i*s.step-ahead) / degree }

// each calls take for each value: the angle in degrees, counterclockwise, 0 ahead, and the
// distance in mm, scan.Nothing or scan.Unknown.
func (s measured) each(take func(degrees float64, mm int)) {
	for i := range s.count {
		mm := scan.Unknown
		switch value := s.values.number(2); {
		case value >= valid:
			mm = max(int(math.Round(float64(value)*s.scale+s.offset)), scan.Nothing)
		case value == noEcho:
			mm = scan.Nothing
		}
		take(s.angle(i), mm)
	}
}

// isKnown reports whether a sensor of this name has 90 degrees ahead: TiM3xx, TiM5xx, TiM7xx,
// LMS1xx and LMS5xx do, the LMS1000 and the TiM2xx do not.
func isKnown(name string) bool {
	name = strings.ToUpper(name)
	for _, family := range [...]string{"TIM3", "TIM5", "TIM7", "LMS1", "LMS5"} {
		if strings.HasPrefix(name, family) {
			digits := strings.IndexFunc(name[3:], func(r rune) bool { return r != 'X' && (r < '0' || r > '9') })
			return digits == 3 || digits < 0 && len(name) == 6
		}
	}
	return false
}

// reach returns how far sensors of a known name see at most, in mm, if that is more than 20 m (SICK's data sheets of
// TiM571, TiM7xx and LMS5xx); 0: not known.
func reach(name string) int {
	switch name = strings.ToUpper(name); {
	case strings.HasPrefix(name, "TIM57"), strings.HasPrefix(name, "TIM7"):
		return 25000
	case strings.HasPrefix(name, "LMS5"):
		return 80000
	}
	return 0
}

// refusal returns the meaning of a sensor's error code (the listing, "Sopas error codes").
func refusal(code uint32) string {
	switch code {
	case 1:
		return "it is not allowed: is another program logged in?"
	case 2, 3, 0xB, 0xC, 0xF:
		return "this sensor does not have it"
	case 4, 5:
		return "it does not take the value"
	case 0xD:
		return "it is busy: try again"
	}
	return "its fault"
}
