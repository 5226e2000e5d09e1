package stage

import (
	"math"
	"testing"

	"player/codec"
	"player/devices/stage/floor"
)

// A world of Stage 1: an environment from a picture, poses of three numbers, devices
// with the names of Player.
func TestWorldOfStage1(t *testing.T) {
	// Four by two pixels, the lower left one dark.
	plan := write(t, t.TempDir(), "plan.pgm", "P5\n4 2\n255\n\xff\xff\xff\xff\x00\xff\xff\xff")
	w := newWorld(t, `
gui ( size [500 500] scale 0.02 )
environment ( file "`+plan+`" scale 2 )
box ( pose [7 1 0] size [1 1] )
puck ( pose [4 3.5 0] size [0.2 0.2] )
position ( name "robot1" port 6665 pose [5 1 180]
  player ( )
  sonar ( )
  laser ( range_max 4 fov 90 pose [0.1 0 0] )
)`)
	r := w.Robot("robot1")
	if r.Port != 6665 || math.Abs(math.Abs(r.Pose().Heading)-math.Pi) > 1e-9 {
		t.Errorf("port %d, pose %v", r.Port, r.Pose())
	}
	if len(w.fixtures) != 2 || len(w.bodies) != 2 || !w.bodies[1].grasp {
		t.Errorf("%d fixtures, %d bodies", len(w.fixtures), len(w.bodies))
	}
	scan := r.readLaser()
	if scan[180] != 2900 || scan[80] != noEcho || r.lasers[0].reach != 4 {
		t.Errorf("the dark square is %d ahead, at the side %d", scan[180], scan[80])
	}
	want := newWorld(t, robotWorld+"pioneer2dx ( )").robots[0].sonars.ring
	if len(r.sonars.ring) != len(want) {
		t.Fatalf("%d sonars", len(r.sonars.ring))
	}
	for i, beam := range r.sonars.ring {
		if beam.pose.Position().Sub(want[i].pose.Position()).Length() > 1e-9 || math.Abs(floor.Wrap(beam.pose.Heading-want[i].pose.Heading)) > 1e-9 {
			t.Errorf("sonar %d at %v, want %v", i, beam.pose, want[i].pose)
		}
	}
}

// A world of Stage 2 and 3: rangers with poses in fields, a laser with its range, and a
// size of two numbers.
func TestWorldOfStage2(t *testing.T) {
	_, r := robotIn(t, `
define dish ranger ( scount 2 spose[0] [0.1 0.1 90] spose[1] [0.1 -0.1 -90] sview [0 3 20] ssize [0.01 0.05] )
define sick laser ( range_min 0.0 range_max 6.0 fov 180 samples 180 size [0.15 0.15] color "blue" )
define rover position ( size [0.4 0.4] origin [-0.04 0 0] dish ( ) sick ( pose [0.1 0 0] ) )
rover ( pose [1 2 90] localization "gps" localization_origin [0 0 0] )`)
	if len(r.sonars.ring) != 2 || r.sonars.reach != 3 || r.lasers[0].reach != 6 {
		t.Errorf("sonars %v, laser %v", r.sonars, r.lasers[0])
	}
	if got := r.sonars.ring[1].pose; math.Abs(got.Heading+math.Pi/2) > 1e-9 || got.Y != -0.1 {
		t.Errorf("the second sonar at %v", got)
	}
	ranged := newWorld(t, "include \"sick.inc\"\nposition ( sicklaser ( samples 32 range_max 5 fov 90 size [0.3 0.3 0.2] ) )").robots[0].lasers[0]
	if ranged.reach != 5 || math.Abs(ranged.fov-math.Pi/2) > 1e-9 {
		t.Errorf("a laser with a range of its own: %v", ranged)
	}
	kinect := withWarnings(t, "position ( ranger ( sensor ( range_max 6.5 samples 640 fov 58 )\nsensor ( range [0 2] range_max 4 ) ) )")
	if s := kinect.robots[0].rangers[0].sensors; s[0].reach != 6.5 || s[1].reach != 2 || len(kinect.Warnings()) != 1 {
		t.Errorf("the sensors see %v and %v m far, warnings %q", s[0].reach, s[1].reach, kinect.Warnings())
	}
	tracker := newWorld(t, `position ( fiducial_id 7 blobfinder ( channel_count 2 channels ["green" "red"] range_max 8 ) )`)
	if c := tracker.robots[0].cameras[0]; c.reach != 8 || c.palette[Color{255, 0, 0}] != 1 || tracker.fiducials[0].id != 7 {
		t.Errorf("camera %+v, tags %v", c, tracker.fiducials)
	}
	var at codec.PositionData
	if r.readPosition(&at); at.X != 1000 || at.Y != 2000 || at.Heading != 90 {
		t.Errorf("position %v", at)
	}
}

// In Stage 1 and 2 all things are as high as is necessary to be detected.
func TestThingsWithoutHeight(t *testing.T) {
	plan := write(t, t.TempDir(), "plan.pgm", "P5\n1 1\n255\n\x00")
	for _, thing := range []string{`bitmap "` + plan + `"`, `gripper_return 1`, ``} {
		_, r := robotIn(t, `model ( pose [2 0 0] size [1 1] `+thing+" )\nposition ( sonar ( pose [0 0 0.3 0] ) laser ( pose [0 0 0.3 0] ) )")
		if laser, sonar := r.readLaser()[180], r.readSonars()[3]; laser < 1480 || laser > 1500 || sonar > 1500 {
			t.Errorf("%s: the laser sees it at %d mm, the sonar at %d", thing, laser, sonar)
		}
	}
}

// Before Stage 4, 0 and words said which sensors detect a model.
func TestOldReturns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fields                  string
		echo, solid, seen, warn bool
	}{
		{``, true, true, true, false},
		{`ranger_return 0`, true, true, true, false}, // of Stage 4
		{`ranger_return -1`, false, true, true, false},
		{`laser_return 0`, false, true, true, false},
		{`laser_return 1`, true, true, true, false},
		{`laser_return 2`, true, true, true, false},
		{`laser_return 0 ranger_return 0`, false, true, true, false},
		{`laser_return 0 ranger_return 1`, false, true, true, true},
		{`laser_return 1 ranger_return 0`, true, true, true, true},
		{`laser_return 1 ranger_return 0.5`, true, true, true, false},
		{`laser_return "invisible" sonar_return "invisible"`, false, true, true, false},
		{`laser_return "bright" sonar_return "visible"`, true, true, true, false},
		{`sonar_return "invisible"`, false, true, true, false},
		{`obstacle_return "invisible"`, true, false, true, false},
		{`vision_return "invisible"`, true, true, false, false},
		{`blobfinder_return 0`, true, true, false, false},
	} {
		w, err := parseWorld("model ( pose [5 0 0 0] " + tt.fields + " )\nposition ( )")
		if err != nil {
			t.Errorf("%s: %v", tt.fields, err)
			continue
		}
		m := w.fixtures[0].parts[0].material
		if m.echo != tt.echo || m.solid != tt.solid || m.channel >= 0 != tt.seen || len(w.Warnings()) > 0 != tt.warn {
			t.Errorf("%s: %+v, warnings %q", tt.fields, m, w.Warnings())
		}
	}
}
