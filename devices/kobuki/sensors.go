package kobuki

import (
	"math"
	"time"

	"player/codec"
	"player/devices"
)

// The channels of device io: inputs, and from firstOutput on the outputs, in the order of their bits in a command.
const (
	firstDigital = 8 // behind cliffs, wheel drops and buttons
	firstAnalog  = firstDigital + 4
	firstOutput  = firstAnalog + 4
	outputCount  = 12
	channelCount = firstOutput + outputCount

	// analogFull is the voltage of an analogue input at its largest value, 4095, in mV (the specification, "General
	// Purpose Input").
	analogFull, analogMost = 3300, 4095

	// firstOutputs are the outputs before a client has set any: power for other hardware is on, all else is off. A command
	// has them all, so one to a LED must not cut the power of a computer (the vendor's driver, command.hpp: gp_out).
	firstOutputs = 0x00F0
)

// outputs are those that a client has set. The robot does not report them.
type outputs struct {
	bits  uint16
	known bool // a client has set one since the robot was found
	due   bool // they are to be sent
}

// forget makes the outputs unknown. They are not sent to a robot that is found again: it sets nothing by itself.
func (o *outputs) forget() { *o = outputs{bits: firstOutputs} }

// AppendChannels implements devices.Channelled.
func (d *Driver) AppendChannels(dst []codec.Channel, device *devices.Device) []codec.Channel {
	if device.Letter() != codec.IO {
		return dst
	}
	c := codec.Channel{Role: codec.Input, Unit: codec.UnitBit, Max: 1}
	dst = codec.AppendChannels(dst, c, "Cliff right,Cliff middle,Cliff left,Wheel drop right,Wheel drop left,"+
		"Button 0,Button 1,Button 2,Digital input 0,Digital input 1,Digital input 2,Digital input 3")
	dst = codec.AppendChannels(dst, codec.Channel{Number: firstAnalog, Role: codec.Input, Unit: "mV", Max: analogFull},
		"Analog input 0,Analog input 1,Analog input 2,Analog input 3")
	c.Number, c.Role = firstOutput, codec.Output
	return codec.AppendChannels(dst, c, "Digital output 0,Digital output 1,Digital output 2,Digital output 3,"+
		"Power 3.3 V,Power 5 V,Power 12 V 5 A,Power 12 V 1.5 A,LED 1 red,LED 1 green,LED 2 red,LED 2 green")
}

// setOutput takes a command to device io. One to an input, or to a channel that is not there, has no effect.
func (d *Driver) setOutput(command []byte) {
	var c codec.IOCommand
	if c.Decode(command) != nil || !d.IsUp() || c.Channel < firstOutput || c.Channel >= channelCount {
		return
	}
	bit := uint16(1) << (c.Channel - firstOutput)
	if d.outputs.bits &^= bit; c.Value > 0 {
		d.outputs.bits |= bit
	}
	d.outputs.known, d.outputs.due = true, true
	d.output()
}

// output sends the outputs if they are due, unless the line's buffer is full.
func (d *Driver) output() {
	if d.outputs.due && d.Port().Buffered() == 0 {
		d.outputs.due = false
		d.out = appendOutputs(d.out[:0], d.outputs.bits)
		d.Port().Write(d.out)
	}
}

// publishIO publishes the inputs of the latest report, and the outputs.
func (d *Driver) publishIO(now time.Duration) {
	if !d.Link().Subscribed(d.io) {
		return
	}
	r, data := &d.latest, &d.ioData
	data.Values = data.Values[:0]
	data.AppendBits(uint16(r.Cliffs)|uint16(r.Dropped)<<3|uint16(r.Buttons)<<5, firstDigital, true)
	data.AppendBits(uint16(r.Digital), firstAnalog-firstDigital, r.Inputs)
	for _, v := range r.Analog {
		mV := int32(codec.Unknown)
		if r.Inputs {
			mV = (min(int32(v), analogMost)*analogFull + analogMost/2) / analogMost
		}
		data.Values = append(data.Values, mV)
	}
	data.AppendBits(d.outputs.bits, outputCount, d.outputs.known)
	d.out = d.ioData.Append(d.out[:0])
	d.io.Publish(now, d.out)
}

// publishIMU publishes the gyroscope's readings about the vertical axis: heading since the robot was switched on,
// and turn rate. All else is unknown.
func (d *Driver) publishIMU(now time.Duration) {
	if !d.Link().Subscribed(d.imu) {
		return
	}
	data := codec.UnknownIMU()
	if r := &d.latest; r.Gyro {
		const mdeg = 10 // of the robot's unit, 0.01 degree
		data.Yaw = mdeg * int32(math.Remainder(float64(r.Angle), fullTurn))
		data.YawRate = mdeg * int32(r.Rate)
	}
	d.out = data.Append(d.out[:0])
	d.imu.Publish(now, d.out)
}
