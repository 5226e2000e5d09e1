package stage

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
