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

// channelNames are the names of the channels. Buttons and LEDs are in the order of the bits of packet 18 and command
// 139 (the specification). A Roomba of another series has some of them.
var channelNames = [channelCount]string{
	"Cliff left", "Cliff front left", "Cliff front right", "Cliff right", "Wheel drop right", "Wheel drop left",
	"Clean", "Spot", "Dock", "Minute", "Hour", "Day", "Schedule", "Clock",
	"LED debris", "LED spot", "LED dock", "LED check robot",
	"Power LED colour, 0 green, 255 red", "Power LED intensity",
}

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
	for i, name := range channelNames {
		c := codec.Channel{Number: i, Role: codec.Input, Unit: codec.UnitBit, Max: 1, Name: name}
		if i >= firstLED {
			c.Role = codec.Output
		}
		if i >= colourLED {
			c.Unit, c.Max = "", 255
		}
		dst = append(dst, c)
	}
	return dst
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
	values := d.ioData.Values[:0]
	bits := func(port byte, count int, known bool) {
		for i := range count {
			value := int32(codec.Unknown)
			if known {
				value = int32(port >> i & 1)
			}
			values = append(values, value)
		}
	}
	bits(r.Cliffs, 4, true)
	bits(r.Bumps>>2, 2, true)
	bits(r.Buttons, firstLED-firstButton, r.HasButtons)
	l := &d.leds
	bits(l.bits, colourLED-firstLED, l.known)
	for _, v := range [...]byte{l.colour, l.intensity} {
		value := int32(codec.Unknown)
		if l.known {
			value = int32(v)
		}
		values = append(values, value)
	}
	d.ioData.Values = values
	d.out = d.ioData.Append(d.out[:0])
	d.io.Publish(now, d.out)
}
