package lines

import (
	"math"
	"slices"
	"time"

	"player/devices/wheels"
)

const (
	// late is for how long lines may be delayed or get lost: the distance driven in that
	// time may come at once.
	late = time.Second
	// overshoot is how much faster than measured or commanded a wheel may drive.
	overshoot = 1.1
	// tolerance is how far a wheel may move between two lines without a command, in mm: a person may push the robot. A
	// restart of a board that has counted less is not recognised, and passes for a movement.
	tolerance = 50
	// counter is 2^16: both 16-bit and 32-bit counters wrap at a multiple of it.
	counter = 1 << 16
)

// turning is the distance of the wheels, as counted by a board.
type turning struct {
	way       [2]float64    // mm, left and right, of the latest line
	at        time.Duration // of that
	commanded [2]float64    // mm/s, the newest command
	former    []former      // commands that the board may have carried out since the latest line, or lines that are late
	begun     bool          // way is of this connection
}

// former is a command that another one has replaced, which may be lost.
type former struct {
	speed [2]float64 // mm/s
	until time.Duration
}

// command takes the speeds in mm/s that the wheels are sent.
func (c *turning) command(now time.Duration, speed [2]float64) {
	if speed != c.commanded {
		c.former = append(c.former, former{c.commanded, now})
		c.commanded = speed
	}
}

// update takes the wheels' distances in a line, in mm. unit is the distance of one count,
// and speed the wheels' measured speed in mm/s. It returns how far the wheels have driven
// since the previous line. If they cannot have driven that far, a counter has wrapped; if
// that applies to both, the board has restarted, and has counted from 0.
func (c *turning) update(now time.Duration, way, unit, speed [2]float64) (steps [2]float64, restarted bool) {
	from, seconds := c.way, max(now-c.at, late).Seconds()*overshoot
	c.former = slices.DeleteFunc(c.former, func(f former) bool { return f.until < min(c.at, now-late) })
	beyond := 0.0 // mm, farther than a wheel can have driven
	for i := range steps {
		least, most := min(0, speed[i], c.commanded[i]), max(0, speed[i], c.commanded[i])
		for _, f := range c.former {
			least, most = min(least, f.speed[i]), max(most, f.speed[i])
		}
		low, high := least*seconds-tolerance, most*seconds+tolerance
		off := func(step float64) float64 { return max(0, low-step, step-high) }
		steps[i] = way[i] - from[i]
		if over := math.Remainder(steps[i], counter*unit[i]); off(over) == 0 {
			steps[i] = over
		}
		beyond = max(beyond, off(steps[i]))
	}
	c.way, c.at = way, now
	if max(math.Abs(way[0]), math.Abs(way[1])) < beyond {
		return way, true
	}
	return steps, false
}

// begin takes the wheels' distances in the first line of a connection.
func (c *turning) begin(now time.Duration, way [2]float64) {
	*c = turning{way: way, at: now, commanded: c.commanded, begun: true}
}

// measured returns the speeds of the wheels for a robot's speed and turn rate.
func measured(speed, turnRate int16, base float64) [2]float64 {
	left, right := wheels.Speeds(float64(speed), float64(turnRate), base, math.Inf(1))
	return [2]float64{left, right}
}

// drift adds up the speeds of the wheels of a board that does not report their ways.
type drift struct {
	speed [2]float64    // mm/s, left and right, of the latest line
	at    time.Duration // of that
	begun bool
}

// update takes the speeds of the wheels in mm/s. It returns how far they have driven since the line before: between two
// lines the speed changes evenly. In a gap of more than late, nothing is known of them.
func (c *drift) update(now time.Duration, speed [2]float64) (steps [2]float64) {
	if seconds := (now - c.at).Seconds(); c.begun && now-c.at <= late {
		for i := range steps {
			steps[i] = (c.speed[i] + speed[i]) / 2 * seconds
		}
	}
	*c = drift{speed: speed, at: now, begun: true}
	return steps
}
