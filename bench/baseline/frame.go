package baseline

import (
	"bytes"
	"encoding/binary"
	"time"

	"golang.org/x/sys/unix"

	"player/codec"
)

// Frame is the frame that a baseline sends: all seven devices, zeroed, with the
// laser's block as large as it takes (PROTOCOL 7).
type Frame struct {
	Bytes []byte
	stamp []byte // the part of Bytes that holds the time
}

// stampSize is the size of a stamp in bytes: u64, ns of CLOCK_MONOTONIC. The
// testpattern driver stamps its data in the same way.
const stampSize = 8

// NewFrame returns a frame of the given size in bytes. It panics if the size is
// less than the other six devices' size. A laser without room for a stamp
// leaves it to the sonar.
func NewFrame(size int) Frame {
	var b []byte
	for _, d := range []struct {
		letter byte
		size   int
	}{
		{codec.Sonar, codec.SonarSize}, {codec.Position, codec.PositionSize}, {codec.Gripper, codec.GripperSize},
		{codec.Misc, codec.MiscSize}, {codec.Vision, 0}, {codec.PTZ, codec.PTZSize},
	} {
		b = codec.AppendBlock(b, d.letter, make([]byte, d.size))
	}
	laser := size - len(b) - codec.BlockHeaderSize
	at := codec.BlockHeaderSize // of the sonar's payload
	if laser >= stampSize {
		at = len(b) + codec.BlockHeaderSize
	}
	b = codec.AppendBlock(b, codec.Laser, make([]byte, laser))
	return Frame{b, b[at : at+stampSize]}
}

// Clone returns a frame that is stamped independently.
func (f Frame) Clone() Frame {
	b := bytes.Clone(f.Bytes)
	at := cap(f.Bytes) - cap(f.stamp)
	return Frame{b, b[at : at+stampSize]}
}

// Stamp writes a time on CLOCK_MONOTONIC into the frame.
func (f Frame) Stamp(now time.Duration) { binary.BigEndian.PutUint64(f.stamp, uint64(now)) }

// Now returns the time on CLOCK_MONOTONIC.
func Now() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // every kernel has this clock
	return time.Duration(ts.Nano())
}
