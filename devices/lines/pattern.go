// Package lines drives a robot or a sensor that speaks lines of text, like a
// microcontroller: the configuration describes the lines, and no code is needed.
// docs/devices/lines.md has the fields and an example.
package lines

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"player/codec"
)

// The fields of lines that are read. Sonars are sonar0 to sonar15.
const (
	fieldNone       = iota // {_}: a word to ignore
	fieldRest              // {...}: anything up to the text that follows it
	fieldX                 // mm
	fieldY                 // mm
	fieldHeading           // deg, counterclockwise
	fieldSpeed             // mm/s
	fieldTurn              // deg/s, counterclockwise
	fieldCompass           // deg, counterclockwise
	fieldStall             // zero: the motors rotate freely
	fieldLeft              // mm that the left wheel has driven, forward, in all
	fieldRight             // mm
	fieldLeftSpeed         // mm/s of the left wheel, forward
	fieldRightSpeed        // mm/s
	fieldFront             // bits of the front bumpers
	fieldRear              // bits of the rear bumpers
	fieldBattery           // V
	fieldSonar             // mm, the first of 16
	lastSonar       = fieldSonar + codec.SonarCount - 1
)

// The fields of an inertial measurement unit, a GPS receiver, inputs and outputs, a ranger, and joints.
const (
	fieldRoll      = lastSonar + 1 + iota // deg, the left side up
	fieldPitch                            // deg, the front down
	fieldYaw                              // deg, counterclockwise
	fieldRollRate                         // deg/s
	fieldPitchRate                        // deg/s
	fieldYawRate                          // deg/s
	fieldAX                               // mm/s2, ahead
	fieldAY                               // mm/s2, to the left
	fieldAZ                               // mm/s2, up
	fieldLatitude                         // deg, north
	fieldLongitude                        // deg, east
	fieldHeight                           // mm above mean sea level
	fieldFix                              // as in PROTOCOL 7.11
	fieldSatellites
	fieldIO    // the first of maxIO
	lastIO     = fieldIO + maxIO - 1
	fieldRange = lastIO + 1 // mm, the first of maxRange
	lastRange  = fieldRange + maxRange - 1
	fieldJoint = lastRange + 1 // in the unit of the joint, the first of maxJoint
	lastJoint  = fieldJoint + maxJoint - 1
	fieldState = lastJoint + 1 // bits as in PROTOCOL 7.13, the first of maxJoint
	lastState  = fieldState + maxJoint - 1
	fields     = lastState + 1
)

const (
	// maxIO is the most inputs and outputs of a board. An Arduino Mega has 70 pins; more than these need a driver.
	maxIO = 32
	// maxRange is the most readings of a ranger: the zones of a VL53L5CX. A line of 511 bytes has room for them.
	maxRange = 64
	// maxJoint is the most joints: the outputs of a PCA9685.
	maxJoint = 16
)

// readable are the fields of a pattern by name.
func readable() map[string]int {
	names := map[string]int{
		"_": fieldNone, "...": fieldRest, "x": fieldX, "y": fieldY, "heading": fieldHeading, "speed": fieldSpeed, "turn": fieldTurn,
		"compass": fieldCompass, "stall": fieldStall, "left": fieldLeft, "right": fieldRight,
		"leftspeed": fieldLeftSpeed, "rightspeed": fieldRightSpeed,
		"front": fieldFront, "rear": fieldRear, "battery": fieldBattery,
	}
	for i := range codec.SonarCount {
		names[fmt.Sprint("sonar", i)] = fieldSonar + i
	}
	for i, name := range []string{"roll", "pitch", "yaw", "rollrate", "pitchrate", "yawrate", "ax", "ay", "az",
		"latitude", "longitude", "height", "fix", "satellites"} {
		names[name] = fieldRoll + i
	}
	for i := range maxRange {
		names[fmt.Sprint("range", i)] = fieldRange + i
	}
	for i := range maxJoint {
		names[fmt.Sprint("joint", i)] = fieldJoint + i
		names[fmt.Sprint("state", i)] = fieldState + i
	}
	for i := range maxIO {
		names[fmt.Sprint("io", i)] = fieldIO + i
	}
	return names
}

// The fields of commands.
const (
	argSpeed      = iota // mm/s
	argTurn              // deg/s, counterclockwise
	argLeft              // mm/s, of the left wheel
	argRight             // mm/s
	argEOL               // {eol}: the end of a line, between two lines
	argChannel           // of an output
	argValue             // in the unit of the output
	argJoint             // number of a joint, from 0
	argGoal              // in the unit of the joint
	argJointSpeed        // in the unit of the joint each second; 0: as the board moves it
	args
)

func writable() map[string]int {
	return map[string]int{"speed": argSpeed, "turn": argTurn, "left": argLeft, "right": argRight, "eol": argEOL}
}

// settable are the fields of a command to an output.
func settable() map[string]int {
	return map[string]int{"channel": argChannel, "value": argValue, "eol": argEOL}
}

// movable are the fields of a command to a joint.
func movable() map[string]int {
	return map[string]int{"joint": argJoint, "goal": argGoal, "speed": argJointSpeed, "eol": argEOL}
}

// piece is a literal text, or, if that is nil, a field.
type piece struct {
	text     []byte
	field    int
	factor   float64
	decimals int
}

// compile reads a text with fields, such as "pos {x*1000} {heading}". A field is
// {NAME}, {NAME*FACTOR} or {NAME/DIVISOR}; :DECIMALS may follow, for commands. {{ is a
// brace.
func compile(text string, names map[string]int) ([]piece, error) {
	var pieces []piece
	for rest := text; rest != ""; {
		literal, tail, found := strings.Cut(rest, "{")
		for found && strings.HasPrefix(tail, "{") {
			var more string
			more, tail, found = strings.Cut(tail[1:], "{")
			literal += "{" + more
		}
		if literal != "" {
			pieces = append(pieces, piece{text: []byte(literal)})
		}
		if !found {
			break
		}
		inside, tail, closed := strings.Cut(tail, "}")
		if !closed {
			return nil, fmt.Errorf("%q: a { has no }", text)
		}
		p, err := field(inside, names)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		pieces = append(pieces, p)
		rest = tail
	}
	if len(pieces) == 0 {
		return nil, fmt.Errorf("%q: it is empty", text)
	}
	return pieces, nil
}

// field reads the inside of { }.
func field(text string, names map[string]int) (piece, error) {
	p := piece{factor: 1}
	name, decimals, given := strings.Cut(text, ":")
	if given {
		n, err := strconv.Atoi(decimals)
		if err != nil || n < 0 || n > 6 {
			return p, fmt.Errorf("{%s}: the number of decimals is 0 to 6", text)
		}
		p.decimals = n
	}
	if i := strings.IndexAny(name, "*/"); i >= 0 {
		f, err := strconv.ParseFloat(name[i+1:], 64)
		if err != nil || f == 0 || math.IsInf(f, 0) || math.IsNaN(f) {
			return p, fmt.Errorf("{%s}: %q is no factor", text, name[i+1:])
		}
		if p.factor = f; name[i] == '/' {
			p.factor = 1 / f
		}
		name = name[:i]
	}
	known := false
	if p.field, known = names[name]; !known {
		return p, fmt.Errorf("{%s}: there is no field %q; fields are %s", text, name, listed(names))
	}
	return p, nil
}

// listed returns names for people. Of those with numbers it has the first and the last.
func listed(names map[string]int) string {
	var list []string
	last := map[string]int{} // number, by the name before it
	for _, name := range slices.Sorted(maps.Keys(names)) {
		base := strings.TrimRight(name, "0123456789")
		if n, err := strconv.Atoi(name[len(base):]); err == nil {
			last[base] = max(last[base], n)
			continue
		}
		list = append(list, name)
	}
	for _, base := range slices.Sorted(maps.Keys(last)) {
		list = append(list, fmt.Sprintf("%s0 to %s%d", base, base, last[base]))
	}
	return strings.Join(list, ", ")
}

// pattern is a line to read.
type pattern []piece

func newPattern(text string) (pattern, error) {
	p, err := compile(text, readable())
	if err != nil {
		return nil, err
	}
	for i := range len(p) - 1 {
		if a, b := p[i], p[i+1]; a.text == nil && b.text == nil && (a.field == fieldRest || b.field != fieldRest) {
			return nil, fmt.Errorf("%q: nothing stands between two fields", text)
		}
	}
	return p, nil
}

// values are the fields of a line.
type values struct {
	number  [fields]float64
	has     [fields]bool
	unit    [2]float64 // mm for one count of left and right
	beyond  int        // the last field that cannot have its number, which is in number; fieldNone: all can
	unknown bool       // a field has no number, or an impossible one: as if the line had no such field
}

// seen reports whether the line has one of the fields from one to another.
func (v *values) seen(from, to int) bool { return slices.Contains(v.has[from:to+1], true) }

// limits returns the least and greatest number that a field can have, in its unit.
func limits(field int) (least, most float64) {
	const (
		turns = 1e6  // deg: a board that counts its rotations may be far from 0
		far   = 1e12 // mm: a counter of 32 bits with coarse counts
		volts = 1000 // more than any robot has
		// of an IMU, a height and a joint: numbers of 32 bits, in thousandths or in mm
		thousandths = math.MaxInt32 / 1000
	)
	switch field {
	case fieldX, fieldY:
		return math.MinInt32, math.MaxInt32
	case fieldHeading, fieldCompass:
		return -turns, turns
	case fieldSpeed, fieldTurn, fieldLeftSpeed, fieldRightSpeed:
		return math.MinInt16, math.MaxInt16
	case fieldLeft, fieldRight:
		return -far, far
	case fieldFront, fieldRear:
		return 0, 31
	case fieldBattery:
		return 0, volts
	case fieldLatitude:
		return -90, 90
	case fieldLongitude:
		return -180, 180
	case fieldFix, fieldSatellites:
		return 0, math.MaxUint8
	}
	switch {
	case field >= fieldState:
		return 0, math.MaxUint8
	case field >= fieldJoint:
		return -thousandths, thousandths
	case field >= fieldRange:
		return -math.MaxFloat64, math.Inf(1)
	case field >= fieldIO:
		return math.MinInt32 + 1, math.MaxInt32
	case field >= fieldRoll:
		return -thousandths, thousandths
	}
	return -math.MaxFloat64, math.Inf(1) // stall and sonars: the greatest number, farther than any range
}

// match sets the fields of a line in v. It reports whether the line matches; v is
// only good then.
func (p pattern) match(line []byte, v *values) bool {
	v.has, v.unknown, v.beyond = [fields]bool{}, false, fieldNone
	for i, piece := range p {
		if piece.text != nil {
			if i == 0 || p[i-1].text == nil && p[i-1].field != fieldRest {
				line = unpad(line, piece.text)
			}
			if !bytes.HasPrefix(line, piece.text) {
				return false
			}
			line = line[len(piece.text):]
			continue
		}
		if piece.field == fieldRest {
			n := len(line)
			if i+1 < len(p) {
				n = bytes.Index(line, p[i+1].text)
			}
			if n < 0 {
				return false
			}
			line = line[n:]
			continue
		}
		line = bytes.TrimLeft(line, blanks)
		n := 0
		if piece.field == fieldNone {
			n = word(line)
		} else {
			var f float64
			f, n = number(line)
			f *= piece.factor
			if least, most := limits(piece.field); f >= least && f <= most { // false of NaN
				v.number[piece.field], v.has[piece.field] = f, true
				if piece.field == fieldLeft || piece.field == fieldRight {
					v.unit[piece.field-fieldLeft] = piece.factor
				}
			} else {
				v.unknown, v.beyond, v.number[piece.field] = true, piece.field, f
			}
		}
		if n == 0 {
			return false
		}
		line = line[n:]
	}
	return len(bytes.TrimLeft(line, blanks)) == 0
}

// blanks pad numbers: printf's "%5d" has them in front of a number, "%-5d" behind it.
const blanks = " \t"

// unpad returns a line without the blanks at its beginning, except the blanks with which
// text begins.
func unpad(line, text []byte) []byte {
	padding := len(line) - len(bytes.TrimLeft(line, blanks))
	kept := len(text) - len(bytes.TrimLeft(text, blanks))
	return line[max(0, padding-kept):]
}

// word returns the length of anything up to the next space, comma or semicolon.
func word(b []byte) int {
	if n := bytes.IndexAny(b, ",;"+blanks); n >= 0 {
		return n
	}
	return len(b)
}

// notNumbers are the texts that boards send instead of a number. C and Arduino print them for NaN, infinity and numbers
// that are too large, and JSON has null. The longest comes first.
var notNumbers = [...]struct {
	text  string
	value float64
}{{"infinity", math.Inf(1)}, {"inf", math.Inf(1)}, {"nan", math.NaN()}, {"ovf", math.NaN()}, {"null", math.NaN()}}

// number returns the number at the beginning of b and its length; zero: there is none. It is
// infinite if it is too large.
func number(b []byte) (f float64, n int) {
	if n < len(b) && (b[n] == '-' || b[n] == '+') {
		n++
	}
	for _, none := range notNumbers {
		if end := n + len(none.text); end <= len(b) && strings.EqualFold(string(b[n:end]), none.text) {
			if b[0] == '-' {
				return -none.value, end
			}
			return none.value, end
		}
	}
	digits := func() (some bool) {
		for ; n < len(b) && b[n] >= '0' && b[n] <= '9'; n++ {
			some = true
		}
		return some
	}
	some := digits()
	if n < len(b) && b[n] == '.' {
		n++
		some = digits() || some
	}
	if !some {
		return 0, 0
	}
	if mantissa := n; n < len(b) && b[n]|0x20 == 'e' {
		if n++; n < len(b) && (b[n] == '-' || b[n] == '+') {
			n++
		}
		if !digits() {
			n = mantissa // the e begins the text that follows
		}
	}
	f, _ = strconv.ParseFloat(string(b[:n]), 64) // an error is that it is too large
	return f, n
}

// template is one line to send, with its end, or several.
type template []piece

func newTemplate(text, eol string, names map[string]int) (template, error) {
	t, err := compile(text, names)
	if err != nil {
		return nil, err
	}
	end := piece{text: []byte(eol)}
	for i := range t {
		if t[i].text == nil && t[i].field == argEOL {
			t[i] = end
		}
	}
	return append(t, end), nil
}

// append appends the line with the given arguments.
func (t template) append(dst []byte, arguments *[args]float64) []byte {
	for _, piece := range t {
		if piece.text != nil {
			dst = append(dst, piece.text...)
			continue
		}
		f := arguments[piece.field] * piece.factor
		unit := math.Pow10(piece.decimals)
		f = math.Round(f*unit)/unit + 0 // and not -0
		dst = strconv.AppendFloat(dst, f, 'f', piece.decimals, 64)
	}
	return dst
}
