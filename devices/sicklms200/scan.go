package sicklms200

import (
	"encoding/binary"
	"errors"
	"fmt"

	"player/devices/scan"
)

// Unit is the unit of ranges.
type Unit byte

// The units, in a scan and in a Configuration.
const (
	Centimetres Unit = 0
	Millimetres Unit = 1
)

// String returns the unit's symbol.
func (u Unit) String() string {
	switch u {
	case Centimetres:
		return "cm"
	case Millimetres:
		return "mm"
	}
	return fmt.Sprintf("unit %d", byte(u))
}

const (
	// ScanCount is the number of values of a 180 degree scan in half degree
	// steps, all that Player's laser data can carry (manual table 7).
	ScanCount = 361

	// rangeMask keeps the 13 bits of the range; the bits above flag a value of a reflector,
	// in a field, or dazzled.
	rangeMask = 0x1FFF

	countMask = 0x3FFF // of a scan's first word; its upper two bits are the unit
	unitShift = 14

	// scanStep is the step of such a scan, in degrees.
	scanStep = 0.5
	// farthest is the largest value in mm: the nine above it are codes. beyondRange is the code of a direction in which
	// nothing is in range; the others are faults of the measurement (SICK's listing 8007954, page 124).
	farthest    = 8182
	beyondRange = 8183

	// indexSize is how many bytes may follow the values, if the laser is set to send
	// real-time indices: one for the scan and one for the telegram.
	indexSize = 2
)

// Errors of DecodeScan.
var (
	ErrNotScan = errors.New("not a scan")
	ErrScan    = errors.New("scan whose count of values is not its length")
	ErrVariant = errors.New("scan of a wrong variant: 180 degrees in steps of 0.5 are needed")
	ErrUnit    = errors.New("scan in a wrong unit: millimetres are needed")
)

// Scan is one measurement, valid as long as its telegram.
type Scan struct {
	First uint16 // place of the first value in the complete scan, from 1
	Count int    // values
	Unit  Unit

	values []byte // 2 bytes each, little-endian
}

// DecodeScan reads a measurement. ErrVariant and ErrUnit come together with the Scan: it is
// valid, but Player's laser data cannot carry it.
func DecodeScan(t Telegram) (s Scan, err error) {
	b := t.Data()
	s.First = 1
	switch {
	case t.Code() == CodeScan && len(b) >= 2:
	case t.Code() == CodeScanRange && len(b) >= 6: // first, last, then as a scan
		s.First = binary.LittleEndian.Uint16(b) // last follows from the count
		b = b[4:]
	default:
		return Scan{}, ErrNotScan
	}
	head := binary.LittleEndian.Uint16(b)
	s.Count, s.Unit = int(head&countMask), Unit(head>>unitShift)
	size := 2 * s.Count
	if behind := len(b) - 2 - size; behind != 0 && behind != indexSize {
		return Scan{}, ErrScan
	}
	s.values = b[2:][:size]
	switch {
	case s.Count != ScanCount || s.First != 1:
		return s, ErrVariant
	case s.Unit != Millimetres:
		return s, ErrUnit
	}
	return s, nil
}

// variant returns the range and the step of a scan of all values; zero if no variant has that many.
func (s Scan) variant() Variant {
	switch s.Count {
	case 361:
		return Variant{180, 50}
	case 181:
		return Variant{180, 100}
	case 401:
		return Variant{100, 25}
	case 201:
		return Variant{100, 50}
	case 101:
		return Variant{100, 100}
	}
	return Variant{}
}

// distance returns the distance in mm that a value in mm means, scan.Nothing or scan.Unknown.
func distance(value uint16) int {
	switch {
	case value == beyondRange:
		return scan.Nothing
	case value > farthest, value == 0:
		return scan.Unknown
	}
	return int(value)
}

// Range returns the value at i, below Count, in the scan's unit; values are in
// order from the right end counterclockwise. The flag bits are stripped; a dazzled
// value is reported like any other.
func (s Scan) Range(i int) uint16 {
	return binary.LittleEndian.Uint16(s.values[2*i:]) & rangeMask
}
