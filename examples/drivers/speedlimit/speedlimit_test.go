package speedlimit

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/testpattern"
	"player/devices/transport/transporttest"
)

type client struct{}

func (client) SetupDone(time.Duration, *devices.Device, error) {}

// On top of the driver testpattern, whose wheels report their
// command.
func Example() {
	world, table := transporttest.NewWorld(), devices.NewTable(zap.NewNop())
	pattern, _ := testpattern.New(testpattern.Pattern{Rate: 10})
	inner, _ := table.Attach(devices.Instance{Driver: pattern, Name: "testpattern", Provides: []devices.Spec{devices.Position().At(1)}})
	kind := Kind()
	driver, _ := kind.New(devices.Args{Name: kind.Name, Values: kind.Defaults(), Requires: []*devices.Device{inner.Device(codec.Position)}})
	_, _ = table.Attach(kind.Instance(driver))
	table.Connect(world)

	position := table.Device(codec.Position)
	_, _ = position.Subscribe(world.Now(), client{})
	for _, speed := range []int16{100, 900, -900} {
		position.SetCommand(world.Now(), codec.PositionCommand{Speed: speed}.Append(nil))
		world.Pass(time.Second)
		var d codec.PositionData
		_ = d.Decode(position.Data())
		fmt.Println(d.Speed)
	}
	position.Unsubscribe(world.Now(), client{})
	fmt.Println(position.Link().State(), inner.State())
	// Output:
	// 100
	// 200
	// -200
	// idle idle
}
