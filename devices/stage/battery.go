package stage

import (
	"math"
	"time"
)

const (
	// fullVolts and emptyVolts are the voltages of three full and empty 12 V
	// lead batteries under load. In between the voltage falls linearly with
	// the charge.
	fullVolts  = 12.6
	emptyVolts = 11.0
	// capacity is that of three batteries of 7 Ah at 12 V, in joules. It lasts
	// for half a day standing and three hours driving.
	capacity = 3 * 7 * 12 * 3600.0
	// idleWatts is the power of the computer and its sensors; driveWatts is
	// added at full speed of both wheels.
	idleWatts  = 20
	driveWatts = 60
)

// battery is a store of energy that is never charged.
type battery struct {
	joules, capacity float64
	idle             float64 // watts
}

// drain consumes the energy for dt at the given speeds, m/s and rad/s.
func (b *battery) drain(dt time.Duration, speed, turn float64) {
	wheels := (math.Abs(speed) + math.Abs(turn)*axle/2) / maxWheel
	b.joules = max(0, b.joules-(b.idle+driveWatts*wheels)*dt.Seconds())
}

// decivolt returns the voltage in 0.1 V.
func (b *battery) decivolt() uint8 {
	return uint8(math.Round(10 * (emptyVolts + (fullVolts-emptyVolts)*b.joules/b.capacity)))
}
