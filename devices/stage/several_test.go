package stage

import (
	"math"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/e2e/acceptance"
	"player/e2e/must"
)

// A robot has a device for each of its lasers, cameras and grippers, in the order of the file. Worlds that had a warning
// about the second have none.
func TestSeveralDevicesOfAKind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, robot                        string
		lasers, cameras, grippers, rangers int
	}{
		{"lasers", `position ( laser ( ) laser ( ) )`, 2, 0, 0, 0},
		{"lasers of one ranger", `position ( ranger ( sensor ( samples 180 ) sensor ( samples 180 ) sensor ( ) ) )`, 2, 0, 0, 1},
		{"a laser of each form", `include "sick.inc"` + "\n" + `position ( sicklaser ( ) laser ( ) sicklaser ( ) )`, 3, 0, 0, 2},
		{"cameras", `position ( blobfinder ( ) blobfinder ( ) blobfinder ( ) )`, 0, 3, 0, 0},
		{"grippers", `position ( gripper ( ) gripper ( pose [0 0 0 180] ) )`, 0, 0, 2, 0},
		{"all", robotWorld + `pioneer_full ( sicklaser ( pose [-0.3 0 0 180] ) camera ( ) p2gripper ( pose [-0.3 0 -0.21 180] ) )`, 2, 2, 2, 3},
	} {
		b := newBench(t, newWorld(t, tt.robot))
		want := map[byte]int{codec.Laser: tt.lasers, codec.Vision: tt.cameras, codec.PTZ: tt.cameras, codec.Gripper: tt.grippers,
			codec.Ranger: tt.rangers}
		var all []*devices.Device
		for letter, n := range want {
			all = append(all, b.subscribe(t, 0, letter, n)...)
			if b.tables[0].Find(letter, n) != nil {
				t.Errorf("%s: more than %d devices %c", tt.name, n, letter)
			}
		}
		b.run(publishPeriod)
		for _, d := range all {
			if d.Seq() == 0 || d.Code() == 0 {
				t.Errorf("%s: %s has no data, or clients do not see it", tt.name, d.Spec().Address())
			}
			if parts := d.AppendParts(nil); d.Letter() != codec.Ranger && len(parts) != 1 {
				t.Errorf("%s: %s has %d parts", tt.name, d.Spec().Address(), len(parts))
			}
		}
	}
}

// bothWays is a robot with a laser, a camera and a gripper at its front, and others at its back.
const bothWays = hall + `
post ( name "red" color "red" pose [3 0 0 0] ) post ( name "blue" color "blue" pose [-2 0 0 0] )
puck ( name "near" pose [0.23 0 0 0] ) puck ( name "far" pose [-0.31 0 0 0] )
pioneer_full ( name "r0" sicklaser ( pose [-0.15 0 0 180] ) camera ( pose [-0.15 0 0.23 180] ) p2gripper ( pose [-0.26 0 -0.21 180] ) )`

// Each of two lasers and cameras looks from its own place, and each head and gripper has its own commands.
func TestSeveralDevicesDoNotShare(t *testing.T) {
	acceptance.Alone(t)
	t.Parallel()
	b := newBench(t, newWorld(t, bothWays))
	lasers, cameras := b.subscribe(t, 0, codec.Laser, 2), b.subscribe(t, 0, codec.Vision, 2)
	heads, grippers := b.subscribe(t, 0, codec.PTZ, 2), b.subscribe(t, 0, codec.Gripper, 2)
	b.run(publishPeriod)
	for i, want := range []uint16{3000 - 100 - 80, 2000 - 100 - 150} { // the posts are 0.2 m thick
		var scan codec.LaserData
		must.Do(t, scan.Decode(lasers[i].Data()))
		if got := scan[180]; math.Abs(float64(got)-float64(want)) > 25 { // a grid cell
			t.Errorf("laser %d reads %d ahead, want %d", i, got, want)
		}
		if at := lasers[i].AppendParts(nil)[0]; at.X != []float64{80, -150}[i] {
			t.Errorf("laser %d is at %v mm", i, at.X)
		}
		var seen codec.VisionData
		must.Do(t, seen.Decode(cameras[i].Data()))
		for _, channel := range []int{0, 2} { // red and blue
			if want := channel == 2*i; want != (seen.Count[channel] > 0) {
				t.Errorf("camera %d sees %d blobs in channel %d", i, seen.Count[channel], channel)
			}
		}
	}
	heads[1].SetCommand(b.now, (&codec.PTZCommand{Pan: 40}).Append(nil))
	grippers[1].SetCommand(b.now, codec.GripperCommand{Code: codec.GripStore}.Append(nil))
	b.run(6 * time.Second)
	r := b.world.robots[0]
	for i, want := range []int16{0, 40} {
		var head codec.PTZData
		must.Do(t, head.Decode(heads[i].Data()))
		if head.Pan != want {
			t.Errorf("head %d is at %d degrees, want %d", i, head.Pan, want)
		}
		var grip codec.GripperData
		must.Do(t, grip.Decode(grippers[i].Data()))
		if closed := grip.State&codec.PaddlesClosed != 0; closed != (i == 1) {
			t.Errorf("gripper %d: %+v", i, grip)
		}
	}
	far := r.grippers[1].gripped
	if far == nil || far.name != "far" || far.lifted == 0 || r.grippers[0].gripped != nil {
		t.Fatalf("the grippers have %v and %v", r.grippers[0].gripped, far)
	}
	// It goes with the robot, and so does the thing in the other gripper.
	grippers[0].SetCommand(b.now, codec.GripperCommand{Code: codec.GripClose}.Append(nil))
	b.run(2 * time.Second)
	near := r.grippers[0].gripped
	if near == nil || near.name != "near" {
		t.Fatal("the gripper in front has nothing")
	}
	r.drive.command(0, 30)
	b.run(3 * time.Second)
	for _, thing := range []*body{near, far} {
		if at := thing.pose.Position().Length(); math.Abs(at-0.27) > 0.06 || math.Abs(thing.pose.Y) < 0.2 {
			t.Errorf("%s is at %v", thing.name, thing.pose)
		}
	}
	// At the end of the last client both heads go home, and a reset opens both grippers.
	for _, d := range heads {
		d.Unsubscribe(b.now, b)
	}
	b.run(3 * time.Second)
	b.world.Reset(b.now, 1)
	if r.cameras[1].head != (head{}) || r.grippers[0].gripped != nil || r.grippers[1].gripped != nil || r.grippers[1].paddles.at != 1 {
		t.Errorf("after a reset: head %+v, grippers %+v and %+v", r.cameras[1].head, r.grippers[0], r.grippers[1])
	}
}

// The errors of a second laser are its own, and those of the first do not depend on it.
func TestErrorsOfTwoLasers(t *testing.T) {
	t.Parallel()
	const sick = ` ranger ( sensor ( samples 361 range [0 8] noise [0.05 0 0] ) )`
	read := func(robot string, n int) (scans [2]codec.LaserData) {
		b := newBench(t, newWorld(t, hall+"position ( name \"r0\" "+robot+" )"))
		lasers := b.subscribe(t, 0, codec.Laser, n)
		b.run(publishPeriod)
		for i, d := range lasers {
			must.Do(t, scans[i].Decode(d.Data()))
		}
		return scans
	}
	one, two := read(sick, 1), read(sick+sick, 2)
	if one[0] != two[0] {
		t.Error("the readings of the first laser depend on the second")
	}
	if two[0] == two[1] {
		t.Error("two lasers have the same errors")
	}
}

// The channels of each camera have the colours that the world gives it.
func TestColorsOfChannels(t *testing.T) {
	b := newBench(t, newWorld(t, `position ( blobfinder ( colors ["orange" "navy"] ) blobfinder ( ) blobfinder ( colors ["#123456"] ) gripper ( ) )`))
	want := [][]codec.ChannelColor{{{Device: codec.Vision, Color: 0xffa500}, {Device: codec.Vision, Channel: 1, Color: 0x80}}, nil, {{Color: 0x123456}}}
	for i, d := range b.subscribe(t, 0, codec.Vision, 3) {
		got := d.AppendColors(nil)
		for j := range want[i] {
			want[i][j].Device = d.Code()
		}
		if !slices.Equal(got, want[i]) {
			t.Errorf("camera %d: %+v, want %+v", i, got, want[i])
		}
	}
	if got := b.subscribe(t, 0, codec.Gripper, 1)[0].AppendColors(nil); got != nil {
		t.Errorf("the gripper has %+v", got)
	}
}
