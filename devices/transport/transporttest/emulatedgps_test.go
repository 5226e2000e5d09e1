package transporttest_test

import (
	"fmt"
	"math"
	"slices"

	"player/codec"
	"player/devices/nmea"
	"player/devices/transport/transporttest"
	"player/simulation/emulator/gps"
	"player/simulation/emulator/line"
)

// measurement is the time between two measurements: at 9600 baud a receiver can send three sentences five times a second.
const measurement = 500 * ms

func gpsProduct() product {
	return product{
		kind: nmea.Kind(), speeds: []int{9600, 4800, 38400, 115200, 57600}, period: measurement, pace: 70 * ms,
		noise: noise(0.02), start: receivers(gps.Options{Period: measurement}), always: true, endures: true, text: true,
	}
}

// receiver judges a receiver that drives: its data is one measurement, of one moment.
type receiver struct {
	*gps.Receiver
}

func receivers(options gps.Options) starter {
	return func(o line.Options) (hardware, error) {
		options.Line = o
		r, err := gps.Start(options)
		return &receiver{Receiver: r}, err
	}
}

func (h *receiver) restart()    {}
func (h *receiver) work(*rig)   {}
func (h *receiver) sample(*rig) {}
func (h *receiver) still() bool { return true }
func (h *receiver) end(*rig)    {}

// judge finds the moment by the latitude. A sentence that was lost leaves its fields unknown.
func (h *receiver) judge(r *rig) error {
	d := transporttest.Data[codec.GPSData](r.T, r.Client)
	for at := max(0, r.Now()-window).Truncate(measurement); at <= r.Now()+measurement; at += measurement {
		p := gps.Drive(at)
		near := func(v int32, degrees float64) bool { return math.Abs(float64(v)-degrees*1e7) <= 2 } // five decimals of a minute
		if near(d.Latitude, p.Latitude) && near(d.Longitude, p.Longitude) &&
			slices.Contains([]int32{34500, codec.Unknown}, d.Height) && slices.Contains([]uint32{50, codec.UnknownAmount}, d.Horizontal) {
			return nil
		}
	}
	return fmt.Errorf("data is %+v at %v", d, r.Now())
}

func (h *receiver) rest(r *rig) error { return h.judge(r) }
