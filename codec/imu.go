package codec

import (
	"encoding/binary"
	"math"
)

// Unknown is the value of a field of 32 bits that the hardware does not measure (PROTOCOL 7.9 to 7.14).
const Unknown = math.MinInt32

// IMUSize is the size of the payload in bytes.
const IMUSize = 9 * 4

// IMUData is a reading of an inertial measurement unit (PROTOCOL 7.10) in the robot's axes: x ahead, y to the left,
// z up (REP 103). A field may be Unknown.
type IMUData struct {
	Roll  int32 `json:"roll_mdeg"`  // about x: the left side up
	Pitch int32 `json:"pitch_mdeg"` // about y: the front down
	Yaw   int32 `json:"yaw_mdeg"`   // about z, counterclockwise seen from above

	RollRate  int32 `json:"roll_rate_mdeg_per_s"`
	PitchRate int32 `json:"pitch_rate_mdeg_per_s"`
	YawRate   int32 `json:"yaw_rate_mdeg_per_s"`

	// At rest on level ground Z is 9807: the unit measures the force that holds the robot up.
	X int32 `json:"x_mm_per_s2"`
	Y int32 `json:"y_mm_per_s2"`
	Z int32 `json:"z_mm_per_s2"`
}

func (d *IMUData) fields() [9]*int32 {
	return [...]*int32{&d.Roll, &d.Pitch, &d.Yaw, &d.RollRate, &d.PitchRate, &d.YawRate, &d.X, &d.Y, &d.Z}
}

// UnknownIMU returns data of which every field is Unknown. It is not worth a copy of its code in each driver.
//
//go:noinline
func UnknownIMU() (d IMUData) {
	for _, f := range d.fields() {
		*f = Unknown
	}
	return d
}

// Append appends the 36 payload bytes.
//
//go:noinline
func (d *IMUData) Append(dst []byte) []byte {
	for _, f := range d.fields() {
		dst = binary.BigEndian.AppendUint32(dst, uint32(*f))
	}
	return dst
}

// Decode reads the 36 payload bytes; another size is an error.
func (d *IMUData) Decode(b []byte) error {
	if err := checkSize("imu", b, IMUSize); err != nil {
		return err
	}
	for i, f := range d.fields() {
		*f = int32(binary.BigEndian.Uint32(b[4*i:]))
	}
	return nil
}
