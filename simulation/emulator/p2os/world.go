package p2os

// Bits of the digital input, in the second to last byte of the SIP, as Player
// 0.7.4a passes them to its clients (Player manual, table 7). Later versions
// of Player use bits 1 and 2 for the beams.
const (
	GripperLimit = 1 << iota
	LiftLimit
	OuterBeam // interrupted
	InnerBeam // interrupted
	LeftPaddleOpen
	RightPaddleOpen
)

// SetFaults replaces the faults.
func (r *Robot) SetFaults(f Faults) { r.Change(func() { r.faults = f }) }

// SetBattery sets the voltage, in 0.1 V.
func (r *Robot) SetBattery(decivolts byte) { r.Change(func() { r.battery = decivolts }) }

// SetCompass sets the raw reading c for a heading of 2·c degrees (ARIA; "in 2-degree
// units" in the manuals). What is more than a full turn means that there is no reading.
func (r *Robot) SetCompass(c byte) { r.Change(func() { r.compass = c }) }

// SetStall sets the stall bits of the wheels. The wheels keep turning.
func (r *Robot) SetStall(left, right bool) {
	r.Change(func() { r.stallLeft, r.stallRight = left, right })
}

// SetBumpers sets the bumpers, bits 0 to 4 of each.
func (r *Robot) SetBumpers(front, rear byte) { r.Change(func() { r.front, r.rear = front, rear }) }

// SetSonar sets the range of one sonar, by the robot's number, in mm. It has no
// effect in a Room.
func (r *Robot) SetSonar(sonar int, mm float64) {
	r.Change(func() { r.sonar[sonar] = sonarUnits(mm, r.model.echo) })
}

// SetDigitalIn sets the digital input, such as OuterBeam|InnerBeam.
func (r *Robot) SetDigitalIn(bits byte) { r.Change(func() { r.digitalIn = bits }) }

// SetAnalog sets the analog input, 0 to 255 for 0 to 5 V.
func (r *Robot) SetAnalog(v byte) { r.Change(func() { r.analog = v }) }

// SetCharge sets what the charger does: 0 nothing, 1 bulk, 2 overcharge, 3 float, 255 not
// known. Only a Pioneer 3 and later robots tell it.
func (r *Robot) SetCharge(stage byte) { r.Change(func() { r.charge = stage }) }

// PressMotorButton presses the white button on the robot's side: it switches
// the motors as ENABLE does.
func (r *Robot) PressMotorButton() { r.Change(func() { r.enable(!r.motors) }) }

// Reboot switches the robot off and on: it stands, is not connected, and counts its
// position from 0. Its motors are off.
func (r *Robot) Reboot() {
	r.Change(func() {
		r.close()
		r.drive.odometry = Pose{}
	})
}
