// Package urg emulates a Hokuyo laser scanner with SCIP 2.0, on a fake serial line or
// on TCP.
//
// It follows Hokuyo's SCIP 2.0 specification (C-42-03320); everything else is marked
// "assumed".
package urg

import (
	"cmp"
	"strings"
	"time"

	"player/simulation/emulator/line"
	"player/simulation/emulator/room"
)

// Model is a kind of sensor: its answer to PP.
type Model struct {
	Name                      string
	Min, Max                  int // mm
	Steps, First, Last, Ahead int
	TurnsAMinute              int
	Intensities               bool // it knows GE and ME
}

// The models, as Hokuyo's data sheets describe them. The H01 has steps of 1/8 degree.
var (
	URG04LX    = Model{"URG-04LX(Hokuyo Automatic Co.,Ltd.)", 20, 5600, 1024, 44, 725, 384, 600, false}
	UTM30LX    = Model{"UTM-30LX/LN[Hokuyo Automatic Co.,Ltd.]", 23, 60000, 1440, 0, 1080, 540, 2400, true}
	UST20LXH01 = Model{"UST-20LX-H01", 20, 60000, 2880, 0, 2160, 1080, 2400, true}
)

// Options of a sensor.
type Options struct {
	Line     line.Options // Baud (19200); on TCP, its address ("127.0.0.1:0")
	TCP      bool         // it listens on a port of the loopback interface instead
	Model    Model        // (URG04LX)
	Old      bool         // it speaks SCIP 1.1 until a host says SCIP2.0
	Adjusts  bool         // a host has left its clock being adjusted (TM)
	Scanning bool         // a host has left it scanning
	Broken   bool         // its laser cannot be switched on
	// Room returns the distance in mm at an angle in degrees, counterclockwise, 0
	// ahead; zero: no return. Nil: a square of 4 m with the sensor in its middle.
	Room func(degrees float64) float64
}

// A Sensor is a scanner. Its methods may be called by any goroutine.
type Sensor struct {
	line.End
	opts Options

	host     int // on TCP, the newest one
	scip2    bool
	laser    bool
	request  request // the scan under way
	left     int     // scans, with a number; -1: without end
	skipped  int     // revolutions since the last scan
	adjusts  bool    // its clock (TM): it obeys nothing else
	fast     bool    // HS
	zero     time.Duration
	next     time.Duration
	baudSoon int // the speed after the answer
}

// Start plugs a sensor in.
func Start(opts Options) (*Sensor, error) {
	opts.Line.Baud = cmp.Or(opts.Line.Baud, 19200)
	if opts.Model.Steps == 0 {
		opts.Model = URG04LX
	}
	opts.Room = room.Or(opts.Room)
	s := &Sensor{opts: opts, scip2: !opts.Old, adjusts: opts.Adjusts}
	if opts.Scanning {
		s.request, _ = s.parse("MD0300040001000", "")
		s.laser, s.left, s.next = true, -1, s.period()
	}
	if opts.TCP {
		s.opts.Line.TCP = cmp.Or(opts.Line.TCP, "127.0.0.1:0")
	}
	return s, s.Attach(s.opts.Line, s)
}

func (s *Sensor) Frame(buf []byte) (n int, note string) {
	end := strings.IndexAny(string(buf), "\n\r")
	if end < 0 && len(buf) > 100 {
		return len(buf), "junk"
	}
	if end < 0 {
		return 0, ""
	}
	return end + 1, strings.TrimSpace(string(buf[:end]))
}

// meet ends the scan of a host that has gone.
func (s *Sensor) meet() {
	if !s.opts.TCP {
		return // a serial line does not report it
	}
	if host, connected := s.Host(); !connected || host != s.host {
		s.host, s.next = host, 0
	}
}

func (s *Sensor) Receive(now time.Duration, unit []byte) {
	s.meet()
	text := strings.TrimRight(string(unit), "\r\n")
	if len(text) < 2 {
		return
	}
	command, chars, _ := strings.Cut(text, ";") // the characters are echoed, and mean nothing
	switch {
	case !s.scip2: // the status of SCIP 1.1 is one character (urg_library, connect_serial_device)
		status := "E"
		if text == "SCIP2.0" {
			s.scip2, status = true, "0"
		}
		s.send(text + "\n" + status + "\n\n")
	case len(chars) > 16:
		s.answer(text, "0G")
	case s.adjusts && command[:2] != "TM":
		s.answer(text, "0E")
	default:
		s.obey(now, text, command, chars)
	}
}

func (s *Sensor) Advance(now time.Duration) time.Duration {
	s.meet()
	if s.baudSoon != 0 && !s.Busy() {
		s.SetBaud(s.baudSoon)
		s.baudSoon = 0
	}
	if s.next != 0 && s.next <= now {
		s.skipped++
		if (s.Line == nil || !s.Busy()) && s.skipped > s.request.interval { // a slow line skips revolutions
			s.skipped = 0
			if s.left > 0 {
				s.left--
			}
			s.answer(s.request.echo(max(s.left, 0)), "99", s.lines(now, s.request)...)
		}
		for s.next <= now {
			s.next += s.period()
		}
		if s.left == 0 {
			s.next = 0
		}
	}
	if s.baudSoon != 0 && s.next == 0 {
		return now + time.Millisecond
	}
	return s.next
}

func (s *Sensor) period() time.Duration {
	return time.Minute / time.Duration(s.opts.Model.TurnsAMinute)
}

// appendNumber appends a number in characters of 6 bits.
func appendNumber(b []byte, n, chars int) []byte {
	for i := chars - 1; i >= 0; i-- {
		b = append(b, byte(n>>(6*i))&0x3F+0x30)
	}
	return b
}

func sum[T string | []byte](text T) byte {
	total := 0
	for i := range len(text) {
		total += int(text[i])
	}
	return byte(total&0x3F) + 0x30
}

func (s *Sensor) answer(request, status string, lines ...string) {
	var text strings.Builder
	text.WriteString(request + "\n" + status + string(sum(status)) + "\n")
	for _, l := range lines {
		text.WriteString(l + "\n")
	}
	text.WriteByte('\n')
	s.send(text.String())
}

func (s *Sensor) send(text string) {
	if note, _, _ := strings.Cut(text, "\n"); s.Line != nil {
		s.Send([]byte(text), note)
	}
}

// Laser reports whether the laser is on.
func (s *Sensor) Laser() bool { return line.Copy(&s.End, &s.laser) }
