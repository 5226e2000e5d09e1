// Package gps emulates a receiver of satellite navigation on a fake serial line, which sends NMEA 0183.
//
// It follows u-blox, "u-blox M8 Receiver description including protocol specification", for the sentences GGA, RMC and GST.
package gps

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"player/simulation/emulator/line"
)

// Options of a receiver. Zero fields have the default in parentheses.
type Options struct {
	Line   line.Options  // Baud (9600)
	Period time.Duration // of the measurements (1 s)
	Talker string        // of the sentences, two letters (GP)
	Order  []string      // of the sentences of a measurement (RMC, GGA, GST)
	// Place returns where the antenna is, some time after the receiver was switched on. Nil: it drives to the north-east.
	Place func(at time.Duration) Place
	Start time.Time // the date and time when it was switched on (2026-11-27 12:00)
}

// Place is one measurement.
type Place struct {
	Latitude, Longitude float64 // deg, north and east
	Height              float64 // m
	Quality             int     // field 6 of GGA; 0: no fix
	Satellites          int
	Speed               float64 // m/s
	Course              float64 // deg
	North, East, Up     float64 // m, standard deviations
}

// A Receiver is at the end of a cable. It sends as long as it has power. Its methods may be called by any goroutine.
type Receiver struct {
	line.End
	opts Options

	next time.Duration
}

// Start plugs a receiver in.
func Start(opts Options) (*Receiver, error) {
	opts.Line.Baud, opts.Period, opts.Talker = cmp.Or(opts.Line.Baud, 9600), cmp.Or(opts.Period, time.Second), cmp.Or(opts.Talker, "GP")
	if opts.Order == nil {
		opts.Order = []string{"RMC", "GGA", "GST"}
	}
	if opts.Place == nil {
		opts.Place = Drive
	}
	if opts.Start.IsZero() {
		opts.Start = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	}
	r := &Receiver{opts: opts, next: opts.Period}
	return r, r.Attach(opts.Line, r)
}

// Drive is a place that moves 1.5 m to the north and 1 m to the east each second.
func Drive(at time.Duration) Place {
	s := at.Seconds()
	return Place{
		Latitude: 52.5 + s*1.35e-5, Longitude: -13.25 + s*1.5e-5, Height: 34.5, Quality: 4, Satellites: 11,
		Speed: 1.8, Course: 33.7, North: 0.03, East: 0.04, Up: 0.05,
	}
}

// The receiver's only line is its output.
func (r *Receiver) Frame(buf []byte) (n int, note string) { return len(buf), "unheard" }

func (r *Receiver) Receive(time.Duration, []byte) {}

func (r *Receiver) Advance(now time.Duration) time.Duration {
	for ; r.next <= now; r.next += r.opts.Period {
		for _, kind := range r.opts.Order {
			r.Send([]byte(r.sentence(kind, r.next)), kind)
		}
	}
	return r.next
}

// sentence returns a sentence about the place at a time.
func (r *Receiver) sentence(kind string, at time.Duration) string {
	p, clock := r.opts.Place(at), r.opts.Start.Add(at)
	day := clock.Format("150405.00")
	north, east := coordinate(p.Latitude, 2, "N", "S"), coordinate(p.Longitude, 3, "E", "W")
	if p.Quality == 0 {
		north, east = ",", ","
	}
	var fields string
	switch kind {
	case "GGA":
		fields = fmt.Sprintf("%s,%s,%s,%d,%02d,1.01,%.1f,M,48.0,M,,", day, north, east, p.Quality, p.Satellites, p.Height)
	case "RMC":
		valid := "A"
		if p.Quality == 0 {
			valid = "V"
		}
		fields = fmt.Sprintf("%s,%s,%s,%s,%.3f,%.2f,%s,,,A", day, valid, north, east, p.Speed*3600/1852, p.Course, clock.Format("020106"))
	case "GST":
		fields = fmt.Sprintf("%s,1.8,,,,%v,%v,%v", day, p.North, p.East, p.Up)
	}
	text := r.opts.Talker + kind + "," + fields
	return fmt.Sprintf("$%s*%02X\r\n", text, line.Xor([]byte(text)))
}

// coordinate writes an angle as degrees with the given digits, minutes with five decimals, and a hemisphere.
func coordinate(degrees float64, digits int, positive, negative string) string {
	hemisphere := positive
	if degrees < 0 {
		hemisphere, degrees = negative, -degrees
	}
	units := math.Round(degrees * 60 * 1e5) // of 1e-5 minute
	whole := math.Floor(units / (60 * 1e5))
	return fmt.Sprintf("%0*.0f%08.5f,%s", digits, whole, (units-whole*60*1e5)/1e5, hemisphere)
}
