package lines

import (
	"math"
	"slices"
	"time"

	"player/codec"
	"player/devices"
)

// sensors are the devices of PROTOCOL 7.10 to 7.12 of a board; nil: it has none.
type sensors struct {
	imu, gps, io *devices.Device

	imuData codec.IMUData
	gpsData codec.GPSData
	ioData  codec.IOData
}

func (s *sensors) provides(d *Driver) (specs []devices.Spec) {
	if d.has(fieldRoll, fieldAZ) {
		specs = append(specs, devices.IMU())
	}
	if d.has(fieldLatitude, fieldSatellites) {
		specs = append(specs, devices.GPS())
	}
	if d.has(fieldIO, fields-1) || d.output != nil {
		specs = append(specs, devices.IO())
	}
	return specs
}

func (s *sensors) set(device *devices.Device) {
	switch device.Letter() {
	case codec.IMU:
		s.imu = device
	case codec.GPS:
		s.gps = device
	case codec.IO:
		s.io = device
	}
}

// begin forgets all data: nothing is known.
func (s *sensors) begin(d *Driver) {
	s.imuData, s.gpsData = codec.UnknownIMU(), codec.UnknownGPS()
	s.ioData.Values = s.ioData.Values[:0]
	for range d.channels() {
		s.ioData.Values = append(s.ioData.Values, codec.Unknown)
	}
}

// channels returns how many inputs and outputs there are: up to the last one that is read or named.
func (d *Driver) channels() int {
	n := min(len(d.opts.Names), maxIO)
	for i := range maxIO {
		if d.measured[fieldIO+i] {
			n = max(n, i+1)
		}
	}
	return n
}

// publish publishes the devices that have a field in the line.
func (s *sensors) publish(now time.Duration, d *Driver) {
	v := &d.values
	seen := func(from, to int) bool { return slices.Contains(v.has[from:to+1], true) }
	if s.imu != nil && seen(fieldRoll, fieldAZ) {
		for i, to := range [...]*int32{&s.imuData.Roll, &s.imuData.Pitch, &s.imuData.Yaw,
			&s.imuData.RollRate, &s.imuData.PitchRate, &s.imuData.YawRate, &s.imuData.X, &s.imuData.Y, &s.imuData.Z} {
			if field := fieldRoll + i; field < fieldAX { // thousandths of a degree
				v.number[field] *= 1000
			}
			take(v, fieldRoll+i, to, math.MinInt32+1, math.MaxInt32)
		}
		d.out = s.imuData.Append(d.out[:0])
		s.imu.Publish(now, d.out)
	}
	if s.gps != nil && seen(fieldLatitude, fieldSatellites) {
		v.number[fieldLatitude] *= 1e7
		v.number[fieldLongitude] *= 1e7
		take(v, fieldLatitude, &s.gpsData.Latitude, -90e7, 90e7)
		take(v, fieldLongitude, &s.gpsData.Longitude, -180e7, 180e7)
		take(v, fieldHeight, &s.gpsData.Height, math.MinInt32+1, math.MaxInt32)
		fix := uint8(s.gpsData.Fix)
		take(v, fieldFix, &fix, 0, math.MaxUint8)
		s.gpsData.Fix = codec.Fix(fix)
		take(v, fieldSatellites, &s.gpsData.Satellites, 0, math.MaxUint8)
		d.out = s.gpsData.Append(d.out[:0])
		s.gps.Publish(now, d.out)
	}
	if s.io != nil && seen(fieldIO, fields-1) {
		for i := range s.ioData.Values {
			take(v, fieldIO+i, &s.ioData.Values[i], math.MinInt32+1, math.MaxInt32)
		}
		d.out = s.ioData.Append(d.out[:0])
		s.io.Publish(now, d.out)
	}
}

// set sends the line that sets an output.
func (d *Driver) set(command []byte) {
	var c codec.IOCommand
	if c.Decode(command) != nil || int(c.Channel) >= len(d.sensors.ioData.Values) || d.measured[fieldIO+int(c.Channel)] {
		return // an input, or no channel
	}
	d.out = d.output.append(d.out[:0], &[args]float64{argChannel: float64(c.Channel), argValue: float64(c.Value)})
	d.Port().Write(d.out)
	d.sensors.ioData.Values[c.Channel] = c.Value
}

// AppendChannels appends the inputs, which some line reports, and the outputs, which none does.
func (d *Driver) AppendChannels(dst []codec.Channel, device *devices.Device) []codec.Channel {
	if device.Letter() != codec.IO {
		return dst
	}
	for i := range d.channels() {
		c := codec.Channel{Number: i, Role: codec.Output, Min: codec.Unknown, Max: codec.Unknown}
		if d.measured[fieldIO+i] {
			c.Role = codec.Input
		}
		if i < len(d.opts.Names) {
			c.Name = d.opts.Names[i]
		}
		dst = append(dst, c)
	}
	return dst
}
