package joystick

import (
	"encoding/binary"

	"player/codec"
)

// An event of the Linux joystick interface is eight bytes in the computer's
// byte order: u32 time, ms; i16 value; u8 type; u8 number of the axis or
// button.
const (
	eventSize = 8

	typeButton = 0x01
	typeAxis   = 0x02
	typeInit   = 0x80 // set in the events of the initial state
)

type event struct {
	value  int16 // of an axis -32767..32767, of a button 1 while it is pressed
	kind   byte
	number byte
}

// apply stores the event in the data. Axes and buttons that the data has no room
// for, and unknown types, are ignored.
func (e event) apply(d *codec.JoystickData) {
	switch kind := e.kind &^ typeInit; {
	case kind == typeAxis && e.number < codec.JoystickAxes:
		d.Axes[e.number] = max(e.value, -32767)
	case kind == typeButton && e.number < codec.JoystickButtons:
		d.Buttons &^= 1 << e.number
		if e.value != 0 {
			d.Buttons |= 1 << e.number
		}
	}
}

// parser splits a stream of events that may be cut anywhere.
type parser struct {
	partial [eventSize]byte
	have    int
}

// next takes the first event off in. ok is false when in has no further whole event;
// then all of in is kept.
func (p *parser) next(in []byte) (e event, rest []byte, ok bool) {
	n := copy(p.partial[p.have:], in)
	if p.have += n; p.have < eventSize {
		return event{}, nil, false
	}
	p.have = 0
	return event{
		value:  int16(binary.NativeEndian.Uint16(p.partial[4:])),
		kind:   p.partial[6],
		number: p.partial[7],
	}, in[n:], true
}
