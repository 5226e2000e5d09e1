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

// decode reads an event.
func decode(b []byte) event {
	return event{int16(binary.NativeEndian.Uint16(b[4:])), b[6], b[7]}
}

// noPayload is for the codec.Splitter: an event is a header alone.
func noPayload([]byte) int { return 0 }
