package dashboard

import (
	"encoding/binary"
	"time"

	"player/codec"
)

// A message of a stream is a header and a block for each device with new data,
// all big-endian. page/wire.js decodes it.
//
//	u32 number of the message, from 1: the page acknowledges it
//	u32 rounds that were merged into later ones since the stream began
//	each block:
//	  u8  device letter
//	  u32 age of the data in us when the robot's server sent it; all ones: unknown
//	  u16 size of the payload; 0: the device has no data yet
//	  payload as the robot's server sent it (PROTOCOL 7)

func appendFrameHeader(dst []byte, number, dropped uint32) []byte {
	dst = binary.BigEndian.AppendUint32(dst, number)
	return binary.BigEndian.AppendUint32(dst, dropped)
}

func appendFrameBlock(dst []byte, device byte, age time.Duration, known bool, payload []byte) []byte {
	us := codec.NoAge
	if known {
		us = uint32(max(0, min(age.Microseconds(), int64(codec.NoAge-1))))
	}
	dst = append(dst, device)
	dst = binary.BigEndian.AppendUint32(dst, us)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(payload)))
	return append(dst, payload...)
}
