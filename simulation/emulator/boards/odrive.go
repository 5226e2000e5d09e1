package boards

import (
	"fmt"
	"strings"
	"time"
)

// ODrive is the ASCII protocol of an ODrive 3.6, firmware 0.5 (docs/ascii-protocol.md,
// Firmware/communication/ascii_protocol.cpp), with a hub motor of 518.4 mm a revolution at
// each axis. Axis 1's motor is mounted the other way: forward is negative. Their watchdogs
// are enabled.
type ODrive struct {
	axes [2]odriveAxis
}

type odriveAxis struct {
	closed   bool // AXIS_STATE_CLOSED_LOOP_CONTROL
	failed   bool // its watchdog has expired
	velocity float64
	fed      time.Duration
}

const (
	odriveTurn    = 518.4                  // mm
	odriveTimeout = 500 * time.Millisecond // config.watchdog_timeout
)

func (*ODrive) baud() int    { return 115200 }
func (*ODrive) ends() string { return "\r\n!" }

func (f *ODrive) command(b *Board, text string) bool {
	text, _, _ = strings.Cut(text, ";")
	var axis, state int
	var velocity float64
	switch {
	case scan(text, "v %d %g", &axis, &velocity):
		if !f.has(b, axis) {
			return false
		}
		f.axes[axis].velocity, f.axes[axis].fed = velocity, b.at
	case scan(text, "u %d", &axis):
		if !f.has(b, axis) {
			return false
		}
		f.axes[axis].fed = b.at
	case scan(text, "f %d", &axis):
		if !f.has(b, axis) {
			return false
		}
		sign := f.sign(axis)
		b.say("%f %f", sign*b.state.Way[axis]/odriveTurn, sign*b.state.Speed[axis]/odriveTurn)
	case scan(text, "w axis%d.requested_state %d", &axis, &state) && axis < len(f.axes):
		a := &f.axes[axis]
		a.closed, a.fed = state == 8 && !a.failed, b.at
	case text == "r vbus_voltage":
		b.say("%.6f", 24.087744)
	case text == "sc":
		for i := range f.axes {
			f.axes[i].failed = false
		}
	case strings.HasPrefix(text, "r "), strings.HasPrefix(text, "w "):
		b.say("invalid property")
		return false
	default:
		b.say("unknown command")
		return false
	}
	f.turn(b)
	return true
}

// scan reports whether the text is of the format.
func scan(text, format string, values ...any) bool {
	n, err := fmt.Sscanf(text, format, values...)
	return err == nil && n == len(values)
}

// has reports whether an axis exists.
func (f *ODrive) has(b *Board, axis int) bool {
	if axis < 0 || axis >= len(f.axes) {
		b.say("invalid motor %d", axis)
		return false
	}
	return true
}

func (*ODrive) sign(axis int) float64 { return float64(1 - 2*axis) }

func (f *ODrive) turn(b *Board) {
	for i, a := range f.axes {
		if b.state.Speed[i] = 0; a.closed {
			b.state.Speed[i] = f.sign(i) * a.velocity * odriveTurn
		}
	}
}

func (f *ODrive) tick(b *Board) {
	for i := range f.axes {
		if a := &f.axes[i]; b.at-a.fed > odriveTimeout && !a.failed {
			a.failed, a.closed = true, false
			b.trip()
		}
	}
}

func (f *ODrive) restart() { *f = ODrive{} }
