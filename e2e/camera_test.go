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
