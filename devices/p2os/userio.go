package p2os

import (
	"fmt"
	"time"

	"player/codec"
	"player/devices"
)

// The channels of device io: the bits of the user's inputs, those of the outputs, and the analogue input.
const (
	userBits      = 8
	outputChannel = userBits
	analogChannel = 2 * userBits

	// analogFull is the voltage of the analogue input at its largest value, 255, in mV (Player 3: value / 255 * 5 V).
	analogFull = 5000
)

// outputs are the user outputs that a client has set since the last command: those in mask get the bits of values.
type outputs struct{ mask, values byte }

func (o *outputs) set(bit int, on bool) {
	o.mask |= 1 << bit
	if o.values &^= 1 << bit; on {
		o.values |= 1 << bit
	}
}

// AppendChannels implements devices.Channelled: what every robot reports.
func (d *Driver) AppendChannels(dst []codec.Channel, device *devices.Device) []codec.Channel {
	if device.Letter() != codec.IO {
		return dst
	}
	for i := range 2 * userBits {
		role, name := codec.Input, fmt.Sprintf("Digital input %d", i)
		if i >= outputChannel {
			role, name = codec.Output, fmt.Sprintf("Digital output %d", i-outputChannel)
		}
		dst = append(dst, codec.Channel{Number: i, Role: role, Unit: codec.UnitBit, Max: 1, Name: name})
	}
	return append(dst, codec.Channel{
		Number: analogChannel, Role: codec.Input, Unit: "mV", Max: analogFull, Name: "Analog input"})
}

// setOutput takes a command to device io. One to an input, or to a channel that is not there, has no effect.
func (d *Driver) setOutput(command []byte) {
	var c codec.IOCommand
	if c.Decode(command) == nil && c.Channel >= outputChannel && c.Channel < outputChannel+userBits {
		d.outputs.set(int(c.Channel)-outputChannel, c.Value > 0)
	}
}

// publishIO publishes the inputs and outputs of the last SIP.
func (d *Driver) publishIO(now time.Duration) {
	if !d.Link().Subscribed(d.io) {
		return
	}
	d.ioData.Values = d.ioData.Values[:0]
	for _, port := range [...]byte{d.sip.Digital, d.sip.Output} {
		for bit := range userBits {
			d.ioData.Values = append(d.ioData.Values, int32(port>>bit&1))
		}
	}
	const half = 255 / 2
	d.ioData.Values = append(d.ioData.Values, (int32(d.sip.Analog)*analogFull+half)/255)
	d.out = d.ioData.Append(d.out[:0])
	d.io.Publish(now, d.out)
}

// publishIMU publishes the turn rate of the last GYROpac, once the centre of its readings is known.
func (d *Driver) publishIMU(now time.Duration) {
	if !d.Link().Subscribed(d.imu) {
		return
	}
	data := codec.UnknownIMU()
	if rate, ok := d.gyro.rate(); ok {
		data.YawRate = rate
	}
	d.out = data.Append(d.out[:0])
	d.imu.Publish(now, d.out)
}
