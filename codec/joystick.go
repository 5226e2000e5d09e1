package codec

import "encoding/binary"

const (
	// JoystickSize is the size of the data payload in bytes.
	JoystickSize = 4 + 2*JoystickAxes
	// JoystickAxes is the number of axes in the payload: a gamepad has two
	// sticks, two triggers and a hat.
	JoystickAxes = 8
	// JoystickButtons is the number of buttons in the payload.
	JoystickButtons = 32
)

// JoystickData is the state of a joystick (PROTOCOL 7.8).
type JoystickData struct {
	Buttons uint32              `json:"buttons"` // bit n is set while button n is pressed
	Axes    [JoystickAxes]int16 `json:"axes"`    // -32767..32767, 0 at rest; axis 0 positive to the right, axis 1 positive backward; a missing axis is 0
}

// Append appends the 20 payload bytes.
func (d *JoystickData) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, d.Buttons)
	for _, axis := range d.Axes {
		dst = binary.BigEndian.AppendUint16(dst, uint16(axis))
	}
	return dst
}

// Decode reads the 20 payload bytes; another size is an error.
func (d *JoystickData) Decode(b []byte) error {
	if err := checkSize("joystick", b, JoystickSize); err != nil {
		return err
	}
	d.Buttons = binary.BigEndian.Uint32(b)
	for i := range d.Axes {
		d.Axes[i] = int16(binary.BigEndian.Uint16(b[4+2*i:]))
	}
	return nil
}
