package codec

import (
	"encoding/binary"
	"fmt"
)

// The interfaces of this file and of imu.go, gps.go, channels.go and goto.go have no letter in the protocol: the server hands a byte
// out to each of their devices (PROTOCOL 2.11). These letters name the interfaces inside of a program, and are never sent.
const (
	Ranger byte = 'R'
	IMU    byte = 'I'
	GPS    byte = 'G'
	IO     byte = 'O'
	Servo  byte = 'S'
	Goto   byte = 'T'
)

const (
	// MaxReadings is the most readings of a ranger. A scanner that turns ten times a second and measures 43,000 times has
	// 4,300. The payload of more would make frames that a wireless network carries late.
	MaxReadings = 8192
	// MaxRangerSize is the largest payload of a ranger in bytes.
	MaxRangerSize = rangerHeader + 2*MaxReadings

	rangerHeader = 2

	// NothingInRange is a reading of a ranger that has seen nothing, and UnknownRange one that was not taken, or whose echo
	// was no distance. MaxReading is the largest distance, in units.
	NothingInRange = 0xFFFE
	UnknownRange   = 0xFFFF
	MaxReading     = 0xFFFD
)

// RangerData is the readings of any range sensor (PROTOCOL 7.9). Question QuestionRays says where each of them looks.
type RangerData struct {
	Unit   uint16   `json:"unit_mm"` // mm, from 1
	Ranges []uint16 `json:"ranges"`  // in units; or NothingInRange, or UnknownRange
}

// MM returns a reading in mm. It reports false if there is no distance.
func (d *RangerData) MM(reading int) (mm int, ok bool) {
	r := d.Ranges[reading]
	return int(r) * int(d.Unit), r <= MaxReading
}

// Append appends the payload: 2 bytes, and 2 for each reading. Readings beyond MaxReadings are left out.
func (d *RangerData) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, d.Unit)
	return appendRanges(dst, d.Ranges[:min(len(d.Ranges), MaxReadings)])
}

// Decode reads a payload, reusing d.Ranges. A unit of zero, an odd size, and one above MaxRangerSize are errors.
func (d *RangerData) Decode(b []byte) error {
	if len(b) < rangerHeader || len(b)%2 != 0 || len(b) > MaxRangerSize {
		return fmt.Errorf("ranger payload has %d bytes, want an even number, %d to %d", len(b), rangerHeader, MaxRangerSize)
	}
	if d.Unit = binary.BigEndian.Uint16(b); d.Unit == 0 {
		return fmt.Errorf("ranger payload has a unit of 0 mm")
	}
	d.Ranges = d.Ranges[:0]
	for b = b[rangerHeader:]; len(b) > 0; b = b[2:] {
		d.Ranges = append(d.Ranges, binary.BigEndian.Uint16(b))
	}
	return nil
}
