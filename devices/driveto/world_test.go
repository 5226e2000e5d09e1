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
	"player/e2e/needs"
)

// office is a simulated robot in an office.
type office struct {
	host          *transporttest.World
	body          *stage.Robot
	wheels, drive *devices.Device
}

// inOffice starts a robot with a kind of sensor.
func inOffice(t *testing.T, spec devices.Spec) office {
	t.Helper()
	world := must.Get(stage.Load("../../simulation/worlds/office.world"))(t)
	host, table := transporttest.NewWorld(), devices.NewTable(zap.NewNop())
	must.Get(table.Attach(world.Instances()[0]))(t)
	wheels, eyes := table.Find(codec.Position, 0), table.Find(spec.Letter, 0)
	kind := Kind()
	driver := must.Get(New(wheels, []*devices.Device{eyes}, Limits{400, 60, 50, 0}))(t)
	link := must.Get(table.Attach(kind.Instance(driver)))(t)
	table.Connect(host)
	o := office{host, world.Robots()[0], wheels, link.Devices()[0]}
	if pending, err := o.drive.Subscribe(host.Now(), &robot{}); pending || err != nil {
		t.Fatal(pending, err)
	}
	host.Pass(time.Second)
	return o
}

// to drives to a goal until it has ended, or for some time. It returns how it has ended, and the tenths of a second in which
// the robot touched something.
func (o office) to(t *testing.T, goal codec.GotoCommand, most time.Duration) (data codec.GotoData, stalls int) {
	o.drive.SetCommand(o.host.Now(), goal.Append(nil))
	for end := o.host.Now() + most; o.host.Now() < end; o.host.Pass(100 * time.Millisecond) {
		stalls += int(transporttest.Data[codec.PositionData](t, o.wheels).Stall)
		if data = transporttest.Data[codec.GotoData](t, o.drive); !data.State.Active() {
			break
		}
	}
	return data, stalls
}

// A simulated robot drives through an office into another room, with each kind of sensor. It does not touch a wall.
func TestWorld(t *testing.T) {
	for _, spec := range []devices.Spec{devices.Laser(), devices.Ranger(), devices.Sonar()} {
		o := inOffice(t, spec)
		data, stalls := o.to(t, codec.GotoCommand{X: 2000, Y: 2500, Heading: 270}, 3*time.Minute)
		p := transporttest.Data[codec.PositionData](t, o.wheels)
		if data.State != codec.GotoArrived || math.Hypot(float64(p.X)-2000, float64(p.Y)-2500) > 60 || p.Heading < 267 || p.Heading > 273 || stalls != 0 {
			t.Errorf("%s: %+v, odometry %+v, truth %+v, stalled for %d tenths of a second", spec.Name, data, p, o.body.Pose(), stalls)
		}
	}
}

// A goal inside of a table is given up, although the robot drives around the table all the time.
func TestGoalInsideAnObstacle(t *testing.T) {
	needs.Time(t)
	for _, spec := range []devices.Spec{devices.Laser(), devices.Sonar()} {
		o := inOffice(t, spec)
		began := o.host.Now()
		data, _ := o.to(t, codec.GotoCommand{X: 2500, Y: -1200, Heading: codec.AnyHeading}, 10*time.Minute)
		if took := o.host.Now() - began; data.Reason != codec.GotoNoWay || took < 5*time.Minute {
			t.Errorf("%s: %+v after %v", spec.Name, data, took)
		}
	}
}
