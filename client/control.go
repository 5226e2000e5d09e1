package client

import (
	"context"
	"fmt"
	"math"
	"time"

	"player/codec"
)

// SetSpeed drives the robot: mm/s, positive is forward, and deg/s, positive is
// counterclockwise (manual table 5). It is in force until the next call. The
// server and the robot limit both speeds.
func (c *Client) SetSpeed(mmPerSec, degPerSec int) error {
	return c.SetSpeedContext(context.Background(), mmPerSec, degPerSec)
}

// SetSpeedContext is SetSpeed until ctx ends.
func (c *Client) SetSpeedContext(ctx context.Context, mmPerSec, degPerSec int) error {
	c.payload = codec.PositionCommand{Speed: short(mmPerSec), TurnRate: short(degPerSec)}.Append(c.payload[:0])
	return c.CommandContext(ctx, codec.Position, c.payload)
}

// SetPTZ points the camera: pan -100 to 100 deg, positive is counterclockwise;
// tilt -25 to 25 deg, positive is up; zoom 0 (wide) to 1023 (telephoto).
func (c *Client) SetPTZ(pan, tilt, zoom int) error {
	cmd := codec.PTZCommand{Pan: short(pan), Tilt: short(tilt), Zoom: short(zoom)}
	c.payload = cmd.Append(c.payload[:0])
	return c.Command(codec.PTZ, c.payload)
}

// SetGripper moves the gripper: code is codec.GripOpen ... codec.LiftCarry;
// arg is the argument of codec.GripPress and codec.LiftCarry, in 20 ms steps.
func (c *Client) SetGripper(code, arg uint8) error {
	c.payload = codec.GripperCommand{Code: code, Arg: arg}.Append(c.payload[:0])
	return c.Command(codec.Gripper, c.payload)
}

// Command sends a command of any layout to a device (manual 3.4). Without
// write access it returns an error, since the server would drop the command
// silently. A nil error means only that the command was sent.
func (c *Client) Command(letter byte, payload []byte) error {
	return c.CommandContext(context.Background(), letter, payload)
}

// CommandContext is Command until ctx ends. The connection is closed then, unless ctx had ended before.
func (c *Client) CommandContext(ctx context.Context, letter byte, payload []byte) error {
	if !c.devices[letter].writable() {
		return fmt.Errorf("no write access to device %q: Request \"%cw\" first", letter, letter)
	}
	return c.send(ctx, codec.KindCommand, letter, payload)
}

// DataMode selects when the server sends rounds (manual 3.6).
type DataMode uint8

const (
	Continuous   DataMode = iota // at its frequency: the default
	RequestReply                 // one for each RequestData
)

// VelocityMode selects how the robot's microcontroller drives (manual 3.6).
type VelocityMode uint8

const (
	DirectWheelVelocity VelocityMode = iota // faster, jerkier: the default
	SeparateTransRot                        // smoother, slower
)

// The server does not answer configurations; errors are errors of the connection.

// SetDataMode selects when the server sends data to this client. It applies to
// this connection and may be called before any device is open. Read still
// returns the rounds that were streamed before, unless Request(ctx, "")
// follows: its reply comes after them.
func (c *Client) SetDataMode(m DataMode) error {
	return c.setting(codec.Config{Code: codec.ConfigMode, Arg: uint16(m)})
}

// SetFrequency sets the rate of this connection's rounds in continuous mode, 1
// to 65535 Hz. The default is 10 Hz. The server may have a lower maximum.
func (c *Client) SetFrequency(hz int) error {
	if hz < 1 || hz > math.MaxUint16 {
		return fmt.Errorf("frequency %d Hz is not in 1 to %d", hz, math.MaxUint16)
	}
	return c.setting(codec.Config{Code: codec.ConfigFrequency, Arg: uint16(hz)})
}

// RequestData asks for one round in request/reply mode. In continuous mode it
// has no effect.
func (c *Client) RequestData() error {
	return c.config(codec.Server, codec.Config{Code: codec.ConfigData})
}

// SetFresh switches freshness mode on or off for this connection: a round then contains only
// new data, and is sent only if there is some. It needs device y open for reading, whose
// block describes the round. Switch the mode off before closing y. It is an extension that
// the original server does not have.
func (c *Client) SetFresh(on bool) error {
	if on && !c.devices[codec.Server].readable() {
		return errNoServer
	}
	if err := c.setting(codec.Config{Code: codec.ConfigFresh, Arg: flag(on)}); err != nil {
		return err
	}
	c.fresh = on
	return nil
}

// SetName gives the server a name for this client, which lists of clients show: at most
// codec.MaxName bytes of printable ASCII; an empty name removes it. It is an extension that
// the original server ignores.
func (c *Client) SetName(name string) error {
	cfg := codec.Config{Code: codec.ConfigName, Text: name}
	if _, err := codec.DecodeServerConfig(cfg.Append(nil)); err != nil {
		return err
	}
	return c.setting(cfg)
}

// SetCommandLifetime sets how long a command of SetSpeed is valid, in whole milliseconds, at
// most a minute: the robot stops if it is not repeated in time. Each call restarts the
// lifetime of the newest command. A client with a lifetime yields: its SetSpeed(0, 0) stops
// the robot only while this client drives it. Zero, the default, ends both; the server may
// have a limit of its own. It is an extension that the original server ignores.
func (c *Client) SetCommandLifetime(d time.Duration) error {
	if d < 0 || d > maxLifetime || d > 0 && d < time.Millisecond {
		return fmt.Errorf("a lifetime of %v is not in 1 ms to %v", d, maxLifetime)
	}
	return c.setting(codec.Config{Code: codec.ConfigLifetime, Arg: uint16(d.Milliseconds())})
}

// maxLifetime is the longest lifetime of a command: a longer one would not stop a robot in time.
const maxLifetime = time.Minute

// EmergencyStop stops the robot for all clients, or releases the stop. During the stop,
// which does not end when this client leaves, the server drops all commands of all clients.
// It needs no open device, but the right to write; without it the server ignores the call.
// It is an extension that the original server ignores.
func (c *Client) EmergencyStop(on bool) error {
	return c.config(codec.Server, codec.Config{Code: codec.ConfigStop, Arg: flag(on)})
}

// SetCompact selects the form of this connection's rounds, and the part of laser scans in
// compact rounds; in Laser the other readings are 0. Read understands every form. If a
// client of Dial did not call it, its first Request sets codec.FramesAuto and whole scans.
// It is an extension that the original server ignores.
func (c *Client) SetCompact(form uint16, scan codec.Scan) error {
	c.auto = false
	return c.setting(codec.Config{Code: codec.ConfigCompact, Arg: form, Scan: scan})
}

// ChangeMotorState switches the power of the motors on or off. Be careful: the robot may
// start at once. This and the two calls below affect all clients, and have no effect unless
// position, sonar, misc or gripper is open.
func (c *Client) ChangeMotorState(on bool) error {
	return c.config(codec.Position, codec.Config{Code: codec.ConfigMotors, Arg: flag(on)})
}

// ResetPosition sets the odometry to (0, 0, 0).
func (c *Client) ResetPosition() error {
	return c.config(codec.Position, codec.Config{Code: codec.ConfigOdometry})
}

// ChangeVelocityControl selects how the wheels follow SetSpeed.
func (c *Client) ChangeVelocityControl(m VelocityMode) error {
	return c.config(codec.Position, codec.Config{Code: codec.ConfigVelocity, Arg: uint16(m)})
}

// Config sends a configuration of any layout to a device (manual 3.6): a code
// and its arguments. It needs no access.
func (c *Client) Config(letter byte, payload []byte) error {
	return c.ConfigContext(context.Background(), letter, payload)
}

// ConfigContext is Config until ctx ends. The connection is closed then, unless ctx had ended before.
func (c *Client) ConfigContext(ctx context.Context, letter byte, payload []byte) error {
	return c.send(ctx, codec.KindConfig, letter, payload)
}

func (c *Client) config(letter byte, cfg codec.Config) error {
	c.payload = cfg.Append(c.payload[:0])
	return c.Config(letter, c.payload)
}

// setting sends a setting of this connection and keeps it for Reconnect.
func (c *Client) setting(cfg codec.Config) error {
	if err := c.config(codec.Server, cfg); err != nil {
		return err
	}
	c.settings[cfg.Code] = cfg
	return nil
}

// short limits v to the range of an int16, so that a speed never changes sign.
func short(v int) int16 { return int16(max(math.MinInt16, min(v, math.MaxInt16))) }

func flag(on bool) uint16 {
	if on {
		return 1
	}
	return 0
}
