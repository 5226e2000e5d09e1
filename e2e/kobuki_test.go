package e2e

import (
	"math"
	"testing"

	"player/codec"
	"player/devices/retry"
	"player/e2e/must"
	"player/e2e/waiting"
	"player/simulation/emulator/kobuki"
	"player/simulation/emulator/line"
)

func startKobuki(t *testing.T, o kobuki.Options) (*kobuki.Robot, *server) {
	t.Helper()
	o.Line.Link = newLine(t)
	return emulate(t, kobuki.Start, o), serve(t, `driver ( name "kobuki" provides ["position:0" "misc:0"] port %q )`, o.Line.Link)
}

// The robot drives, its odometry is the true way, by its gyroscope where its wheels slip,
// and it stands when the client leaves.
func TestKobukiDrives(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]kobuki.Options{
		"over the counters' end": {Counts: 65000, Line: line.Options{Paced: true, Garble: true}},
		"left driving":           {Driving: true},
		"slipping":               {Slip: 0.3},
		"no gyroscope":           {NoGyro: true},
		"noise":                  {Line: line.Options{Noise: line.Noise{Seed: 1, Garbage: 0.02, Flip: 0.02, Swallow: 0.02, Truncate: 0.02}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, s := startKobuki(t, o)
			c := s.dial(t)
			c.mustOpen("pamr", "pamr")
			waiting.Until(t, "the robot stands", func() bool { return r.State().Left == 0 && r.Commands() > 0 })
			c.until("so it says", func() bool { return c.position().Speed == 0 })
			before, from := r.State(), c.position()
			c.drive(200, 0)
			c.until("it has driven 200 mm, at 200 mm/s", func() bool {
				p := c.position()
				return p.X-from.X > 200 && p.Speed > 150 && p.Speed < 250 && p.TurnRate == 0
			})
			c.drive(150, -50)
			c.until("it is in a curve", func() bool { h := c.position().Heading; return h < 340 && h > 180 })
			c.drive(0, -60)
			c.until("it has turned", func() bool { h := c.position().Heading; return h < 200 && h > 100 })
			c.drive(0, 0)
			c.until("it stands", func() bool {
				return r.State().Left == 0 && r.State().Right == 0 && c.position().Speed == 0 && c.position().TurnRate == 0
			})
			state, p := r.State(), c.position()
			turned := math.Remainder(state.Heading*180/math.Pi-float64(p.Heading), 360)
			away := math.Hypot(state.X-before.X-float64(p.X-from.X), state.Y-before.Y-float64(p.Y-from.Y))
			if math.Abs(turned) > 1 || away > 5 {
				t.Errorf("it is at %+v, was at %+v, its odometry at %+v, was %+v", state, before, p, from)
			}
			c.drive(100, 0)
			waiting.Until(t, "the robot drives", func() bool { return r.State().Left == 100 })
			c.conn.Close()
			waiting.Until(t, "the robot stands", func() bool { return r.State().Left == 0 && r.State().Right == 0 })
		})
	}
}

// What keeps it from driving forward is in misc, and motors that are off obey nothing.
func TestKobukiSenses(t *testing.T) {
	t.Parallel()
	r, s := startKobuki(t, kobuki.Options{})
	c := s.dial(t)
	c.mustOpen("pamr", "pamr")
	for want, do := range map[byte]func(){
		0b00001: func() { r.Bump(1) }, 0b00110: func() { r.Bump(6) }, 0b01000: func() { r.Cliff(2) }, 0b10000: func() { r.Lift(true) },
	} {
		do()
		c.sensesMisc(want, 161)
		r.Bump(0)
		r.Cliff(0)
		r.Lift(false)
		c.sensesMisc(0, 161)
	}
	r.Block(true)
	c.until("a stall", func() bool { return c.position().Stall == 1 })
	c.drive(100, 0)
	waiting.Until(t, "the robot drives", func() bool { return r.State().Left == 100 })
	c.send(motors(0)...)
	waiting.Until(t, "the robot stands", func() bool { return r.State().Left == 0 })
	c.drive(100, 0)
	n := r.Commands()
	waiting.Until(t, "more commands", func() bool { return r.Commands() > n+5 })
	if r.State().Left != 0 {
		t.Error("it drives with its motors off")
	}
	c.send(motors(1)...)
	waiting.Until(t, "the robot drives again", func() bool {
		c.drive(100, 0)
		return r.State().Left == 100
	})
}

func (c *peer) sensesMisc(bumpers, battery byte) {
	c.t.Helper()
	for {
		if letter, b := c.block(); letter == codec.Misc && b[0] == bumpers && b[2] == battery {
			return
		}
	}
}

// Unplugged and plugged in again it stands, and the pose goes on: with the way that it drove
// meanwhile, but not from the counters of a robot that was switched off.
func TestKobukiUnplugged(t *testing.T) {
	t.Parallel()
	r, s := startKobuki(t, kobuki.Options{Counts: 10000})
	c := s.dial(t)
	c.mustOpen("pa", "pa")
	for _, reboot := range []bool{false, true} {
		c.drive(200, 0)
		from := c.position().X
		c.until("it drives", func() bool { return c.position().X > from+50 })
		r.Unplug()
		s.Await(t, retry.LogUnavailable)
		lost := 0.0 // the way between the last report and the moment when it is switched off
		if reboot {
			var heard float64
			for range 3 { // the last frames may be from before
				heard = float64(c.position().X)
			}
			lost = r.State().X - heard
			r.Reboot()
		}
		must.Do(t, r.Plug())
		n := r.Commands()
		waiting.Until(t, "the robot is commanded again", func() bool { return r.Commands() > n+5 })
		c.until("data of a robot that stands", func() bool { return c.position().Speed == 0 })
		waiting.Until(t, "it stands", func() bool { return r.State().Left == 0 })
		c.until("its odometry is the true way", func() bool {
			dx := r.State().X - lost - float64(c.position().X)
			return dx < 2 && dx > -2
		})
	}
}

func TestKobukiFails(t *testing.T) {
	t.Parallel()
	_, s := startKobuki(t, kobuki.Options{Line: line.Options{Baud: 57600, Garble: true}})
	s.dial(t).mustOpen("pr", "pe")
	s.Await(t, "bytes came that are not understood, nothing that a Kobuki sends")
}
