package testpattern

import (
	"player/codec"
	"player/devices"
)

// The devices of PROTOCOL 7.9 to 7.13: a scanner that sees 270 degrees, a level robot at a fixed place, four channels and
// two joints.

const (
	// rangerView is how wide the ranger sees, in degrees.
	rangerView = 270
	// farthest is the largest distance of the ranger in mm.
	farthest = 30000
	// gravity is the acceleration of a robot at rest, in mm/s².
	gravity = 9807
)

// channels returns the inputs and outputs of the pattern.
func channels() []codec.Channel {
	return []codec.Channel{
		{Number: 0, Role: codec.Input, Unit: codec.UnitBit, Max: 1, Name: "Button"},
		{Number: 1, Role: codec.Input, Unit: "mV", Max: 15000, Name: "Battery"},
		{Number: 2, Role: codec.Output, Unit: codec.UnitBit, Max: 1, Name: "Lamp"},
		{Number: 3, Role: codec.Output, Unit: "percent", Max: 100, Name: "Fan"},
	}
}

// joints returns the servos of the pattern.
func joints() []codec.Channel {
	return []codec.Channel{
		{Number: 0, Role: codec.Jointed, Unit: "mdeg", Min: -90000, Max: 90000, Name: "Shoulder"},
		{Number: 1, Role: codec.Jointed, Unit: "mdeg", Min: 0, Max: 150000, Name: "Elbow"},
	}
}

// start sets the data to that before any command.
func (s *sensors) start() {
	s.io.Values = append(s.io.Values[:0], 0, 12600, 0, 0)
	s.servo.Joints = s.servo.Joints[:0]
	for range joints() {
		s.servo.Joints = append(s.servo.Joints, codec.Joint{Goal: codec.Unknown, State: codec.JointKnown | codec.JointPowered})
	}
}

// sensors is the data that commands change.
type sensors struct {
	io    codec.IOData
	servo codec.ServoData
}

// command reports the new command as carried out from now on. It limits values as PROTOCOL 5.1 says.
func (s *sensors) command(d *devices.Device) {
	switch d.Letter() {
	case codec.IO:
		var c codec.IOCommand
		if known := channels(); c.Decode(d.Command()) == nil && int(c.Channel) < len(known) && known[c.Channel].Role == codec.Output {
			s.io.Values[c.Channel] = max(known[c.Channel].Min, min(c.Value, known[c.Channel].Max))
		}
	case codec.Servo:
		var c codec.ServoCommand
		if c.Decode(d.Command()) != nil {
			return
		}
		for i, joint := range joints() {
			switch {
			case int(c.Joint) != i && c.Joint != codec.AllJoints:
			case c.Goal == codec.Unknown:
				s.servo.Joints[i].Goal = codec.Unknown
			default:
				goal := max(joint.Min, min(c.Goal, joint.Max))
				s.servo.Joints[i].Position, s.servo.Joints[i].Goal = goal, goal
			}
		}
	}
}

// AppendRays appends the scan of the ranger.
func (d *Driver) AppendRays(dst []codec.Rays, _ *devices.Device) []codec.Rays {
	n := d.pattern.Readings
	return append(dst, codec.Rays{Count: n, Heading: -rangerView / 2, Step: rangerView / float64(max(1, n-1)), Near: 20, Far: farthest})
}

// AppendChannels appends the channels of io, or the joints of servo.
func (d *Driver) AppendChannels(dst []codec.Channel, device *devices.Device) []codec.Channel {
	switch device.Letter() {
	case codec.IO:
		return append(dst, channels()...)
	case codec.Servo:
		return append(dst, joints()...)
	}
	return dst
}

// fixed returns the data of a sensor that never changes.
func (d *Driver) fixed(letter byte) []byte {
	switch letter {
	case codec.Ranger:
		scan := codec.RangerData{Unit: 1}
		for i := range d.pattern.Readings {
			scan.Ranges = append(scan.Ranges, uint16(2000+i%1000))
		}
		return scan.Append(nil)
	case codec.IMU:
		level := codec.IMUData{Z: gravity}
		return level.Append(nil)
	case codec.GPS:
		place := codec.UnknownGPS()
		place.Fix, place.Satellites, place.Horizontal = codec.PlainFix, 9, 1500
		place.Latitude, place.Longitude, place.Height = 340205000, -1182856000, 60000
		return place.Append(nil)
	}
	return nil
}
