package ldlidar

import (
	"errors"
	"time"

	"player/devices"
	"player/devices/scan"
	"player/devices/transport"
)

// setupTime bounds the wait for a scan: after it is switched on, a sensor sends as soon as
// its motor has reached its speed.
const setupTime = 3500 * time.Millisecond

// speeds has the sensors' only speed in baud.
var speeds = []int{230400}

var (
	errSilent = errors.New("no LDROBOT sensor sends at 230400 baud: check power, and that its data pin is connected to RX")
	errScan   = errors.New("the sensor sends, but no whole turn: does its head turn?")
)

// Driver drives the sensor, which sends without being asked.
type Driver struct {
	scan.Lidar

	parser transport.Parser
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "ldlidar", Doc: "LDROBOT LD06, LD19 and STL-19P laser scanners", SetupLimit: setupTime + transport.Grace,
		Probe: &devices.Probe{
			Speeds: speeds,
			Recognise: func(heard []byte) devices.Answer {
				return devices.Answer{Found: packets(heard) > 1} // noise has one in some 100 MB
			},
		},
		Provides: scan.Provides(),
		Options:  scan.LidarOptions(),
		New: func(a devices.Args) (devices.Driver, error) {
			d := &Driver{parser: transport.NewParser(inspect, packetSize)}
			d.Model = "LDROBOT"
			d.Set(a, transport.Protocol{
				Name: "an LDROBOT sensor", Speeds: speeds,
				Begin: d.begin, Limit: setupTime, Framing: &d.parser.Framing, Receive: d.receive,
				Others: "An LD14 sends at 115200 baud.",
				Silent: errSilent, Stuck: func(transport.Phase) error { return errScan },
			})
			return d, nil
		},
	}
}

// packets counts the packets in b.
func packets(b []byte) (n int) {
	for range transport.Packets(b, inspect, packetSize) {
		n++
	}
	return n
}

// begin is Protocol.Begin. There is one phase: the driver listens.
func (d *Driver) begin(time.Duration) transport.Phase {
	d.Begin()
	return 0
}

func (d *Driver) receive(now time.Duration, p []byte) {
	for b, rest := d.parser.Next(p); b != nil && d.IsOpen(); b, rest = d.parser.Next(rest) {
		d.Found()
		packet := Packet(b)
		for k := range count {
			degrees, mm := packet.sample(k)
			d.Take(now, degrees, mm)
		}
	}
}
