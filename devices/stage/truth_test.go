package stage

import (
	"bytes"
	"errors"
	"testing"
)

func TestTruthLog(t *testing.T) {
	w := newWorld(t, robotWorld+`wall ( pose [1.2 0 0 90] size [3 0.2 1] )
define jumpy pioneer2dx ( acceleration_bounds [-1000 1000 0 0 0 0 -100000 100000] )
crate ( name "box" pose [-3 1 0 90] pushable 1 ) jumpy ( name "r0" pose [0.870 0 0 0] ) jumpy ( name "two, too" pose [0 2 0 -90] )`)
	var log bytes.Buffer
	w.LogTruth(&log)
	w.robots[0].drive.command(500, 0)
	w.robots[1].drive.command(-100, 0)
	w.Step(20)
	if err := w.FlushTruth(); err != nil {
		t.Fatal(err)
	}
	const want = `time_s,robot,x_m,y_m,heading_deg,speed_m_s,turnrate_deg_s,stall,bumped
0.00,r0,0.8700,0.0000,0.00,0.0000,0.00,0,0
0.00,"two, too",0.0000,2.0000,-90.00,0.0000,0.00,0,0
0.00,box,-3.0000,1.0000,90.00,,,,
0.10,r0,0.9175,0.0000,0.00,0.5000,0.00,0,1
0.10,"two, too",0.0000,2.0095,-90.00,-0.1000,0.00,0,0
0.10,box,-3.0000,1.0000,90.00,,,,
0.20,r0,0.9200,0.0000,0.00,0.0000,0.00,1,1
0.20,"two, too",0.0000,2.0195,-90.00,-0.1000,0.00,0,0
0.20,box,-3.0000,1.0000,90.00,,,,
`
	if log.String() != want {
		t.Errorf("the log is\n%swant\n%s", log.String(), want)
	}
}

type fullDisk struct{}

var errFull = errors.New("disk full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestTruthErrors(t *testing.T) {
	w := newWorld(t, robotWorld+`pioneer2dx ( )`)
	if err := w.FlushTruth(); err != nil {
		t.Errorf("without a log: %v", err)
	}
	w.LogTruth(fullDisk{})
	if w.Step(10); !errors.Is(w.FlushTruth(), errFull) {
		t.Error("a full disk is not reported")
	}
}

func TestTruthAllocatesNothing(t *testing.T) {
	w := newWorld(t, arena(5, "pioneer2dx"))
	w.LogTruth(&bytes.Buffer{})
	w.truth.out.Reset(discard{})
	w.Step(20)
	if n := testing.AllocsPerRun(20, func() { w.Step(10) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
