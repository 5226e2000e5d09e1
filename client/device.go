package client

import (
	"context"
	"errors"
	"fmt"

	"player/codec"
)

// Open opens a device by its name, for example "imu" or "laser:1", and has its data decoded into a variable (Bind; nil: Raw
// alone has it). "freshness" is the server itself, device y: with it open for reading, Age has the ages of data. access is
// codec.AccessRead, AccessWrite or AccessAll. It returns the byte of the device for Command, Config, Has, Raw and Age. It
// waits as Request does, and has its errors.
func (c *Client) Open(ctx context.Context, name string, access byte, data interface{ Decode(payload []byte) error }) (code byte, err error) {
	if code, err = c.find(ctx, name); err != nil {
		return 0, err
	}
	if data != nil {
		c.Bind(code, data)
	}
	return code, c.Request(ctx, string([]byte{code, access}))
}

// freshness is the name of the server itself, which is in no list of devices.
const freshness = "freshness:0"

// ErrNoDevice is wrapped by the error of Open if the robot does not have the device.
var ErrNoDevice = errors.New("no such device")

// find returns the byte of a device by its name. It asks the server unless the device was listed before: its byte stays
// the same until the server ends. The error lists the devices that the robot has.
func (c *Client) find(ctx context.Context, name string) (code byte, err error) {
	iface, index, ok := codec.ParseAddress(name)
	if !ok {
		return 0, fmt.Errorf(`%q is no device: write an interface and an index, for example "laser:1", or an interface`, name)
	}
	asked := codec.Entry{Interface: iface, Index: index}.Address()
	if asked == freshness {
		return codec.Server, nil
	}
	if code, listed := c.listedAs(asked); listed {
		return code, nil
	}
	entries, err := c.Devices(ctx)
	if errors.Is(err, ErrUnknownQuestion) {
		if letter := codec.InterfaceLetter(iface); index == 0 && codec.OnWire(letter) {
			return letter, nil // which an older server answers with e if it has none
		}
		return 0, fmt.Errorf("%w: %s: this server has only the devices of 0.7.4a", ErrNoDevice, asked)
	}
	if err != nil {
		return 0, err
	}
	if code, listed := c.listedAs(asked); listed {
		return code, nil
	}
	var there []string
	for _, e := range entries {
		there = append(there, e.Address())
	}
	return 0, fmt.Errorf("%w: %s: the robot has %q", ErrNoDevice, asked, there)
}

// Rays asks the server where the readings of lasers, sonars and rangers look from and to. Open the devices first: a driver
// may learn it then.
func (c *Client) Rays(ctx context.Context) (rays []codec.Rays, err error) {
	lines, err := c.Ask(ctx, codec.QuestionRays)
	for _, line := range lines {
		if r, ok := codec.ParseRays(line, c.codeOf); ok {
			rays = append(rays, r)
		}
	}
	return rays, err
}

// Channels asks the server to describe the inputs, outputs and joints of the robot.
func (c *Client) Channels(ctx context.Context) (channels []codec.Channel, err error) {
	lines, err := c.Ask(ctx, codec.QuestionChannels)
	for _, line := range lines {
		if ch, ok := codec.ParseChannel(line, c.codeOf); ok {
			channels = append(channels, ch)
		}
	}
	return channels, err
}

// SetOutput sets an output of an io device to a value in the unit of the output (Channels).
func (c *Client) SetOutput(code byte, channel uint8, value int32) error {
	return c.setOutput(context.Background(), code, channel, value)
}

func (c *Client) setOutput(ctx context.Context, code byte, channel uint8, value int32) error {
	c.payload = codec.IOCommand{Channel: channel, Value: value}.Append(c.payload[:0])
	return c.CommandContext(ctx, code, c.payload)
}

// MoveJoint moves a joint of a servo device to a goal in the unit of the joint (Channels), at a speed in that unit each
// second; zero: as the driver moves it. Joint codec.AllJoints is all of them.
func (c *Client) MoveJoint(code byte, joint uint8, goal int32, speed uint32) error {
	return c.moveJoint(context.Background(), code, joint, goal, speed)
}

func (c *Client) moveJoint(ctx context.Context, code byte, joint uint8, goal int32, speed uint32) error {
	c.payload = codec.ServoCommand{Joint: joint, Goal: goal, Speed: speed}.Append(c.payload[:0])
	return c.CommandContext(ctx, code, c.payload)
}

// StopJoints stops all joints of a servo device where they are.
func (c *Client) StopJoints(code byte) error {
	stop := codec.StopServos()
	return c.MoveJoint(code, stop.Joint, stop.Goal, stop.Speed)
}
