package sick

import (
	"encoding/binary"
	"fmt"
	"time"

	"player/simulation/emulator/line"
)

// Responses.
const (
	ack      = 0xA0 // to command 20
	nack     = 0x92 // to an unknown command
	booted   = 0x90
	resultOK = 0
	denied   = 1 // wrong password
)

// Modes of command 20.
const (
	modeConfigure = 0x00
	modeStream    = 0x24
	modeStop      = 0x25
	modeRange     = 0x27
)

// speeds are the modes of command 20 that change the speed, bit/s.
var speeds = map[byte]int{0x40: 38400, 0x41: 19200, 0x42: 9600, 0x48: 500000}

// A command answers one telegram. It returns the body of the answer without
// the status byte, nil for NACK.
type command struct {
	name string
	do   func(l *Laser, now time.Duration, data []byte) []byte
}

var commands = map[byte]command{
	0x10: {"reset", (*Laser).reset},
	0x20: {"mode", (*Laser).mode},
	0x31: {"get status", (*Laser).getStatus},
	0x3A: {"get type", func(l *Laser, _ time.Duration, _ []byte) []byte { return l.typeString(0xBA) }},
	0x3B: {"set variant", (*Laser).setVariant},
	0x74: {"get configuration", func(l *Laser, _ time.Duration, _ []byte) []byte {
		return append([]byte{0xF4}, l.config[:]...)
	}},
	0x77: {"set configuration", (*Laser).setConfig},
}

func commandName(body []byte) string {
	if c, ok := commands[body[0]]; ok {
		return c.name
	}
	return "unknown"
}

// commandKey returns the key of a command in the counts: its number, and for
// 20 the mode.
func commandKey(body []byte) string {
	if body[0] == 0x20 && len(body) > 1 {
		return fmt.Sprintf("20 %02X", body[1])
	}
	return fmt.Sprintf("%02X", body[0])
}

// typeString returns the type of a well known unit. Hosts derive the password
// from its first three letters.
func (l *Laser) typeString(response byte) []byte {
	return append([]byte{response}, "LMS200;30106;V02.10 "...)
}

func (l *Laser) reset(time.Duration, []byte) []byte {
	l.off = true
	return []byte{0x91}
}

// mode handles command 20. A change of speed is answered at the old speed.
func (l *Laser) mode(now time.Duration, data []byte) []byte {
	if len(data) == 0 {
		return nil
	}
	mode, args := data[0], data[1:]
	switch mode {
	case modeConfigure:
		if string(args) != password || l.faults.WrongPassword {
			return []byte{ack, denied}
		}
		l.configuring, l.streaming = true, false
	case modeStop:
		l.configuring, l.streaming = false, false
	case modeStream:
		l.stream(now, 0, 0)
	case modeRange:
		if len(args) != 4 {
			return nil
		}
		first, last := int(binary.LittleEndian.Uint16(args)), int(binary.LittleEndian.Uint16(args[2:]))
		if first < 1 || first > last || last > l.variant.values() {
			return nil
		}
		l.stream(now, first, last)
	default:
		speed, ok := speeds[mode]
		if !ok {
			return nil
		}
		l.nextBaud = speed
	}
	return []byte{ack, resultOK}
}

// stream starts continuous output. The first scan comes one rotation of the
// mirror later.
func (l *Laser) stream(now time.Duration, first, last int) {
	l.configuring, l.streaming, l.first, l.last = false, true, first, last
	l.nextScan = now + l.period
}

// Offsets in the status block, counted from the response byte, and the length
// of the block including that byte.
const (
	statusVersion   = 1
	statusMode      = 8
	statusMeasuring = 102
	statusVariant   = 107
	statusUnits     = 122
	statusLaserOn   = 123
	statusLength    = 152
)

func (l *Laser) getStatus(time.Duration, []byte) []byte {
	b := make([]byte, statusLength)
	b[0] = 0xB1
	copy(b[statusVersion:], "V02.10 ")
	b[statusMode] = modeStop
	if l.configuring {
		b[statusMode] = modeConfigure
	} else if l.streaming {
		b[statusMode] = modeStream
	}
	b[statusMeasuring] = l.config[configMeasuring]
	binary.LittleEndian.PutUint16(b[statusVariant:], uint16(l.variant.angle))
	binary.LittleEndian.PutUint16(b[statusVariant+2:], uint16(l.variant.resolution))
	b[statusUnits] = l.config[configUnits]
	b[statusLaserOn] = 1
	return b
}

// setVariant also works without configuration mode: hosts that send it there are known
// to work with real units. The answer contains the variant in force.
func (l *Laser) setVariant(_ time.Duration, data []byte) []byte {
	if len(data) != 4 {
		return nil
	}
	want := variant{int(binary.LittleEndian.Uint16(data)), int(binary.LittleEndian.Uint16(data[2:]))}
	accepted := (l.configuring || !l.faults.LockVariant) && variants[want] && !l.faults.RefuseVariant
	if accepted {
		l.variant = want
	}
	b := []byte{0xBB, line.Bit(accepted)}
	b = binary.LittleEndian.AppendUint16(b, uint16(l.variant.angle))
	return binary.LittleEndian.AppendUint16(b, uint16(l.variant.resolution))
}

// Offsets in the configuration block.
const (
	configPeak      = 2 // peak threshold, 70 by default
	configAvailable = 4 // bit 1: it sends real-time indices
	configMeasuring = 5
	configUnits     = 6
	configLength    = 34
)

// setConfig needs configuration mode. A short block changes only its part.
func (l *Laser) setConfig(_ time.Duration, data []byte) []byte {
	if len(data) == 0 || len(data) > configLength {
		return nil
	}
	want := l.config
	copy(want[:], data)
	unit, known := unitOf(want[configUnits])
	accepted := l.configuring && known && !l.faults.RefuseConfig
	if accepted {
		l.config, l.unit = want, unit
	}
	return append([]byte{0xF7, line.Bit(accepted)}, l.config[:]...)
}

func unitOf(code byte) (Unit, bool) {
	for u, v := range units {
		if v.code == int(code) {
			return u, true
		}
	}
	return 0, false
}
