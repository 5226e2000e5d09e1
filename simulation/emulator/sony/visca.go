package sony

import (
	"bytes"
	"fmt"
	"strings"
)

// A packet is an address byte (80, plus the sender in bits 4-6 and the
// receiver in bits 0-2, or bit 3 for all), up to 14 bytes, and FF, which
// occurs nowhere else (VISCA, EVI-D30 Command List). The host is 0, the camera
// 1.
const (
	fromCamera = 0x90
	end        = 0xFF
	maxPacket  = 16
)

// Second byte of replies. Replies to commands add the socket number.
const (
	replyAck  = 0x40
	replyDone = 0x50
	replyFail = 0x60
)

// Errors, the third byte after replyFail.
const (
	ErrSyntax        = 0x02
	ErrBufferFull    = 0x03
	ErrCanceled      = 0x04
	ErrNoSocket      = 0x05
	ErrNotExecutable = 0x41
)

// Frame splits off a packet, or the junk before an address byte. A packet that is too long
// is also cut.
func (c *Camera) Frame(buf []byte) (n int, note string) {
	if !isAddress(buf[0]) {
		for n = 1; n < len(buf) && !isAddress(buf[n]); n++ {
		}
		return n, "junk"
	}
	n = bytes.IndexByte(buf[:min(len(buf), maxPacket)], end) + 1
	switch {
	case n > 0:
		return n, describe(buf[:n])
	case len(buf) >= maxPacket:
		return maxPacket, "no end"
	}
	return 0, ""
}

func isAddress(b byte) bool { return b&0x80 != 0 && b != end }

// describe returns the name of a packet for the record.
func describe(p []byte) string {
	cmd, args := find(p)
	if len(args) == 0 {
		return cmd.name
	}
	return fmt.Sprintf("%s %d", cmd.name, args)
}

// find returns the command of a packet, with its arguments. An unknown packet
// is the last command of the table.
func find(p []byte) (command, []int) {
	for _, cmd := range commands {
		if args, ok := match(cmd.pattern, p); ok {
			return cmd, args
		}
	}
	return unknown, nil
}

// match compares a packet with a pattern in the notation of the command list:
// hexadecimal digits match themselves, a small letter matches any digit. The
// digits of one letter make one argument, high digits first; four digits are
// in two's complement. Arguments are in the order in which their letters first
// appear.
func match(pattern string, p []byte) (args []int, ok bool) {
	fields := strings.Fields(pattern)
	if len(fields) != len(p) {
		return nil, false
	}
	var letters string
	var digits []int // of each letter
	for i, field := range fields {
		for k, nibble := range []byte{p[i] >> 4, p[i] & 0x0F} {
			letter := field[k]
			if letter < 'a' {
				if letter != "0123456789ABCDEF"[nibble] {
					return nil, false
				}
				continue
			}
			at := strings.IndexByte(letters, letter)
			if at < 0 {
				at = len(letters)
				letters, args, digits = letters+string(letter), append(args, 0), append(digits, 0)
			}
			args[at] = args[at]<<4 | int(nibble)
			digits[at]++
		}
	}
	for i, n := range digits {
		if n == 4 {
			args[i] = int(int16(args[i]))
		}
	}
	return args, true
}

// appendNibbles appends a 16-bit number in two's complement as four bytes of
// four bits, high bits first.
func appendNibbles(dst []byte, v int) []byte {
	return append(dst, byte(v>>12&0x0F), byte(v>>8&0x0F), byte(v>>4&0x0F), byte(v&0x0F))
}
