package sickcola

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// variables are the values of a sensor by their names, as hosts read and write them (the listing; a recorded start of a
// TiM571 by SICK's own host has the same lengths).
type variables map[string]*variable

// A variable has numbers, each with its size in bytes in CoLa B, or a text.
type variable struct {
	sizes    []int
	numbers  []uint32 // as many as sizes
	text     string   // of a variable without sizes
	writable bool     // by a host that is logged in
}

// newVariables returns the variables of a sensor of a model as it leaves the factory. Counters and texts are invented.
func newVariables(m Model) variables {
	angles := []uint32{unit(m.Step), unit(m.First), unit(m.Last)}
	version, _, _ := strings.Cut(m.Version, "-")
	// The channels of the first echo, no intensities, all else off, and each scan.
	output := []uint32{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
	if m.Intensities > 0 {
		output[remission], output[wide] = 1, uint32(m.Intensities-1)
	}
	if m.Echoes > 1 {
		output[echoes] = 0x1F
	}
	if m.Sectors != nil { // only those have an input for one
		output[encoder] = 1
	}
	output[named] = 1
	v := variables{
		"ODoprh":          {sizes: []int{4}, numbers: []uint32{0x068C}},
		"ODpwrc":          {sizes: []int{4}, numbers: []uint32{0x79}},
		"FirmwareVersion": {text: version},
		"SerialNumber":    {text: "12130584"},
		"LocationName":    {text: "not defined", writable: true},
		"EIHstCola":       {sizes: []int{1}, numbers: []uint32{0}, writable: true},
		"LMPoutputRange":  {sizes: []int{2, 4, 4, 4}, numbers: append([]uint32{1}, angles...), writable: true},
		"LMDscandatacfg":  {sizes: []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}, numbers: output, writable: true},
	}
	if m.Sectors != nil {
		v["LMPscancfg"] = &variable{sizes: []int{4, 2, 4, 4, 4}, numbers: append([]uint32{uint32(m.Rate * 100), 1}, angles...)}
		// 0 first echo, 1 all, 2 last (SICK's sick_scan_xd, sick_generic_parser.cpp); 2 from the factory: assumed.
		v["FREchoFilter"] = &variable{sizes: []int{1}, numbers: []uint32{2}, writable: true}
		v["LICencset"] = &variable{sizes: []int{1}, numbers: []uint32{0}, writable: true}
		v["LICencres"] = &variable{sizes: []int{4}, numbers: []uint32{0x3F800000}, writable: true}
		v["LICsrc"] = &variable{sizes: []int{1}, numbers: []uint32{0}, writable: true}
	}
	if m.Fields > 0 {
		// Version, time, four inputs, none of them on, and no date.
		v["LIDinputstate"] = &variable{sizes: []int{2, 4, 1, 1, 1, 1, 2}, numbers: make([]uint32, 7)}
		for i := range m.Fields {
			// The scales of its distances and angles, type and number; no outline of any shape, no name, no comment.
			v[fmt.Sprintf("field%03d", i)] = &variable{
				sizes:   []int{4, 4, 4, 4, 1, 1, 2, 2, 2, 2, 2, 2},
				numbers: []uint32{0x3F800000, 0, angles[0], angles[1], 2, uint32(i), 0, 0, 0, 0, 0, 0},
			}
		}
	}
	return v
}

// events are a sensor's reports of changes, in addition to scans: things in its fields, and its outputs and inputs.
// Without a field that is set it has nothing to report.
var events = []string{"LFErec", "LIDoutputstate", "LIDinputstate"}

// The numbers of LMDscandatacfg, which select the parts of a telegram of scans.
const (
	echoes    = 0  // 1: the first one; 1F: all
	remission = 2  // it has intensities
	wide      = 3  // of 16 bits each, and not 8
	encoder   = 5  // it has the values of an encoder
	named     = 8  // it has the sensor's name
	every     = 11 // one scan of this many is sent
)

// The numbers of LMPoutputRange and LMPscancfg with angles, in 1/10000 degree.
const (
	outputFirst = 2
	outputLast  = 3
	scanStep    = 2
)

// unit returns an angle in the sensor's unit, as a two's complement.
func unit(degrees float64) uint32 {
	if degrees < 0 {
		return -unit(-degrees)
	}
	return uint32(degrees*10000 + 0.5)
}

// degrees returns an angle in degrees.
func degrees(unit uint32) float64 { return float64(int32(unit)) / 10000 }

// words returns the value of a variable as the sensor sends it.
func (v *variable) words(binary bool) string {
	t := &text{binary: binary}
	if len(v.sizes) == 0 {
		return counted(v.text, binary)
	}
	for i, size := range v.sizes {
		t.numbers(size, v.numbers[i])
	}
	return t.out.String()
}

// set gives a variable the numbers or the text of a request. ok is false if they do not fit.
func (v *variable) set(parameters string, inBinary bool) (ok bool) {
	if len(v.sizes) > 0 {
		numbers, ok := numbersIn(parameters, inBinary, v.sizes)
		if ok {
			v.numbers = numbers
		}
		return ok
	}
	if inBinary {
		if len(parameters) < 2 || len(parameters) != 2+int(binary.BigEndian.Uint16([]byte(parameters))) {
			return false
		}
		v.text = parameters[2:]
		return true
	}
	length, text, _ := strings.Cut(parameters, " ")
	n, ok := numberIn(length)
	if ok = ok && int(n) == len(text); ok {
		v.text = text
	}
	return ok
}

// counted returns a text with its length in front of it.
func counted(text string, inBinary bool) string {
	if inBinary {
		return string(binary.BigEndian.AppendUint16(nil, uint16(len(text)))) + text
	}
	return fmt.Sprintf("%X %s", len(text), text)
}

// numbersIn returns the numbers of a request, one for each size in bytes. ok is false if there are others.
func numbersIn(parameters string, inBinary bool, sizes []int) (numbers []uint32, ok bool) {
	if inBinary {
		for _, size := range sizes {
			if len(parameters) < size {
				return nil, false
			}
			var n uint32
			for _, b := range []byte(parameters[:size]) {
				n = n<<8 | uint32(b)
			}
			numbers, parameters = append(numbers, n), parameters[size:]
		}
		return numbers, parameters == ""
	}
	words := strings.Fields(parameters)
	if len(words) != len(sizes) {
		return nil, false
	}
	for _, word := range words {
		n, ok := numberIn(word)
		if !ok {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	return numbers, true
}

// numberIn returns a number of a request in CoLa A: hexadecimal, or decimal behind a sign. Zeros in front of it mean
// nothing.
func numberIn(word string) (n uint32, ok bool) {
	base := 16
	if strings.HasPrefix(word, "+") || strings.HasPrefix(word, "-") {
		base = 10
	}
	long, err := strconv.ParseInt(word, base, 64)
	return uint32(long), err == nil && long >= -1<<31 && long < 1<<32
}
