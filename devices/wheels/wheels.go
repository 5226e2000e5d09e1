// Package wheels is the geometry of robots with two driven wheels: speeds of the wheels from
// a command, and odometry from the distances that they have driven.
package wheels

import (
	"math"
	"time"

	"player/codec"
)

const (
	// samples is the number of updates over which speeds are measured: an encoder
	// counts in steps, and one step in one update may be as much as the speed itself.
	samples = 10
	// memory is the longest time over which speeds are measured. A robot that sends
	// ten updates a second would seem to drive for a second after it has stopped.
	memory = 300 * time.Millisecond
	// burst is the shortest time over which speeds are measured: updates that the line
	// has delayed come together. Until that much has passed, speeds stay as they were.
	burst = 50 * time.Millisecond
)

// Speeds converts a speed (mm/s, forward) and a turn rate (deg/s, counterclockwise) to
// speeds of the wheels in mm/s. base is the distance between the wheels in mm. If a wheel
// would be faster than most, both are slowed by the same factor, so that the curve stays the
// same.
func Speeds(speed, turnRate, base, most float64) (left, right float64) {
	turn := turnRate * math.Pi / 180 * base / 2
	left, right = speed-turn, speed+turn
	if fastest := max(math.Abs(left), math.Abs(right)); fastest > most {
		left, right = left/fastest*most, right/fastest*most
	}
	return left, right
}

// Odometry adds up the ways of the wheels to a pose. Its zero value has its origin
// where the robot is; Base must be set.
type Odometry struct {
	Base float64 // mm between the wheels

	x, y        float64 // mm, forward and to the left of the origin
	left, right float64 // mm, the ways since the origin: the heading without an error that adds up

	past [samples]sample // a ring
	next int             // index of the oldest

	speed, turnRate float64 // mm/s, rad/s
}

// sample is the way of the wheels at a time.
type sample struct {
	at   time.Duration
	way  float64 // mm, forward
	turn float64 // rad
}

// Move adds the ways of the wheels in mm since the last call, forward.
func (o *Odometry) Move(now time.Duration, left, right float64) {
	before := o.heading()
	o.left += left
	o.right += right
	// The robot moves on an arc; its chord has the mean heading.
	way := (left + right) / 2
	chord, half := way, (o.heading()-before)/2
	if half != 0 {
		chord *= math.Sin(half) / half
	}
	sin, cos := math.Sincos(before + half)
	o.x += chord * cos
	o.y += chord * sin

	o.past[o.next] = sample{now, o.newest().way + way, o.heading()}
	o.next = (o.next + 1) % samples
	o.measure()
}

// measure sets the speeds: over all samples, or those that memory allows.
func (o *Odometry) measure() {
	newest := o.newest()
	for i := range samples - 1 {
		oldest := o.past[(o.next+i)%samples]
		age := newest.at - oldest.at
		if oldest.at == 0 || age > memory && i < samples-2 {
			continue
		}
		if age >= burst {
			o.speed = (newest.way - oldest.way) / age.Seconds()
			o.turnRate = (newest.turn - oldest.turn) / age.Seconds()
		}
		return
	}
}

// Forget forgets the speeds: they were measured before an interruption.
func (o *Odometry) Forget() {
	o.past, o.next = [samples]sample{}, 0
	o.past[samples-1].turn = o.heading()
	o.speed, o.turnRate = 0, 0
}

// Reset makes the current pose the origin.
func (o *Odometry) Reset() { *o = Odometry{Base: o.Base} }

// heading returns the heading in radians, counterclockwise.
func (o *Odometry) heading() float64 { return (o.right - o.left) / o.Base }

func (o *Odometry) newest() sample { return o.past[(o.next+samples-1)%samples] }

// Fill sets pose and speeds in d.
func (o *Odometry) Fill(d *codec.PositionData) {
	d.X, d.Y = int32(math.Round(o.x)), int32(math.Round(o.y))
	d.Heading = Degrees(o.heading() * 180 / math.Pi)
	d.Speed, d.TurnRate = int16(math.Round(o.speed)), int16(math.Round(o.turnRate*180/math.Pi))
}

// Degrees returns an angle in whole degrees, 0 to 359.
func Degrees(degrees float64) uint16 {
	return uint16((int(math.Round(math.Mod(degrees, 360))) + 360) % 360)
}
