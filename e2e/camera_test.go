package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"player/codec"
	"player/simulation/emulator/line"
	"player/simulation/emulator/sony"
)

func startCamera(t *testing.T, o sony.Options) *sony.Camera {
	t.Helper()
	o.Line.Link = newLine(t)
	return emulate(t, sony.Start, o)
}

// cameraIs waits until cond holds for the camera.
func cameraIs(t *testing.T, c *sony.Camera, what string, cond func(s sony.State) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := c.Wait(ctx, func() bool { return cond(c.State()) }); err != nil {
		t.Fatalf("waited in vain: %s: %v: %+v", what, err, c.State())
	}
}

// point sends a ptz command.
func (p *peer) point(pan, tilt, zoom int16) {
	c := codec.PTZCommand{Pan: pan, Tilt: tilt, Zoom: zoom}
	p.message(codec.KindCommand, codec.PTZ, c.Append(nil)...)
}

// pointsAt waits for ptz data.
func (p *peer) pointsAt(pan, tilt, zoom int16) {
	p.t.Helper()
	want := codec.PTZData{Pan: pan, Tilt: tilt, Zoom: zoom}
	p.until(fmt.Sprintf("the camera points at %+v", want), func() bool { return p.ptz() == want })
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

func home(s sony.State) bool { return s.Pan == 0 && s.Tilt == 0 && s.Zoom == 0 && !s.Moving }

func TestCameraMoves(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]line.Options{
		"at once":       {},
		"as in life":    {Paced: true, Latency: 16 * time.Millisecond},
		"noise":         {Noise: line.Noise{Garbage: .1, Swallow: .05, Truncate: .05}},
		"both ways bad": {Noise: line.Noise{Garbage: .05, Swallow: .05, Truncate: .05, Both: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cam := startCamera(t, sony.Options{Line: o})
			s := start(t, "-zp", cam.Port())
			c := s.dial(t)
			c.mustOpen("za", "za")
			c.pointsAt(0, 0, 0)
			if state := cam.State(); state.Counts["move"]+state.Counts["zoom"] > 0 {
				t.Errorf("the camera moved without a command: %v", state.Counts)
			}
			c.untilPoints(30, 10, 256)
			c.point(-50, -20, 1023)
			for i := range int16(100) { // while it is on its way
				c.point(-49+i, -20, 1022-i)
				if i%10 == 0 {
					c.block()
				}
			}
			c.untilPoints(50, -20, 923)
			if got := cam.State(); got.Pan != -440 || got.Tilt != -240 || got.Zoom != 923 {
				t.Errorf("camera %+v", got)
			}
			counts, elapsed := cam.State().Counts, cam.Now()
			if n := counts["position inquiry"] + counts["zoom inquiry"]; n < 10 || n > int(elapsed/(12*time.Millisecond))+1 {
				t.Errorf("%d inquiries in %v", n, elapsed)
			}
			if name == "at once" && counts["unknown"] > 0 {
				t.Errorf("the camera did not understand: %v", counts)
			}
			s.stop(t)
			if o.Noise == (line.Noise{}) { // with noise the command to go home may be lost
				cameraIs(t, cam, "home", home)
			}
		})
	}
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
