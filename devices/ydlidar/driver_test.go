package ydlidar

import (
	"slices"
	"testing"

	"player/codec"
	"player/devices/transport/transporttest"
)

// All packets of one read are taken at once, also those that the buffer holds beside the
// first, and not with the next read.
func TestPacketsOfOneRead(t *testing.T) {
	world := transporttest.NewWorld()
	driver, _, err := world.Open(Kind(), codec.Laser)
	if err != nil {
		t.Fatal(err)
	}
	p := sealed(10, 11, 4000, 4000)
	world.Port().Say(slices.Concat(p, p, p, p[:5]))
	if got := driver.(*Driver).parser.Stats.Packets; got != 3 {
		t.Errorf("%d packets, want 3", got)
	}
}
