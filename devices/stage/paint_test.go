package stage

import (
	"slices"
	"strings"
	"testing"

	"player/codec"
	"player/e2e/must"
)

// paintable has a thing of each sort, and before each a robot with a camera that looks at it from 1 m.
const paintable = robotWorld + `
define eyes position ( size [0.2 0.2 0.2] camera ( pose [0 0 0.2 0] ) )
model ( name "fixture" pose [1.3 0 0 0] size [0.2 0.4 1] color "red" ) eyes ( name "a" )
model ( name "thing" pose [1.3 2 0 0] size [0.2 0.4 1] color "red" pushable 1 ) eyes ( name "b" pose [0 2 0 0] )
model ( name "lamp" pose [1.3 4 0 0] size [0.2 0.4 1] color "red" light 1 ) eyes ( name "c" pose [0 4 0 0] )
model ( name "unseen" pose [1.3 6 0 0] size [0.2 0.4 1] color "red" blob_return 0 ) eyes ( name "d" pose [0 6 0 0] )
model ( name "five" pose [1.3 8 0 0] size [0.2 0.4 1] color "red" channel 5 ) eyes ( name "e" pose [0 8 0 0] )
position ( name "robot" pose [1.3 10 0 0] size [0.2 0.4 0.4] color "red" model ( size [0.2 0.4 0.3] color "yellow" ) )
eyes ( name "f" pose [0 10 0 0] )
floorplan ( name "plan" pose [1.3 12 0 0] bitmap "BITMAP" size [0.2 0.4 1] color "red" blob_return 1 boundary 0 )
eyes ( name "g" pose [0 12 0 0] )`

// seenBy returns the channels in which the camera of a robot sees something, as bits.
func seenBy(w *World, robot string) (channels uint32) {
	r := w.Robot(robot)
	r.drawChannels(w.tracker.pixels)
	var v codec.VisionData
	w.tracker.find(&v)
	for i, n := range v.Count {
		if n > 0 {
			channels |= 1 << i
		}
	}
	return channels
}

// The camera sees things in the colours that they are given, and after a reset in their own ones.
func TestPaint(t *testing.T) {
	t.Parallel()
	plan := write(t, t.TempDir(), "plan.pgm", "P5\n2 2\n255\n\x00\x00\x00\x00")
	w := newWorld(t, "include \"map.inc\"\n"+strings.Replace(paintable, "BITMAP", plan, 1))
	const red, green, yellow, purple, light = 1 << 0, 1 << 1, 1 << 3, 1 << 5, 1 << LightChannel
	check := func(when string, want [7]uint32) {
		t.Helper()
		for i, robot := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			if got := seenBy(w, robot); got != want[i] {
				t.Errorf("%s: robot %s sees channels %b, want %b", when, robot, got, want[i])
			}
		}
	}
	start := [7]uint32{red, red, light, 0, purple, red | yellow, red}
	check("at first", start)
	all := map[string]string{}
	for _, name := range []string{"fixture", "thing", "lamp", "unseen", "five", "robot", "plan"} {
		all[name] = "Lime Green"
	}
	before := w.Robot("a").Sight()
	picture := before.Draw(40, 30)
	for _, bad := range []map[string]string{{"fixture": "green", "thing": "grin"}, {"fixture": "green", "nothing": "green"}} {
		if err := w.Paint(bad); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
	check("after mistakes", start)
	must.Do(t, w.Paint(all))
	check("painted", [7]uint32{green, green, light, 0, purple, green | yellow, green})
	if got := w.Movers()[len(w.robots)].Color; got != (Color{0x32, 0xcd, 0x32}) {
		t.Errorf("the thing is %v", got)
	}
	if again := before.Draw(40, 30); !slices.Equal(again.Pix, picture.Pix) {
		t.Error("a picture of before changes")
	}
	if now := w.Robot("a").Sight().Draw(40, 30); slices.Equal(now.Pix, picture.Pix) {
		t.Error("the picture does not change")
	}
	must.Do(t, w.Paint(map[string]string{"thing": "#000000", "fixture": "#ff0000"}))
	check("painted again", [7]uint32{red, 0, light, 0, purple, green | yellow, green})
	w.Reset(0, 1)
	check("after a reset", start)
	must.Do(t, w.Paint(map[string]string{"plan": "green"}))
	check("and painted", [7]uint32{red, red, light, 0, purple, red | yellow, green})
}
