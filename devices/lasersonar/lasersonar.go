// Package lasersonar makes sonars of a laser: a program that was written for
// the ring of a Pioneer runs on a robot that has only a laser scanner.
package lasersonar

import (
	"encoding/binary"
	"math"
	"time"

	"player/codec"
	"player/devices"
)

const (
	// halfCone is half the angle of a sonar's beam, in degrees: what is in the
	// cone gives an echo, and the nearest counts.
	halfCone = 7.5
	// noEcho is a laser reading that met nothing, in mm, or more: the scanner's
	// range is 8 m.
	noEcho = 8000
)

// ring is where the sonars of a Pioneer 2 are: mm forward and to the left of
// the centre of rotation, and the direction in degrees, counterclockwise.
var ring = [codec.SonarCount][3]float64{
	{69, 136, 90}, {114, 119, 50}, {148, 78, 30}, {166, 27, 10}, {166, -27, -10}, {148, -78, -30}, {114, -119, -50}, {69, -136, -90},
	{-157, -136, -90}, {-203, -119, -130}, {-237, -78, -150}, {-255, -27, -170}, {-255, 27, 170}, {-237, 78, 150}, {-203, 119, 130}, {-157, 136, 90},
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name:     "lasersonar",
		Doc:      "the 16 sonars of a Pioneer made of a laser scan, where its pose lets it see",
		Provides: []devices.Spec{devices.Sonar()},
		Requires: []devices.Spec{devices.Laser()},
		Options: []devices.Option{
			{Name: "range", Default: 5000, Min: 1, Max: noEcho, Unit: "mm", Doc: "reported when there is no echo"},
		},
		New: func(a devices.Args) (devices.Driver, error) { return New(a.Requires[0], a.Int("range")), nil },
	}
}

// Driver is a sonar device made of a laser's.
type Driver struct {
	laser   *devices.Device
	longest int // mm

	needs  devices.Needs
	link   *devices.Link
	device *devices.Device

	mount      devices.Geometry // of the laser
	directions [codec.LaserCount][2]float64
	beams      [codec.SonarCount][2]float64 // unit vectors
	ranges     codec.SonarData
	buf        []byte
}

// New returns a driver that looks through laser as far as longest, in mm.
func New(laser *devices.Device, longest int) *Driver {
	d := &Driver{laser: laser, longest: longest}
	d.needs = devices.Needs{Devices: []*devices.Device{laser}, Follower: d}
	return d
}

func (d *Driver) Describe() devices.Description {
	return devices.Description{Name: "lasersonar", Provides: []devices.Spec{devices.Sonar()}, SetupLimit: devices.VirtualSetupLimit}
}

func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.device, d.mount = link, link.Device(codec.Sonar), d.laser.Link().Geometry()
	for i := range d.directions {
		d.directions[i] = unit(d.mount.Heading - 90 + float64(i)/2)
	}
	for i := range d.beams {
		d.beams[i] = unit(ring[i][2])
	}
	d.needs.Open(now, link)
}

func unit(degrees float64) [2]float64 {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	return [2]float64{cos, sin}
}

func (d *Driver) Shutdown(now time.Duration) {
	d.needs.Close(now)
	d.link.Stopped(now)
}

// Published implements devices.Follower: a scan becomes ranges.
func (d *Driver) Published(laser *devices.Device) {
	scan := laser.Data()
	if len(scan) != codec.LaserSize {
		return
	}
	var nearest [codec.SonarCount]float64
	for s := range nearest {
		nearest[s] = float64(d.longest)
	}
	cone := math.Cos(halfCone * math.Pi / 180)
	for i, direction := range d.directions {
		reading := float64(binary.BigEndian.Uint16(scan[2*i:]))
		if reading == 0 || reading >= noEcho {
			continue
		}
		x, y := d.mount.X+reading*direction[0], d.mount.Y+reading*direction[1]
		for s, beam := range d.beams {
			dx, dy := x-ring[s][0], y-ring[s][1]
			along := dx*beam[0] + dy*beam[1]
			if along <= 0 || along >= nearest[s] {
				continue
			}
			if distance := math.Sqrt(dx*dx + dy*dy); along >= cone*distance {
				nearest[s] = min(nearest[s], distance)
			}
		}
	}
	for s := range nearest {
		d.ranges[s] = uint16(math.Round(nearest[s]))
	}
	d.buf = d.ranges.Append(d.buf[:0])
	d.device.Publish(laser.Stamp(), d.buf)
}

func (d *Driver) Tick(time.Duration) time.Duration { return 0 }

// Command is not called: sonars take none.
func (d *Driver) Command(time.Duration, *devices.Device) {}

// Configure goes to the laser.
func (d *Driver) Configure(now time.Duration, _ *devices.Device, payload []byte) error {
	return d.laser.Configure(now, payload)
}
