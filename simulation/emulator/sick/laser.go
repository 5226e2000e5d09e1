// Package sick emulates a SICK LMS 200 laser range finder on a fake serial line.
//
// It follows the published telegrams and recordings of hosts; anything from
// neither is marked "assumed".
package sick

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"time"

	"player/simulation/emulator/line"
)

// Options of a laser. Zero fields have the default in parentheses.
type Options struct {
	Line line.Options // Baud (9600, as after power-up); 38400 is a laser left at that speed by a host

	Streaming bool    // it is streaming, as after a host died
	Rate      float64 // scans per second (5, the most that fits for scans of 361 values at 38400 bit/s)

	// Settings kept without power.
	Unit       Unit // (MM)
	Angle      int  // degrees (180)
	Resolution int  // 1/100 degree (50)
	Indices    bool // it sends real-time indices behind the values

	Faults Faults
}

// Faults of a laser.
type Faults struct {
	WrongPassword bool // every password is wrong
	LockVariant   bool // it accepts a variant in configuration mode only
	RefuseVariant bool
	RefuseConfig  bool
	NackAll       bool   // every command gets a NACK
	Nack          []byte // these commands get a NACK
	BadCRC        int    // every n-th scan has a wrong CRC; 0: none
}

const (
	password = "SICK_LMS"

	// bootTime is how long a laser ignores commands after a reset: assumed,
	// and short; a real one takes many seconds.
	bootTime = 500 * time.Millisecond

	// powerUpBaud is the speed after a reset, bit/s, whatever the speed before.
	powerUpBaud = 9600

	// statusGood means no error, an LMS xx6 (status byte, Telegrams for LMS
	// 2xx).
	statusGood = 0x10
)

// A Laser is an LMS 200 at the end of a cable. Its methods may be called by
// any goroutine.
type Laser struct {
	line.End
	cable cable

	faults      Faults
	period      time.Duration // of a scan
	config      [configLength]byte
	unit        Unit // as in config
	variant     variant
	configuring bool
	streaming   bool
	first, last int // range of the streamed values, counted from 1; 0: all
	nextScan    time.Duration
	nextBaud    int           // speed after the answer, 0: unchanged
	off         bool          // switched off, to boot on the next call of Advance
	boot        time.Duration // end of booting, 0: not booting
	scans       int
	boots       int
	counts      map[string]int
	status      byte // at the end of every telegram: bits 0-2 are the severity, bit 7 is a dirty window
	ranges      [Values]uint16
	flags       [Values]byte
}

// cable is the part of line.Line that a laser uses.
type cable interface {
	Send(packet []byte, note string)
	SetBaud(baud int)
	Busy() bool
}

// Start plugs a laser in and switches it on.
func Start(opts Options) (*Laser, error) {
	opts.Line.Baud = cmp.Or(opts.Line.Baud, powerUpBaud)
	opts.Angle, opts.Resolution = cmp.Or(opts.Angle, 180), cmp.Or(opts.Resolution, 50)
	if v := (variant{opts.Angle, opts.Resolution}); !variants[v] || units[opts.Unit].mm == 0 || opts.Rate < 0 {
		return nil, fmt.Errorf("sick %s: an LMS 200 cannot scan %d degrees by %d/100 in unit %d %v times a second",
			opts.Line.Link, v.angle, v.resolution, opts.Unit, opts.Rate)
	}
	c, err := line.Open(opts.Line)
	if err != nil {
		return nil, err
	}
	l := newLaser(opts, c)
	l.Line = c
	c.Serve(l)
	return l, nil
}

func newLaser(opts Options, c cable) *Laser {
	l := &Laser{
		cable:   c,
		faults:  opts.Faults,
		period:  time.Duration(float64(time.Second) / cmp.Or(opts.Rate, 5)),
		unit:    opts.Unit,
		variant: variant{opts.Angle, opts.Resolution},
		counts:  map[string]int{},
		status:  statusGood,
		ranges:  corridor(),
	}
	l.config[configPeak] = 0x70
	l.config[configUnits] = byte(units[l.unit].code)
	if opts.Indices {
		l.config[configAvailable] = 3 // highest availability, and indices
	}
	if opts.Streaming {
		l.stream(0, 0, 0)
	}
	return l
}

// Receive answers one telegram from the host.
func (l *Laser) Receive(now time.Duration, telegram []byte) {
	body, ok := parseTelegram(telegram)
	if !ok {
		return // unreadable telegrams are not answered
	}
	if l.off || l.boot != 0 {
		return
	}
	l.counts[commandKey(body)]++
	var answer []byte
	if c, ok := commands[body[0]]; ok && !l.faults.NackAll && bytes.IndexByte(l.faults.Nack, body[0]) < 0 {
		answer = c.do(l, now, body[1:])
	}
	if answer == nil {
		l.send([]byte{nack}, "NACK")
		return
	}
	l.send(answer, commandName(body))
	if l.nextBaud != 0 {
		l.cable.SetBaud(l.nextBaud)
		l.nextBaud = 0
	}
}

// send appends the status to the body and sends it.
func (l *Laser) send(body []byte, note string) {
	l.cable.Send(appendTelegram(nil, fromLaser, append(body, l.status)), note)
}

// Advance sends a scan after each rotation of the mirror, and ends a reset.
func (l *Laser) Advance(now time.Duration) time.Duration {
	if l.off {
		l.off, l.streaming, l.configuring, l.boot = false, false, false, now+bootTime
	}
	if l.boot != 0 {
		if now < l.boot {
			return l.boot
		}
		l.boot = 0
		l.boots++
		l.cable.SetBaud(powerUpBaud)
		l.send(l.typeString(booted), "booted")
	}
	if !l.streaming {
		return 0
	}
	if l.nextScan <= now {
		l.scan()
		l.nextScan += (now - l.nextScan).Truncate(l.period) + l.period // missed rotations are skipped, never made up
	}
	return l.nextScan
}

// scan sends one scan, unless the previous one is still on the line.
func (l *Laser) scan() {
	if l.cable.Busy() {
		return
	}
	l.scans++
	telegram := appendTelegram(nil, fromLaser, l.appendScan(nil, l.first, l.last))
	note := "scan"
	if n := l.faults.BadCRC; n > 0 && l.scans%n == 0 {
		telegram[len(telegram)-1] ^= 0xFF
		note = "scan, bad CRC"
	}
	l.cable.Send(telegram, note)
}

// SetFaults replaces the faults.
func (l *Laser) SetFaults(f Faults) { l.Change(func() { l.faults = f }) }

// SetRanges sets the ranges, in mm, every half degree from the right (-90
// degrees) to the left. A range that does not fit 13 bits in the unit of the
// scan is sent as 8191.
func (l *Laser) SetRanges(mm [Values]uint16) { l.Change(func() { l.ranges = mm }) }

// SetFlags sets the three bits above a value. In the usual measuring mode bit
// 0 is dazzled and the others are fields; in another mode all three are the
// level of a reflector.
func (l *Laser) SetFlags(value int, bits byte) { l.Change(func() { l.flags[value] = bits & 7 }) }

// Reboot switches the laser off and on: for half a second it ignores commands,
// then it sends its name at 9600 and waits. It keeps unit, variant and
// configuration.
func (l *Laser) Reboot() { l.Change(func() { l.off = true }) }

// A State is a copy of the laser's state.
type State struct {
	Streaming         bool
	First, Last       int // range of the streamed values, counted from 1; 0: all
	Configuring       bool
	Unit              Unit
	Angle, Resolution int // degrees, 1/100 degree
	Scans             int // sent, received by a host or not
	Boots             int // without the first
	Counts            map[string]int
}

// State returns the laser's state. Counts are of good telegrams from the host,
// by command in hex and for command 20 the mode, for example "31" and "20 24".
// Baud is its speed.
func (l *Laser) State() (s State) {
	l.Locked(func() {
		s = State{
			Streaming: l.streaming, First: l.first, Last: l.last, Configuring: l.configuring,
			Unit: l.unit, Angle: l.variant.angle, Resolution: l.variant.resolution,
			Scans: l.scans, Boots: l.boots, Counts: maps.Clone(l.counts),
		}
	})
	return s
}
