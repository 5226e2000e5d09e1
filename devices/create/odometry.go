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
	fastest = 2 * maxWheelSpeed
	// held is for how long reports may be held up and get lost: the way of that time may
	// come at once. A line that is silent for longer is closed.
	held = 2 * time.Second
)

// WheelSpeeds turns a command into speeds of the wheels in mm/s.
func WheelSpeeds(c codec.PositionCommand) (left, right int16) {
	l, r := wheels.Speeds(float64(c.Speed), float64(c.TurnRate), wheelBase, maxWheelSpeed)
	return int16(math.Round(l)), int16(math.Round(r))
}

// Odometry turns the counts of the wheels into a pose.
type Odometry struct {
	wheels.Odometry
	started bool
	at      time.Duration // of the latest report
	counts  counts        // of the latest report that was believed
	doubted counts        // of the latest report, if it was not believed
	doubts  bool          // it was not
}

// counts are those of both wheels. They have 16 bits: whatever way less than 14 m a wheel
// has made since an earlier report is known.
type counts struct{ left, right uint16 }

// since returns the counts since earlier ones.
func (c counts) since(before counts) (left, right int) {
	return int(int16(c.left - before.left)), int(int16(c.right - before.right))
}

// Update takes the counts of a report. It returns false, and takes nothing, if no
// wheel can turn that fast. If the next report agrees with that one, the robot has
// restarted, and further movement is measured from there.
func (o *Odometry) Update(now time.Duration, left, right uint16) (ok bool) {
	to := counts{left, right}
	if !o.started {
		o.started, o.at, o.counts = true, now, to
		o.Forget()
	}
	most := int((now - o.at + held).Seconds() * fastest / mmPerCount)
	o.at = now
	far := func(from counts) bool {
		l, r := to.since(from)
		return max(l, -l, r, -r) > most
	}
	if far(o.counts) {
		if !o.doubts || far(o.doubted) {
			o.doubted, o.doubts = to, true
			return false
		}
		o.counts = o.doubted
		o.Forget()
	}
	l, r := to.since(o.counts)
	o.counts, o.doubts = to, false
	o.Move(now, float64(l)*mmPerCount, float64(r)*mmPerCount)
	return true
}

// Restart measures further movement from the next report: the robot's counters have
// begun anew.
func (o *Odometry) Restart() { o.started, o.doubts = false, false }
