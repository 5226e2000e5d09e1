package testpattern_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"player/codec"
	"player/codec/compact"
	"player/lab"
)

var update = flag.Bool("update", false, "write testdata/drive.bin")

// TestRecord writes the drive if the flag -update is set: a minute and a half of a
// simulated robot in an office. The file need not follow changes of the simulator.
func TestRecord(t *testing.T) {
	if !*update {
		t.Skip("without -update")
	}
	moments, err := lab.Drive("../../worlds/office.world", 90*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var file []byte
	for i := 0; i < len(moments); i += 6 {
		var items []byte
		for _, letter := range []byte{codec.Laser, codec.Sonar, codec.Position} {
			items = compact.Append(items, letter, moments[i][letter], codec.Scan{})
		}
		file = codec.AppendBlock(file, codec.KindCompact, items)
	}
	if err := os.WriteFile("testdata/drive.bin", file, 0o644); err != nil {
		t.Fatal(err)
	}
}
