// Package peer is for drivers that use the Player protocol as a client, with a plugin or
// with another Player. It is pure.
package peer

import (
	"encoding/binary"
	"fmt"
	"slices"

	"player/codec"
	"player/devices"
)

// Reader splits a peer's bytes into blocks (PROTOCOL 1.3). The zero value is ready.
type Reader struct{ split codec.Splitter }

// Next takes the first block off in and returns the input behind it. ok is false when in has
// no further complete block; then all of in is consumed and kept. limit returns the largest
// payload size of a letter, -1 for a letter that must not come. A block that breaks the
// limit is an error, after which the stream cannot be read further. payload is valid until
// the next call.
func (r *Reader) Next(in []byte, limit func(letter byte) int) (letter byte, payload, rest []byte, ok bool, err error) {
	block, rest := r.split.Next(in, codec.BlockHeaderSize, func(header []byte) int {
		if err = check(header, limit); err != nil {
			return 0
		}
		return size(header)
	})
	if block == nil {
		return 0, nil, nil, false, check(r.split.Waiting(), limit)
	}
	if err != nil {
		return 0, nil, nil, false, err
	}
	return block[0], block[codec.BlockHeaderSize:], rest, true, nil
}

// check checks as much of a block's header as has come against the limit.
func check(b []byte, limit func(byte) int) error {
	if len(b) == 0 {
		return nil
	}
	most := limit(b[0])
	if most < 0 {
		return fmt.Errorf("it sends %q, which is no letter of its devices", b[0])
	}
	if len(b) >= codec.BlockHeaderSize && size(b) > most {
		return fmt.Errorf("it sends a block %q of %d bytes, the most is %d", b[0], size(b), most)
	}
	return nil
}

func size(header []byte) int { return int(binary.BigEndian.Uint16(header[1:])) }

// CheckData returns an error if a data payload has a wrong size, or one of a ranger has no unit.
func CheckData(spec devices.Spec, payload []byte) error {
	var wrong bool
	switch n := len(payload); spec.Letter {
	case codec.Vision:
	case codec.Ranger:
		wrong = n < 2 || n%2 != 0 || binary.BigEndian.Uint16(payload) == 0
	case codec.IO:
		wrong = n%4 != 0
	case codec.Servo:
		wrong = n%9 != 0
	default:
		if n != spec.DataSize {
			return fmt.Errorf("it sends %d bytes of %s data, which are always %d", n, spec.Name, spec.DataSize)
		}
	}
	if wrong {
		return fmt.Errorf("it sends %d bytes of %s data, which are none (PROTOCOL 7.9 to 7.14)", len(payload), spec.Name)
	}
	return nil
}

// Codes has the byte of each device of a link on the wire to a peer, in the order of Link.Devices.
type Codes []byte

// firstCode is the first byte of devices without letters.
const firstCode = 0x80

// NewCodes returns the bytes for devices of which the peer is a program: the first device of an interface with a letter has
// that letter, and the others have the bytes from 128 on, in their order.
func NewCodes(list []*devices.Device) (codes Codes) {
	next := byte(firstCode)
	for _, d := range list {
		code := d.Letter()
		if !codec.OnWire(code) || codes.index(code) >= 0 {
			code = next
			next++
		}
		codes = append(codes, code)
	}
	return codes
}

func (c Codes) index(code byte) int { return slices.Index(c, code) }

// Of returns the byte of a device of the list.
func (c Codes) Of(list []*devices.Device, d *devices.Device) byte { return c[slices.Index(list, d)] }

// Device returns the device of a byte, nil if there is none.
func (c Codes) Device(list []*devices.Device, code byte) *devices.Device {
	if i := c.index(code); i >= 0 {
		return list[i]
	}
	return nil
}
