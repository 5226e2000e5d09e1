// Package sickcola emulates SICK's TiM5xx and LMS1xx laser scanners on TCP.
//
// It follows SICK's "Telegram Listing" (8014631); everything else is marked "assumed".
package sickcola

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
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
}

// TiM551, TiM571 and LMS111 are models as SICK's data sheets describe them. LMS1000 has
// another front, so a host must not mistake it for an LMS100.
var (
	TiM551  = Model{"TiM551", "V2.50-10.04.13", -45, 225, 1, 15, 1, 1}
	TiM571  = Model{"TiM571", "V2.61-02.11.15", -45, 225, 1. / 3, 15, 0, 1}
	LMS111  = Model{"LMS10x_FieldEval", "V1.36-21.10.2010", -45, 225, 0.5, 25, 2, 2}
	LMS1000 = Model{"LMS1104C", "V1.0", -137.5, 137.5, 0.75, 50, 0, 1}
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

	host     int           // the newest one that gets scans
	scans    bool          // it does
	ready    time.Duration // when it measures; 0: it is on standby
	next     time.Duration // when the next scan is
	loggedIn bool
	sent     int // telegrams of scans
}

// Start plugs a sensor in.
func Start(opts Options) (*Sensor, error) {
	if opts.Model.Name == "" {
		opts.Model = TiM551
	}
	opts.Line.TCP = cmp.Or(opts.Line.TCP, "127.0.0.1:0")
	opts.Room = room.Or(opts.Room)
	s := &Sensor{opts: opts}
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
		s.next += time.Duration(float64(time.Second) / s.opts.Model.Rate)
		host, connected := s.Host()
		if s.scans = s.scans && connected && host == s.host; s.scans && !s.loggedIn && s.ready != 0 && now >= s.ready {
			s.sent++
			s.send(s.scan())
		}
	}
	return s.next
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
	on := parameters == "1" || parameters == "\x01"
	switch {
	case name == s.opts.Refuse:
		return s.pick("sFA 4", "sFA\x00\x04")
	case kind == "sRN" && name == "DeviceIdent":
		m := s.opts.Model
		return "sRA DeviceIdent " + s.text(m.Name) + s.pick(" ", "") + s.text(m.Version)
	case kind == "sEN" && name == "LMDscandata":
		s.host, _ = s.Host()
		s.scans = on
		return "sEA LMDscandata " + parameters
	case kind == "sMN" && name == "SetAccessMode":
		secret, _ := hex.DecodeString("F4724744")
		good := !s.opts.Locked && parameters == s.pick("03 F4724744", "\x03"+string(secret))
		s.loggedIn = s.loggedIn || good
		return "sAN SetAccessMode " + s.yes(good)
	case kind == "sMN" && name == "LMCstartmeas" && !s.loggedIn:
		return s.pick("sFA 1", "sFA \x00\x01")
	case kind == "sMN" && name == "LMCstartmeas":
		s.ready = now + startTime
		return "sAN LMCstartmeas " + s.yes(false)
	case kind == "sMN" && name == "Run":
		s.loggedIn = false
		return "sAN Run " + s.yes(true)
	}
	return s.pick("sFA B", "sFA\x00\x0B")
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

// text returns a text with its length.
func (s *Sensor) text(text string) string {
	return s.pick(fmt.Sprintf("%X %s", len(text), text), string(binary.BigEndian.AppendUint16(nil, uint16(len(text))))+text)
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
func (s *Sensor) scan() string {
	m := s.opts.Model
	first, last := m.First, m.Last
	if s.opts.Blind {
		first, last = 190, 220
	}
	var distances, intensities []uint32
	for i := 0; first+float64(i)*m.Step <= last+1e-6; i++ {
		mm := uint32(math.Round(s.opts.Room(first + float64(i)*m.Step - 90)))
		distances, intensities = append(distances, mm), append(intensities, uint32(i%200))
	}
	t := &text{binary: s.opts.Binary}
	t.words("sSN", "LMDscandata")
	t.numbers(2, 1, 1)                                  // version, device
	t.numbers(4, 0xB96518)                              // serial number
	t.numbers(1, 0, uint32(s.opts.Status))              // status
	t.numbers(2, uint32(s.sent&0xFFFF), 0x9A)           // telegrams, scans
	t.numbers(4, 0x13C8E59, 0x13C9CBE)                  // times
	t.numbers(1, 0, 0, 8, 0)                            // inputs, outputs
	t.numbers(2, 0)                                     // layer
	t.numbers(4, uint32(m.Rate*100), uint32(m.Rate*36)) // frequencies
	t.numbers(2, 1)                                     // encoders
	t.numbers(4, 0x1234)
	t.numbers(2, 0x56)
	channels := []func(){func() { s.channel(t, "DIST1", first, 2, distances) }}
	if m.Intensities == 2 {
		channels = append(channels, func() { s.channel(t, "RSSI1", first, 2, intensities) })
	}
	if m.Echoes == 2 { // an echo behind glass
		channels = slices.Insert(channels, 0, func() { s.channel(t, "DIST2", first, 2, slices.Repeat([]uint32{9999}, len(distances))) })
	}
	t.numbers(2, uint32(len(channels)))
	for _, c := range channels {
		c()
	}
	if m.Intensities == 1 {
		t.numbers(2, 1)
		s.channel(t, "RSSI1", first, 1, intensities)
	} else {
		t.numbers(2, 0)
	}
	t.numbers(2, 0, 1) // position, name
	if t.binary {
		t.out.WriteString("\x00\x0Bnot defined")
	} else {
		t.words("B", "not", "defined")
	}
	t.numbers(2, 0, 0, 0) // comment, time, event
	return t.out.String()
}

// channel appends a channel of values of some bytes each.
func (s *Sensor) channel(t *text, name string, first float64, size int, values []uint32) {
	if t.binary {
		t.out.WriteString(name)
	} else {
		t.words(name)
	}
	t.numbers(4, 0x3F800000, 0, uint32(int32(math.Round(first*10000))))
	t.numbers(2, uint32(math.Round(s.opts.Model.Step*10000)), uint32(len(values)))
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
