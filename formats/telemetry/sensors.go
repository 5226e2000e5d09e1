package telemetry

import (
	"math"
	"strconv"
	"strings"

	"player/codec"
)

// The devices of PROTOCOL 7.9 to 7.13.

// thousandth converts a field in thousandths of a unit. It reports false for one that is not known.
func thousandth(v int32) (float64, bool) { return float64(v) / 1000, v != codec.Unknown }

// vector converts three fields. They are zero, and not known, unless one is known.
func vector(x, y, z int32, unit float64) (v Vector3, known bool) {
	for i, part := range [...]*float64{&v.X, &v.Y, &v.Z} {
		if value, ok := thousandth([...]int32{x, y, z}[i]); ok {
			*part, known = value*unit, true
		}
	}
	return v, known
}

func (c *Converter) imu(p part, at Time, payload []byte) {
	var d codec.IMUData
	if d.Decode(payload) != nil {
		return
	}
	m := Imu{Timestamp: at, FrameID: p.frame}
	var angles Vector3
	angles, m.OrientationKnown = vector(d.Roll, d.Pitch, d.Yaw, math.Pi/180)
	m.Orientation = rotated(angles.X, angles.Y, angles.Z)
	m.AngularVelocity, m.AngularVelocityKnown = vector(d.RollRate, d.PitchRate, d.YawRate, math.Pi/180)
	m.LinearAcceleration, m.LinearAccelerationKnown = vector(d.X, d.Y, d.Z, 1)
	c.send(p.topic, m)
}

// rotated returns the rotation by roll about x, then pitch about y, then yaw about z, in radians, of fixed axes (REP 103).
func rotated(roll, pitch, yaw float64) Quaternion {
	rs, rc := math.Sincos(roll / 2)
	ps, pc := math.Sincos(pitch / 2)
	ys, yc := math.Sincos(yaw / 2)
	return Quaternion{
		X: rs*pc*yc - rc*ps*ys, Y: rc*ps*yc + rs*pc*ys,
		Z: rc*pc*ys - rs*ps*yc, W: rc*pc*yc + rs*ps*ys,
	}
}

// diagonalKnown is the LocationFix.PositionCovarianceType of known variances.
const diagonalKnown = 2

func (c *Converter) gps(p part, at Time, payload []byte) {
	var d codec.GPSData
	if d.Decode(payload) != nil {
		return
	}
	state := GPS{Timestamp: at, Fix: -1, Satellites: -1, Speed: -1, Course: -1}
	if d.Fix != codec.UnknownFix {
		state.Fix = int(d.Fix)
	}
	if d.Satellites != codec.UnknownSatellites {
		state.Satellites = int(d.Satellites)
	}
	if d.Speed != codec.UnknownAmount {
		state.Speed = float64(d.Speed) / 1000
	}
	if d.Course != codec.UnknownAmount {
		state.Course = rad(float64(d.Course) / 1000)
	}
	c.send(p.topic+"/fix", state)
	if !d.HasPlace() {
		return
	}
	m := LocationFix{Timestamp: at, FrameID: p.frame, Latitude: float64(d.Latitude) / 1e7, Longitude: float64(d.Longitude) / 1e7,
		PositionCovariance: make([]float64, 9)}
	m.Altitude, _ = thousandth(d.Height)
	if d.Height == codec.Unknown {
		m.Altitude = 0
	}
	if d.Horizontal != codec.UnknownAmount && d.Vertical != codec.UnknownAmount {
		// The horizontal accuracy is the root of the sum of both variances.
		flat, up := float64(d.Horizontal)/1000, float64(d.Vertical)/1000
		m.PositionCovariance[0], m.PositionCovariance[4], m.PositionCovariance[8] = flat*flat/2, flat*flat/2, up*up
		m.PositionCovarianceType = diagonalKnown
	}
	c.send(p.topic, m)
}

func (c *Converter) io(p part, at Time, payload []byte) {
	var d codec.IOData
	if d.Decode(payload) != nil {
		return
	}
	m := Channels{Timestamp: at, Names: []string{}, Units: []string{}, Values: make([]float64, len(d.Values)), Known: make([]bool, len(d.Values))}
	for i, v := range d.Values {
		about := p.Channel(i)
		m.Names, m.Units = append(m.Names, about.Name), append(m.Units, about.Unit)
		if m.Known[i] = v != codec.Unknown; m.Known[i] {
			m.Values[i] = float64(v)
		}
	}
	c.send(p.topic, m)
}

func (c *Converter) servo(p part, at Time, payload []byte) {
	var d codec.ServoData
	if d.Decode(payload) != nil {
		return
	}
	m := Joints{Timestamp: at, Joints: make([]Joint, len(d.Joints))}
	for i, j := range d.Joints {
		to, about := &m.Joints[i], p.Channel(i)
		to.Name, to.Unit = about.Name, about.Unit
		if to.Known = j.Position != codec.Unknown; to.Known {
			to.Position = float64(j.Position)
		}
		if to.HasGoal = j.Goal != codec.Unknown; to.HasGoal {
			to.Goal = float64(j.Goal)
		}
		if j.State&codec.JointKnown != 0 {
			to.Moving, to.Powered = j.State&codec.JointMoving != 0, j.State&codec.JointPowered != 0
			to.AtLimit, to.Failed = j.State&codec.JointAtLimit != 0, j.State&codec.JointFailed != 0
		}
	}
	c.send(p.topic, m)
}

// Channel returns the description of a channel or a joint of the device. One without a name gets the device's name and
// its number, for example "io_0", "servo1_2".
func (d Device) Channel(number int) codec.Channel {
	found := codec.Channel{Number: number, Unit: "-", Min: codec.Unknown, Max: codec.Unknown}
	for _, c := range d.Channels {
		if c.Number == number {
			found = c
			break
		}
	}
	if found.Name == "" {
		found.Name = d.nameless() + strconv.Itoa(number)
	}
	return found
}

// nameless returns the name of a channel without a name, up to its number.
func (d Device) nameless() string {
	if d.Index == 0 {
		return d.Interface + "_"
	}
	return d.Interface + strconv.Itoa(d.Index) + "_"
}

// ChannelNamed returns the description of the first channel that has a name by Channel, of at most count channels. It
// reports false if there is none.
func (d Device) ChannelNamed(name string, count int) (codec.Channel, bool) {
	for _, c := range d.Channels {
		if c = d.Channel(c.Number); c.Name == name {
			return c, true
		}
	}
	digits, ok := strings.CutPrefix(name, d.nameless())
	number, err := strconv.Atoi(digits)
	if !ok || err != nil || number < 0 || number >= count {
		return codec.Channel{}, false
	}
	c := d.Channel(number)
	return c, c.Name == name
}

// jointCommand converts a command to one joint, or to all that the driver has described.
func (p part) jointCommand(at Time, d codec.ServoCommand) JointCommand {
	m := JointCommand{Timestamp: at, Names: []string{}, Units: []string{}, Goals: []float64{}, Speed: float64(d.Speed)}
	add := func(c codec.Channel) {
		m.Names, m.Units = append(m.Names, c.Name), append(m.Units, c.Unit)
		if d.Goal != codec.Unknown {
			m.Goals = append(m.Goals, float64(d.Goal))
		}
	}
	if d.Joint != codec.AllJoints {
		add(p.Channel(int(d.Joint)))
		return m
	}
	for _, c := range p.Channels {
		add(p.Channel(c.Number))
	}
	return m
}
