// Package lasersonar computes sonar data from a laser scan, so that a program for
// the sonar ring of a Pioneer runs on a robot that has only a laser scanner.
package lasersonar

import (
	"encoding/binary"
	"math"
	"time"

	"player/codec"
	"player/codec/pioneer"
	"player/devices"
)

const (
	// noEcho, in mm, is the lowest laser reading without an echo: the scanner's range
	// is 8 m.
	noEcho = 8000
	// nearSight is the distance from a sonar, in mm, from which on the laser must see its
	// beam. If the laser sees the beam only further away, the sonar reports no echo at all;
	// otherwise a wall that comes near would vanish. With a smaller value the side sonars
	// are blind when the laser is mounted a little before them.
	nearSight = 300
)

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name:       "lasersonar",
		Doc:        "the 16 sonars of a Pioneer 2 computed from a laser scan; the laser's pose decides which of them see",
		Provides:   []devices.Spec{devices.Sonar()},
		Requires:   []devices.Spec{devices.Laser()},
		SetupLimit: devices.VirtualSetupLimit,
		Options: []devices.Option{
			{Name: "cone", Default: 15, Min: 1, Max: 60, Unit: "deg", Doc: "width of a sonar's beam"},
			{Name: "range", Default: 5000, Min: 1, Max: noEcho, Unit: "mm", Doc: "reported when there is no echo"},
		},
		New: func(a devices.Args) (devices.Driver, error) {
			return New(a.Requires[0], a.Int("cone"), a.Int("range")), nil
		},
	}
}

// Driver is a sonar device that works on a laser. A sonar's range is the range of the
// nearest point of the scan in its beam, and as old as the scan.
type Driver struct {
	laser   *devices.Device
	half    float64 // of the beam's width, degrees
	longest float64 // mm

	required devices.Required
	link     *devices.Link
	device   *devices.Device

	mount  devices.Geometry         // of the laser
	rays   [codec.LaserCount]vector // directions of the readings
	beams  []beam                   // of the sonars that see
	ranges codec.SonarData
	out    []byte
}

// vector is in the robot's frame: forward, to the left.
type vector struct{ x, y float64 }

func (v vector) dot(o vector) float64 { return v.x*o.x + v.y*o.y }

// unit returns the vector of length 1 in a direction in degrees.
func unit(degrees float64) vector {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	return vector{cos, sin}
}

// beam is the cone of one sonar.
type beam struct {
	sonar   int // place in the ring
	at      vector
	axis    vector
	nearest float64 // point of this scan, mm
}

// New returns a driver that works on laser, with beams of cone degrees and a range
// of longest mm.
func New(laser *devices.Device, cone, longest int) *Driver {
	d := &Driver{laser: laser, half: float64(cone) / 2, longest: float64(longest)}
	d.required = devices.Required{Devices: []*devices.Device{laser}, Observer: d}
	return d
}

// AppendParts implements devices.Surveyed: the sonars whose beams the laser sees.
func (d *Driver) AppendParts(dst []codec.Part, _ *devices.Device) []codec.Part {
	for _, b := range d.beams {
		dst = append(dst, codec.Part{Number: b.sonar, X: b.at.x, Y: b.at.y, Heading: pioneer.Sonars()[b.sonar].Heading, Range: d.longest, View: 2 * d.half})
	}
	return dst
}

func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.device, d.mount = link, link.Device(codec.Sonar), d.laser.Link().Geometry()
	for i := range d.rays {
		d.rays[i] = unit(d.mount.Heading - 90 + float64(i)/2)
	}
	d.beams = d.beams[:0]
	for i, pose := range pioneer.Sonars() {
		d.ranges[i] = uint16(d.longest)
		if b := (beam{sonar: i, at: vector{pose.X, pose.Y}, axis: unit(pose.Heading)}); d.sees(b, pose.Heading) {
			d.beams = append(d.beams, b)
		}
	}
	d.required.Open(now, link)
}

// sees reports whether the laser sees the beam from nearSight on. The laser scans the half
// plane in front of it, so the beam's axis must not point back, and one of its edges must be
// in front of the laser there.
func (d *Driver) sees(b beam, heading float64) bool {
	const rounding = 1e-9
	forward := unit(d.mount.Heading)
	ahead := vector{b.at.x - d.mount.X, b.at.y - d.mount.Y}.dot(forward)
	edge := max(unit(heading+d.half).dot(forward), unit(heading-d.half).dot(forward))
	return b.axis.dot(forward) >= -rounding && ahead+nearSight*edge >= 0
}

func (d *Driver) Shutdown(now time.Duration) {
	d.required.Close(now)
	d.link.Stopped(now)
}

// Published implements devices.Observer: a scan becomes ranges.
func (d *Driver) Published(laser *devices.Device) {
	scan := laser.Data()
	if len(scan) != codec.LaserSize {
		return
	}
	for i := range d.beams {
		d.beams[i].nearest = d.longest
	}
	cone := math.Cos(d.half * math.Pi / 180)
	for i, ray := range d.rays {
		reading := float64(binary.BigEndian.Uint16(scan[2*i:]))
		if reading == 0 || reading >= noEcho {
			continue
		}
		point := vector{d.mount.X + reading*ray.x, d.mount.Y + reading*ray.y}
		for k := range d.beams {
			b := &d.beams[k]
			to := vector{point.x - b.at.x, point.y - b.at.y}
			along := to.dot(b.axis)
			if along <= 0 || along >= b.nearest {
				continue
			}
			if distance := math.Sqrt(to.dot(to)); along >= cone*distance {
				b.nearest = min(b.nearest, distance)
			}
		}
	}
	for _, b := range d.beams {
		d.ranges[b.sonar] = uint16(math.Round(b.nearest))
	}
	d.out = d.ranges.Append(d.out[:0])
	d.device.Publish(laser.Stamp(), d.out)
}

// Configure passes the request on to the laser.
func (d *Driver) Configure(now time.Duration, _ *devices.Device, payload []byte) error {
	return d.laser.Configure(now, payload)
}
