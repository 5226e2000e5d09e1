package p2os

import (
	"time"

	"player/codec"
	"player/devices"
)

// The channels of device io: the bits of the user's inputs and outputs, and the analogue input.
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

// AppendChannels implements devices.Channelled: every robot reports the same channels.
func (d *Driver) AppendChannels(dst []codec.Channel, device *devices.Device) []codec.Channel {
	if device.Letter() != codec.IO {
		return dst
	}
	bit := codec.Channel{Role: codec.Input, Unit: codec.UnitBit, Max: 1}
	dst = codec.AppendChannels(dst, bit, "Input 0,Input 1,Input 2,Input 3,Input 4,Input 5,Input 6,Input 7")
	bit.Number, bit.Role = outputChannel, codec.Output
	dst = codec.AppendChannels(dst, bit, "Output 0,Output 1,Output 2,Output 3,Output 4,Output 5,Output 6,Output 7")
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
	d.ioData.AppendBits(uint16(d.sip.Output)<<userBits|uint16(d.sip.Digital), 2*userBits, true)
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
