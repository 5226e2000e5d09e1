package e2e

import (
	"math"
	"os"
	"strings"
	"testing"

	"player/codec"
	"player/e2e/must"
	"player/e2e/waiting"
	"player/simulation/emulator/boards"
	"player/simulation/emulator/line"
)

// plugged is a server with a file of configs, and the board that the file is for.
type plugged struct {
	*boards.Board
	*server
	c *peer
}

func plugIn(t *testing.T, f boards.Firmware, file, devices string, o line.Options) plugged {
	t.Helper()
	o.Link = newLine(t)
	b := emulate(t, func(o line.Options) (*boards.Board, error) { return boards.Start(f, o) }, o)
	if code, out := exits(t, "check", "../config/examples/"+file); code != 0 {
		t.Fatalf("check %s: %s", file, out)
	}
	text := must.Get(os.ReadFile("../config/examples/" + file))(t)
	change := strings.NewReplacer("/dev/ttyACM0", o.Link, "/dev/ttyUSB0", o.Link, "boot 4000", "boot 50", "  eol \"cr\"", "  boot 50\n  eol \"cr\"")
	s := serve(t, "%s", change.Replace(string(text)))
	c := s.dial(t)
	c.mustOpen(devices, devices)
	return plugged{b, s, c}
}

// TestBoards drives each board with the file of configs that is for it, forward and round:
// scale, sign and odometry are right, and the board knows all that it hears.
func TestBoards(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file     string
		firmware boards.Firmware
		devices  string
		odometry bool
		base     float64 // mm
		battery  byte    // dV; 0: unknown
	}{
		{"ros_arduino_bridge.cfg", &boards.Bridge{}, "pa", true, 296.9, 0},
		{"waveshare_ugv.cfg", &boards.UGV{}, "pamr", true, 172, 119},
		{"odrive.cfg", &boards.ODrive{}, "pamr", true, 540, 241},
		{"sabertooth.cfg", &boards.Sabertooth{}, "pamr", false, 300, 118},
	} {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			p := plugIn(t, tt.firmware, tt.file, tt.devices, line.Options{})
			turns := func(left, right float64) func() bool {
				return func() bool {
					s := p.State().Speed
					return math.Abs(s[0]-left) < 4 && math.Abs(s[1]-right) < 4
				}
			}
			p.c.drive(200, 0)
			waiting.Until(t, "both wheels turn at 200 mm/s", turns(200, 200))
			waiting.Until(t, "it has driven", func() bool { return p.State().Way[0] > 100 })
			p.c.drive(0, 30)
			rim := 30 * math.Pi / 180 * tt.base / 2
			waiting.Until(t, "it turns to the left", turns(-rim, rim))
			p.c.drive(0, 0)
			waiting.Until(t, "it stands", turns(0, 0))
			state := p.State()
			if tt.odometry {
				way, angle := (state.Way[0]+state.Way[1])/2, (state.Way[1]-state.Way[0])/tt.base*180/math.Pi
				p.c.until("the odometry tells the same", func() bool {
					d := p.c.position()
					return math.Abs(float64(d.X)-way) < 5 && math.Abs(float64(d.Heading)-angle) < 3
				})
			}
			if tt.battery != 0 {
				p.c.until("the battery is measured", func() bool { return p.c.payload(codec.Misc)[2] == tt.battery })
			}
			p.c.drive(100, 0)
			waiting.Until(t, "it drives", turns(100, 100))
			p.c.conn.Close()
			waiting.Until(t, "it stops when the client leaves", turns(0, 0))
			if state = p.State(); state.Trips != 0 || len(state.Unknown) != 0 {
				t.Errorf("the watchdog has stopped it %d times, unknown are %q", state.Trips, state.Unknown)
			}
		})
	}
}
