package create

import (
	"math"
	"time"

	"player/codec"
)

const (
	// mmPerCount is the way of a wheel for one count of its encoder: 72.0 mm of
	// diameter and 508.8 counts a turn (specification, packet 43).
	mmPerCount = math.Pi * 72.0 / 508.8
	// wheelBase is the distance between the wheels in mm (specification).
	wheelBase = 235

	// speedReports is the number of reports over which the speed is measured:
	// 150 ms. One count in one report of 15 ms would be 30 mm/s.
	speedReports = 10

	// fastest is the speed of a wheel, in mm/s, above which a report is not believed:
	// twice what it can be told to drive. The checksum of a frame has eight bits only.
	// slack is what is believed at any time, in counts: reports come in bursts.
	fastest = 2 * maxWheelSpeed
	slack   = 40
)

// WheelSpeeds turns a speed (mm/s, forward) and a turn rate (deg/s,
// counterclockwise) into speeds of the wheels in mm/s. If a wheel would exceed
// 500 mm/s, both are slowed by the same factor, so that the curve stays the same.
func WheelSpeeds(speed, turnRate int16) (left, right int16) {
	turn := float64(turnRate) * math.Pi / 180 * wheelBase / 2
	l, r := float64(speed)-turn, float64(speed)+turn
	if fastest := max(math.Abs(l), math.Abs(r)); fastest > maxWheelSpeed {
		l, r = l/fastest*maxWheelSpeed, r/fastest*maxWheelSpeed
	}
	return int16(math.Round(l)), int16(math.Round(r))
}

// Odometry adds up the counts of the wheels to a pose. The zero value has its
// origin where the first report finds the robot.
type Odometry struct {
	started     bool
	at          time.Duration // of the latest report
	left, right uint16        // its counts

	x, y float64 // mm, forward and to the left of the origin
	// turned is the counts of the right wheel less those of the left: the heading
	// without rounding.
	turned int64

	past [speedReports]moment // a ring
	next int
}

// moment is the way of the wheels at the time of a report.
type moment struct {
	at     time.Duration
	way    float64 // mm, forward
	turned int64   // counts
}

// Update takes the counts of a report. It returns false, and takes nothing, if no
// wheel can turn that fast. The counters have 16 bits: whatever way less than 14 m a
// wheel has made since the last report is known.
func (o *Odometry) Update(now time.Duration, left, right uint16) (ok bool) {
	if !o.started {
		o.Resume(left, right)
		o.at = now
	}
	l, r := int16(left-o.left), int16(right-o.right)
	most := slack + int((now-o.at).Seconds()*fastest/mmPerCount)
	if max(int(l), -int(l), int(r), -int(r)) > most {
		return false
	}
	o.at, o.left, o.right = now, left, right
	before := o.heading()
	o.turned += int64(r) - int64(l)
	// The robot moves on an arc; its chord has the mean heading.
	way := (float64(l) + float64(r)) / 2 * mmPerCount
	sin, cos := math.Sincos((before + o.heading()) / 2)
	o.x += way * cos
	o.y += way * sin

	last := o.past[(o.next+speedReports-1)%speedReports]
	o.past[o.next] = moment{now, last.way + way, o.turned}
	o.next = (o.next + 1) % speedReports
	return true
}

// Resume measures further movement from the given counts: those before are of
// another time.
func (o *Odometry) Resume(left, right uint16) {
	o.started, o.left, o.right = true, left, right
	o.past = [speedReports]moment{}
	o.past[speedReports-1].turned, o.next = o.turned, 0
}

// Reset makes the current pose the origin.
func (o *Odometry) Reset() {
	*o = Odometry{started: o.started, at: o.at, left: o.left, right: o.right}
}

// heading returns the heading in radians, counterclockwise.
func (o *Odometry) heading() float64 { return float64(o.turned) * mmPerCount / wheelBase }

// Fill sets pose and speeds in d.
func (o *Odometry) Fill(d *codec.PositionData) {
	d.X, d.Y = int32(math.Round(o.x)), int32(math.Round(o.y))
	degrees := int(math.Round(math.Mod(o.heading()*180/math.Pi, 360)))
	d.Heading = uint16((degrees + 360) % 360)

	newest, oldest := o.past[(o.next+speedReports-1)%speedReports], o.past[o.next]
	d.Speed, d.TurnRate = 0, 0
	if oldest.at != 0 && newest.at > oldest.at {
		seconds := (newest.at - oldest.at).Seconds()
		d.Speed = int16(math.Round((newest.way - oldest.way) / seconds))
		turn := float64(newest.turned-oldest.turned) * mmPerCount / wheelBase
		d.TurnRate = int16(math.Round(turn * 180 / math.Pi / seconds))
	}
}
