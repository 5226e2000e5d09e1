package nmea

import (
	"math"
	"time"

	"player/codec"
)

// knot is 1 nautical mile an hour, in mm/s.
const knot = 1852000.0 / 3600

// fixes are the fixes by the quality in GGA (the manual, "Position fix flags").
var fixes = map[string]codec.Fix{
	"0": codec.NoFix, "1": codec.PlainFix, "2": codec.DGPSFix, "3": codec.PlainFix, "4": codec.RTKFix, "5": codec.FloatFix, "6": codec.DeadReckon,
}

// epoch is the data of the sentences of one moment: a receiver sends several for each measurement, in its own order.
type epoch struct {
	at   [longest]byte // the time of day, as text
	n    int           // bytes of at
	seen uint8         // kinds, a bit each
	data codec.GPSData
}

// add takes a sentence. Time of day is the only thing that all three have.
func (e *epoch) add(k kind, s sentence, date time.Time) {
	e.seen |= 1 << k
	d := &e.data
	switch k {
	case gga:
		if fix, ok := fixes[string(s.field(6))]; ok {
			d.Fix = fix
		}
		if d.Fix != codec.NoFix {
			d.Latitude, d.Longitude = s.angle(2, 90), s.angle(4, 180)
			if v, ok := s.number(9); ok && math.Abs(v) < 1e6 {
				d.Height = int32(math.Round(v * 1000))
			}
		}
		if n, ok := s.number(7); ok && n >= 0 && n < codec.UnknownSatellites {
			d.Satellites = uint8(n)
		}
	case rmc:
		if string(s.field(2)) != "A" { // the receiver warns of its data
			if d.Fix == codec.UnknownFix {
				d.Fix = codec.NoFix
			}
			return
		}
		if d.Latitude == codec.Unknown {
			d.Latitude, d.Longitude = s.angle(3, 90), s.angle(5, 180)
		}
		d.Speed = s.amount(7, knot)
		if d.Course = s.amount(8, 1000); d.Course != codec.UnknownAmount {
			d.Course %= 360000
		}
	case gst:
		north, east := s.amount(6, 1000), s.amount(7, 1000)
		if north != codec.UnknownAmount && east != codec.UnknownAmount {
			d.Horizontal = uint32(min(math.Round(math.Hypot(float64(north), float64(east))), codec.UnknownAmount-1))
		}
		d.Vertical = s.amount(8, 1000)
	}
	if !date.IsZero() {
		if of, ok := timeOfDay(s.field(1)); ok {
			d.Time = uint64(date.Add(of).UnixMilli())
		}
	}
}

// timeOfDay reads hhmmss.sss.
func timeOfDay(b []byte) (of time.Duration, ok bool) {
	h, okH := digits(b, 0, 2)
	m, okM := digits(b, 2, 2)
	s, okS := digits(b, 4, 2)
	if !okH || !okM || !okS || h > 23 || m > 59 || s > 60 {
		return 0, false
	}
	of = time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second
	if len(b) > 7 && b[6] == '.' {
		unit := time.Second / 10
		for _, c := range b[7:] {
			if c < '0' || c > '9' {
				return 0, false
			}
			of += time.Duration(c-'0') * unit
			unit /= 10
		}
	}
	return of, true
}

// dateOf reads ddmmyy of RMC; zero: there is none. The century is the present one.
func dateOf(b []byte) time.Time {
	d, okD := digits(b, 0, 2)
	m, okM := digits(b, 2, 2)
	y, okY := digits(b, 4, 2)
	if !okD || !okM || !okY || d < 1 || d > 31 || m < 1 || m > 12 {
		return time.Time{}
	}
	return time.Date(2000+y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
}
