package lines

import (
	"math"
	"time"

	"player/devices/wheels"
)

const (
	// late is for how long lines may be held up or get lost: the way of that time may come
	// at once.
	late = time.Second
	// overshoot is how much faster than measured or commanded a wheel may turn.
	overshoot = 1.1
	// tolerance is how far a wheel may turn between two lines whatever was commanded, in mm: somebody
	// pushes the robot. The restart of a board that has counted less passes for a movement.
	tolerance = 50
	// counter is after how many counts a 16-bit counter starts over, and a 32-bit one too.
	counter = 1 << 16
)

// turning is how far wheels have turned, as a board counts it.
type turning struct {
	way             [2]float64    // mm, left and right, of the latest line
	at              time.Duration // of that
	commanded       [2]float64    // mm/s, the newest command
	commandedBefore [2]float64    // mm/s, the one at the latest line
	begun           bool          // way is of this connection
}

// update takes the ways of a line, in mm. unit is the way of one count, speed is that of
// the wheels as measured in mm/s. It returns how far the wheels have turned since the
// line before. Where they cannot have turned that far, a counter has started over, or
// both: the board has restarted, and has counted from 0.
func (c *turning) update(now time.Duration, way, unit, speed [2]float64) (steps [2]float64, restarted bool) {
	from, seconds := c.way, max(now-c.at, late).Seconds()*overshoot
	beyond := 0.0 // mm, farther than a wheel can have turned
	for i := range steps {
		low := min(0, speed[i], c.commanded[i], c.commandedBefore[i])*seconds - tolerance
		high := max(0, speed[i], c.commanded[i], c.commandedBefore[i])*seconds + tolerance
		off := func(step float64) float64 { return max(0, low-step, step-high) }
		steps[i] = way[i] - from[i]
		if over := math.Remainder(steps[i], counter*unit[i]); off(over) == 0 {
			steps[i] = over
		}
		beyond = max(beyond, off(steps[i]))
	}
	c.way, c.at, c.commandedBefore = way, now, c.commanded
	if max(math.Abs(way[0]), math.Abs(way[1])) < beyond {
		return way, true
	}
	return steps, false
}

// begin takes the ways of the first line of a connection.
func (c *turning) begin(now time.Duration, way [2]float64) {
	*c = turning{way: way, at: now, commanded: c.commanded, begun: true}
}

// measured returns the speeds of the wheels of a robot that drives and turns.
func measured(speed, turnRate int16, base float64) [2]float64 {
	left, right := wheels.Speeds(float64(speed), float64(turnRate), base, math.Inf(1))
	return [2]float64{left, right}
}
