package testpattern_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"player/codec"
	"player/codec/compact"
	"player/devices/testpattern"
	"player/e2e/must"
	"player/examples/lab"
)

var update = flag.Bool("update", false, "write testdata/drive.bin")

// TestRecord records a drive of a simulated robot in an office, and the driver accepts it.
// With the flag -update the drive takes a minute and a half, and is written to testdata.
// That file need not follow changes of the simulator.
func TestRecord(t *testing.T) {
	length := 3 * time.Second
	if *update {
		length = 90 * time.Second
	}
	moments := must.Get(lab.Drive("../../simulation/worlds/office.world", length))(t)
	var file []byte
	for i := 0; i < len(moments); i += 6 {
		var items []byte
		for _, letter := range []byte{codec.Laser, codec.Sonar, codec.Position} {
			items = compact.Append(items, letter, moments[i][letter], codec.Scan{})
		}
		file = codec.AppendBlock(file, codec.KindCompact, items)
	}
	if len(file) == 0 {
		t.Fatal("nothing was recorded")
	}
	must.Get(testpattern.New(testpattern.Pattern{Rate: 10, LaserSize: codec.LaserSize, Drive: file}))(t)
	if *update {
		must.Do(t, os.WriteFile("testdata/drive.bin", file, 0o644))
	}
}
