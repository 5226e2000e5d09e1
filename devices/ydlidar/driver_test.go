package ydlidar

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/transport/transporttest"
)

type client struct{}

func (client) SetupDone(time.Duration, *devices.Device, error) {}

// All packets of one read are taken at once, also those that the buffer holds beside the
// first, and not with the next read.
func TestPacketsOfOneRead(t *testing.T) {
	kind, world, table := Kind(), transporttest.NewWorld(), devices.NewTable(zap.NewNop())
	driver, err := kind.New(devices.Args{Name: kind.Name, Values: kind.Defaults()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Attach(kind.Instance(driver)); err != nil {
		t.Fatal(err)
	}
	table.Connect(world)
	if _, err := table.Device(codec.Laser).Subscribe(world.Now(), client{}); err != nil {
		t.Fatal(err)
	}
	p := sealed(10, 11, 4000, 4000)
	world.Port().Say(slices.Concat(p, p, p, p[:5]))
	if got := driver.(*Driver).framing.Stats.Packets; got != 3 {
		t.Errorf("%d packets, want 3", got)
	}
}
