package stage

import (
	"math"

	"player/codec"
	"player/devices"
	"player/devices/stage/floor"
)

// Mounts is the poses of a robot's sensors, for drawing their data. Poses are
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
	if r.laser != nil {
		m.Laser = new(r.laser.pose)
	}
	if r.camera != nil {
		m.Camera = new(r.camera.pose)
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
	r := d.robot
	switch device.Letter() {
	case codec.Position:
		hull := floor.BoxOf(r.body.hull...)
		dst = append(dst, partAt(Pose{X: hull.Middle().X, Y: hull.Middle().Y}, hull.Size().X, hull.Size().Y, 0, 0))
	case codec.Sonar:
		for i, s := range r.sonars.ring {
			p := partAt(s.pose, 0, 0, s.reach, s.fov)
			p.Number = i
			dst = append(dst, p)
		}
	case codec.Laser:
		dst = append(dst, partAt(r.laser.pose, 0, 0, r.laser.reach, r.laser.fov))
	case codec.Vision:
		dst = append(dst, partAt(r.camera.pose, 0, 0, r.camera.reach, floor.Radians(wideFOV)))
	case codec.PTZ:
		dst = append(dst, partAt(r.camera.pose, 0, 0, 0, floor.Radians(wideFOV)))
	case codec.Gripper:
		dst = append(dst, partAt(r.gripper.pose, r.gripper.length, r.gripper.opening, 0, 0))
	}
	return dst
}

// partAt returns a part from metres and radians.
func partAt(at Pose, length, width, reach, view float64) codec.Part {
	const mm, deg = 1000, 180 / math.Pi
	return codec.Part{X: at.X * mm, Y: at.Y * mm, Heading: at.Heading * deg, Length: length * mm, Width: width * mm,
		Range: reach * mm, View: view * deg}
}
