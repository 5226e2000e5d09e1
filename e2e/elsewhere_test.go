package e2e

import (
	"strings"
	"testing"

	"player/codec"
)

// A configuration, a world, an include and a map that were written on another system, for Stage, are
// served as they are: with marks of UTF-8 and lines in CRLF, with a define of a model that is defined further
// down, an include from Stage's installation, and a blank floor plan in a map in flow style.
func TestWorldFromElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	edited := func(name, text string) string {
		return write(t, dir, name, "\ufeff"+strings.ReplaceAll(text, "\n", "\r\n"))
	}
	write(t, dir, "hall.pgm", "P2 2 1 255\n255 255\n")
	edited("hall.yaml", "{image: hall.pgm, resolution: 4.0,\n origin: [-4, -2, 0]}\n")
	edited("rover.inc", "define rover position ( mast () )\ndefine mast model ( sicklaser ( pose [0 0 0 0] ) )\n")
	edited("hall.world", `include "/usr/local/share/stage/worlds/sick.inc"
include "map.inc"
include "rover.inc"
define glass model ( pose [2 0 0 0] laser_return 0 )
glass ( size [0.1 4 1] )
floorplan ( bitmap "hall.yaml" )
rover ()
`)
	s := start(t, edited("robot.cfg", "driver\n(\n  name \"stage\"\n  world \"hall.world\"\n)\n"))
	p := s.dial(t)
	p.mustOpen("lr", "lr")
	_, payload := p.block()
	var scan codec.LaserData
	if err := scan.Decode(payload); err != nil || scan[180] < 3900 || scan[180] > 4000 || scan[360] < 1900 || scan[360] > 2000 {
		t.Errorf("the boundary is %d mm ahead and %d mm to the left, %v", scan[180], scan[360], err)
	}
	if code, out := exits(t, write(t, dir, "wide.cfg", "d\x00r\x00i\x00v\x00e\x00r\x00")); code != 2 || strings.Count(out, "\n") != 1 || !strings.Contains(out, "wide.cfg") {
		t.Errorf("a configuration in UTF-16: exit %d, %s", code, out)
	}
}
