package ydlidar

import (
	"errors"
	"fmt"
	"time"

	"player/devices"
	"player/devices/scan"
	"player/devices/transport"
)

const (
	// setupTime bounds the wait for a scan: motor and sensor start anew.
	setupTime = 5500 * time.Millisecond
	// stopTime is the pause after Stop: the sensor's earlier bytes must have arrived.
	stopTime = 30 * time.Millisecond
	// answerTime is how long an answer may take.
	answerTime = 300 * time.Millisecond
)

// speeds are the speeds of X2, X4, of G4 and T-mini, and of TG in baud (the SDK, doc/Dataset.md).
var speeds = []int{115200, 128000, 230400, 512000}

var (
	errSilent = errors.New("no YDLIDAR answers or sends at 115200, 128000, 230400 or 512000 baud: check cable and power")
	errScan   = errors.New("the sensor sends no whole turn: does its head turn?")
)

const (
	stopping transport.Phase = iota // Stop was sent
	naming                          // GetInfo was sent
	scanning                        // Scan was sent, or samples come without a request, as from an X2
)

// Driver drives the sensor.
type Driver struct {
	scan.Lidar

	parser transport.Parser
	format format
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "ydlidar", Doc: "YDLIDAR X2, X4, G4, TG and T-mini laser scanners", SetupLimit: setupTime + transport.Grace,
		Probe:    &devices.Probe{Speeds: speeds, Ask: AppendRequest(nil, GetInfo), Wait: 100 * time.Millisecond, Recognise: recognise},
		Provides: scan.Provides(),
		Options:  scan.LidarOptions(),
		New: func(a devices.Args) (devices.Driver, error) {
			d := &Driver{}
			d.parser = transport.NewParser(func(b []byte) (int, transport.Verdict) { return d.format.inspect(b) }, packetSize)
			p := transport.Protocol{
				Name: "a YDLIDAR", Speeds: speeds, Begin: d.begin, Limit: setupTime,
				Steps: []transport.Step{
					stopping: {Send: request(Stop), Wait: stopTime, Late: d.Then(naming)},
					naming:   {Send: request(GetInfo), Fresh: true, Wait: answerTime},
					scanning: {Send: request(Scan), Wait: setupTime},
				},
				Framing: &d.parser.Framing, Receive: d.receive, Bye: d.bye,
				Others: "This driver does not read S4B, G2, G6 and G7, whose packets are others.",
				Silent: errSilent, Stuck: func(transport.Phase) error { return errScan },
			}
			for range 4 { // an X2 sends when its motor has its speed: about 4 s
				p.Search = append(p.Search, transport.Attempt{Speed: 0}, transport.Attempt{Speed: 1}, transport.Attempt{Speed: 2}, transport.Attempt{Speed: 3})
			}
			d.Set(a, p)
			return d, nil
		},
	}
}

// request returns a function that sends a request.
func request(r Request) func(dst []byte) []byte {
	return func(dst []byte) []byte { return AppendRequest(dst, r) }
}

func recognise(heard []byte) (a devices.Answer) {
	for _, f := range [...]format{triangle, mini} { // TG have packets as the former
		n := 0
		for p := range transport.Packets(heard, f.inspect, packetSize) {
			if p[0] == info[0] {
				m, known := models[p[len(info)]]
				return devices.Answer{Found: known, Model: "YDLIDAR " + m.name}
			}
			n++
		}
		a.Found = a.Found || n > 1 // noise has one packet in some GB
	}
	return a
}

func (d *Driver) begin(time.Duration) transport.Phase {
	d.Model, d.format = "YDLIDAR", triangle
	d.SetModemLines(true, true) // the motor of an X2 or X4 runs while DTR is asserted
	return stopping
}

// bye stops laser and motor.
func (d *Driver) bye(dst []byte) []byte {
	d.SetModemLines(false, false)
	return AppendRequest(dst, Stop)
}

func (d *Driver) receive(now time.Duration, p []byte) {
	for b, rest := d.parser.Next(p); b != nil && d.IsOpen(); b, rest = d.parser.Next(rest) {
		switch d.Phase() {
		case stopping:
			continue // it was sent before Stop
		case naming:
			d.Found()
			if b[0] == info[0] {
				m, known := models[b[len(info)]]
				if !known {
					d.Down(now, fmt.Errorf("the sensor is a YDLIDAR of model %d, with packets that this driver cannot read", b[len(info)]))
					return
				}
				d.Model, d.format = m.name, m.format
			}
			d.Begin()
			d.Enter(now, scanning)
		}
		if b[0] == info[0] {
			continue
		}
		packet := Packet(b)
		for k := range packet.count() {
			degrees, mm := d.format.sample(packet, k)
			d.Take(now, degrees, mm)
		}
	}
}
