package codec

import (
	"encoding/binary"
	"strconv"
)

const (
	// GotoSize and GotoCommandSize are the sizes of the payloads in bytes.
	GotoSize        = 1 + 1 + 2 + 4 + 4 + 2 + 4
	GotoCommandSize = 4 + 4 + 6*2

	// AnyHeading is a GotoCommand.Heading: the robot keeps the heading with which it arrives.
	AnyHeading = 0xFFFF
)

// GotoState is the state of a goto device.
type GotoState uint8

const (
	GotoIdle    GotoState = iota // it has had no goal since it was opened
	GotoDriving                  // it drives to the goal
	GotoArrived                  // the robot has arrived, and has the heading of the goal
	GotoBlocked                  // it has found no way, and tries on
	GotoStopped                  // it has given the goal up; GotoReason says why
)

// Active reports whether the device commands the wheels.
func (s GotoState) Active() bool { return s == GotoDriving || s == GotoBlocked }

func (s GotoState) String() string {
	names := [...]string{"idle", "driving", "arrived", "blocked", "stopped"}
	if int(s) < len(names) {
		return names[s]
	}
	return strconv.Itoa(int(s))
}

// GotoReason is why a goto device has given its goal up.
type GotoReason uint8

const (
	GotoNoReason  GotoReason = iota // it has not
	GotoByCommand                   // it got a command to stop, or its commander has left or was silent
	GotoByOther                     // the wheels got another command
	GotoEmergency                   // the emergency stop
	GotoBlind                       // its laser, rangers or sonars give no data
	GotoLost                        // the wheels give no odometry
	GotoNoWay                       // it was blocked for too long
	GotoRefused                     // no robot could drive there: the goal is too far, or the robot too wide
	GotoMotors                      // the motors are off
)

func (r GotoReason) String() string {
	names := [...]string{"none", "command", "other", "emergency", "blind", "lost", "no way", "refused", "motors"}
	if int(r) < len(names) {
		return names[r]
	}
	return strconv.Itoa(int(r))
}

// GotoData is how far a goto device has come (PROTOCOL 7.14). A goal is in the frame of the odometry.
type GotoData struct {
	State    GotoState  `json:"state"`
	Reason   GotoReason `json:"reason"`
	Tag      uint16     `json:"tag"`         // of the goal
	X        int32      `json:"x_mm"`        // of the goal; or Unknown
	Y        int32      `json:"y_mm"`        // of the goal; or Unknown
	Heading  uint16     `json:"heading_deg"` // of the goal, 0..359 counterclockwise; or AnyHeading
	Distance uint32     `json:"distance_mm"` // to the goal, in a straight line; or UnknownAmount
}

// Append appends the 18 payload bytes.
func (d *GotoData) Append(dst []byte) []byte {
	be := binary.BigEndian
	dst = append(dst, byte(d.State), byte(d.Reason))
	dst = be.AppendUint16(dst, d.Tag)
	dst = be.AppendUint32(dst, uint32(d.X))
	dst = be.AppendUint32(dst, uint32(d.Y))
	dst = be.AppendUint16(dst, d.Heading)
	return be.AppendUint32(dst, d.Distance)
}

// Decode reads the 18 payload bytes; another size is an error.
func (d *GotoData) Decode(b []byte) error {
	if err := checkSize("goto", b, GotoSize); err != nil {
		return err
	}
	be := binary.BigEndian
	*d = GotoData{
		State: GotoState(b[0]), Reason: GotoReason(b[1]), Tag: be.Uint16(b[2:]),
		X: int32(be.Uint32(b[4:])), Y: int32(be.Uint32(b[8:])), Heading: be.Uint16(b[12:]),
		Distance: be.Uint32(b[14:]),
	}
	return nil
}

// GotoCommand gives a goto device a goal (PROTOCOL 5.1). A limit of 0 is the device's own.
type GotoCommand struct {
	X         int32  // mm, in the frame of the odometry; or Unknown: stop
	Y         int32  // mm; or Unknown: stop
	Heading   uint16 // at the goal, 0..359 deg counterclockwise; or AnyHeading
	Speed     uint16 // the highest, mm/s
	TurnRate  uint16 // the highest, deg/s
	Tolerance uint16 // how far from the goal the robot has arrived, mm
	Radius    uint16 // half of the narrowest gap that the robot is to pass, mm
	Tag       uint16 // a number of the client's, by which it knows its goal in the data
}

// StopGoto is the command that ends the goal.
func StopGoto() GotoCommand { return GotoCommand{X: Unknown} }

// Append appends the 20 payload bytes.
func (c GotoCommand) Append(dst []byte) []byte {
	be := binary.BigEndian
	dst = be.AppendUint32(dst, uint32(c.X))
	dst = be.AppendUint32(dst, uint32(c.Y))
	for _, v := range [...]uint16{c.Heading, c.Speed, c.TurnRate, c.Tolerance, c.Radius, c.Tag} {
		dst = be.AppendUint16(dst, v)
	}
	return dst
}

// Decode reads the 20 payload bytes; another size is an error.
func (c *GotoCommand) Decode(b []byte) error {
	if err := checkSize("goto command", b, GotoCommandSize); err != nil {
		return err
	}
	be := binary.BigEndian
	*c = GotoCommand{
		X: int32(be.Uint32(b)), Y: int32(be.Uint32(b[4:])), Heading: be.Uint16(b[8:]), Speed: be.Uint16(b[10:]),
		TurnRate: be.Uint16(b[12:]), Tolerance: be.Uint16(b[14:]), Radius: be.Uint16(b[16:]), Tag: be.Uint16(b[18:]),
	}
	return nil
}
