package lines

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"player/codec"
	"player/devices/scale"
)

const (
	// slowest is the slowest command that is compared with the odometry, in mm/s and deg/s: slower ones may not move a robot.
	slowest, slowestTurn = 50, 10
	// fastestTurn is faster than any robot turns, in deg/s.
	fastestTurn = 720
	// sonarLimit is farther than any sonar measures, in mm: the best ones measure 10.7 m.
	sonarLimit = 12000
)

// guard warns of factors in the configuration that cannot be right.
type guard struct {
	way, speed    scale.Way // mm
	turn, rate    scale.Way // deg
	battery       scale.Battery
	sonar, ranger scale.Ranges

	line    pattern          // the pattern of the line
	place   string           // of that
	x, y    float64          // mm, of the latest line that has them
	heading float64          // deg
	at      [2]time.Duration // of the latest lines that have speed, and turn
}

func newGuard(most float64) guard {
	way, turn := scale.Way{Slow: slowest, Fast: most}, scale.Way{Slow: slowestTurn, Fast: fastestTurn, Radians: true}
	return guard{way: way, speed: way, turn: turn, rate: turn}
}

// origin notes the pattern of a line: of the answer to the poll, or of an unasked line.
func (g *guard) origin(d *Driver, answer bool, unasked int) {
	if answer {
		g.line, g.place = d.polls[d.asked].answer, d.polls[d.asked].place
		return
	}
	g.line, g.place = d.patterns[unasked], d.places[unasked]
}

// commanded returns the speed of a robot that drives straight on, and the turn rate of one that turns in its place; 0: it
// does something else.
func (d *Driver) commanded() (speed, turn float64) {
	left, right := d.turned.commanded[0], d.turned.commanded[1]
	speed, turn = (left+right)/2, (right-left)/d.opts.Base*180/math.Pi
	switch {
	case math.Abs(turn) < 1:
		return speed, 0
	case math.Abs(speed) < 1:
		return 0, turn
	}
	return 0, 0
}

// wheels judges ways of the wheels that the field gives.
func (g *guard) wheels(now time.Duration, d *Driver, field int, steps [2]float64) {
	speed, _ := d.commanded()
	g.warn(d, g.way.Update(now, (steps[0]+steps[1])/2, speed), field, "odometry")
}

// pose judges the fields of a board that computes its odometry.
func (g *guard) pose(now time.Duration, d *Driver) {
	v := &d.values
	speed, turn := d.commanded()
	if v.has[fieldX] {
		x, y := v.number[fieldX], g.y
		if v.has[fieldY] {
			y = v.number[fieldY]
		}
		g.warn(d, g.way.Update(now, math.Hypot(x-g.x, y-g.y), speed), fieldX, "odometry")
		g.x, g.y = x, y
	}
	if v.has[fieldHeading] {
		heading := v.number[fieldHeading]
		g.warn(d, g.turn.Update(now, math.Remainder(heading-g.heading, 360), turn), fieldHeading, "odometry")
		g.heading = heading
	}
	if v.has[fieldSpeed] {
		g.warn(d, g.speed.Update(now, v.number[fieldSpeed]*(now-g.at[0]).Seconds(), speed), fieldSpeed, "speed")
		g.at[0] = now
	}
	if v.has[fieldTurn] {
		g.warn(d, g.rate.Update(now, v.number[fieldTurn]*(now-g.at[1]).Seconds(), turn), fieldTurn, "speed")
		g.at[1] = now
	}
}

// values judges the other fields of a line.
func (g *guard) values(now time.Duration, d *Driver) {
	v := &d.values
	for _, piece := range g.line {
		if piece.text != nil || !v.has[piece.field] && v.beyond != piece.field {
			continue
		}
		switch field, number := piece.field, v.number[piece.field]; {
		case field == fieldBattery:
			g.warn(d, g.battery.Update(now, number), field, "battery")
		case field >= fieldSonar && field <= lastSonar:
			g.warn(d, g.sonar.Update(now, number, sonarLimit), field, "ranges")
		case field >= fieldRange && field <= lastRange:
			_, far := d.sensors.limits(field - fieldRange)
			g.warn(d, g.ranger.Update(now, number, far), field, "ranges")
		}
	}
}

// warn warns that the factor of a field is wrong by a factor, 0: it is not.
func (g *guard) warn(d *Driver, factor float64, field int, of string) {
	if factor == 0 {
		return
	}
	written := 1.0
	for _, piece := range g.line {
		if piece.text == nil && piece.field == field {
			written = piece.factor
		}
	}
	name := ""
	for n, f := range readable() {
		if f == field {
			name = n
		}
	}
	why := map[string]string{
		"odometry": "by its odometry the robot goes %g times as far as it is commanded",
		"speed":    "the robot says that it is %g times as fast as it is commanded",
		"battery":  "no robot has such a battery; its voltage is %g times too large",
		"ranges":   "none of the ranges is one that such a sensor measures; they are %g times too large",
	}[of]
	scale.Warn(d.Log(), g.place, fieldText(name, written), fieldText(name, written/factor), fmt.Sprintf(why, round(factor)))
}

// fieldText returns a field as a pattern has it.
func fieldText(name string, factor float64) string {
	number := func(f float64) string { return strconv.FormatFloat(round(f), 'f', -1, 64) }
	multiplied, divided := number(factor), number(1/factor)
	switch {
	case factor == 1:
		return "{" + name + "}"
	case len(divided) < len(multiplied):
		return "{" + name + "/" + divided + "}"
	}
	return "{" + name + "*" + multiplied + "}"
}

// round rounds to six digits.
func round(f float64) float64 {
	f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', 6, 64), 64)
	return f
}

// limits returns the smallest and the largest distance of a reading of the ranger in mm, as declared.
func (s *sensors) limits(i int) (near, far float64) {
	far = codec.MaxReading
	for _, r := range s.rays {
		if i >= r.First && i < r.First+r.Count {
			near = max(near, r.Near)
			if r.Far > 0 {
				far = min(far, r.Far)
			}
		}
	}
	return near, far
}
