// Package peer is for drivers that use the Player protocol as a client, with a plugin or
// with another Player. It is pure.
package peer

import (
	"encoding/binary"
	"fmt"

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

// CheckData returns an error if a data payload has a wrong size. All but vision have
// one size.
func CheckData(spec devices.Spec, payload []byte) error {
	if len(payload) != spec.DataSize && spec.Letter != codec.Vision {
		return fmt.Errorf("it sends %d bytes of %s data, which are always %d", len(payload), spec.Name, spec.DataSize)
	}
	return nil
}
