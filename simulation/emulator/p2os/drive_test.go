package p2os

import (
	"math"
	"testing"
	"time"
)

func near(a, b, within float64) bool { return math.Abs(a-b) <= within }

func TestDriveStraightWithRamps(t *testing.T) {
	d := drive{axle: 320, accel: 500, decel: 250}
	d.turn(500, 0)
	d.advance(time.Second) // 1 s to 500 mm/s: 250 mm
	if !near(d.left, 500, 1e-9) || !near(d.world.X, 250, 1e-6) {
		t.Errorf("after the ramp: %v mm/s, %v mm", d.left, d.world.X)
	}
	d.advance(3 * time.Second) // 1000 mm
	d.turn(0, 0)
	d.advance(4 * time.Second) // half of the braking, 375 mm
	if !near(d.left, 250, 1e-9) || !near(d.world.X, 1625, 1e-6) {
		t.Errorf("slowing: %v mm/s, %v mm", d.left, d.world.X)
	}
	d.advance(time.Hour) // 125 mm
	if d.moving() || !near(d.world.X, 1750, 1e-6) || d.world.Y != 0 || d.world.Heading != 0 {
		t.Errorf("stopped: %v mm/s, %+v", d.left, d.world)
	}
}

func TestDriveTurnsBack(t *testing.T) {
	d := drive{axle: 320, accel: 100, decel: 1000, left: 500, right: 500}
	d.turn(-600, 0)
	d.advance(500 * time.Millisecond) // brakes to a stop
	if !near(d.left, 0, 1e-9) {
		t.Errorf("braked to %v mm/s", d.left)
	}
	d.advance(1500 * time.Millisecond)
	if !near(d.left, -100, 1e-9) {
		t.Errorf("backs at %v mm/s", d.left)
	}
}

func TestDriveInACircle(t *testing.T) {
	d := drive{axle: 320, accel: math.Inf(1), decel: math.Inf(1)}
	d.turn(200, 36)
	f, rate := d.wanted()
	if !near(f, 200, 1e-9) || !near(rate, 36, 1e-9) {
		t.Fatalf("wanted %v mm/s, %v deg/s", f, rate)
	}
	// In the first step the speed rises from 0 to full, half of it on average,
	// so that step comes before the measured circle.
	d.advance(step)
	start := d.world
	d.advance(step + 2500*time.Millisecond)
	if !near(d.world.Heading-start.Heading, 90, 1e-6) {
		t.Errorf("turned %v degrees", d.world.Heading-start.Heading)
	}
	d.advance(step + 10*time.Second)
	if !near(d.world.X, start.X, 1e-6) || !near(d.world.Y, start.Y, 1e-6) || !near(d.world.Heading-start.Heading, 360, 1e-6) {
		t.Errorf("circle from %+v ends at %+v", start, d.world)
	}
}

func TestDriveIsTheSameHoweverOftenAsked(t *testing.T) {
	coarse := drive{axle: 320, accel: 300, decel: 300}
	coarse.turn(300, 20)
	fine := coarse
	for now := time.Duration(0); now < 2*time.Second; now += 3 * time.Millisecond {
		fine.advance(now)
	}
	coarse.advance(2 * time.Second)
	fine.advance(2 * time.Second)
	if !near(coarse.world.X, fine.world.X, .01) || !near(coarse.world.Y, fine.world.Y, .01) {
		t.Errorf("%+v\n%+v", coarse.world, fine.world)
	}
}

func TestLimit(t *testing.T) {
	d := drive{accel: 1, decel: 2}
	d.limit(30)
	d.limit(-40)
	d.limit(0)
	if d.accel != 30 || d.decel != 40 {
		t.Errorf("accel %v, decel %v", d.accel, d.decel)
	}
}
