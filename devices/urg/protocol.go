// Package urg drives Hokuyo's laser scanners that speak SCIP 2.0, such as URG-04LX,
// UBG-04LX, UST-10LX and UTM-30LX, over a serial line, USB or TCP. They become
// Player's laser device.
//
// Source: Hokuyo, "Communication Protocol Specification for SCIP2.0 Standard"
// (C-42-03320, "the specification" below). Requests and answers are lines of text.
// An answer begins with its request, goes on with a line of status, and ends with an
// empty line.
package urg

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"player/devices/scan"
)

const (
	// maxRequest is how much is kept of the line that an answer begins with, in bytes:
	// more than the longest request.
	maxRequest = 32
	// maxSteps is the most readings of a scan: a request names its steps with four digits.
	maxSteps = 10000
	// charsPerStep is the size of a distance in characters, 6 bits each.
	charsPerStep = 3
)

// The requests.
const (
	quit       = "QT"       // laser off, ends a scan
	scip2      = "SCIP2.0"  // an old URG-04LX speaks SCIP 1.1 first
	parameters = "PP"       // answered by Parameters
	fastLine   = "SS115200" // speed of a serial line
	adjusted   = "TM2"      // ends the adjustment of a clock; until then a sensor obeys only this
	laserOn    = "BM"
	scanning   = "MD" // distances in three characters, again and again
)

// checksum returns the character that ends a line of data: the sum of its characters
// in 6 bits, and 0x30.
func checksum(b []byte) byte {
	sum := byte(0)
	for _, c := range b {
		sum += c
	}
	return sum&0x3F + 0x30
}

// sealed returns a line without its checksum, or false if the checksum is wrong.
func sealed(line []byte) (data []byte, ok bool) {
	last := len(line) - 1
	if last < 1 || checksum(line[:last]) != line[last] {
		return nil, false
	}
	return line[:last], true
}

// decode returns the number in some characters, 6 bits each, the highest first. It
// returns false if one is none of the encoding.
func decode(b []byte) (n int, ok bool) {
	for _, c := range b {
		if c < 0x30 || c > 0x6F {
			return 0, false
		}
		n = n<<6 | int(c-0x30)
	}
	return n, true
}

// Parameters is the sensor's description of itself (request PP).
type Parameters struct {
	Model        string
	Min, Max     int // mm, the distances that it measures; below Min are error codes
	Steps        int // of a revolution
	First, Last  int // steps of the area that the sensor sees
	Front        int // the step that points ahead
	TurnsAMinute int
}

// field returns the text of a line of the answer to PP, without its end: a semicolon and the
// checksum. ok is false if the checksum is wrong; the specification does not count the
// semicolon, and Hokuyo's urg_library (scip_response) accepts both.
func field(line []byte) (text []byte, ok bool) {
	last := len(line) - 1
	semicolon := last - 1
	if semicolon < 0 || line[semicolon] != ';' {
		return nil, false
	}
	text = line[:semicolon]
	return text, checksum(text) == line[last] || checksum(line[:last]) == line[last]
}

// Set takes a line of the answer to PP, such as "DMAX:5600;_". It returns false if the line
// is damaged. It ignores unknown fields.
func (p *Parameters) Set(line []byte) bool {
	text, ok := field(line)
	if !ok {
		return false
	}
	key, value, _ := bytes.Cut(text, []byte{':'})
	if string(key) == "MODL" {
		p.Model = string(value)
		return true
	}
	number := map[string]*int{
		"DMIN": &p.Min, "DMAX": &p.Max, "ARES": &p.Steps, "AMIN": &p.First, "AMAX": &p.Last, "AFRT": &p.Front, "SCAN": &p.TurnsAMinute,
	}[string(key)]
	if n, err := strconv.Atoi(string(value)); number != nil && err == nil {
		*number = n
	}
	return true
}

// Check returns an error if no scan can be made of the parameters.
func (p *Parameters) Check() error {
	if p.Steps < 1 || p.First < 0 || p.Last < p.First || p.Last >= maxSteps || p.Max <= p.Min || p.Min < 0 {
		return fmt.Errorf("the sensor describes itself in a way that makes no sense: %+v", *p)
	}
	return nil
}

// Angle returns the angle of a step in degrees, counterclockwise, 0 ahead.
func (p *Parameters) Angle(step int) float64 { return float64(step-p.Front) * 360 / float64(p.Steps) }

// oldSensors are the names of the sensors whose codes are in table 3 of the specification.
var oldSensors = [...]string{"URG-04LX", "UBG-04LX", "UHG-08LX"}

// nothing is the error code of a direction in which nothing is in range: 0 of the older sensors, which means that a
// thing may be 22 m away (specification, table 3), and 1 of the later ones (table 4). Other codes are faults of the
// measurement.
func (p *Parameters) nothing() int {
	for _, name := range oldSensors {
		if strings.HasPrefix(p.Model, name) {
			return 0
		}
	}
	return 1
}

// distance returns the distance in mm that a value means, scan.Nothing or scan.Unknown. Values below Min are error
// codes, above Max nothing was seen.
func (p *Parameters) distance(value, nothing int) (mm int) {
	switch {
	case value > p.Max, value < p.Min && value == nothing:
		return scan.Nothing
	case value < p.Min:
		return scan.Unknown
	}
	return value
}

// Step returns the step next to an angle in degrees, within the sensor's area.
func (p *Parameters) Step(degrees float64) int {
	return max(p.First, min(p.Front+int(degrees*float64(p.Steps)/360), p.Last))
}

// Scan is the request for distances from one step to another: steps not joined (01), no
// revolution skipped (0), without end (00). The answers repeat it.
func Scan(first, last int) string { return fmt.Sprintf("%s%04d%04d01000", scanning, first, last) }
