package p2os

// SetSonar sets the range of one sonar, by the robot's number, in mm. It has no
// effect in a Room.
func (r *Robot) SetSonar(sonar int, mm float64) {
	r.Change(func() { r.sonar[sonar] = sonarUnits(mm, r.model.echo) })
}

// SetCharge sets the charger's state: 0 nothing, 1 bulk, 2 overcharge, 3 float, 255 not
// known. Only a Pioneer 3 and later robots report it.
func (r *Robot) SetCharge(stage byte) { r.Change(func() { r.charge = stage }) }

// SetInputs sets the user inputs: the bits of the digital port, and the analogue input, of which 255 are 5 V.
func (r *Robot) SetInputs(digital, analog byte) {
	r.Change(func() { r.digitalIn, r.analog = digital, analog })
}

// PressMotorButton presses the white button on the robot's side: it switches
// the motors as ENABLE does.
func (r *Robot) PressMotorButton() { r.Change(func() { r.enable(!r.motors) }) }

// Reboot switches the robot off and on: it stops, is not connected, and counts its position
// from 0. Its motors are off.
func (r *Robot) Reboot() {
	r.Change(func() {
		r.close()
		r.drive.odometry = Pose{}
	})
}
