package voltmeter

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/transport/transporttest"
)

type client struct{}

func (client) SetupDone(_ time.Duration, d *devices.Device, err error) {
	fmt.Printf("setup of %s: %v\n", d.Spec().Name, err)
}

// A driver is tested in a world of its own: simulated time, and a port whose
// far end is the test.
func Example() {
	kind, world, table := Kind(), transporttest.NewWorld(), devices.NewTable(zap.NewNop())
	driver, _ := kind.New(devices.Args{Name: kind.Name, Values: kind.Defaults()})
	_, _ = table.Attach(kind.Instance(driver))
	table.Connect(world)
	misc := table.Device(codec.Misc)

	pending, err := misc.Subscribe(world.Now(), client{})
	fmt.Println(pending, err, world.Port().Name, world.Port().Baud, string(world.Port().Wrote))
	world.Port().Say([]byte("2.6\nV 1")) // came in the middle of a line
	world.Port().Say([]byte("2.4\r\n"))
	fmt.Println(misc.Data())

	world.Port().HangUp() // pulled out, and put back
	world.Pass(2 * time.Second)
	world.Port().Say([]byte("V 12.2\n"))
	fmt.Println(misc.Data(), len(world.Ports), "ports")

	misc.Unsubscribe(world.Now(), client{})
	world.Pass(time.Second)
	fmt.Println(misc.Link().State(), world.Port().Closed)
	// Output:
	// true <nil> /dev/ttyUSB0 9600 ?
	// setup of misc: <nil>
	// [0 0 124]
	// [0 0 122] 2 ports
	// idle true
}
