package stage

import (
	"math"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/stage/floor"
	"player/formats/syntax"
)

// The ellipsoid of WGS 84: the radius of its equator in metres, and the square of its eccentricity.
const (
	equator      = 6378137
	eccentricity = 0.00669437999014
)

// gravity is the acceleration of a robot at rest, upward, in m/s² (PROTOCOL 7.10).
const gravity = 9.807

// place is where on the Earth the origin of the world is. The x axis points to the east. A metre is as many degrees
// everywhere in a world.
type place struct {
	latitude, longitude     float64 // degrees
	height                  float64 // metres above the sea
	northDegree, eastDegree float64 // metres of a degree of latitude, and of a degree of longitude
}

// newPlace computes the lengths of degrees.
func newPlace(latitude, longitude, height float64) place {
	sin, cos := math.Sincos(floor.Radians(latitude))
	across := 1 - eccentricity*sin*sin
	return place{latitude, longitude, height,
		floor.Radians(equator*(1-eccentricity)/(across*math.Sqrt(across)) + height),
		floor.Radians(equator/math.Sqrt(across)+height) * cos}
}

// receiver is a receiver of satellites.
type receiver struct {
	pose                 Pose    // of the antenna, on the robot
	height               float64 // of the antenna above the floor, metres
	horizontal, vertical float64 // standard deviations of its place, metres
}

// inertial is an inertial measurement unit.
type inertial struct {
	angle, rate, acceleration float64 // standard deviations: radians, rad/s, m/s²
}

// geography reads where on the Earth the world is.
func (l *loader) geography(s *syntax.Section) {
	at := s.Tuple("gps_origin", "nnl", 0, 0, 0)
	l.check(math.Abs(at[0]) < 90 && math.Abs(at[1]) <= 180 && math.Abs(at[2]) < 1e6, s, "gps_origin",
		"gps_origin [%v %v %v]: write latitude and longitude in degrees, and metres above the sea", at[0], at[1], at[2])
	l.world.place = newPlace(at[0], at[1], at[2])
}

// receiver reads a GPS receiver.
func (l *loader) receiver(s *syntax.Section, at Pose, base float64, r *Robot) {
	n := s.Lengths("noise", 0, 0)
	l.check(n[0] >= 0 && n[1] >= 0, s, "noise", "noise: write no negative numbers")
	r.receivers = append(r.receivers, &receiver{pose: at, height: base, horizontal: n[0], vertical: n[1]})
}

// inertial reads an inertial measurement unit.
func (l *loader) inertial(s *syntax.Section, r *Robot) {
	n := s.Tuple("noise", "aal", 0, 0, 0)
	l.check(n[0] >= 0 && n[1] >= 0 && n[2] >= 0, s, "noise", "noise: write no negative numbers")
	r.inertials = append(r.inertials, &inertial{n[0], n[1], n[2]})
}

// equip gives each robot the exact receivers and inertial measurement units that a block names and the world has not.
func (w *World) equip(named []devices.Spec) {
	count := func(letter byte) (n int) {
		for _, s := range named {
			if s.Letter == letter {
				n++
			}
		}
		return n
	}
	for _, r := range w.robots {
		for len(r.receivers) < count(codec.GPS) {
			r.receivers = append(r.receivers, &receiver{height: max(0, r.body.hullTop)}) // of a robot that is not solid: on the floor
		}
		for len(r.inertials) < count(codec.IMU) {
			r.inertials = append(r.inertials, &inertial{})
		}
	}
}

// readGPS reads a receiver of the robot.
func (r *Robot) readGPS(c *scanner, number int, out *codec.GPSData) {
	g, w := r.receivers[number], r.world
	at, height := r.body.carry(g.pose).Position(), g.height
	if g.horizontal > 0 || g.vertical > 0 {
		c.seed(r, codec.GPS, number)
		at.X += g.horizontal * c.random.normal()
		at.Y += g.horizontal * c.random.normal()
		height += g.vertical * c.random.normal()
	}
	*out = codec.UnknownGPS()
	out.Fix = codec.PlainFix
	p := &w.place
	out.Latitude = int32(math.Round((p.latitude + at.Y/p.northDegree) * 1e7))
	out.Longitude = int32(math.Round(math.Remainder(p.longitude+at.X/p.eastDegree, 360) * 1e7))
	out.Height = int32(math.Round((p.height + height) * 1000))
	out.Horizontal, out.Vertical = uint32(math.Round(g.horizontal*1000)), uint32(math.Round(g.vertical*1000))
	// The antenna also moves if the robot turns on the spot.
	v := Vec{X: r.drive.speed - r.drive.turn*g.pose.Y, Y: r.drive.turn * g.pose.X}
	if out.Speed = uint32(math.Round(v.Length() * 1000)); out.Speed > 0 {
		east := r.body.pose.Heading + math.Atan2(v.Y, v.X)
		course := math.Round(math.Mod(450-math.Mod(east*180/math.Pi, 360), 360) * 1000)
		out.Course = uint32(course) % 360000
	}
}

// motion is the motion of a robot at its last reading by an inertial measurement unit.
type motion struct {
	moment
	known          bool
	heading, speed float64 // radians, m/s
	data           codec.IMUData
}

// readIMU reads an inertial measurement unit of the robot. Rates and accelerations are the means since the last reading,
// so they add up to turns and to speeds. A value that needs a last reading is Unknown without one.
func (r *Robot) readIMU(c *scanner, number int, last *motion) {
	now := motion{moment: moment{r.world.sim, r.world.moved}, known: true, heading: r.body.pose.Heading, speed: r.drive.speed}
	passed := (now.sim - last.sim).Seconds()
	if last.known && passed == 0 && now.moved == last.moved {
		return // a world that is paused
	}
	rate, ahead, speed := r.drive.turn, 0.0, now.speed
	if last.known = last.known && passed > 0; last.known {
		ahead, speed = (now.speed-last.speed)/passed, (now.speed+last.speed)/2
		if now.moved == last.moved { // else a hand may have turned it
			rate = floor.Wrap(now.heading-last.heading) / passed
		}
	}
	values := [9]float64{2: now.heading, 5: rate, 6: ahead, 7: speed * rate, 8: gravity}
	if m := r.inertials[number]; *m != (inertial{}) {
		c.seed(r, codec.IMU, number)
		for i, deviation := range [...]float64{m.angle, m.rate, m.acceleration} {
			for k := range 3 {
				values[3*i+k] += deviation * c.random.normal()
			}
		}
	}
	values[2] = floor.Wrap(values[2])
	var v [9]int32
	for i, unit := range [...]float64{1000 * 180 / math.Pi, 1000 * 180 / math.Pi, 1000} {
		for k := 3 * i; k < 3*i+3; k++ {
			v[k] = int32(math.Round(values[k] * unit))
		}
	}
	now.data = codec.IMUData{Roll: v[0], Pitch: v[1], Yaw: v[2], RollRate: v[3], PitchRate: v[4], YawRate: v[5],
		X: v[6], Y: v[7], Z: v[8]}
	if !last.known {
		now.data.X = codec.Unknown
	}
	*last = now
}

// navigating is the devices that know where a robot is.
type navigating struct {
	receivers []*devices.Device
	inertials []*devices.Device
	motions   []motion // of the inertials
	gps       codec.GPSData
}

func newNavigating(r *Robot) navigating {
	return navigating{receivers: make([]*devices.Device, len(r.receivers)), inertials: make([]*devices.Device, len(r.inertials)),
		motions: make([]motion, len(r.inertials))}
}

// publishNavigation publishes the readings of the receivers and inertial measurement units that are open.
func (d *Driver) publishNavigation(now time.Duration) {
	r, c := d.robot, d.world.scanning.scanners[0]
	for i, device := range d.receivers {
		if d.subscribed(device) {
			r.readGPS(c, i, &d.gps)
			d.send(now, device, d.gps.Append)
		}
	}
	for i, device := range d.inertials {
		if m := &d.motions[i]; d.subscribed(device) {
			r.readIMU(c, i, m)
			d.send(now, device, m.data.Append)
		} else {
			m.known = false
		}
	}
}
