package kobuki

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

// All reports of one read are taken at once, also those that the buffer holds beside the
// first, and not with the next read.
func TestReportsOfOneRead(t *testing.T) {
	kind, world, table := Kind(), transporttest.NewWorld(), devices.NewTable(zap.NewNop())
	driver, err := kind.New(devices.Args{Name: kind.Name, Values: kind.Defaults()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Attach(kind.Instance(driver)); err != nil {
		t.Fatal(err)
	}
	table.Connect(world)
	misc := table.Device(codec.Misc)
	if _, err := misc.Subscribe(world.Now(), client{}); err != nil {
		t.Fatal(err)
	}
	later := packet(1, 15, 0x48, 0x12, 0, 0, 0, 0xFE, 0xFF, 0x01, 0x80, 200, 56, 0, 6, 120, 0b01)
	world.Port().Say(slices.Concat(full, later, later[:9]))
	if got := misc.Data(); len(got) != codec.MiscSize || got[2] != 120 {
		t.Errorf("%v, want the battery of the second report", got)
	}
}
