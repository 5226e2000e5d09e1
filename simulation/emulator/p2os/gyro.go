package p2os

import (
	"math"
	"time"
)

// A Gyro measures how fast the robot turns, independently of its wheels. Its readings come
// in GYROpacs before the SIP (AROS and ARCOS manuals, "GYROpac").
type Gyro struct {
	Fitted bool
	Centre float64 // reading at rest ("centered around 512 or so"), 512.4 if 0
	Drift  float64 // growth of the centre in a second, as when the gyro gets warm
	Scaler float64 // ARIA's GyroScaler with which it is measured right, 1.626 if 0
}

const (
	gyroPacket = 0x98
	gyroPeriod = 25 * time.Millisecond
	gyroWarm   = 25 // the temperature that it sends, of no use to hosts
	gyroMost   = 1023
	gyroPairs  = 60 // the most that fit a packet
)

// reading is the gyro's reading at a turn rate in deg/s, in the 10 bits of a converter for 5 V.
// A rate to the left is below the centre. ARIA: 300 deg/s for 2.5 V, times GyroScaler. Noise of
// a step makes readings right on average.
func (g *Gyro) reading(now time.Duration, rate, noise float64) int {
	one := 5.0 / gyroMost * 300 / 2.5 * g.Scaler // deg/s
	v := g.Centre + g.Drift*now.Seconds() - rate/one + noise
	return int(math.Round(max(0, min(v, gyroMost))))
}

// roll lets time pass for the wheels, and has the gyro measure on the way.
func (r *Robot) roll(now time.Duration) {
	for r.gyroOn && r.nextRate <= now {
		r.drive.advance(r.nextRate)
		rate := (r.drive.world.Heading - r.lastHeading) / gyroPeriod.Seconds()
		r.lastHeading = r.drive.world.Heading
		if len(r.rates) < gyroPairs {
			r.rates = append(r.rates, r.opts.Gyro.reading(r.nextRate, rate, r.noise.Float64()-0.5))
		}
		r.nextRate += gyroPeriod
	}
	r.drive.advance(now)
}

// request is GYROREQUEST: 1 starts the packets, 0 ends them.
func (r *Robot) requestGyro(now time.Duration, on bool) {
	r.gyroOn, r.rates = on && r.opts.Gyro.Fitted, nil
	r.nextRate, r.lastHeading = now+gyroPeriod, r.drive.world.Heading
}

// appendRates appends the body of a GYROpac: the readings since the last one.
func (r *Robot) appendRates(dst []byte) []byte {
	dst = append(dst, gyroPacket, byte(len(r.rates)))
	for _, v := range r.rates {
		dst = append(appendInt(dst, v), gyroWarm)
	}
	r.rates = r.rates[:0]
	return dst
}
