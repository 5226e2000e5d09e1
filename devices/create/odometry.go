package create

import (
	"math"
	"time"

	"player/codec"
	"player/devices/wheels"
)

const (
	// mmPerCount is the way of a wheel for one count of its encoder: 72.0 mm of
	// diameter and 508.8 counts a turn (specification, packet 43).
	mmPerCount = math.Pi * 72.0 / 508.8
	// wheelBase is the distance between the wheels in mm (specification).
	wheelBase = 235

	// fastest is the speed of a wheel, in mm/s, above which a report is not believed:
	// twice what it can be told to drive. The checksum of a frame has eight bits only.
	// slack is what is believed at any time, in counts: reports come in bursts.
	fastest = 2 * maxWheelSpeed
	slack   = 40
)

// WheelSpeeds turns a command into speeds of the wheels in mm/s.
func WheelSpeeds(c codec.PositionCommand) (left, right int16) {
	l, r := wheels.Speeds(float64(c.Speed), float64(c.TurnRate), wheelBase, maxWheelSpeed)
	return int16(math.Round(l)), int16(math.Round(r))
}

// Odometry turns the counts of the wheels into a pose.
type Odometry struct {
	wheels.Odometry
	started     bool
	at          time.Duration // of the latest report
	left, right uint16        // its counts
}

// Update takes the counts of a report. It returns false, and takes nothing, if no
// wheel can turn that fast. The counters have 16 bits: whatever way less than 14 m a
// wheel has made since the last report is known.
func (o *Odometry) Update(now time.Duration, left, right uint16) (ok bool) {
	if !o.started {
		o.started, o.at, o.left, o.right = true, now, left, right
		o.Forget()
	}
	l, r := int16(left-o.left), int16(right-o.right)
	most := slack + int((now-o.at).Seconds()*fastest/mmPerCount)
	if max(int(l), -int(l), int(r), -int(r)) > most {
		return false
	}
	o.at, o.left, o.right = now, left, right
	o.Move(now, float64(l)*mmPerCount, float64(r)*mmPerCount)
	return true
}

// Restart measures further movement from the next report: the robot's counters have
// begun anew.
func (o *Odometry) Restart() { o.started = false }
