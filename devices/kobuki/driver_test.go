package kobuki

import (
	"slices"
	"testing"

	"player/codec"
	"player/devices/transport/transporttest"
)

// All reports of one read are taken at once, also those that the buffer holds beside the
// first, and not with the next read.
func TestReportsOfOneRead(t *testing.T) {
	b, _ := transporttest.NewKind(t, Kind())
	b.Subscribe()
	later := packet(1, 15, 0x48, 0x12, 0, 0, 0, 0xFE, 0xFF, 0x01, 0x80, 200, 56, 0, 6, 120, 0b01)
	b.Port().Say(slices.Concat(full, later, later[:9]))
	if got := b.Link.Device(codec.Misc).Data(); len(got) != codec.MiscSize || got[2] != 120 {
		t.Errorf("%v, want the battery of the second report", got)
	}
}
