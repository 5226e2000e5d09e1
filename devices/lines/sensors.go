package lines

import (
	"fmt"
	"math"
	"time"

	"player/codec"
	"player/devices"
)

// sensors are the devices of PROTOCOL 7.9 to 7.12 of a board; nil: it has none.
type sensors struct {
	ranger, imu, gps, io *devices.Device

	rays       []codec.Rays // as declared
	rangerData codec.RangerData
	imuData    codec.IMUData
	gpsData    codec.GPSData
	ioData     codec.IOData
}

func (s *sensors) provides(d *Driver) (specs []devices.Spec) {
	if d.has(fieldRange, lastRange) {
		specs = append(specs, devices.Ranger())
	}
	if d.has(fieldRoll, fieldAZ) {
		specs = append(specs, devices.IMU())
	}
	if d.has(fieldLatitude, fieldSatellites) {
		specs = append(specs, devices.GPS())
	}
	if d.has(fieldIO, lastIO) || d.output != nil {
		specs = append(specs, devices.IO())
	}
	if len(d.servos.joints) > 0 {
		specs = append(specs, devices.Servo())
	}
	return specs
}

func (s *sensors) set(device *devices.Device) {
	switch device.Letter() {
	case codec.Ranger:
		s.ranger = device
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
	s.rangerData.Unit, s.rangerData.Ranges = 1, s.rangerData.Ranges[:0]
	for range d.last(fieldRange, lastRange) {
		s.rangerData.Ranges = append(s.rangerData.Ranges, codec.UnknownRange)
	}
	s.ioData.Values = s.ioData.Values[:0]
	for range d.channels() {
		s.ioData.Values = append(s.ioData.Values, codec.Unknown)
	}
}

// channels returns how many inputs and outputs there are: up to the last one that is read or named.
func (d *Driver) channels() int {
	return max(min(len(d.opts.Names), maxIO), d.last(fieldIO, lastIO))
}

// last returns how many of the fields from one to another there are, up to the last one that a pattern has.
func (d *Driver) last(from, to int) int {
	for n := to; n >= from; n-- {
		if d.measured[n] {
			return n - from + 1
		}
	}
	return 0
}

// publish publishes the devices that have a field in the line.
func (s *sensors) publish(now time.Duration, d *Driver) {
	v := &d.values
	if s.ranger != nil && v.seen(fieldRange, lastRange) {
		for i := range s.rangerData.Ranges {
			if v.has[fieldRange+i] {
				s.rangerData.Ranges[i] = s.reading(i, v.number[fieldRange+i])
			}
		}
		d.out = s.rangerData.Append(d.out[:0])
		s.ranger.Publish(now, d.out)
	}
	if s.imu != nil && v.seen(fieldRoll, fieldAZ) {
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
	if s.gps != nil && v.seen(fieldLatitude, fieldSatellites) {
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
	if s.io != nil && (v.seen(fieldIO, lastIO) || !d.has(fieldIO, lastIO)) { // outputs alone: with every line
		for i := range s.ioData.Values {
			take(v, fieldIO+i, &s.ioData.Values[i], math.MinInt32+1, math.MaxInt32)
		}
		d.out = s.ioData.Append(d.out[:0])
		s.io.Publish(now, d.out)
	}
}

// reading returns a reading of the ranger for a distance in mm. Nothing is in range beyond the largest distance that rays
// declares; a value below its smallest is no distance.
func (s *sensors) reading(i int, mm float64) uint16 {
	near, far := s.limits(i)
	switch mm = math.Round(mm); {
	case mm < near:
		return codec.UnknownRange
	case mm > far:
		return codec.NothingInRange
	}
	return uint16(mm)
}

// AppendRays implements devices.Ranged: as declared.
func (d *Driver) AppendRays(dst []codec.Rays, _ *devices.Device) []codec.Rays {
	return append(dst, d.sensors.rays...)
}

// newRays reads the nine numbers of PROTOCOL 8.9.6.
func newRays(text string) (codec.Rays, error) {
	r, ok := codec.ParseRays("- "+text, func(string) (byte, bool) { return 0, true })
	if !ok || r.First+r.Count > maxRange {
		return r, fmt.Errorf("rays %q: want nine numbers: the first reading and how many, x and y, heading and step, "+
			"the smallest and the largest distance, and how wide it sees", text)
	}
	return r, nil
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

// AppendChannels appends the joints, or the inputs, which some line reports, and the outputs, which none does.
func (d *Driver) AppendChannels(dst []codec.Channel, device *devices.Device) []codec.Channel {
	if device.Letter() != codec.IO {
		return append(dst, d.servos.joints...)
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
