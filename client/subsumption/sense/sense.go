// Package sense converts a Player robot's data to the sensors of a subsumption
// stack. Every cycle starts with NewSensors and adds the newest data of each
// device:
//
//	s := subsumption.NewSensors()
//	payloads.Add(&s, codec.Position, robot.Raw(codec.Position))
//	payloads.Add(&s, codec.Sonar, robot.Raw(codec.Sonar))
//
// Ranges of sonar and laser are combined: the nearer one counts.
package sense

import (
	"player/client/subsumption"
	"player/codec"
)

// Payloads adds payloads as they come from devices. It contains the decoded values, so that
// a cycle does not allocate.
type Payloads struct {
	position codec.PositionData
	sonar    codec.SonarData
	laser    codec.LaserData
	misc     codec.MiscData
}

// Add adds the payload of a device, by its letter. Payloads of other devices and of
// wrong sizes add nothing.
func (p *Payloads) Add(s *subsumption.Sensors, letter byte, payload []byte) {
	switch letter {
	case codec.Position:
		if p.position.Decode(payload) == nil {
			Position(s, &p.position)
		}
	case codec.Sonar:
		if p.sonar.Decode(payload) == nil {
			Sonar(s, &p.sonar)
		}
	case codec.Laser:
		if p.laser.Decode(payload) == nil {
			Laser(s, &p.laser)
		}
	case codec.Misc:
		if p.misc.Decode(payload) == nil {
			Misc(s, &p.misc)
		}
	}
}

// Position adds the odometry (PROTOCOL 7.1).
func Position(s *subsumption.Sensors, d *codec.PositionData) {
	s.Pose = subsumption.Pose{X: int(d.X), Y: int(d.Y), Heading: int(d.Heading)}
	s.Speed, s.Turn = int(d.Speed), int(d.TurnRate)
	s.Stalled = d.Stall != 0
}

// Sonar adds the sixteen sonars of a Pioneer (PROTOCOL 7.2). A range of 0 is
// ignored: the sonar has not fired yet, or is missing.
func Sonar(s *subsumption.Sensors, d *codec.SonarData) {
	for i, r := range d {
		if r != 0 {
			s.Range[i] = min(s.Range[i], int(r))
		}
	}
}

const (
	// noEcho in mm: an LMS-200 reports faults and open space as 8183 to 8191
	// in the protocol's mode.
	noEcho = 8183
	// straight is the index of the reading straight ahead, perDegree the
	// number of readings per degree.
	straight, perDegree = 180, 2
)

// Laser adds a scan (PROTOCOL 7.3). The scanner is assumed to be 80 mm in
// front of the wheels, as on a Pioneer.
func Laser(s *subsumption.Sensors, d *codec.LaserData) {
	for i, r := range d {
		if r >= noEcho {
			continue
		}
		direction, hull := sector((i - straight) / perDegree)
		s.Range[direction] = min(s.Range[direction], max(0, int(r)-hull))
	}
}

// sector returns the direction that a bearing belongs to, bounded halfway
// between two sonars, and the distance from the scanner to that sonar, mm:
// ranges are measured from the hull.
func sector(bearing int) (direction, hull int) {
	off := max(bearing, -bearing)
	switch {
	case off < 20:
		direction, hull = 3, 90
	case off < 40:
		direction, hull = 2, 103
	case off < 70:
		direction, hull = 1, 124
	default:
		direction, hull = 0, 136
	}
	if bearing < 0 {
		direction = 7 - direction
	}
	return direction, hull
}

// Sides of the front bumpers' bits, from left to right (PROTOCOL 7.4). The
// middle bumper is on both sides.
const (
	bumpersLeft  = 0b00111
	bumpersRight = 0b11100
)

// Misc adds the bumpers.
func Misc(s *subsumption.Sensors, d *codec.MiscData) {
	if d.FrontBumpers&bumpersLeft != 0 {
		s.Bumpers |= subsumption.BumpLeft
	}
	if d.FrontBumpers&bumpersRight != 0 {
		s.Bumpers |= subsumption.BumpRight
	}
	if d.RearBumpers != 0 {
		s.Bumpers |= subsumption.BumpRear
	}
}

const (
	axisRight, axisBack = 0, 1
	axisEnd             = 32767
	// axisRest is the largest deflection of a released stick, a tenth of its
	// range: cheap sticks do not return to zero.
	axisRest = axisEnd / 10
)

// Joystick converts a joystick's data to a remote control (PROTOCOL 7.8):
// speed in mm/s and turn in deg/s apply at full deflection. A stick at rest
// counts as released.
func Joystick(d *codec.JoystickData, speed, turn int) subsumption.Stick {
	right, back := int(d.Axes[axisRight]), int(d.Axes[axisBack])
	if max(right, -right) < axisRest && max(back, -back) < axisRest {
		return subsumption.Stick{}
	}
	return subsumption.Stick{On: true, Speed: -back * speed / axisEnd, Turn: -right * turn / axisEnd}
}
