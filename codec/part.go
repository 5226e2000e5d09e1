package codec

import (
	"math"
	"strconv"
	"strings"
)

// Part is one part of a device on the robot: its place, its size, and the area that it covers. A
// ring of sonars has 16 of them. The frame is the robot's: the origin is the centre of
// rotation, x ahead, y to the left.
type Part struct {
	Device  byte    `json:"-"`
	Number  int     `json:"number"`      // of a sonar: its place in the data, from 0; else 0
	X       float64 `json:"x_mm"`        // of its middle
	Y       float64 `json:"y_mm"`        // of its middle
	Heading float64 `json:"heading_deg"` // counterclockwise

	// Zero: not known, or it has none.
	Length float64 `json:"length_mm,omitempty"` // along its heading
	Width  float64 `json:"width_mm,omitempty"`  // across
	Range  float64 `json:"range_mm,omitempty"`  // of a sensor
	View   float64 `json:"view_deg,omitempty"`  // the width of a sensor's field of view, half to each side
}

// numbers returns the numbers of a part in the order of a line.
func (p *Part) numbers() [7]*float64 {
	return [...]*float64{&p.X, &p.Y, &p.Heading, &p.Length, &p.Width, &p.Range, &p.View}
}

// Rounded returns p with its numbers rounded to a tenth: people mount sensors less exactly.
func (p Part) Rounded() Part {
	for _, n := range p.numbers() {
		*n = math.Round(*n*10)/10 + 0 // no -0
	}
	return p
}

// Line returns the line of an answer that ParsePart reads (PROTOCOL 8.9.3).
func (p Part) Line(key string) string {
	p = p.Rounded()
	line := append([]byte(key), ' ')
	line = strconv.AppendInt(line, int64(p.Number), 10)
	for _, n := range p.numbers() {
		line = strconv.AppendFloat(append(line, ' '), *n, 'f', -1, 64)
	}
	return string(line)
}

// ParsePart reads a line about a part. It reports false for another line. Unknown words at
// the end are ignored: a later server may send more.
func ParsePart(line string, keys Keys) (p Part, ok bool) {
	words := strings.Fields(line)
	if len(words) < 2+len(p.numbers()) {
		return Part{}, false
	}
	code, known := keys(words[0])
	number, err := strconv.Atoi(words[1])
	if err != nil || number < 0 || !known {
		return Part{}, false
	}
	p.Device, p.Number = code, number
	for i, n := range p.numbers() {
		if *n, err = strconv.ParseFloat(words[2+i], 64); err != nil || math.IsNaN(*n) || math.IsInf(*n, 0) {
			return Part{}, false
		}
	}
	return p, true
}
