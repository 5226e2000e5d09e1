package e2e

import (
	"testing"

	"player/e2e/waiting"
	"player/simulation/emulator/create"
	"player/simulation/emulator/line"
)

func startCreate(t *testing.T, o create.Options) (*create.Robot, *server) {
	t.Helper()
	o.Line.Link = newLine(t)
	return emulate(t, create.Start, o), serve(t, `driver ( name "create" provides ["position:0" "misc:0"] port %q )`, o.Line.Link)
}

// The robot drives, its odometry is the true way, and it stops when the client
// leaves. At both speeds of the interface, and left driving by another program.
func TestCreateDrives(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]create.Options{
		"115200":    {Counts: 32760},
		"19200":     {Line: line.Options{Baud: 19200, Paced: true, Garble: true}},
		"left open": {Streaming: true},
		"noise":     {Line: line.Options{Noise: line.Noise{Seed: 1, Garbage: 0.02, Flip: 0.02, Swallow: 0.02, Truncate: 0.02}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, s := startCreate(t, o)
			c := s.dial(t)
			c.mustOpen("pamr", "pamr")
			before := r.State()
			if before.Left != 0 || before.Right != 0 {
				t.Fatalf("it drives without a command: %+v", before)
			}
			c.drive(200, 0)
			c.until("it has driven 200 mm, at 200 mm/s", func() bool {
				p := c.position()
				return p.X > 200 && p.Speed > 150 && p.Speed < 250 && p.TurnRate == 0
			})
			c.drive(0, 40)
			c.until("it has turned", func() bool { h := c.position().Heading; return h > 20 && h < 180 })
			c.drive(0, 0)
			c.until("it stands", func() bool { return c.position().Speed == 0 && c.position().TurnRate == 0 })
			state, p := r.State(), c.position()
			if dx := state.X - before.X - float64(p.X); name != "left open" && (dx > 3 || dx < -3) {
				t.Errorf("it is at %v, its odometry at %v", state, p)
			}
			c.drive(100, 0)
			waiting.Until(t, "the robot drives", func() bool { return r.State().Left == 100 })
			c.conn.Close()
			waiting.Until(t, "the robot stops and sleeps", func() bool {
				state := r.State()
				return state.Left == 0 && state.Right == 0 && state.Mode == 1 && !state.Streaming
			})
		})
	}
}
