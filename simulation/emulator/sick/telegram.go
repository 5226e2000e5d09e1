package sick

import (
	"encoding/binary"
	"fmt"

	"player/simulation/emulator/line"
)

// A telegram is 02, address, length of command and data (low byte first),
// command and data, and a CRC (low byte first) of everything before it. From
// the laser, the address has bit 7 set and a status byte ends the data
// (Telegrams for Operating/Configuring the LMS 2xx).
const (
	stx       = 0x02
	toLaser   = 0x00
	fromLaser = 0x80
	header    = 4 // STX, address, length
	overhead  = 6 // header and CRC

	// maxHost is the longest command and data accepted, bytes: a configuration
	// is 35. Waiting for more than any command has would make the laser ignore
	// commands after one wrong byte.
	maxHost = 64
)

// crc uses the polynomial 8005 and combines each byte with the previous one.
func crc(b []byte) uint16 {
	var c uint16
	var prev byte
	for _, v := range b {
		if c&0x8000 != 0 {
			c = c<<1 ^ 0x8005
		} else {
			c <<= 1
		}
		c ^= uint16(prev)<<8 | uint16(v)
		prev = v
	}
	return c
}

// appendTelegram appends body, which is a command or response with its data,
// as a telegram.
func appendTelegram(dst []byte, address byte, body []byte) []byte {
	start := len(dst)
	dst = append(dst, stx, address)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(body)))
	dst = append(dst, body...)
	return binary.LittleEndian.AppendUint16(dst, crc(dst[start:]))
}

// parseTelegram returns the body of a telegram to the laser. ok reports
// whether b is a telegram with a correct CRC.
func parseTelegram(b []byte) (body []byte, ok bool) {
	if len(b) <= overhead || b[0] != stx || b[1] != toLaser || int(binary.LittleEndian.Uint16(b[2:])) != len(b)-overhead {
		return nil, false
	}
	end := len(b) - 2
	return b[header:end], binary.LittleEndian.Uint16(b[end:]) == crc(b[:end])
}

// Frame splits off a telegram, or the junk before the next 02. A telegram with
// a wrong CRC is junk.
func (l *Laser) Frame(buf []byte) (n int, note string) {
	if len(buf) > 1 && buf[1] != toLaser || buf[0] != stx {
		return line.Junk(buf, stx), "junk"
	}
	if len(buf) < header {
		return 0, ""
	}
	length := int(binary.LittleEndian.Uint16(buf[2:]))
	if length == 0 || length > maxHost {
		return line.Junk(buf, stx), "junk"
	}
	if n = length + overhead; len(buf) < n {
		return 0, ""
	}
	body, ok := parseTelegram(buf[:n])
	if !ok {
		return line.Junk(buf, stx), "bad CRC"
	}
	return n, fmt.Sprintf("%s %s", commandKey(body), commandName(body))
}
