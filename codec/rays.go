package codec

import (
	"math"
	"strconv"
	"strings"
)

// Rays is where readings of a ranger look from and to (PROTOCOL 8.9.6): those that follow each other from one point, in
// equal steps. A scanner is one line of Rays, a ring of sonars one for each sonar. The frame is the robot's, as of Part.
type Rays struct {
	Device  byte    `json:"-"`
	First   int     `json:"first"`       // reading, from 0
	Count   int     `json:"count"`       // readings, from 1
	X       float64 `json:"x_mm"`        // of the point
	Y       float64 `json:"y_mm"`        // of the point
	Heading float64 `json:"heading_deg"` // of the first reading, counterclockwise
	Step    float64 `json:"step_deg"`    // from a reading to the next, counterclockwise
	Near    float64 `json:"near_mm"`     // the smallest distance; 0: not known
	Far     float64 `json:"far_mm"`      // the largest distance; 0: not known
	Cone    float64 `json:"cone_deg"`    // how wide a reading sees, half to each side; 0: a line, or not known
}

// rayPrecision is by how much numbers of Rays are rounded, in their units: with a coarser step the last of 8192 readings
// would look past its direction by more than a hundredth of a degree.
const rayPrecision = 1e-6

// numbers returns the numbers in the order of a line, behind First and Count.
func (r *Rays) numbers() [7]*float64 {
	return [...]*float64{&r.X, &r.Y, &r.Heading, &r.Step, &r.Near, &r.Far, &r.Cone}
}

// Rounded returns r with its numbers as a line has them.
func (r Rays) Rounded() Rays {
	for _, n := range r.numbers() {
		*n = math.Round(*n/rayPrecision)*rayPrecision + 0 // no -0
	}
	return r
}

// Line returns the line of an answer that ParseRays reads.
func (r Rays) Line(key string) string {
	line := strconv.AppendInt(append([]byte(key), ' '), int64(r.First), 10)
	line = strconv.AppendInt(append(line, ' '), int64(r.Count), 10)
	for _, n := range r.numbers() {
		text := strconv.FormatFloat(*n, 'f', 6, 64)
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		if text == "-0" {
			text = "0"
		}
		line = append(append(line, ' '), text...)
	}
	return string(line)
}

// ParseRays reads a line about readings of a ranger. It reports false for another line. Unknown words at the end are
// ignored: a later server may send more.
func ParseRays(line string, keys Keys) (r Rays, ok bool) {
	words := strings.Fields(line)
	if len(words) < 3+len(r.numbers()) {
		return Rays{}, false
	}
	code, known := keys(words[0])
	first, wrongFirst := strconv.Atoi(words[1])
	count, wrongCount := strconv.Atoi(words[2])
	if !known || wrongFirst != nil || wrongCount != nil || first < 0 || count < 1 || first+count > MaxReadings || count > MaxReadings {
		return Rays{}, false
	}
	r.Device, r.First, r.Count = code, first, count
	for i, n := range r.numbers() {
		var err error
		if *n, err = strconv.ParseFloat(words[3+i], 64); err != nil || math.IsNaN(*n) || math.IsInf(*n, 0) {
			return Rays{}, false
		}
	}
	return r, true
}
