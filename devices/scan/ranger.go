package scan

import (
	"math"
	"slices"
	"time"

	"player/codec"
	"player/devices"
)

// Distances of Ranger.Add that are none.
const (
	Nothing = 0  // the sensor has seen nothing
	Unknown = -1 // the sensor has not measured, or its echo is no distance
)

// Ranger is the device ranger of a scanner (PROTOCOL 7.9): readings at fixed angles, as many as the sensor has,
// whatever it sees. Call Open at each setup, and Set before Clear, Add and Publish.
type Ranger struct {
	Mount
	Near, Far int // mm, the limits of the sensor; 0: not known

	device      *devices.Device
	first, step float64 // deg, in the robot's frame, counterclockwise: of the first reading, and to the next
	data        codec.RangerData
	out         []byte
}

// Provides are the devices of a scanner. It is not worth a copy of its code in each driver.
//
//go:noinline
func Provides() []devices.Spec {
	return []devices.Spec{devices.Laser(), devices.Ranger().At(devices.Hidden)}
}

// Open begins with the driver of a link. The number of readings is unknown until Set.
func (r *Ranger) Open(link *devices.Link) {
	r.device, r.data.Ranges = link.Device(codec.Ranger), r.data.Ranges[:0]
}

// Named reports whether the block names the device. If not, it cannot be open.
func (r *Ranger) Named() bool { return r.device.Spec().Index != devices.Hidden }

// Wanted reports whether the device is open. Otherwise its readings need not be made.
func (r *Ranger) Wanted() bool { return r.Named() && r.device.Link().Subscribed(r.device) }

// Count returns the number of readings, 0 before Set.
func (r *Ranger) Count() int { return len(r.data.Ranges) }

// Set has count readings from the angle first on, in steps, in degrees counterclockwise of the sensor, 0 ahead of it.
// unit is the unit of the readings, in mm.
func (r *Ranger) Set(first, step float64, count, unit int) {
	count = max(1, min(count, codec.MaxReadings))
	if r.Flip { // the last reading becomes the first one
		first += step * float64(count-1)
	}
	r.first, r.step = r.robot(first), step
	r.data.Unit, r.data.Ranges = uint16(unit), slices.Grow(r.data.Ranges[:0], count)[:count]
	r.Clear()
}

// Clear begins a sweep: all readings are unknown.
func (r *Ranger) Clear() {
	for i := range r.data.Ranges {
		r.data.Ranges[i] = codec.UnknownRange
	}
}

// Add adds a reading: the angle in degrees counterclockwise, 0 ahead of the sensor, and the distance in mm, Nothing or
// Unknown. It is dropped beyond the angles of Set. Of two at one angle the nearest counts, and a distance before none.
func (r *Ranger) Add(degrees float64, mm int) {
	from := math.Mod(r.robot(degrees)-r.first+r.step/2, 360)
	if from < 0 {
		from += 360
	}
	i := int(from / r.step)
	if i >= len(r.data.Ranges) {
		return
	}
	reading := uint16(codec.UnknownRange)
	if mm >= Nothing {
		reading = codec.NothingInRange
		unit := int(r.data.Unit)
		if n := (mm + unit/2) / unit; mm > Nothing && n <= codec.MaxReading {
			reading = uint16(n)
		}
	}
	r.data.Ranges[i] = min(r.data.Ranges[i], reading) // NothingInRange and UnknownRange are above all distances
}

// Publish publishes the sweep.
func (r *Ranger) Publish(now time.Duration) {
	r.out = r.data.Append(r.out[:0])
	r.device.Publish(now, r.out)
}

// AppendRays appends where the readings look, once they are set. It is not worth a copy of its code in each driver.
//
//go:noinline
func (r *Ranger) AppendRays(dst []codec.Rays) []codec.Rays {
	if r.Count() == 0 {
		return dst
	}
	return append(dst, codec.Rays{Count: r.Count(), Heading: r.first, Step: r.step,
		Near: float64(r.Near), Far: float64(r.Far)})
}

// AppendPart appends the part of the device, once its readings are set.
func (r *Ranger) AppendPart(dst []codec.Part) []codec.Part {
	if r.Count() == 0 {
		return dst
	}
	width := r.step * float64(r.Count()-1)
	return append(dst, codec.Part{Heading: normal(r.first + width/2), Range: float64(r.Far), View: min(width+r.step, 360)})
}

// turn is 360 degrees in the unit of the steps of turnReadings, 1/10000 degree.
const turn = 3600000

// turnReadings returns how many readings a turn of so many samples has: the number next to it whose step is a whole
// number of 1/10000 degree. So it is mostly the same at each start, although motors are not.
func turnReadings(samples int) int {
	samples = max(1, min(samples, codec.MaxReadings))
	for off := 0; ; off++ {
		switch {
		case turn%(samples-off) == 0:
			return samples - off
		case turn%(samples+off) == 0 && samples+off <= codec.MaxReadings:
			return samples + off
		}
	}
}
