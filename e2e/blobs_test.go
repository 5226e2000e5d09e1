package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"player/codec"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
	"player/e2e/waiting"
	robot "player/simulation/emulator/p2os"
)

// seeing starts a simulated robot whose vision is the program that finds blobs, with a file of
// colours.
func seeing(t *testing.T, world, colors string) *server {
	t.Helper()
	port := ports.Free(t, 2)
	file := write(t, t.TempDir(), "robot.cfg", fmt.Sprintf(`
		driver ( name "stage" world %q provides ["position:0" "ptz:0"] )
		driver ( name "vision" plugin %q args ["-colors" %q "http://127.0.0.1:%d/camera/simulated-%d"] provides ["vision:0"] )
	`, world, buildProgram(t, "visitors/vision"), colors, port+1, port))
	return launch{port: port}.start(t, "-http", fmt.Sprintf("127.0.0.1:%d", port+1), file)
}

// The program finds the same blobs in the pictures of the simulated camera that the simulator
// reports itself: all of at least 40 pixels of a picture, which are 10 of the image of vision,
// within 2 pixels, which are one, and no others.
func TestBlobsOfPictures(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	world := absolute(t, room)
	stage, program := start(t, "-stage", world).dial(t), seeing(t, world, "../visitors/vision/colors.cfg").dial(t)
	stage.mustOpen("zavr", "zavr")
	program.mustOpen("zavr", "zavr")
	seen := 0
	for _, pan := range []int16{0, 20, 45, 100, -15} {
		stage.untilPoints(pan, -5, 200)
		program.untilPoints(pan, -5, 200)
		want := stage.blobs()
		seen += len(want.Blobs)
		program.until(fmt.Sprintf("the blobs of %+v", want), func() bool { return alike(program.blobs(), want) })
	}
	if seen < 5 {
		t.Errorf("the simulator has reported only %d blobs", seen)
	}
}

// alike reports whether two images have the same blobs.
func alike(got, want codec.VisionData) bool {
	near := func(a, b codec.Blob) bool { return max(a.X-b.X, b.X-a.X, a.Y-b.Y, b.Y-a.Y) <= 1 }
	for channel := range codec.VisionChannels {
		for _, w := range want.Channel(channel) {
			found := w.Area < 10
			for _, g := range got.Channel(channel) {
				found = found || near(g, w)
			}
			if !found {
				return false
			}
		}
		for _, g := range got.Channel(channel) {
			real := false
			for _, w := range want.Channel(channel) {
				real = real || near(g, w)
			}
			if !real {
				return false
			}
		}
	}
	return true
}

// A file of colours may be changed while it is in use. One with mistakes changes nothing.
func TestColorsChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	colors := func(text string) string { return write(t, dir, "colors.cfg", text) }
	world := write(t, dir, "ball.world", `
		include "`+absolute(t, "../simulation/worlds/pioneer.inc")+`"
		pioneer_full ( pose [0 0 0 0] )
		model ( pose [1 0 0 0] size [0.2 0.2 0.4] color "red" )`)
	s := seeing(t, world, colors(`color ( name "ball" channel 7 hue [345 15] saturation [50 100] )`))
	c := s.dial(t)
	c.mustOpen("vr", "vr")
	c.until("the ball in channel 7", func() bool { d := c.blobs(); return d.Count[7] == 1 && len(d.Blobs) == 1 })
	colors(`color ( name "ball" channel 9 hue [345 15] saturation [50 100] )`)
	c.until("the ball in channel 9", func() bool { d := c.blobs(); return d.Count[9] == 1 && len(d.Blobs) == 1 })
	colors(`color ( name "ball" channel 99 )`)
	waiting.Until(t, "the place of the mistake in the log", func() bool { return s.Printed(filepath.Join(dir, "colors.cfg") + ":1:") })
	c.until("the ball in channel 9 still", func() bool { d := c.blobs(); return d.Count[9] == 1 && len(d.Blobs) == 1 })
}

// A client that opens a vision that cannot see learns why, and the program ends with its last client.
func TestNoVision(t *testing.T) {
	t.Parallel()
	program := buildProgram(t, "visitors/vision")
	for _, tt := range []struct{ name, args, want string }{
		{"no colours", `"-colors" "/none/colors.cfg" "cat"`, "/none/colors.cfg"},
		{"no camera", `"-colors" "../visitors/vision/colors.cfg" "http://127.0.0.1:1/"`, "connection refused"},
		{"no program", `"-colors" "../visitors/vision/colors.cfg" "/none/camera"`, "/none/camera"},
		{"no pictures", `"-colors" "../visitors/vision/colors.cfg" "sh" "-c" "echo the lens is covered >&2"`, "the lens is covered"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, `driver ( name "vision" plugin %q args [%s] provides ["vision:0"] )`, program, tt.args)
			c := s.dial(t)
			c.mustOpen("vr", "ve")
			if got := strings.Join(c.ask(codec.QuestionRefusals), "\n"); !strings.Contains(got, tt.want) {
				t.Errorf("the reason is %q, want %q", got, tt.want)
			}
		})
	}
}

// A camera that ends is started again: vision is back without the server's doing.
func TestVisionCameraLost(t *testing.T) {
	t.Parallel()
	command, _ := twoPictures(t)
	dir := t.TempDir()
	pid := filepath.Join(dir, "pid")
	camera := write(t, dir, "camera", "#!/bin/sh\necho $$ >"+pid+"\n"+command+"\n")
	s := start(t, write(t, dir, "robot.cfg", fmt.Sprintf(`
		driver ( name "vision" plugin %q args ["-colors" "../visitors/vision/colors.cfg" %q] provides ["vision:0"] )`, buildProgram(t, "visitors/vision"), camera)))
	c := s.dial(t)
	c.mustOpen("yrvr", "yrvr")
	seen := map[byte]bool{}
	both := func() bool {
		d := c.blobs()
		seen[0], seen[2] = seen[0] || d.Count[0] == 1, seen[2] || d.Count[2] == 1
		return seen[0] && seen[2]
	}
	c.until("the red picture and the blue one", both)
	text := must.Get(os.ReadFile(pid))(t)
	must.Do(t, exec.Command("kill", "-9", strings.TrimSpace(string(text))).Run())
	c.until("old data", func() bool { return c.age() > 500e6 })
	clear(seen)
	c.until("both again", both)
	c.conn.Close()
	waiting.Until(t, "the end of the camera", func() bool { return len(processes(t, camera)) == 0 })
}

// The configuration of a robot with a webcam finds a ball in the pictures that ffmpeg copies, next to
// an emulated Pioneer. For want of a webcam, ffmpeg copies a file, again and again.
func TestWebcam(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	ffmpeg := needs.Program(t, "ffmpeg")
	const webcam = `"-f" "v4l2" "-input_format" "mjpeg" "-video_size" "320x240"
           "-framerate" "10" "-i" "/dev/video0"`
	dir, port := t.TempDir(), ports.Free(t, 3)
	recorded, colors := filepath.Join(dir, "recorded.mjpeg"), write(t, dir, "colors.cfg", `color ( name "ball" channel 3 hue [10 40] saturation [50 100] )`)
	draw := exec.Command(ffmpeg, "-loglevel", "error", "-f", "lavfi", "-i", "color=gray:size=320x240:rate=10:duration=1",
		"-vf", "drawbox=x=200:y=100:w=40:h=40:color=orange:t=fill", "-c:v", "mjpeg", "-q:v", "3", "-f", "mjpeg", recorded)
	if out, err := draw.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := must.Get(os.ReadFile("../visitors/vision/webcam.cfg"))(t)
	config := string(text)
	for old, replaced := range map[string]string{
		webcam:                         fmt.Sprintf(`"-re" "-stream_loop" "-1" "-f" "mjpeg" "-framerate" "10" "-i" %q`, recorded),
		`"/usr/lib/player/vision"`:     fmt.Sprintf("%q", buildProgram(t, "visitors/vision")),
		`"/var/lib/player/colors.cfg"`: fmt.Sprintf("%q", colors),
		":8080/":                       fmt.Sprintf(":%d/", port+1),
		`":8090"`:                      fmt.Sprintf(`":%d"`, port+2),
	} {
		if !strings.Contains(config, old) {
			t.Fatalf("the configuration has no %s", old)
		}
		config = strings.ReplaceAll(config, old, replaced)
	}
	r := startRobot(t, robot.Options{})
	s := launch{port: port}.start(t, "-pp", r.Port(), "-http", fmt.Sprintf("127.0.0.1:%d", port+1), write(t, dir, "player.cfg", config))
	c := s.dial(t)
	c.mustOpen("vrpw", "vrpw")
	c.until("the ball", func() bool { d := c.blobs(); return d.Count[3] == 1 && len(d.Blobs) == 1 })
	b := c.blobs().Blobs[0] // 40 pixels of 320 are 20 of 160
	for what, off := range map[string]int{"left": b.Left - 100, "right": b.Right - 119, "top": b.Top - 50, "bottom": b.Bottom - 69} {
		if max(off, -off) > 1 {
			t.Errorf("%s is %d off: %+v", what, off, b)
		}
	}
	if code, page := fetch(t, "GET", fmt.Sprintf("http://127.0.0.1:%d/", port+2)); code != http.StatusOK || !strings.Contains(page, "picture") {
		t.Errorf("the page of vision: %d", code)
	}
}
