package client

import (
	"context"
	"fmt"
	"time"

	"player/codec"
)

// Device is an open device by its kind, with data of one type. The methods of Client whose names begin with Open return it:
//
//	rear, err := robot.OpenLaser(ctx, 1) // the second laser
//	imu, err := robot.OpenIMU(ctx, 0)
//	for robot.Read(ctx) == nil {
//		if imu.Has() {
//			fmt.Println(rear.Data[180], "mm,", imu.Data.Yaw, "mdeg")
//		}
//	}
type Device[T any] struct {
	Data *T // Read overwrites it. A device with a letter has it in a field of the Client

	robot *Client
	code  byte
}

// Code returns the byte of the device, for the methods of Client.
func (d *Device[T]) Code() byte { return d.code }

// Name returns its letter, or its name, for example laser:1, if it has no letter.
func (d *Device[T]) Name() string { return d.robot.NameOf(d.code) }

// Has reports whether there are data: otherwise Data is zero or outdated.
func (d *Device[T]) Has() bool { return d.robot.Has(d.code) }

// New reports whether the latest round has data of this device: useful after SetFresh.
func (d *Device[T]) New() bool { return d.robot.New(d.code) }

// Age returns the age of the data when the server made the latest round. ok is false if device y is not read or there are no
// data yet.
func (d *Device[T]) Age() (age time.Duration, ok bool) { return d.robot.Age(d.code) }

// Close closes the device. It waits as Request does. If it is the wheels, and this client drives them, the robot stops.
func (d *Device[T]) Close(ctx context.Context) error {
	return d.robot.Request(ctx, string([]byte{d.code, codec.AccessClose}))
}

// decoder is a pointer to data.
type decoder[T any] interface {
	*T
	Decode(payload []byte) error
}

// openDevice opens a device of an interface. field has the data of the first one, if the interface has a letter.
func openDevice[T any, P decoder[T]](ctx context.Context, c *Client, iface string, index int, access byte, field *T) (Device[T], error) {
	if index != 0 || field == nil {
		field = new(T)
	}
	code, err := c.Open(ctx, fmt.Sprintf("%s:%d", iface, index), access, P(field))
	return Device[T]{field, c, code}, err
}

// sensor is openDevice for reading.
func sensor[T any, P decoder[T]](ctx context.Context, c *Client, iface string, index int, field *T) (*Device[T], error) {
	d, err := openDevice[T, P](ctx, c, iface, index, codec.AccessRead, field)
	if err != nil {
		return nil, err
	}
	return &d, nil
}

// OpenSonar opens a ring of sonars for reading: mm. Like the other methods of its kind it waits as Request does, and has its
// errors. The index counts the devices of the kind, from 0.
func (c *Client) OpenSonar(ctx context.Context, index int) (*Device[codec.SonarData], error) {
	return sensor(ctx, c, "sonar", index, &c.Sonar)
}

// OpenLaser opens a laser for reading: 361 distances, mm, from the right counterclockwise.
func (c *Client) OpenLaser(ctx context.Context, index int) (*Device[codec.LaserData], error) {
	return sensor(ctx, c, "laser", index, &c.Laser)
}

// OpenMisc opens bumpers and battery for reading.
func (c *Client) OpenMisc(ctx context.Context, index int) (*Device[codec.MiscData], error) {
	return sensor(ctx, c, "misc", index, &c.Misc)
}

// OpenVision opens the patches of colour that a camera sees, for reading. Colors has the colours of the channels.
func (c *Client) OpenVision(ctx context.Context, index int) (*Device[codec.VisionData], error) {
	return sensor(ctx, c, "vision", index, &c.Vision)
}

// OpenJoystick opens a joystick for reading.
func (c *Client) OpenJoystick(ctx context.Context, index int) (*Device[codec.JoystickData], error) {
	return sensor(ctx, c, "joystick", index, &c.Joystick)
}

// OpenRanger opens a range sensor with any number of readings. Rays says where they look.
func (c *Client) OpenRanger(ctx context.Context, index int) (*Device[codec.RangerData], error) {
	return sensor[codec.RangerData](ctx, c, "ranger", index, nil)
}

// OpenIMU opens an inertial measurement unit for reading.
func (c *Client) OpenIMU(ctx context.Context, index int) (*Device[codec.IMUData], error) {
	return sensor[codec.IMUData](ctx, c, "imu", index, nil)
}

// OpenGPS opens a satellite receiver for reading.
func (c *Client) OpenGPS(ctx context.Context, index int) (*Device[codec.GPSData], error) {
	return sensor[codec.GPSData](ctx, c, "gps", index, nil)
}

// Wheels are the wheels of a robot and their odometry.
type Wheels struct{ Device[codec.PositionData] }

// OpenWheels opens the wheels, for their data and for commands.
func (c *Client) OpenWheels(ctx context.Context) (*Wheels, error) {
	d, err := openDevice(ctx, c, "position", 0, codec.AccessAll, &c.Position)
	if err != nil {
		return nil, err
	}
	return &Wheels{d}, nil
}

// Drive drives the robot, as SetSpeed does: mm/s, positive is forward, and deg/s, positive is counterclockwise.
func (w *Wheels) Drive(mmPerSec, degPerSec int) error { return w.robot.SetSpeed(mmPerSec, degPerSec) }

// DriveContext is Drive until ctx ends. Then the connection is closed, and the server stops the wheels.
func (w *Wheels) DriveContext(ctx context.Context, mmPerSec, degPerSec int) error {
	return w.robot.SetSpeedContext(ctx, mmPerSec, degPerSec)
}

// Stop stops the robot. A client with a lifetime of commands stops only what it drives itself. It has no context, which
// may have ended when the robot has to stop.
func (w *Wheels) Stop() error { return w.Drive(0, 0) }

// IO is a device of inputs and outputs. Channels describes them.
type IO struct{ Device[codec.IOData] }

// OpenIO opens inputs and outputs, for their values and for commands.
func (c *Client) OpenIO(ctx context.Context, index int) (*IO, error) {
	d, err := openDevice[codec.IOData](ctx, c, "io", index, codec.AccessAll, nil)
	if err != nil {
		return nil, err
	}
	return &IO{d}, nil
}

// Set sets an output to a value in its unit; a digital one to 0 or 1.
func (d *IO) Set(channel uint8, value int32) error { return d.robot.SetOutput(d.code, channel, value) }

// SetContext is Set until ctx ends.
func (d *IO) SetContext(ctx context.Context, channel uint8, value int32) error {
	return d.robot.setOutput(ctx, d.code, channel, value)
}

// Servo is a device of joints. Channels describes them.
type Servo struct{ Device[codec.ServoData] }

// OpenServo opens joints, for their data and for commands.
func (c *Client) OpenServo(ctx context.Context, index int) (*Servo, error) {
	d, err := openDevice[codec.ServoData](ctx, c, "servo", index, codec.AccessAll, nil)
	if err != nil {
		return nil, err
	}
	return &Servo{d}, nil
}

// Move moves a joint to a goal in its unit, at a speed in that unit each second; zero: as the driver moves it.
func (d *Servo) Move(joint uint8, goal int32, speed uint32) error {
	return d.robot.MoveJoint(d.code, joint, goal, speed)
}

// MoveContext is Move until ctx ends.
func (d *Servo) MoveContext(ctx context.Context, joint uint8, goal int32, speed uint32) error {
	return d.robot.moveJoint(ctx, d.code, joint, goal, speed)
}

// Stop stops all joints where they are.
func (d *Servo) Stop() error { return d.robot.StopJoints(d.code) }

// Goto is a driver of the server that drives to goals around obstacles.
type Goto struct{ Device[codec.GotoData] }

// OpenGoto opens the driver, for its data and for goals.
func (c *Client) OpenGoto(ctx context.Context) (*Goto, error) {
	d, err := openDevice[codec.GotoData](ctx, c, "goto", 0, codec.AccessAll, nil)
	if err != nil {
		return nil, err
	}
	return &Goto{d}, nil
}

// Drive drives to a place, mm in the frame of the odometry, and returns when the robot has arrived: Client.GoTo, which also
// takes limits.
func (d *Goto) Drive(ctx context.Context, x, y int32) error {
	return d.robot.GoTo(ctx, d.code, codec.GotoCommand{X: x, Y: y, Heading: codec.AnyHeading}, nil)
}

// Stop has the driver give its goal up and stop the wheels.
func (d *Goto) Stop() error { return d.robot.StopGoal(d.code) }
