package codec

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Sizes of the data payloads in bytes (manual table 7). The size of vision
// data varies, see VisionData.
const (
	PositionSize = 21
	SonarSize    = 2 * SonarCount
	LaserSize    = 2 * LaserCount
	MiscSize     = 3
	GripperSize  = 2
	PTZSize      = 6
)

const (
	// SonarCount is the number of sonars. They are numbered clockwise: 0 at
	// the front left, 7 at the front right, 8 at the rear right, 15 at the
	// rear left.
	SonarCount = 16
	// LaserCount is the number of readings of a scan: 180 degrees in half
	// degree steps, counterclockwise, 0 at the right and 360 at the left.
	LaserCount = 361
	// LaserView is how wide a scan sees, in degrees, half to each side.
	LaserView = (LaserCount - 1) / 2
)

func checkSize(what string, b []byte, want int) error {
	if len(b) != want {
		return fmt.Errorf("%s payload has %d bytes, want %d", what, len(b), want)
	}
	return nil
}

// PositionData is the odometry (manual table 7, PROTOCOL 7.1). docs/CLIENTS.md lists the
// names in JSON.
type PositionData struct {
	Time     uint32 `json:"time"`     // ms since the server started
	X        int32  `json:"x"`        // mm, forward of the pose at the odometry's origin
	Y        int32  `json:"y"`        // mm, to the left
	Heading  uint16 `json:"heading"`  // deg, 0..359, counterclockwise
	Speed    int16  `json:"speed"`    // mm/s, forward
	TurnRate int16  `json:"turnrate"` // deg/s, counterclockwise
	Compass  uint16 `json:"compass"`  // deg, 0..359, counterclockwise
	Stall    uint8  `json:"stall"`    // zero if the motors rotate freely
}

// Append appends the 21 payload bytes.
func (d *PositionData) Append(dst []byte) []byte {
	be := binary.BigEndian
	dst = be.AppendUint32(dst, d.Time)
	dst = be.AppendUint32(dst, uint32(d.X))
	dst = be.AppendUint32(dst, uint32(d.Y))
	dst = be.AppendUint16(dst, d.Heading)
	dst = be.AppendUint16(dst, uint16(d.Speed))
	dst = be.AppendUint16(dst, uint16(d.TurnRate))
	dst = be.AppendUint16(dst, d.Compass)
	return append(dst, d.Stall)
}

// Decode reads the 21 payload bytes; another size is an error.
func (d *PositionData) Decode(b []byte) error {
	if err := checkSize("position", b, PositionSize); err != nil {
		return err
	}
	be := binary.BigEndian
	*d = PositionData{
		Time:     be.Uint32(b),
		X:        int32(be.Uint32(b[4:])),
		Y:        int32(be.Uint32(b[8:])),
		Heading:  be.Uint16(b[12:]),
		Speed:    int16(be.Uint16(b[14:])),
		TurnRate: int16(be.Uint16(b[16:])),
		Compass:  be.Uint16(b[18:]),
		Stall:    b[20],
	}
	return nil
}

// SonarData holds the 16 sonar ranges in mm (manual table 7, PROTOCOL 7.2).
type SonarData [SonarCount]uint16

// Append appends the 32 payload bytes.
func (d *SonarData) Append(dst []byte) []byte { return appendRanges(dst, d[:]) }

// Decode reads the 32 payload bytes; another size is an error.
func (d *SonarData) Decode(b []byte) error { return decodeRanges("sonar", d[:], b) }

// LaserData holds the 361 ranges of a scan in mm (manual table 7, PROTOCOL
// 7.3).
type LaserData [LaserCount]uint16

// Append appends the 722 payload bytes.
func (d *LaserData) Append(dst []byte) []byte { return appendRanges(dst, d[:]) }

// Decode reads the 722 payload bytes; another size is an error.
func (d *LaserData) Decode(b []byte) error { return decodeRanges("laser", d[:], b) }

func appendRanges(dst []byte, ranges []uint16) []byte {
	size := len(dst)
	dst = slices.Grow(dst, 2*len(ranges))[:size+2*len(ranges)]
	for i, r := range ranges {
		binary.BigEndian.PutUint16(dst[size+2*i:], r)
	}
	return dst
}

func decodeRanges(what string, ranges []uint16, b []byte) error {
	if err := checkSize(what, b, 2*len(ranges)); err != nil {
		return err
	}
	for i := range ranges {
		ranges[i] = binary.BigEndian.Uint16(b[2*i:])
	}
	return nil
}

// MiscData holds bumpers and battery (manual table 7, PROTOCOL 7.4).
type MiscData struct {
	FrontBumpers uint8 `json:"front"`   // lowest five bits, set while pressed
	RearBumpers  uint8 `json:"rear"`    // lowest five bits, set while pressed
	Battery      uint8 `json:"battery"` // decivolt
}

// Voltage is Battery by the name that the manual's C++ has.
func (d *MiscData) Voltage() uint8 { return d.Battery }

// Append appends the 3 payload bytes.
func (d *MiscData) Append(dst []byte) []byte {
	return append(dst, d.FrontBumpers, d.RearBumpers, d.Battery)
}

// Decode reads the 3 payload bytes; another size is an error.
func (d *MiscData) Decode(b []byte) error {
	if err := checkSize("misc", b, MiscSize); err != nil {
		return err
	}
	*d = MiscData{FrontBumpers: b[0], RearBumpers: b[1], Battery: b[2]}
	return nil
}

// Bits of GripperData.State (manual table 7).
const (
	PaddlesOpen uint8 = 1 << iota
	PaddlesClosed
	PaddlesMoving
	PaddlesError
	LiftUp
	LiftDown
	LiftMoving
	LiftError
)

// Bits of GripperData.Beams (manual table 7).
const (
	GripLimit uint8 = 1 << iota
	LiftLimit
	OuterBeam
	InnerBeam
	LeftPaddleOpen
	RightPaddleOpen
)

// GripperData holds the state of paddles, lift and break beams (manual table
// 7, PROTOCOL 7.5).
type GripperData struct {
	State uint8 `json:"state"` // PaddlesOpen ... LiftError
	Beams uint8 `json:"beams"` // GripLimit ... RightPaddleOpen
}

// Append appends the 2 payload bytes.
func (d *GripperData) Append(dst []byte) []byte { return append(dst, d.State, d.Beams) }

// Decode reads the 2 payload bytes; another size is an error.
func (d *GripperData) Decode(b []byte) error {
	if err := checkSize("gripper", b, GripperSize); err != nil {
		return err
	}
	*d = GripperData{State: b[0], Beams: b[1]}
	return nil
}

// PTZData is the camera's direction and zoom (manual table 7, PROTOCOL 7.6).
// PTZCommand has the same layout.
type PTZData struct {
	Pan  int16 `json:"pan"`  // deg, -100..100, counterclockwise
	Tilt int16 `json:"tilt"` // deg, -25..25, up
	Zoom int16 `json:"zoom"` // 0 wide .. 1023 telephoto
}

// Append appends the 6 payload bytes.
func (d *PTZData) Append(dst []byte) []byte {
	be := binary.BigEndian
	dst = be.AppendUint16(dst, uint16(d.Pan))
	dst = be.AppendUint16(dst, uint16(d.Tilt))
	return be.AppendUint16(dst, uint16(d.Zoom))
}

// Decode reads the 6 payload bytes; another size is an error.
func (d *PTZData) Decode(b []byte) error {
	if err := checkSize("ptz", b, PTZSize); err != nil {
		return err
	}
	be := binary.BigEndian
	*d = PTZData{Pan: int16(be.Uint16(b)), Tilt: int16(be.Uint16(b[2:])), Zoom: int16(be.Uint16(b[4:]))}
	return nil
}
