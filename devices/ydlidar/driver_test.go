package ydlidar

import (
	"slices"
	"testing"

	"player/devices/transport/transporttest"
)

// All packets of one read are taken at once, also those that the buffer holds beside the
// first, and not with the next read.
func TestPacketsOfOneRead(t *testing.T) {
	b, driver := transporttest.NewKind(t, Kind())
	b.Subscribe()
	p := sealed(10, 11, 4000, 4000)
	b.Port().Say(slices.Concat(p, p, p, p[:5]))
	if got := driver.(*Driver).parser.Stats.Packets; got != 3 {
		t.Errorf("%d packets, want 3", got)
	}
}
