// Package sickcola emulates SICK's TiM5xx, TiM7xx, LMS1xx and LMS5xx laser scanners on TCP.
//
// It follows SICK's "Telegram Listing" (8014631); everything else is marked "assumed".
package sickcola

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"player/simulation/emulator/line"
	"player/simulation/emulator/room"
)

// Model is a kind of sensor: its identity, and the angles that it scans. Angles are in
// degrees, counterclockwise, 90 ahead.
type Model struct {
	Name, Version     string
	First, Last, Step float64
	Rate              float64 // scans a second
	Intensities       int     // bytes of each intensity; 0: it sends none
	Echoes            int     // that it reports
	Unit              int     // mm, of its distances; 0: 1 mm
	Fields            int     // that it watches for things that enter them; without one it reports no events
	Sectors           []scanning
}

// scanning is a rate and a step of scans that hosts may set, in the units of LMPscancfg: 1/100 Hz, 1/10000 degree.
type scanning struct{ rate, step uint32 }

// These are models as SICK's data sheets describe them. SICK's host asks for as many fields of a TiM7xx, LMS1xx and
// LMS5xx as they have here; none is set (assumed: a sensor answers also then). An LMS511 has "LMS5xx_FieldEval_PRO" for
// a name (SICKAG/sick_scan_xd, issue 188), and counts in 2 mm (a scale of 40000000 in recorded telegrams). The
// version of the TiM781 is that of an owner's TiM781S (the same, issue 224). LMS1000 has another front, so a host must
// not mistake it for an LMS100.
var (
	TiM551 = Model{"TiM551", "V2.50-10.04.13", -45, 225, 1, 15, 1, 1, 1, 0, nil}
	TiM571 = Model{"TiM571", "V2.61-02.11.15", -45, 225, 1. / 3, 15, 0, 1, 1, 0, nil}
	TiM781 = Model{"TiM781", "V5.0-30.06.22", -45, 225, 1. / 3, 15, 2, 1, 1, 48, nil}
	LMS111 = Model{"LMS10x_FieldEval", "V1.36-21.10.2010", -45, 225, 0.5, 25, 2, 2, 1, 30, []scanning{{2500, 2500}, {2500, 5000}, {5000, 5000}}}
	LMS511 = Model{"LMS5xx_FieldEval_PRO", "S1.60-24.06.2015", -5, 185, 0.5, 50, 1, 1, 2, 30, []scanning{
		{2500, 1667}, {2500, 2500}, {3500, 2500}, {3500, 5000}, {5000, 3333}, {5000, 5000}, {7500, 5000}, {7500, 10000}, {10000, 6667}, {10000, 10000}}}
	LMS1000 = Model{"LMS1104C", "V1.0", -137.5, 137.5, 0.75, 50, 0, 1, 1, 0, nil}
)

// Options of a sensor. Zero fields have the default in parentheses.
type Options struct {
	Line    line.Options // TCP ("127.0.0.1:0", any free port)
	Model   Model        // (TiM551)
	Binary  bool         // it speaks CoLa B, and not CoLa A
	Standby bool         // it measures after a login only
	Locked  bool         // it has another password
	Refuse  string       // the name of a request that it refuses, for example LMDscandata
	Blind   bool         // its output range is behind it only
	Status  byte         // of the sensor, in its scans
	// Room returns the distance in mm at an angle in degrees, counterclockwise, 0
	// ahead; zero: no return. Nil: a square of 4 m with the sensor in its middle.
	Room func(degrees float64) float64
}

// startTime is how long the motor takes to reach its speed (assumed: shorter than in
// reality, so that tests are short).
const startTime = 300 * time.Millisecond

// A Sensor is a scanner. Its methods may be called by any goroutine.
type Sensor struct {
	line.End
	opts Options

	values   variables
	host     int           // the newest one that gets scans
	scans    bool          // it does
	ready    time.Duration // when it measures; 0: it is on standby
	next     time.Duration // when the next scan is
	loggedIn bool
	turns    int // scans since it measures
	sent     int // telegrams of scans
}

// Start plugs a sensor in.
func Start(opts Options) (*Sensor, error) {
	if opts.Model.Name == "" {
		opts.Model = TiM551
	}
	opts.Line.TCP = cmp.Or(opts.Line.TCP, "127.0.0.1:0")
	opts.Room = room.Or(opts.Room)
	s := &Sensor{opts: opts, values: newVariables(opts.Model)}
	if !opts.Standby {
		s.ready = 1
	}
	return s, s.Attach(opts.Line, s)
}

// Scanning reports whether a host gets scans.
func (s *Sensor) Scanning() (scanning bool) {
	s.Locked(func() {
		host, connected := s.Host()
		scanning = s.scans && connected && host == s.host
	})
	return scanning
}

// LoggedIn reports whether a host is logged in: the sensor does not measure then.
func (s *Sensor) LoggedIn() bool { return line.Copy(&s.End, &s.loggedIn) }

func (s *Sensor) Frame(in []byte) (n int, note string) {
	content, n := s.content(in)
	return n, string(content)
}

func (s *Sensor) Receive(now time.Duration, unit []byte) {
	if content, _ := s.content(unit); content != nil {
		s.send(s.answer(now, string(content)))
	}
}

func (s *Sensor) Advance(now time.Duration) time.Duration {
	for s.next <= now {
		s.next += time.Duration(float64(time.Second) / s.rate())
		host, connected := s.Host()
		s.scans = s.scans && connected && host == s.host
		if !s.measures(now) {
			continue
		}
		if s.turns++; s.scans && s.turns%max(1, int(s.setting("LMDscandatacfg", every))) == 0 {
			s.sent++
			s.send(s.scan(now))
		}
	}
	return s.next
}

// measures reports whether the sensor measures. It does not while a host is logged in.
func (s *Sensor) measures(now time.Duration) bool {
	return !s.loggedIn && s.ready != 0 && now >= s.ready
}

// rate returns how many scans a second the sensor makes.
func (s *Sensor) rate() float64 {
	if set := s.setting("LMPscancfg", 0); set > 0 {
		return float64(set) / 100
	}
	return s.opts.Model.Rate
}

// setting returns a number of a variable, zero if the sensor does not have it.
func (s *Sensor) setting(name string, i int) uint32 {
	if v := s.values[name]; v != nil {
		return v.numbers[i]
	}
	return 0
}

// content returns the content of the first telegram in the input, and the size of the
// telegram with the junk before it. content is nil if there is only junk, of that size.
func (s *Sensor) content(in []byte) (content []byte, size int) {
	four := []byte{2, 2, 2, 2}
	if !s.opts.Binary {
		from := slices.Index(in, 2)
		to := slices.Index(in, 3)
		switch {
		case to < 0:
			return nil, 0
		case from < 0 || from > to:
			return nil, to + 1
		}
		for at := from; at < to; at++ { // a telegram begins with the last STX before its end
			if in[at] == 2 {
				from = at
			}
		}
		return in[from+1 : to], to + 1
	}
	if len(in) < 9 {
		return nil, 0
	}
	if !slices.Equal(in[:4], four) {
		return nil, 1
	}
	end := 8 + int(binary.BigEndian.Uint32(in[4:]))
	if len(in) <= end {
		return nil, 0
	}
	return in[8:end], end + 1
}

// answer returns the answer to a request.
func (s *Sensor) answer(now time.Duration, request string) string {
	kind, rest, _ := strings.Cut(request, " ")
	name, parameters, _ := strings.Cut(rest, " ")
	m := s.opts.Model
	switch {
	case name == s.opts.Refuse:
		return s.refuse(4)
	case kind == "sRI" && name == "0": // the request of old hosts
		return "sRA 0 " + counted(m.Name, s.opts.Binary) + s.pick(" ", "") + counted(m.Version, s.opts.Binary)
	case kind == "sRN" && name == "DeviceIdent":
		return "sRA DeviceIdent " + counted(m.Name, s.opts.Binary) + s.pick(" ", "") + counted(m.Version, s.opts.Binary)
	case kind == "sRN" && name == "SCdevicestate":
		return "sRA SCdevicestate " + s.yes(s.measures(now))
	case kind == "sRN" && s.values[name] != nil:
		return "sRA " + name + " " + s.values[name].words(s.opts.Binary)
	case kind == "sWN" && s.values[name] != nil:
		return s.write(name, parameters)
	case kind == "sEN" && (name == "LMDscandata" || m.Fields > 0 && slices.Contains(events, name)):
		on, ok := numbersIn(parameters, s.opts.Binary, []int{1})
		if !ok {
			return s.refuse(5)
		}
		if name == "LMDscandata" {
			s.host, _ = s.Host()
			s.scans = on[0] != 0
		}
		return "sEA " + name + " " + s.yes(on[0] != 0)
	case kind == "sMN":
		return s.method(now, name, parameters)
	}
	return s.refuse(0xB)
}

// write sets a variable and returns the answer.
func (s *Sensor) write(name, parameters string) string {
	v := s.values[name]
	switch {
	case !v.writable:
		return s.refuse(2)
	case !s.loggedIn:
		return s.refuse(1)
	case name == "EIHstCola": // assumed: it keeps the protocol that it speaks
		if form, ok := numbersIn(parameters, s.opts.Binary, v.sizes); !ok || form[0] != uint32(line.Bit(s.opts.Binary)) {
			return s.refuse(5)
		}
	case !v.set(parameters, s.opts.Binary):
		return s.refuse(5)
	}
	return "sWA " + name + s.pick("", " ")
}

// method carries out a method and returns the answer.
func (s *Sensor) method(now time.Duration, name, parameters string) string {
	switch name {
	case "SetAccessMode":
		login, ok := numbersIn(parameters, s.opts.Binary, []int{1, 4})
		good := ok && !s.opts.Locked && login[0] == 3 && login[1] == 0xF4724744
		s.loggedIn = s.loggedIn || good
		return "sAN SetAccessMode " + s.yes(good)
	case "Run":
		s.loggedIn = false
		return "sAN Run " + s.yes(true)
	case "LMCstartmeas", "LMCstopmeas", "LMCstandby", "mLMPsetscancfg":
		if !s.loggedIn {
			return s.pick("sFA 1", "sFA \x00\x01")
		}
	}
	switch name {
	case "LMCstartmeas":
		if s.ready == 0 {
			s.ready = now + startTime
		}
		return "sAN LMCstartmeas " + s.yes(false)
	case "LMCstopmeas", "LMCstandby":
		s.ready = 0
		return "sAN " + name + " " + s.yes(false)
	case "mLMPsetscancfg":
		if v := s.values["LMPscancfg"]; v != nil {
			status := &text{binary: s.opts.Binary}
			status.numbers(1, uint32(line.Bit(!s.configure(v, parameters))))
			return "sAN mLMPsetscancfg " + status.out.String() + s.pick(" ", "") + v.words(s.opts.Binary)
		}
	}
	return s.refuse(0xB)
}

// configure sets the sensor's rate and the step of its scans, if it can have both. The angles of the request count for
// nothing: LMPoutputRange has them (the listing).
func (s *Sensor) configure(v *variable, parameters string) (ok bool) {
	want, ok := numbersIn(parameters, s.opts.Binary, v.sizes)
	if !ok || !slices.Contains(s.opts.Model.Sectors, scanning{want[0], want[scanStep]}) {
		return false
	}
	v.numbers[0], v.numbers[scanStep] = want[0], want[scanStep]
	s.values["LMPoutputRange"].numbers[1] = want[scanStep]
	return true
}

// refuse returns the answer to a request that is refused, with a code of the listing.
func (s *Sensor) refuse(code byte) string {
	return s.pick(fmt.Sprintf("sFA %X", code), "sFA\x00"+string([]byte{code}))
}

// pick returns the text for CoLa A or for CoLa B, by the protocol of the sensor.
func (s *Sensor) pick(a, b string) string {
	if s.opts.Binary {
		return b
	}
	return a
}

func (s *Sensor) yes(yes bool) string {
	if yes {
		return s.pick("1", "\x01")
	}
	return s.pick("0", "\x00")
}

// send sends a telegram.
func (s *Sensor) send(content string) {
	note, _, _ := strings.Cut(content[min(4, len(content)):], " ")
	s.Send(s.telegram(content), note)
}

// telegram returns a telegram with a content.
func (s *Sensor) telegram(content string) []byte {
	if !s.opts.Binary {
		return []byte("\x02" + content + "\x03")
	}
	out := binary.BigEndian.AppendUint32([]byte{2, 2, 2, 2}, uint32(len(content)))
	return append(append(out, content...), line.Xor([]byte(content)))
}

// scan returns the content of a telegram of measurements.
func (s *Sensor) scan(now time.Duration) string {
	m, output := s.opts.Model, s.values["LMPoutputRange"].numbers
	first, last, step := degrees(output[outputFirst]), degrees(output[outputLast]), m.Step
	if set := s.setting("LMPscancfg", scanStep); set > 0 {
		step = degrees(set)
	}
	if s.opts.Blind {
		first, last = 190, 220
	}
	// Beams stay where they are, however hosts round the angles that they ask for (assumed).
	first = m.First + math.Round((first-m.First)/step)*step
	count := int((last-first)/step+0.01) + 1
	scale := max(m.Unit, 1)
	var distances, intensities []uint32
	for i := range count {
		mm := s.opts.Room(first + float64(i)*step - 90)
		distances, intensities = append(distances, uint32(math.Round(mm/float64(scale)))), append(intensities, uint32(i%200))
	}
	config := s.values["LMDscandatacfg"].numbers
	bytes := 0 // of each intensity
	if config[remission] != 0 {
		bytes = 1 + min(1, int(config[wide]))
	}
	micros := uint32(now.Microseconds())
	t := &text{binary: s.opts.Binary}
	t.words("sSN", "LMDscandata")
	t.numbers(2, 1, 1)                                          // version, device
	t.numbers(4, 0xB96518)                                      // serial number
	t.numbers(1, 0, uint32(s.opts.Status))                      // status
	t.numbers(2, uint32(s.sent&0xFFFF), uint32(s.turns&0xFFFF)) // telegrams, scans
	t.numbers(4, micros, micros+transmit)                       // since power-up, in us: of the scan, of its telegram
	t.numbers(1, 0, 0, 8, 0)                                    // inputs, outputs
	t.numbers(2, 0)                                             // layer
	// Revolutions in 1/100 Hz, and measurements in 100 Hz.
	t.numbers(4, uint32(s.rate()*100), uint32(math.Round(s.rate()*3.6/step)))
	if t.numbers(2, uint32(line.Bit(config[encoder] != 0))); config[encoder] != 0 {
		t.numbers(4, 0x1234) // its position
		t.numbers(2, 0x56)   // its speed
	}
	channels := []func(){func() { s.channel(t, "DIST1", scale, first, step, 2, distances) }}
	if bytes == 2 {
		channels = append(channels, func() { s.channel(t, "RSSI1", 1, first, step, 2, intensities) })
	}
	if m.Echoes == 2 && config[echoes] != 1 { // an echo behind glass
		channels = slices.Insert(channels, 0, func() { s.channel(t, "DIST2", scale, first, step, 2, slices.Repeat([]uint32{9999}, len(distances))) })
	}
	t.numbers(2, uint32(len(channels)))
	for _, c := range channels {
		c()
	}
	if bytes == 1 {
		t.numbers(2, 1)
		s.channel(t, "RSSI1", 1, first, step, 1, intensities)
	} else {
		t.numbers(2, 0)
	}
	t.numbers(2, 0) // position
	if t.numbers(2, config[named]); config[named] == 0 {
		t.numbers(2, 0, 0, 0) // comment, time, event
		return t.out.String()
	}
	if t.binary {
		t.out.WriteString("\x00\x0Bnot defined")
	} else {
		t.words("B", "not", "defined")
	}
	t.numbers(2, 0, 0, 0) // comment, time, event
	return t.out.String()
}

// transmit is how long after its scan a telegram is sent, in us, in the listing's example. Hosts compute the age of a
// scan by it.
const transmit = 3685

// channel appends a channel of values of some bytes each, in a unit.
func (s *Sensor) channel(t *text, name string, scale int, first, step float64, size int, values []uint32) {
	if t.binary {
		t.out.WriteString(name)
	} else {
		t.words(name)
	}
	t.numbers(4, math.Float32bits(float32(scale)), 0, unit(first))
	t.numbers(2, unit(step), uint32(len(values)))
	t.numbers(size, values...)
}

// text is the content of a telegram.
type text struct {
	binary bool
	out    strings.Builder
}

// words appends words, each with a space behind it in CoLa B, and in front of it in CoLa A
// but at the beginning.
func (t *text) words(words ...string) {
	for _, w := range words {
		if !t.binary && t.out.Len() > 0 {
			t.out.WriteByte(' ')
		}
		t.out.WriteString(w)
		if t.binary {
			t.out.WriteByte(' ')
		}
	}
}

// numbers appends numbers of some bytes each.
func (t *text) numbers(size int, numbers ...uint32) {
	for _, n := range numbers {
		if t.binary {
			var b [4]byte
			binary.BigEndian.PutUint32(b[:], n)
			t.out.Write(b[4-size:])
		} else {
			t.words(strings.ToUpper(strconv.FormatUint(uint64(n), 16)))
		}
	}
}
