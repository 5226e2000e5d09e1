package driveto

import (
	"math"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/stage"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

// A simulated robot drives through an office into another room, with each kind of sensor. It does not touch a wall.
func TestWorld(t *testing.T) {
	for _, spec := range []devices.Spec{devices.Laser(), devices.Ranger(), devices.Sonar()} {
		world := must.Get(stage.Load("../../simulation/worlds/office.world"))(t)
		host, table := transporttest.NewWorld(), devices.NewTable(zap.NewNop())
		body, simulated := world.Robots()[0], world.Instances()[0]
		must.Get(table.Attach(simulated))(t)
		wheels, eyes := table.Find(codec.Position, 0), table.Find(spec.Letter, 0)
		kind := Kind()
		driver := must.Get(New(wheels, []*devices.Device{eyes}, Limits{400, 60, 50, 0}))(t)
		link := must.Get(table.Attach(kind.Instance(driver)))(t)
		table.Connect(host)
		device := link.Devices()[0]
		if pending, err := device.Subscribe(host.Now(), &robot{}); pending || err != nil {
			t.Fatal(pending, err)
		}
		host.Pass(time.Second)
		device.SetCommand(host.Now(), codec.GotoCommand{X: 2000, Y: 2500, Heading: 270}.Append(nil))
		stalls := 0
		var data codec.GotoData
		for end := host.Now() + 3*time.Minute; host.Now() < end; host.Pass(100 * time.Millisecond) {
			stalls += int(transporttest.Data[codec.PositionData](t, wheels).Stall)
			if data = transporttest.Data[codec.GotoData](t, device); !data.State.Active() {
				break
			}
		}
		p := transporttest.Data[codec.PositionData](t, wheels)
		if data.State != codec.GotoArrived || math.Hypot(float64(p.X)-2000, float64(p.Y)-2500) > 60 || p.Heading < 267 || p.Heading > 273 || stalls != 0 {
			t.Errorf("%s: %+v, odometry %+v, truth %+v, stalled for %d tenths of a second", spec.Name, data, p, body.Pose(), stalls)
		}
	}
}
