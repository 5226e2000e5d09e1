package stage

import (
	"testing"
	"time"

	"player/codec"
)

const watched = robotWorld + `
pioneer2dx ( name "r0" pose [1 -2 0 90] odom_error [0.5 0 0.5] )
pioneer2dx ( name "r1" pose [4 4 0 0] )
overhead ( robot "r1" )
overhead ( name "eye" robot "r0" port 7000 )`

// An overhead camera reports the true pose of its robot in the frame of the world,
// whatever the robot's odometry counts.
func TestOverhead(t *testing.T) {
	b := newBench(t, newWorld(t, watched))
	const robot, eye = 0, 3
	b.open(t, robot, "p")
	b.open(t, eye, "p")
	b.drive(robot, 200, 0)
	b.run(5 * time.Second)
	b.drive(robot, 0, 0)
	b.run(2 * time.Second)
	seen, odometry := b.position(t, eye), b.position(t, robot)
	if seen.X != 1000 || seen.Y < -1020 || seen.Y > -980 || seen.Heading != 90 || seen.Compass != 90 || seen.Speed != 0 {
		t.Errorf("seen at %+v, want about 1000, -1000, 90 degrees, standing", seen)
	}
	if odometry.X == seen.Y+2000 {
		t.Errorf("the odometry %+v does not slip: this shows nothing", odometry)
	}
	if seen.Time != odometry.Time {
		t.Errorf("seen at %d ms, the robot reported at %d ms", seen.Time, odometry.Time)
	}
	if seq := b.tables[eye].Device('p').Seq(); seq < 70 || seq > 72 {
		t.Errorf("%d reports in 7 s", seq)
	}
}

// The world runs while only a camera is open, is paused without one, and follows
// a change of its speed.
func TestOverheadKeepsTheWorldRunning(t *testing.T) {
	b := newBench(t, newWorld(t, watched))
	b.open(t, 2, "p")
	b.run(time.Second)
	if b.world.Time() < 900*time.Millisecond {
		t.Errorf("the world is at %v after a second", b.world.Time())
	}
	b.world.SetSpeed(b.now, 10)
	before := b.tables[2].Device('p').Seq()
	b.run(time.Second)
	if n := b.tables[2].Device('p').Seq() - before; n < 90 {
		t.Errorf("%d reports in a second at ten times the speed", n)
	}
	b.close(2, "p")
	stopped := b.world.Time()
	b.run(time.Second)
	if b.world.Time() != stopped {
		t.Error("the world runs without clients")
	}
}

// The camera cannot drive its robot.
func TestOverheadTakesNoCommands(t *testing.T) {
	w := newWorld(t, watched)
	made := w.Instances()[3]
	if made.Port != 7000 || len(made.Provides) != 1 || made.Provides[0].Letter != codec.Position ||
		made.Provides[0].CommandSize != 0 || made.Provides[0].Stop != "" {
		t.Errorf("the camera provides %+v on port %d", made.Provides, made.Port)
	}
	if name := made.Driver.(*Tracking).Name(); name != "eye" {
		t.Errorf("its name is %q", name)
	}
	if name := w.Instances()[2].Driver.(*Tracking).Name(); name != "overhead r1" {
		t.Errorf("the name of the other is %q", name)
	}
}
