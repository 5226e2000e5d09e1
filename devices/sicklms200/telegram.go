// Package sicklms200 drives a SICK LMS-200 laser range finder, Player's laser
// device, on a serial line.
//
// This file is the framing: telegrams, their CRC and the streaming
// parser. Requests are in request.go, answers in answer.go, measurements in
// scan.go.
package sicklms200

import (
	"encoding/binary"

	"player/devices/transport"
)

// Framing: STX, address, length, as many bytes of content, CRC of all bytes before it.
// Integers are little-endian. A device's content ends in a status byte.
const (
	stx           = 0x02
	addressDevice = 0x00
	addressHost   = 0x80 // in a device's telegrams

	headSize = 4 // STX, address, length
	crcSize  = 2

	minContent = 2 // code and status
	// maxContent is a measurement of 401 values, the longest telegram of all,
	// with the range it covers and its indices. A larger length is damaged; waiting for that
	// many bytes would hold up to 64 KiB of good telegrams.
	maxContent = 1 + 6 + 2*401 + indexSize + 1

	// MaxTelegram is the longest telegram in bytes.
	MaxTelegram = headSize + maxContent + crcSize
)

// Telegram is one complete telegram of the device with a good CRC, from STX to the CRC.
type Telegram []byte

// Code returns the kind of the telegram.
func (t Telegram) Code() Code { return Code(t[headSize]) }

// Data returns the bytes between code and status.
func (t Telegram) Data() []byte { return t[headSize+1 : len(t)-crcSize-1] }

// Status returns the device's health, part of each of its telegrams.
func (t Telegram) Status() Status { return Status(t[len(t)-crcSize-1]) }

// Status is a device's health. A sound LMS-200 sends 10 (hex): no severity,
// kind of device 2.
type Status byte

// Severity returns 0 for a sound device, 1 information, 2 warning, 3 error, 4 fatal
// error.
func (s Status) Severity() int { return int(s & 7) }

// Polluted reports whether the front window needs cleaning.
func (s Status) Polluted() bool { return s&0x80 != 0 }

// appendTelegram frames a code and its data, which a device ends with its
// status.
func appendTelegram(dst []byte, address, code byte, data ...byte) []byte {
	start := len(dst)
	dst = append(dst, stx, address)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(1+len(data)))
	dst = append(dst, code)
	dst = append(dst, data...)
	return binary.LittleEndian.AppendUint16(dst, crc(dst[start:]))
}

// inspect is a transport.Inspect.
func inspect(b []byte) (size int, v transport.Verdict) {
	if v := transport.Begins(b, []byte{stx, addressHost}, headSize); v != transport.Whole {
		return 0, v
	}
	content := int(binary.LittleEndian.Uint16(b[2:]))
	if content < minContent || content > maxContent {
		return 0, transport.Junk
	}
	size = headSize + content + crcSize
	if len(b) < size {
		return 0, transport.Partial
	}
	if end := size - crcSize; crc(b[:end]) != binary.LittleEndian.Uint16(b[end:]) {
		return 0, transport.Damaged
	}
	return size, transport.Whole
}

// crc is SICK's checksum: a 16-bit shift register with polynomial 8005, into
// which each byte goes together with the one before it.
func crc(b []byte) uint16 {
	var c, previous uint16
	for _, v := range b {
		carry := c&0x8000 != 0
		c <<= 1
		if carry {
			c ^= 0x8005
		}
		c ^= previous<<8 | uint16(v)
		previous = uint16(v)
	}
	return c
}
