package stage

// Mounts is where on a robot its sensors are, for those who draw what they
// report. Poses are in the robot's frame.
type Mounts struct {
	Laser    *Pose   // nil for none
	Camera   *Pose   // nil for none
	Sonars   []Pose  // in the order of the ranges
	SonarFOV float64 // radians, of each
}

// Mounts tells where the robot's sensors are.
func (r *Robot) Mounts() Mounts {
	var m Mounts
	if r.laser != nil {
		at := r.laser.pose
		m.Laser = &at
	}
	if r.camera != nil {
		at := r.camera.pose
		m.Camera = &at
	}
	if r.sonars != nil {
		for _, s := range r.sonars.ring {
			m.Sonars = append(m.Sonars, s.pose)
			m.SonarFOV = s.fov
		}
	}
	return m
}

// World is the world that the driver's robot is in.
func (d *Driver) World() *World { return d.world }

// Robot is the robot that the driver gives to the server.
func (d *Driver) Robot() *Robot { return d.robot }
