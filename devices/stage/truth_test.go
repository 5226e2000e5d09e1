package stage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"player/e2e/must"
)

func TestTruthLog(t *testing.T) {
	w := newWorld(t, robotWorld+`wall ( pose [1.2 0 0 90] size [3 0.2 1] )
define jumpy pioneer2dx ( acceleration_bounds [-1000 1000 0 0 0 0 -100000 100000] )
crate ( name "box" pose [-3 1 0 90] pushable 1 ) jumpy ( name "r0" pose [0.870 0 0 0] ) jumpy ( name 'two, "too"' pose [0 2 0 -90] )`)
	var log bytes.Buffer
	w.LogTruth(&log)
	w.robots[0].drive.command(500, 0)
	w.robots[1].drive.command(-100, 0)
	w.Step(20)
	must.Do(t, w.FlushTruth())
	const want = `time_s,robot,x_m,y_m,heading_deg,speed_m_s,turnrate_deg_s,stall,bumped
0.00,r0,0.8700,0.0000,0.00,0.0000,0.00,0,0
0.00,"two, ""too""",0.0000,2.0000,-90.00,0.0000,0.00,0,0
0.00,box,-3.0000,1.0000,90.00,,,,
0.10,r0,0.9175,0.0000,0.00,0.5000,0.00,0,1
0.10,"two, ""too""",0.0000,2.0095,-90.00,-0.1000,0.00,0,0
0.10,box,-3.0000,1.0000,90.00,,,,
0.20,r0,0.9200,0.0000,0.00,0.0000,0.00,1,1
0.20,"two, ""too""",0.0000,2.0195,-90.00,-0.1000,0.00,0,0
0.20,box,-3.0000,1.0000,90.00,,,,
`
	if log.String() != want {
		t.Errorf("the log is\n%swant\n%s", log.String(), want)
	}
}

// A robot's fiducial finder sees tags on robots, things and fixtures that nothing hides, and
// the truth has lines of their own for them.
func TestSightings(t *testing.T) {
	w := newWorld(t, robotWorld+`
define finding pioneer2dx ( fiducial ( pose [0.1 0 0 0] range_max 4 range_max_id 3 fov 180 ) )
finding ( name "r0" fiducial_return 9 )
pioneer2dx ( name "r1" pose [2.1 0 0 90] fiducial_return 1 )
pioneer2dx ( name "behind r1" pose [3.5 0 0 0] fiducial_return 2 )
crate ( name "post" pose [0.1 2 0 45] size [0.1 0.1 1] fiducial_return 3 )
crate ( name "in the wall's shadow" pose [1.6 -1.5 0 0] pushable 1 fiducial_return 4 )
wall ( pose [0.6 -0.7 0 45] size [1 0.05 1] )
crate ( name "far, too" pose [0.1 -3.5 0 0] pushable 1 fiducial_return 5 )
crate ( name "too far" pose [0.1 4.5 0 0] fiducial_return 6 )
crate ( name "back" pose [-1 0 0 0] fiducial_return 7 )
crate ( name "of another key" pose [1 1 0 0] size [0.1 0.1 1] fiducial_return 8 fiducial_key 1 )
crate ( name "unmarked" pose [1 -0.2 2 0] )
`)
	var log bytes.Buffer
	w.LogTruth(&log)
	must.Do(t, w.FlushTruth())
	const want = `time_s,robot,x_m,y_m,heading_deg,speed_m_s,turnrate_deg_s,stall,bumped,sees,id,range_m,bearing_deg
0.00,r0,0.0000,0.0000,0.00,0.0000,0.00,0,0,,,,
0.00,r0,,,,,,,,r1,1,2.0000,0.00
0.00,r0,,,,,,,,"far, too",0,3.5000,-90.00
0.00,r0,,,,,,,,post,3,2.0000,90.00
0.00,r1,2.1000,0.0000,90.00,0.0000,0.00,0,0,,,,
0.00,behind r1,3.5000,0.0000,0.00,0.0000,0.00,0,0,,,,
0.00,in the wall's shadow,1.6000,-1.5000,0.00,,,,,,,,
0.00,"far, too",0.1000,-3.5000,0.00,,,,,,,,
`
	if log.String() != want {
		t.Errorf("the log is\n%swant\n%s", log.String(), want)
	}
	w.truth.out.Reset(io.Discard)
	if n := testing.AllocsPerRun(20, func() { w.Step(10) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A picture hides things behind its walls.
func TestSightingsBehindAPicture(t *testing.T) {
	for column, want := range map[string]int{"   #   ": 0, "       ": 1} {
		picture := writePNG(t, "#######", column, column, "#######")
		w := newWorld(t, fmt.Sprintf("model ( bitmap %q size [7 4 1] )\n", picture)+
			`position ( pose [-2 0 0 0] fiducial ( ) ) model ( pose [2 0 0 0] size [0.1 0.1 1] fiducial_return 1 name "post" )`)
		if got := w.robots[0].AppendSightings(nil); len(got) != want {
			t.Errorf("with %q: %v", column, got)
		}
	}
}

func TestTruthErrors(t *testing.T) {
	w := newWorld(t, robotWorld+`pioneer2dx ( )`)
	if err := w.FlushTruth(); err != nil {
		t.Errorf("without a log: %v", err)
	}
	full := must.Get(os.OpenFile("/dev/full", os.O_WRONLY, 0))(t)
	defer full.Close()
	w.LogTruth(full)
	if w.Step(10); !errors.Is(w.FlushTruth(), syscall.ENOSPC) {
		t.Error("a full disk is not reported")
	}
}
