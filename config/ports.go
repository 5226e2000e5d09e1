package config

import (
	"fmt"

	"player/devices"
	"player/process/serialport"
)

// SerialPort is a serial port that a driver will open.
type SerialPort struct{ Driver, Path string }

// SerialPorts returns the serial ports of this computer that all drivers will open.
func (s *Server) SerialPorts() (ports []SerialPort) {
	for _, robot := range s.Robots {
		for _, d := range robot.Drivers {
			for _, o := range d.Kind.Options {
				path, _ := d.Values[o.Name].(string)
				if _, ok := o.Default.(devices.SerialPort); ok && !devices.SerialPort(path).OverNetwork() {
					ports = append(ports, SerialPort{d.Link.Name(), path})
				}
			}
		}
	}
	return ports
}

// checkPorts refuses a serial port that two drivers would open, also under two
// names.
func (b *builder) checkPorts() {
	type use struct {
		driver, path string
	}
	first := map[string]use{} // by the port's identity
	for _, d := range b.blocks {
		for _, o := range d.kind.Options {
			if _, ok := o.Default.(devices.SerialPort); !ok {
				continue
			}
			path := d.values[o.Name].(string)
			id := serialport.Identity(path)
			other, taken := first[id]
			if !taken {
				first[id] = use{d.name, path}
				continue
			}
			also := ""
			if other.path != path {
				also = fmt.Sprintf(", which is %s", other.path)
			}
			b.fail(d.section.Errorf(o.Name, "%s and %s have the same serial port, %s%s", other.driver, d.name, path, also))
		}
	}
}
