package wheels

import (
	"math"
	"time"

	"go.uber.org/zap"
)

// LogMissing is a message of the log, by which tests find lines.
const LogMissing = "a movement is missing in the odometry: the wheels may have turned farther than their counts show, or have been counted anew"

// late is for how long reports may be delayed and get lost: the distance driven in that time
// may come at once. A line that is silent for longer is closed.
const late = 2 * time.Second

// Counts converts the counts of two encoders to a pose. Its zero value has its origin at the
// robot's place; Base, MMPerCount and Fastest must be set.
type Counts struct {
	Odometry
	MMPerCount float64 // the way of a wheel for one count
	// Fastest is the speed of a wheel in mm/s above which a report is not believed.
	Fastest float64
	// Period is the time between two reports of the robot. After a pause of this program, reports come together that were
	// made in that time, and later ones are lost.
	Period time.Duration
	// Log is warned of each movement that is not in the pose, because the way of the wheels is unknown; nil: no warnings.
	Log *zap.Logger

	started bool
	at      time.Duration // of the latest report
	lag     time.Duration // that has passed without a report for it
	counts  counts        // of the latest report that was believed
	doubted counts        // of the latest report, if it was not believed
	doubts  bool          // it was not
}

// counts are both wheels' counts. They have 16 bits: the distance of a wheel since an
// earlier report is known if it is less than 32768 counts.
type counts struct{ left, right uint16 }

// since returns the counts since earlier ones.
func (c counts) since(before counts) (left, right int) {
	return int(int16(c.left - before.left)), int(int16(c.right - before.right))
}

// Update takes the counts of a report, forward, and the robot's rotation by a gyroscope
// since the last accepted report, in radians, counterclockwise, but for whole turns; NaN: the wheels give the
// rotation. It reports whether the counts were accepted: counts that no wheel can reach so
// fast are not. If the next report agrees with such counts, the robot has restarted, and
// further movement is measured from there. So it is after a pause in which the wheels may have turned farther
// than the counts show.
func (o *Counts) Update(now time.Duration, left, right uint16, turn float64) (ok bool) {
	to := counts{left, right}
	if !o.started {
		o.started, o.at, o.counts, o.lag = true, now, to, 0
		o.Forget()
	}
	gap := now - o.at
	lag := o.lag + gap
	most := int((lag + late).Seconds() * o.Fastest / o.MMPerCount)
	o.at = now
	if o.lag = max(0, lag-o.Period); gap >= o.Period/2 && gap < 4*o.Period {
		o.lag = 0 // it came when it was made
	}
	far := func(from counts) bool {
		l, r := to.since(from)
		return max(l, -l, r, -r) > most
	}
	// A report of the pause shows a short way, as do wheels at rest. After a long way, the counts may have started over.
	l, r := to.since(o.counts)
	short := int(4 * o.Period.Seconds() * o.Fastest / o.MMPerCount)
	way := max(l, -l, r, -r)
	// The other way that gives these counts is 1<<16 longer, in the other direction.
	ambiguous := o.Period > 0 && way > short && lag.Seconds()*o.Fastest/o.MMPerCount >= float64(1<<16-way)
	if far(o.counts) || ambiguous {
		if !ambiguous && (!o.doubts || far(o.doubted)) {
			o.doubted, o.doubts = to, true
			return false
		}
		if ambiguous {
			o.counts, o.lag = to, 0
		} else {
			o.counts, turn = o.doubted, math.NaN() // the gyroscope has begun anew as well
		}
		o.Forget()
		if o.Log != nil {
			o.Log.Warn(LogMissing)
		}
	}
	l, r = to.since(o.counts)
	o.counts, o.doubts = to, false
	wayLeft, wayRight := float64(l)*o.MMPerCount, float64(r)*o.MMPerCount
	if !math.IsNaN(turn) { // wheels slip
		// Since a report before an outage it may have turned by more than half a turn.
		byWheels := (wayRight - wayLeft) / o.Base
		turn = byWheels + math.Remainder(turn-byWheels, 2*math.Pi)
		way := (wayLeft + wayRight) / 2
		wayLeft, wayRight = way-turn*o.Base/2, way+turn*o.Base/2
	}
	o.Move(now, wayLeft, wayRight)
	return true
}

// Restart measures further movement from the next report: the robot's counters have
// begun anew.
func (o *Counts) Restart() { o.started, o.doubts = false, false }
