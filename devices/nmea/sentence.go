// Package nmea drives receivers of satellite navigation that send sentences of NMEA 0183, Player's gps device.
//
// Sources: the descriptions of the sentences GGA, RMC and GST in receivers' public manuals, for example u-blox, "u-blox M8
// Receiver description including protocol specification" ("the manual"). A sentence is text: $, the talker (GP, GN, GL ...)
// and the type, fields after commas, *, and the exclusive or of all bytes between $ and * as two hexadecimal digits.
package nmea

import (
	"bytes"
	"math"
	"strconv"

	"player/codec"
	"player/devices/transport"
)

const (
	// longest is the most bytes of a sentence up to its checksum. The standard allows 80; receivers with many decimals send
	// a few more.
	longest = 120
	// packetSize is the size of the longest sentence with the end of its line, CR and LF.
	packetSize = longest + len(end)
	end        = "\r\n"
)

// inspect recognises a sentence with a good checksum, and the end of its line if it has one.
func inspect(b []byte) (size int, v transport.Verdict) {
	if len(b) == 0 {
		return 0, transport.Partial
	}
	if b[0] != '$' {
		return 0, transport.Junk
	}
	var sum byte
	for i, c := range b[1:] {
		switch {
		case c == '*' && i+4 > longest:
			return 0, transport.Damaged
		case c == '*' && len(b) < i+4:
			return 0, transport.Partial
		case c == '*':
			want, err := strconv.ParseUint(string(b[i+2:i+4]), 16, 8)
			if err != nil || byte(want) != sum {
				return 0, transport.Damaged
			}
			return ended(b, i+4)
		case c < ' ' || c > '~' || c == '$' || i+2 >= longest:
			return 0, transport.Damaged
		}
		sum ^= c
	}
	return 0, transport.Partial
}

// ended adds the end of the line behind a sentence of a size.
func ended(b []byte, size int) (int, transport.Verdict) {
	for i := range end {
		switch {
		case len(b) == size+i:
			return 0, transport.Partial
		case b[size+i] != end[i]:
			return size, transport.Whole
		}
	}
	return size + len(end), transport.Whole
}

// kind is the type of a sentence that is read.
type kind uint8

const (
	other kind = iota
	gga        // fix
	rmc        // recommended minimum: date, speed, course
	gst        // errors
)

// sentence is the fields of a sentence, the talker and type first.
type sentence [][]byte

// split cuts a whole sentence into fields, in place of the fields of an earlier one.
func split(dst sentence, b []byte) sentence {
	dst = dst[:0]
	b = bytes.TrimSuffix(b, []byte(end))
	b = b[1 : len(b)-3]
	for {
		field, rest, more := bytes.Cut(b, []byte{','})
		if dst = append(dst, field); !more {
			return dst
		}
		b = rest
	}
}

// kind returns the type of a sentence of a satellite receiver, whose talkers begin with G or B (BeiDou).
func (s sentence) kind() kind {
	if len(s[0]) != 5 || s[0][0] != 'G' && s[0][0] != 'B' {
		return other
	}
	switch string(s[0][2:]) {
	case "GGA":
		return gga
	case "RMC":
		return rmc
	case "GST":
		return gst
	}
	return other
}

// field returns a field, empty if there is none.
func (s sentence) field(i int) []byte {
	if i >= len(s) {
		return nil
	}
	return s[i]
}

// number reads a decimal number. It reports false for an empty field, and for one that is none.
func (s sentence) number(i int) (v float64, ok bool) {
	v, err := strconv.ParseFloat(string(s.field(i)), 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// angle reads degrees and minutes, dddmm.mmmm, and the hemisphere in the next field, as 1e-7 degree.
func (s sentence) angle(i int, most float64) int32 {
	v, ok := s.number(i)
	degrees := math.Floor(v / 100)
	minutes := v - 100*degrees
	v = degrees + minutes/60
	if !ok || v < 0 || minutes >= 60 || v > most {
		return codec.Unknown
	}
	switch string(s.field(i + 1)) {
	case "N", "E":
	case "S", "W":
		v = -v
	default:
		return codec.Unknown
	}
	return int32(math.Round(v * 1e7))
}

// amount reads a number that is not negative, in units of 1/scale. It is codec.UnknownAmount if there is none.
func (s sentence) amount(i int, scale float64) uint32 {
	v, ok := s.number(i)
	if v = math.Round(v * scale); !ok || v < 0 || v >= codec.UnknownAmount {
		return codec.UnknownAmount
	}
	return uint32(v)
}

// digits reads n digits from the beginning of a field.
func digits(b []byte, at, n int) (v int, ok bool) {
	if len(b) < at+n {
		return 0, false
	}
	for _, c := range b[at : at+n] {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = 10*v + int(c-'0')
	}
	return v, true
}
