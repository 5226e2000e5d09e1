// Package sense makes what the layers of a subsumption stack look at of what a
// Player robot reports. In every cycle one begins with NewSensors and adds the
// newest data of each device that there is:
//
//	s := subsumption.NewSensors()
//	sense.Position(&s, &robot.Position)
//	sense.Sonar(&s, &robot.Sonar)
//
// Ranges of sonar and laser go together: the nearer one counts.
package sense

import (
	"player/codec"
	"player/subsumption"
)

// Position adds the odometry (PROTOCOL 7.1).
func Position(s *subsumption.Sensors, d *codec.PositionData) {
	s.Pose = subsumption.Pose{X: int(d.X), Y: int(d.Y), Heading: int(d.Heading)}
	s.Speed, s.Turn = int(d.Speed), int(d.TurnRate)
	s.Stalled = d.Stall != 0
}

// Sonar adds the sixteen sonars of a Pioneer (PROTOCOL 7.2). A range of 0 is
// none: the sonar has not fired yet, or is not there.
func Sonar(s *subsumption.Sensors, d *codec.SonarData) {
	for i, r := range d {
		if r != 0 {
			s.Range[i] = min(s.Range[i], int(r))
		}
	}
}

const (
	// noEcho in mm: an LMS-200 reports faults and open space as 8183 to 8191,
	// in the mode that the protocol has.
	noEcho = 8183
	// straight is the index of the reading straight ahead, perDegree how many
	// there are.
	straight, perDegree = 180, 2
)

// Laser adds a scan (PROTOCOL 7.3). The scanner is taken to be where a Pioneer
// has it, 80 mm in front of the wheels.
func Laser(s *subsumption.Sensors, d *codec.LaserData) {
	for i, r := range d {
		if r >= noEcho {
			continue
		}
		direction, hull := sector((i - straight) / perDegree)
		s.Range[direction] = min(s.Range[direction], max(0, int(r)-hull))
	}
}

// sector returns the direction that a bearing belongs to, halfway between two
// sonars, and how far the sonar there is from the scanner, mm: ranges are
// measured from the hull.
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

// Sides of the front bumpers' bits, from left to right (PROTOCOL 7.4). The one
// in the middle is on both sides.
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
	// axisRest is how far from the middle a released stick may stand, a tenth of
	// its way: cheap ones do not come back to zero.
	axisRest = axisEnd / 10
)

// Joystick makes a remote control of a joystick's data (PROTOCOL 7.8): speed
// in mm/s and turn rate in deg/s at the end of the stick's way. A stick at rest
// is one that nobody holds.
func Joystick(d *codec.JoystickData, speed, turn int) subsumption.Stick {
	right, back := int(d.Axes[axisRight]), int(d.Axes[axisBack])
	if max(right, -right) < axisRest && max(back, -back) < axisRest {
		return subsumption.Stick{}
	}
	return subsumption.Stick{On: true, Speed: -back * speed / axisEnd, Turn: -right * turn / axisEnd}
}
