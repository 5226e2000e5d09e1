package p2os

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/scale"
)

const (
	// slowest is the slowest command that is compared with the robot's report, in mm/s and deg/s: slower ones may not move it.
	slowest, slowestTurn = 50, 10
	// fastestTurn is faster than any of these robots turns, in deg/s.
	fastestTurn = 720
)

// guard warns of units in the configuration that cannot be right. Units of the models are not judged.
type guard struct {
	place func(option string, i int) string // devices.Args.Place

	way, speed scale.Way // mm
	turn       scale.Way // deg
	ranges     scale.Ranges
	last       point // of the latest SIP
	heading    int16 // of that
	at         time.Duration
}

func newGuard() guard {
	return guard{
		way: scale.Way{Slow: slowest, Fast: maxWheelSpeed}, speed: scale.Way{Slow: slowest, Fast: maxWheelSpeed},
		turn: scale.Way{Slow: slowestTurn, Fast: fastestTurn},
	}
}

// judge compares a SIP with the newest command.
func (g *guard) judge(now time.Duration, d *Driver) {
	o, m, s := &d.overrides, &d.model, &d.sip
	if o.Distance == 0 && o.Velocity == 0 && o.Vel2 == 0 && o.Angle == 0 && o.Range == 0 {
		return
	}
	var c codec.PositionCommand
	if b := d.position.Command(); b != nil {
		_ = c.Decode(b) // its size was checked
	}
	speed, turn := float64(c.Speed), float64(c.TurnRate)
	switch {
	case turn != 0 && speed != 0:
		speed, turn = 0, 0
	case math.Abs(speed) > maxWheelSpeed:
		speed = math.Copysign(maxWheelSpeed, speed)
	}
	to := point{s.X, s.Y}
	if o.Distance != 0 {
		way := math.Hypot(m.mm(m.step(g.last.x, to.x)), m.mm(m.step(g.last.y, to.y)))
		g.warn(d, g.way.Update(now, way, speed), "distance", o.Distance, "by its coordinates the robot goes %g times as far as it is commanded")
	}
	if o.Velocity != 0 || o.Vel2 != 0 {
		way := m.Velocity * float64(int(s.Left)+int(s.Right)) / 2 * (now - g.at).Seconds()
		factor := g.speed.Update(now, way, speed)
		const why = "the robot says that it is %g times as fast as it is commanded"
		if o.Velocity != 0 {
			g.warn(d, factor, "velocity", o.Velocity, why)
		} else if factor != 0 { // a larger step makes a robot slower
			g.say(d, factor, "vel2", o.Vel2, o.Vel2*factor, why)
		}
	}
	if o.Angle != 0 {
		turned := float64(s.Heading-g.heading) * m.Angle * 180 / math.Pi
		g.warn(d, g.turn.Update(now, math.Remainder(turned, 360), turn), "angle", o.Angle, "by its heading the robot turns %g times as far as it is commanded")
	}
	g.last, g.heading, g.at = to, s.Heading, now
	for i := range codec.SonarCount {
		if o.Range != 0 && m.Sonars[i] != noSonar {
			g.warn(d, g.ranges.Update(now, float64(s.Sonar[m.Sonars[i]])*m.Range, sonarRange), "range", o.Range,
				"none of the ranges is one that its sonars measure; they are %g times too large")
		}
	}
}

// warn warns that an option is wrong by a factor, 0: it is not.
func (g *guard) warn(d *Driver, factor float64, option string, value float64, why string) {
	if factor != 0 {
		g.say(d, factor, option, value, value/factor, why)
	}
}

// say warns that an option has a value, and another one would fit.
func (g *guard) say(d *Driver, factor float64, option string, value, fits float64, why string) {
	text := func(v float64) string { return option + " " + strconv.FormatFloat(v, 'g', 4, 64) }
	scale.Warn(d.Log(), devices.Args{Place: g.place}.PlaceOf(option, 0), text(value), text(fits), fmt.Sprintf(why, factor))
}
