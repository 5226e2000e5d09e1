package e2e

import (
	"fmt"
	"testing"

	"player/codec"
	"player/simulation/emulator/sony"
)

func startCamera(t *testing.T, o sony.Options) *sony.Camera {
	t.Helper()
	o.Line.Link = newLine(t)
	return emulate(t, sony.Start, o)
}

// point sends a ptz command.
func (p *peer) point(pan, tilt, zoom int16) {
	c := codec.PTZCommand{Pan: pan, Tilt: tilt, Zoom: zoom}
	p.message(codec.KindCommand, codec.PTZ, c.Append(nil)...)
}

// untilPoints repeats a command until the camera has obeyed it: the driver drops
// commands to a camera that does not answer, and on a busy computer its answers
// are late.
func (p *peer) untilPoints(pan, tilt, zoom int16) {
	p.t.Helper()
	want := codec.PTZData{Pan: pan, Tilt: tilt, Zoom: zoom}
	p.until(fmt.Sprintf("the camera obeys %+v", want), func() bool {
		p.point(pan, tilt, zoom)
		return p.ptz() == want
	})
}

// A reader of a camera that stands takes no more wakes than its rate needs: one for each
// frame, and one for each of the two answers that make a position.
func TestReaderOfACameraWakesLittle(t *testing.T) {
	t.Parallel()
	c := startCamera(t, sony.Options{})
	s := start(t, "-zp", c.Port(), "-http", "127.0.0.1:0")
	page := s.dashboard(t)
	p := s.dial(t)
	p.mustOpen("zr", "zr")
	p.until("a camera at rest", counter(15))
	const frames = 50
	before := status(t, page).Loop.Wakes
	p.until("frames", counter(frames))
	if took, need := status(t, page).Loop.Wakes-before, uint64(3*frames); took > need*13/10 {
		t.Errorf("%d wakes for %d frames, which need %d", took, frames, need)
	}
}
