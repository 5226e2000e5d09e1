package create

import (
	"time"

	"player/codec"
	"player/devices"
)

// The channels of device io: inputs, and from firstLED on LEDs.
const (
	firstButton  = 6 // behind cliffs and wheel drops
	firstLED     = firstButton + 8
	colourLED    = firstLED + 4
	intensityLED = colourLED + 1
	channelCount = intensityLED + 1
)

// leds are the LEDs that a client has set. The robot does not report them. It has them for itself unless it is in the
// driver's mode.
type leds struct {
	bits, colour, intensity byte
	known                   bool // a client has set one
	due                     bool // they are to be sent
}

// isNamed reports whether the block names device io.
func (d *Driver) isNamed() bool { return d.io.Spec().Index != devices.Hidden }

// AppendChannels implements devices.Channelled.
func (d *Driver) AppendChannels(dst []codec.Channel, device *devices.Device) []codec.Channel {
	if device.Letter() != codec.IO {
		return dst
	}
	// Buttons and LEDs are in the order of the bits of packet 18 and command 139. Roombas of another series have some of
	// them.
	c := codec.Channel{Role: codec.Input, Unit: codec.UnitBit, Max: 1}
	dst = codec.AppendChannels(dst, c, "Cliff left,Cliff front left,Cliff front right,Cliff right,"+
		"Wheel drop right,Wheel drop left,Clean,Spot,Dock,Minute,Hour,Day,Schedule,Clock")
	c.Number, c.Role = firstLED, codec.Output
	dst = codec.AppendChannels(dst, c, "LED debris,LED spot,LED dock,LED check robot")
	c.Number, c.Unit, c.Max = colourLED, "", 255
	return codec.AppendChannels(dst, c, "Power LED colour: 0 green to 255 red,Power LED intensity")
}

// light takes a command to device io. One to an input, or to a channel that is not there, has no effect; nor has one
// while the robot does not obey.
func (d *Driver) light(command []byte) {
	var c codec.IOCommand
	if c.Decode(command) != nil || !d.obeys || c.Channel < firstLED || c.Channel >= channelCount {
		return
	}
	l := &d.leds
	switch c.Channel {
	case colourLED:
		l.colour = byte(max(0, min(c.Value, 255)))
	case intensityLED:
		l.intensity = byte(max(0, min(c.Value, 255)))
	default:
		bit := byte(1) << (c.Channel - firstLED)
		if l.bits &^= bit; c.Value > 0 {
			l.bits |= bit
		}
	}
	l.known, l.due = true, true
}

// publishIO publishes the inputs of a report, and the LEDs.
func (d *Driver) publishIO(now time.Duration, r Report) {
	if !d.Link().Subscribed(d.io) {
		return
	}
	data, l := &d.ioData, &d.leds
	data.Values = data.Values[:0]
	data.AppendBits(uint16(r.Cliffs)|uint16(r.Bumps>>2)<<4, firstButton, true)
	data.AppendBits(uint16(r.Buttons), firstLED-firstButton, r.HasButtons)
	data.AppendBits(uint16(l.bits), colourLED-firstLED, l.known)
	for _, v := range [...]byte{l.colour, l.intensity} {
		value := int32(codec.Unknown)
		if l.known {
			value = int32(v)
		}
		data.Values = append(data.Values, value)
	}
	d.out = d.ioData.Append(d.out[:0])
	d.io.Publish(now, d.out)
}
