package stage

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices/stage/floor"
	"player/e2e/must"
)

// parseWorld makes a world from text, which may include the files that come
// with Player.
func parseWorld(text string) (*World, error) {
	return textOrigin(text).world()
}

func textOrigin(text string) origin {
	return origin{"test.world", func(name string) ([]byte, error) {
		if name == "test.world" {
			return []byte(text), nil
		}
		return os.ReadFile(filepath.Join("../../simulation/worlds", filepath.Base(name)))
	}, openFile, size{maxStored, maxTiles}, FileSeed}
}

// newWorld is parseWorld for worlds without errors.
func newWorld(t testing.TB, text string) *World {
	t.Helper()
	w := withWarnings(t, text)
	for _, warning := range w.Warnings() {
		t.Error(warning)
	}
	return w
}

const robotWorld = `include "pioneer.inc"` + "\n" + `include "things.inc"` + "\n"

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func nearPose(a, b Pose, tolerance float64) bool {
	return near(a.X, b.X, tolerance) && near(a.Y, b.Y, tolerance) && near(floor.Wrap(a.Heading-b.Heading), 0, tolerance)
}

func loadRoom(t testing.TB) *World {
	return must.Get(Load("../../simulation/worlds/room.world"))(t)
}

func steps(d time.Duration) int { return int(d / StepTime) }

// robotIn is newWorld, and the first robot of the world.
func robotIn(t testing.TB, text string) (*World, *Robot) {
	t.Helper()
	w := newWorld(t, text)
	return w, w.robots[0]
}

// drives commands a robot, and steps its world.
func (r *Robot) drives(speed, turn int16, d time.Duration) {
	r.drive.command(speed, turn)
	r.world.Step(steps(d))
}

// benchInRoom is a bench with the room, and open devices of its robot.
func benchInRoom(t testing.TB, letters string) *bench {
	b := newBench(t, loadRoom(t))
	b.open(t, 0, letters)
	return b
}

// scanner returns a scanner that is prepared for a robot, like in Driver.scan.
func (w *World) scanner(r *Robot) *scanner {
	c := w.scanning.scanners[0]
	c.prepare(r)
	return c
}

// readSonars and readLaser scan without a driver.
func (r *Robot) readSonars() (out codec.SonarData) {
	r.scanSonars(r.world.scanner(r), &out)
	return out
}

func (r *Robot) readLaser() (out codec.LaserData) {
	r.scanLaser(r.world.scanner(r), 0, &out)
	return out
}

// withWarnings is newWorld for a world that has warnings.
func withWarnings(t testing.TB, text string) *World {
	t.Helper()
	return must.Get(parseWorld(text))(t)
}

// refused fails unless there is an error that says want.
func refused(t testing.TB, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want %q", what, err, want)
	}
}

// warned fails unless a world has been loaded with one warning, which says want.
func warned(t testing.TB, what string, w *World, err error, want string) {
	t.Helper()
	if err != nil || len(w.Warnings()) != 1 || !strings.Contains(w.Warnings()[0], want) {
		t.Errorf("%s: warnings %q, error %v, want %q", what, w.Warnings(), err, want)
	}
}

// write writes a file into a folder, and returns its path.
func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must.Do(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// drawChannels draws the colours that the first camera of a robot tracks.
func (r *Robot) drawChannels(img *canvas[int8]) { r.drawTracked(r.cameras[0], img) }
