package client

import (
	"fmt"
	"math"

	"player/codec"
)

// SetSpeed drives the robot: mm/s, positive is forward, and deg/s, positive is
// counterclockwise (manual table 5). It holds until the next one; the server
// and the robot limit what they do of it.
func (c *Client) SetSpeed(mmPerSec, degPerSec int) error {
	c.payload = codec.PositionCommand{Speed: short(mmPerSec), TurnRate: short(degPerSec)}.Append(c.payload[:0])
	return c.Command(codec.Position, c.payload)
}

// SetPTZ points the camera: pan -100 to 100 deg, positive is counterclockwise,
// tilt -25 to 25 deg, positive is up, zoom 0 (wide) to 1023 (telephoto).
func (c *Client) SetPTZ(pan, tilt, zoom int) error {
	cmd := codec.PTZCommand{Pan: short(pan), Tilt: short(tilt), Zoom: short(zoom)}
	c.payload = cmd.Append(c.payload[:0])
	return c.Command(codec.PTZ, c.payload)
}

// SetGripper moves the gripper: code is codec.GripOpen ... codec.LiftCarry, arg
// belongs to codec.GripPress and codec.LiftCarry, in 20 ms steps.
func (c *Client) SetGripper(code, arg uint8) error {
	c.payload = codec.GripperCommand{Code: code, Arg: arg}.Append(c.payload[:0])
	return c.Command(codec.Gripper, c.payload)
}

// Command sends a command of any layout to a device (manual 3.4). Without
// write access it is an error, since the server would drop it silently; a nil
// error says only that the command is under way.
func (c *Client) Command(letter byte, payload []byte) error {
	if !c.devices[letter].writable() {
		return fmt.Errorf("no write access to device %q: Request \"%cw\" first", letter, letter)
	}
	return c.send(codec.KindCommand, letter, payload)
}

// DataMode is when the server sends rounds (manual 3.6).
type DataMode uint8

const (
	Continuous   DataMode = iota // at its frequency: the default
	RequestReply                 // one for each RequestData
)

// VelocityMode is how the robot's microcontroller drives (manual 3.6).
type VelocityMode uint8

const (
	DirectWheelVelocity VelocityMode = iota // faster, jerkier: the default
	SeparateTransRot                        // smoother, slower
)

// The server answers no configuration; errors are those of the connection.

// SetDataMode changes when the server sends data to this client. It holds for
// this connection, also before any device is open. Rounds that were streamed
// before are still to be read, each as if it were new, unless Request(ctx, "")
// follows: its reply comes behind them.
func (c *Client) SetDataMode(m DataMode) error {
	return c.config(codec.Server, codec.Config{Code: codec.ConfigMode, Arg: uint16(m)})
}

// SetFrequency sets the rate of this connection's rounds in continuous mode,
// 1 to 65535 Hz; it is 10 Hz before. The server may have a lower maximum.
func (c *Client) SetFrequency(hz int) error {
	if hz < 1 || hz > math.MaxUint16 {
		return fmt.Errorf("frequency %d Hz is not in 1 to %d", hz, math.MaxUint16)
	}
	return c.config(codec.Server, codec.Config{Code: codec.ConfigFrequency, Arg: uint16(hz)})
}

// RequestData asks for one round in request/reply mode. In continuous mode it
// does nothing.
func (c *Client) RequestData() error {
	return c.config(codec.Server, codec.Config{Code: codec.ConfigData})
}

// SetFresh turns freshness mode on or off for this connection: a round is then
// only what is new, and comes only if something is. It needs device y open for
// reading, whose block tells what a round consists of; close y only after
// turning it off. It is an extension: the original server does not have it.
func (c *Client) SetFresh(on bool) error {
	if on && !c.devices[codec.Server].readable() {
		return errNoServer
	}
	if err := c.config(codec.Server, codec.Config{Code: codec.ConfigFresh, Arg: flag(on)}); err != nil {
		return err
	}
	c.fresh = on
	return nil
}

// ChangeMotorState turns the power of the motors on or off. Be careful: the
// robot may start at once. Like the two below it concerns all clients, and does
// nothing unless position, sonar, misc or gripper is open.
func (c *Client) ChangeMotorState(on bool) error {
	return c.config(codec.Position, codec.Config{Code: codec.ConfigMotors, Arg: flag(on)})
}

// ResetPosition sets the odometry to (0, 0, 0).
func (c *Client) ResetPosition() error {
	return c.config(codec.Position, codec.Config{Code: codec.ConfigOdometry})
}

// ChangeVelocityControl changes how the wheels follow SetSpeed.
func (c *Client) ChangeVelocityControl(m VelocityMode) error {
	return c.config(codec.Position, codec.Config{Code: codec.ConfigVelocity, Arg: uint16(m)})
}

// Config sends a configuration of any layout to a device (manual 3.6): a code
// and its arguments. It needs no access.
func (c *Client) Config(letter byte, payload []byte) error {
	return c.send(codec.KindConfig, letter, payload)
}

func (c *Client) config(letter byte, cfg codec.Config) error {
	c.payload = cfg.Append(c.payload[:0])
	return c.Config(letter, c.payload)
}

// short clips v to what the wire can carry: a speed must not change its sign.
func short(v int) int16 { return int16(max(math.MinInt16, min(v, math.MaxInt16))) }

func flag(on bool) uint16 {
	if on {
		return 1
	}
	return 0
}
