package reflex

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

// drive has a client repeat a command to a simulated robot for a while. It returns the
// distance driven, m, and for how many tenths of a second the wheels were blocked.
func drive(t *testing.T, path string, protected bool, c codec.PositionCommand, d time.Duration) (way float64, blocked int) {
	t.Helper()
	world := must.Get(stage.Load(path))(t)
	host, table := transporttest.NewWorld(), devices.NewTable(zap.NewNop())
	body, simulated := world.Robots()[0], world.Instances()[0]
	simulated.Select([]devices.Spec{devices.Position().At(1), devices.Sonar(), devices.Misc()})
	must.Get(table.Attach(simulated))(t)
	position := table.Find(codec.Position, 1)
	if protected {
		driver := must.Get(New(position, []*devices.Device{table.Device(codec.Sonar), table.Device(codec.Misc)}, defaultRange))(t)
		must.Get(table.Attach(Kind().Instance(driver)))(t)
		position = table.Device(codec.Position)
	}
	table.Connect(host)
	if pending, err := position.Subscribe(host.Now(), &robot{}); pending || err != nil {
		t.Fatal(pending, err)
	}
	position.SetCommand(host.Now(), c.Append(nil))
	last := body.Pose()
	for end := host.Now() + d; host.Now() < end; {
		host.Pass(100 * time.Millisecond)
		p := body.Pose()
		way += math.Hypot(p.X-last.X, p.Y-last.Y)
		last = p
		if transporttest.Data[codec.PositionData](t, position).Stall != 0 {
			blocked++
		}
	}
	return way, blocked
}

// TestDeadProgram: a client's last command is "full speed", and no other follows. The result
// depends on the reflexes.
func TestDeadProgram(t *testing.T) {
	const tenths = 3 * 60 * 10
	for _, c := range []struct {
		name, path string
		command    codec.PositionCommand
		way        float64 // m at least, with reflexes
		blocked    int     // tenths of a second at most, with reflexes
	}{
		{"a room", "../../simulation/worlds/room.world", codec.PositionCommand{Speed: 500}, 30, 150},
		{"a curve", "../../simulation/worlds/room.world", codec.PositionCommand{Speed: 400, TurnRate: 12}, 30, 50},
		{"a corner that gives no echo", "../../simulation/worlds/subsumption-corner.world", codec.PositionCommand{Speed: 400}, 20, 250},
		{"backward", "../../simulation/worlds/room.world", codec.PositionCommand{Speed: -300}, 0.5, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, blocked := drive(t, c.path, false, c.command, tenths*100*time.Millisecond)
			if blocked < tenths/2 {
				t.Errorf("without reflexes it is blocked for %d tenths of %d only: this world proves nothing", blocked, tenths)
			}
			way, blocked := drive(t, c.path, true, c.command, tenths*100*time.Millisecond)
			if way < c.way || blocked > c.blocked {
				t.Errorf("with reflexes: a way of %.1f m, blocked for %d tenths of a second", way, blocked)
			}
		})
	}
}
