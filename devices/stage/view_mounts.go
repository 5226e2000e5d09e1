package stage

import (
	"math"

	"player/codec"
	"player/devices"
	"player/devices/stage/floor"
)

// Mounts is the poses of a robot's sensors, of an interface the first, for drawing their data. Poses are
// in the robot's frame.
type Mounts struct {
	Laser    *Pose   // nil for none
	Camera   *Pose   // nil for none
	Sonars   []Pose  // in the order of the ranges
	SonarFOV float64 // radians, of each
}

// Mounts returns the poses of the robot's sensors.
func (r *Robot) Mounts() Mounts {
	var m Mounts
	if r.lasers != nil {
		m.Laser = new(r.lasers[0].pose)
	}
	if r.cameras != nil {
		m.Camera = new(r.cameras[0].pose)
	}
	if r.sonars != nil {
		for _, s := range r.sonars.ring {
			m.Sonars = append(m.Sonars, s.pose)
			m.SonarFOV = s.fov
		}
	}
	return m
}

// World returns the world of the driver's robot.
func (d *Driver) World() *World { return d.world }

// Robot returns the robot that the driver serves.
func (d *Driver) Robot() *Robot { return d.robot }

// AppendParts implements devices.Surveyed.
func (d *Driver) AppendParts(dst []codec.Part, device *devices.Device) []codec.Part {
	r, letter, number := d.robot, device.Letter(), ordinal(device)
	if letter == codec.Sonar {
		for i, s := range r.sonars.ring {
			dst = append(dst, partAt(i, s.pose, Vec{}, s.reach, s.fov))
		}
		return dst
	}
	var at Pose
	var size Vec
	reach, view := 0.0, 0.0
	switch letter {
	case codec.Position:
		hull := floor.BoxOf(r.body.hull...)
		at.X, at.Y, size = hull.Middle().X, hull.Middle().Y, hull.Size()
	case codec.Laser:
		l := r.lasers[number]
		at, reach, view = l.pose, l.reach, l.fov
	case codec.Vision:
		c := r.cameras[number]
		at, reach, view = c.pose, c.reach, floor.Radians(wideFOV)
	case codec.PTZ:
		at, view = r.cameras[number].pose, floor.Radians(wideFOV)
	case codec.Gripper:
		g := r.grippers[number]
		at, size = g.pose, Vec{X: g.length, Y: g.opening}
	case codec.GPS:
		at = r.receivers[number].pose
	default:
		return dst
	}
	return append(dst, partAt(0, at, size, reach, view))
}

// partAt returns a part from metres and radians.
func partAt(number int, at Pose, size Vec, reach, view float64) codec.Part {
	const mm, deg = 1000, 180 / math.Pi
	return codec.Part{Number: number, X: at.X * mm, Y: at.Y * mm, Heading: at.Heading * deg,
		Length: size.X * mm, Width: size.Y * mm, Range: reach * mm, View: view * deg}
}
