package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	imagepng "image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"player/devices/stage"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
)

var recordingFolder = flag.String("film", "", "absolute folder for which TestWeb/film makes the pictures of the dashboard: docs")

const (
	// recordingRate is how many pictures a second the film shows. Where a screenshot takes longer, the
	// film is faster than the robot.
	recordingRate = 6
	// maxStrip is the size of a picture of docs, in bytes: more makes its page slow to load.
	maxStrip = 300_000
	// stripWidth is the most pixels of a strip: GitHub shows fewer, and all of them after a click.
	stripWidth = 1400
)

// testRecording makes the film of README.md and the strips of docs/DASHBOARD.md, of the real program,
// with -film ABSOLUTE-FOLDER. They are made when the page has changed. -run TestWeb/film/NAME makes
// one of them.
func testRecording(t *testing.T, b browser) {
	if *recordingFolder == "" {
		return
	}
	ffmpeg := needs.Program(t, "ffmpeg")
	t.Run("dashboard", func(t *testing.T) { recordDriving(t, b, &recording{t: t, ffmpeg: ffmpeg, frames: t.TempDir()}) })
	for _, strip := range []struct {
		name  string
		below bool // its pictures are below each other
		act   func(t *testing.T, b browser, f *recording)
	}{
		{"drive", false, recordDrive},
		{"shared", false, recordShared},
		{"stop", false, recordStop},
		{"sensors", false, recordSensors},
		{"others", false, recordOthers},
		{"world", false, recordWorld},
		{"edit", false, recordEdit},
		{"picture", false, recordPicture},
		{"past", false, recordPast},
		{"run", true, recordRun},
		{"robots", false, recordRobots},
		{"phone", false, recordPhone},
		{"landscape", false, recordLandscape},
		{"limits", false, recordLimits},
		{"calibrate", false, recordCalibrate},
		{"fleet", false, recordFleet},
		{"plan", false, recordPlan},
	} {
		t.Run(strip.name, func(t *testing.T) {
			f := &recording{t: t, ffmpeg: ffmpeg, frames: t.TempDir()}
			strip.act(t, b, f)
			f.strip(strip.below, filepath.Join(*recordingFolder, "views", strip.name+".webp"))
		})
	}
}

// recording is pictures of pages, in the order in which they were taken.
type recording struct {
	t        *testing.T
	ffmpeg   string
	frames   string // folder with them
	pictures []image.Image
}

// shoot takes a picture of the part of a page that elements cover, of the whole page without.
func (f *recording) shoot(b *tab, ids ...string) {
	f.t.Helper()
	var clip *cdppage.Viewport
	if len(ids) > 0 {
		box := evaluate[struct{ Left, Top, Right, Bottom float64 }](b, fmt.Sprintf(`(() => {
			const boxes = [...document.querySelectorAll(%q)].map((e) => e.getBoundingClientRect());
			const edge = (name, of) => of(...boxes.map((box) => box[name]));
			return {left: Math.max(4, edge("left", Math.min)), top: Math.max(4, edge("top", Math.min)),
				right: Math.min(innerWidth - 4, edge("right", Math.max)), bottom: Math.min(innerHeight - 4, edge("bottom", Math.max))}; })()`,
			strings.Join(ids, ",")))
		clip = &cdppage.Viewport{X: box.Left - 4, Y: box.Top - 4, Width: box.Right - box.Left + 8, Height: box.Bottom - box.Top + 8, Scale: 1}
	}
	picture, err := chromedp.Call(b.ctx, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{Clip: clip})
	if err == nil {
		err = os.WriteFile(filepath.Join(f.frames, fmt.Sprintf("%03d.png", len(f.pictures))), picture.Data, 0o600)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	m := must.Get(imagepng.Decode(bytes.NewReader(picture.Data)))(f.t)
	f.pictures = append(f.pictures, m)
}

// convert runs ffmpeg, whose input are the pictures.
func (f *recording) convert(args ...string) {
	f.t.Helper()
	command := exec.Command(f.ffmpeg, append([]string{"-hide_banner", "-loglevel", "error", "-y"}, args...)...)
	command.Dir = f.frames
	if out, err := command.CombinedOutput(); err != nil {
		f.t.Fatalf("ffmpeg: %v: %s", err, out)
	}
}

// strip writes the pictures as one: in a row, or in a column.
func (f *recording) strip(below bool, path string) {
	f.t.Helper()
	const gap = 8
	var places []image.Rectangle
	var whole image.Rectangle
	var next image.Point
	for _, m := range f.pictures {
		place := m.Bounds().Sub(m.Bounds().Min).Add(next)
		places, whole = append(places, place), whole.Union(place)
		if next = image.Pt(place.Max.X+gap, 0); below {
			next = image.Pt(0, place.Max.Y+gap)
		}
	}
	canvas := image.NewNRGBA(whole)
	draw.Draw(canvas, whole, image.NewUniform(color.Gray{0x80}), image.Point{}, draw.Src) // on light and dark pages
	for i, m := range f.pictures {
		draw.Draw(canvas, places[i], m, m.Bounds().Min, draw.Src)
	}
	var png bytes.Buffer
	must.Do(f.t, imagepng.Encode(&png, canvas))
	must.Do(f.t, os.WriteFile(filepath.Join(f.frames, "strip.png"), png.Bytes(), 0o600))
	f.convert("-i", "strip.png", "-vf", fmt.Sprintf("scale='min(%d,iw)':-1:flags=lanczos", stripWidth),
		"-c:v", "libwebp", "-quality", "82", "-compression_level", "6", path)
	file := must.Get(os.Stat(path))(f.t)
	if file.Size() > maxStrip {
		f.t.Errorf("%s has %d bytes, more than %d", path, file.Size(), maxStrip)
	}
}

// ready waits until a page of a simulated robot shows everything.
func (b *tab) ready(size screen) {
	b.t.Helper()
	b.resize(size)
	b.until(`player.shown?.data.l && player.world.plan && player.shown.frames.rate() > 5 && document.getElementById("who").textContent`)
}

// settle gives a page the time to draw changes, for a picture. A film waits for the things
// that it needs.
func (b *tab) settle() {
	b.t.Helper()
	evaluate[bool](b, `new Promise((done) => setTimeout(() => done(true), 600))`)
}

func (b *tab) hold(key string, code int64)  { b.key(input.DispatchKeyEventTypeKeyDown, key, code) }
func (b *tab) letGo(key string, code int64) { b.key(input.DispatchKeyEventTypeKeyUp, key, code) }

// desk is the screen of most strips.
var desk = screen{1280, 760}

// recordDriving is the film of README.md.
func recordDriving(t *testing.T, b browser, f *recording) {
	_, page := startDashboard(t)
	tab := b.open(t, page)
	tab.ready(desk)
	script := map[int]func(){
		4:  func() { tab.hold(arrowUp, arrowUpCode) },
		16: func() { tab.hold(arrowLeft, arrowLeftCode) },
		26: func() { tab.letGo(arrowLeft, arrowLeftCode) },
		40: func() { tab.click("stop") },
		42: func() { tab.letGo(arrowUp, arrowUpCode) },
		52: func() { tab.click("release") },
		56: func() { tab.hold(arrowLeft, arrowLeftCode) },
		64: func() { tab.letGo(arrowLeft, arrowLeftCode) },
	}
	ticker := time.NewTicker(time.Second / recordingRate)
	defer ticker.Stop()
	for i := range 70 {
		if act := script[i]; act != nil {
			act()
		}
		f.shoot(tab)
		<-ticker.C
	}
	f.convert("-framerate", fmt.Sprint(recordingRate), "-i", "%03d.png", "-vf", "scale=960:-1:flags=lanczos",
		"-c:v", "libwebp_anim", "-loop", "0", "-quality", "70", "-compression_level", "6", filepath.Join(*recordingFolder, "dashboard.webp"))
}

// A robot stands, drives ahead, and turns.
func recordDrive(t *testing.T, b browser, f *recording) {
	_, page := startDashboard(t)
	tab := b.open(t, page)
	tab.ready(desk)
	parts := []string{"#robot", ".drive"}
	f.shoot(tab, parts...)
	tab.hold(arrowUp, arrowUpCode)
	tab.until(`player.shown.data.p.x > 1`)
	tab.hold(arrowLeft, arrowLeftCode)
	tab.until(`player.shown.data.p.heading > 0.6`)
	f.shoot(tab, parts...)
	tab.letGo(arrowUp, arrowUpCode)
	tab.letGo(arrowLeft, arrowLeftCode)
}

// No client drives, a program drives, this page also drives, and takes control.
func recordShared(t *testing.T, b browser, f *recording) {
	s, page := startDashboard(t)
	tab := b.open(t, page)
	tab.ready(desk)
	parts := []string{".drive", "#clients"}
	tab.until(has("who", "role", "nobody"))
	f.shoot(tab, parts...)
	stop := program(t, s, "anna", "127.0.0.1")
	tab.until(shows("who", `\(anna\).* (19|20|21) `))
	f.shoot(tab, parts...)
	tab.hold(arrowLeft, arrowLeftCode)
	tab.until(`document.getElementById("who").dataset.role.startsWith("both ")`)
	tab.settle()
	f.shoot(tab, parts...)
	tab.letGo(arrowLeft, arrowLeftCode)
	stop()
	tab.until(visible + `("take")`)
	tab.click("take")
	tab.until(has("take", "keeps", "true") + ` && / you$/.test(document.getElementById("who").dataset.role)`)
	tab.settle()
	f.shoot(tab, parts...)
}

// An emergency stop, on the page that asked for it and on another one.
func recordStop(t *testing.T, b browser, f *recording) {
	s, page := startDashboard(t)
	program(t, s, "anna", "127.0.0.1")
	one, other := b.open(t, page), b.open(t, page)
	other.media("prefers-color-scheme", "dark")
	for _, p := range []*tab{one, other} {
		p.ready(screen{900, 620})
	}
	for _, p := range []*tab{one, other} {
		p.until(shows("who", `anna\).* (19|20|21) `))
	}
	f.shoot(one)
	one.click("stop")
	one.until(`document.getElementById("stop").ariaPressed === "true"`)
	one.settle()
	f.shoot(one)
	other.until(`document.getElementById("stop").ariaPressed === "true"`)
	other.settle()
	f.shoot(other)
}

// The robot's sensors, its devices, and one that is switched off.
func recordSensors(t *testing.T, b browser, f *recording) {
	_, page := startDashboard(t)
	tab := b.open(t, page)
	tab.ready(desk)
	tab.settle()
	f.shoot(tab, "#robot")
	tab.click("devices-open")
	tab.settle()
	f.shoot(tab, "#robot")
	evaluate[chromedp.Void](tab, `document.querySelector('[data-device="l"]').click()`)
	tab.until(`!player.shown.data.l && player.shown.device("l").access === "c"`)
	tab.click("scope-up")
	tab.settle()
	tab.until(shows("devices-open", "^6 devices, [12]"))
	f.shoot(tab, "#robot")
}

// The panels of devices without letters: parts that move with the robot, and parts that this page commands.
func recordOthers(t *testing.T, b browser, f *recording) {
	tab := b.open(t, startOthers(t))
	tab.ready(screen{1280, 1100})
	tab.until(`player.shown.data["gps:0"] && player.shown.data["servo:0"]`)
	tab.hold(arrowUp, arrowUpCode)
	tab.until(`player.shown.data.p.x > 1`)
	tab.hold(arrowLeft, arrowLeftCode)
	tab.until(`player.shown.data.p.heading > 0.6`)
	evaluate[chromedp.Void](tab, `document.querySelector("#others .imu").scrollIntoView()`)
	tab.settle()
	f.shoot(tab, "#others .imu", "#others .gps")
	tab.letGo(arrowLeft, arrowLeftCode)
	tab.letGo(arrowUp, arrowUpCode)
	tab.commandOthers()
	evaluate[chromedp.Void](tab, `document.querySelector("#others .servo").scrollIntoView({block: "end"})`)
	tab.settle()
	f.shoot(tab, "#others .io", "#others .servo")
}

// startOthers runs a simulated robot with an IMU, a GPS receiver, inputs and outputs, joints and a second body, and returns the
// address of its dashboard.
func startOthers(t *testing.T) (page string) {
	t.Helper()
	return start(t, "-http", "127.0.0.1:0", write(t, t.TempDir(), "others.cfg", fmt.Sprintf(`
		driver ( name "stage" world %q provides ["position:0" "laser:0" "sonar:0" "imu:0" "gps:0"] )
		driver ( name "testpattern" provides ["io:0" "servo:0" "misc:1"] )`, absolute(t, room)))).dashboard(t)
}

// commandOthers switches an output, and moves a joint to -45 degrees, by the controls of the page.
func (b *tab) commandOthers() {
	b.t.Helper()
	b.until(`document.querySelector("#others .toggle button") && document.querySelector("#others .joint input")`)
	evaluate[chromedp.Void](b, `(() => {
		document.querySelector("#others .toggle button").click();
		const goal = document.querySelector("#others .joint input");
		goal.value = "-45000";
		goal.dispatchEvent(new Event("input")); })()`)
	b.until(`player.shown.data["io:0"]?.[2] === 1 && player.shown.data["servo:0"]?.[0].position === -45000`)
}

// A robot is put elsewhere, also where there is no room, and the world is paused.
func recordWorld(t *testing.T, b browser, f *recording) {
	_, page := startDashboard(t)
	tab := b.open(t, page)
	tab.ready(desk)
	f.shoot(tab, "#world")
	tab.drag(-2, -1.5, 1, -0.5)
	tab.until(`Math.abs(player.world.poses[0].x - 1) < 0.1`)
	tab.settle()
	f.shoot(tab, "#world")
	tab.drag(1, -0.5, 4, -0.5)
	tab.until(shows("world-note", stage.ErrNoRoom.Error()))
	tab.click("pause")
	tab.until(`player.world.paused`)
	tab.settle()
	f.shoot(tab, "#world")
}

// The world file is edited: as it is, with a wall, and with another robot.
func recordEdit(t *testing.T, b browser, f *recording) {
	_, page := startDashboard(t)
	tab := b.open(t, page)
	tab.ready(desk)
	free := func() { tab.until(`player.editor.draft && !player.editor.busy`) }
	tab.click("edit")
	free()
	tab.settle()
	f.shoot(tab, "#world")
	tab.click("edit-wall")
	tab.drag(-3, 0, -1, 0)
	free()
	tab.click("edit-wall")
	tab.settle()
	f.shoot(tab, "#world")
	evaluate[chromedp.Void](tab, `document.getElementById("edit-kind").value = "pioneer2dx"`)
	tab.click("edit-add")
	free()
	tab.settle()
	f.shoot(tab, "#world")
}

// A camera's picture, the same turned, and as large as the page.
func recordPicture(t *testing.T, b browser, f *recording) {
	_, page := startDashboard(t)
	tab := b.open(t, page)
	tab.ready(screen{1100, 760})
	tab.until(shows("picture-age", "s old$"))
	evaluate[chromedp.Void](tab, `document.getElementById("camera").scrollIntoView()`)
	tab.settle()
	f.shoot(tab)
	tab.click("picture-large")
	tab.until(`document.getElementById("image").getBoundingClientRect().width > 500`)
	evaluate[chromedp.Void](tab, `(() => { const pan = document.getElementById("pan"); pan.value = -40; pan.dispatchEvent(new Event("input")); })()`)
	tab.until(`player.shown.data.z?.pan === 40`)
	tab.settle()
	f.shoot(tab)
}

// The present with plots, and a moment of the last minute.
func recordPast(t *testing.T, b browser, f *recording) {
	_, page := startDashboard(t)
	tab := b.open(t, page)
	tab.ready(desk)
	tab.click("plots-open")
	tab.click("log-open")
	tab.hold(arrowUp, arrowUpCode)
	tab.until(`player.shown.data.p.x > 1.5`)
	tab.hold(arrowLeft, arrowLeftCode)
	tab.until(`player.shown.data.p.heading > 1`)
	tab.letGo(arrowLeft, arrowLeftCode)
	tab.letGo(arrowUp, arrowUpCode)
	tab.settle()
	f.shoot(tab)
	evaluate[chromedp.Void](tab, `player.timeline.go(player.timeline.latest() - 5000)`)
	tab.until(visible + `("past")`)
	tab.settle()
	f.shoot(tab)
}

// A run is recorded, and replayed.
func recordRun(t *testing.T, b browser, f *recording) {
	log := filepath.Join(t.TempDir(), "run.mcap")
	s := start(t, "-http", "127.0.0.1:0", write(t, t.TempDir(), "record.cfg", fmt.Sprintf(`
		driver ( name "stage" world %q provides ["position:0" "laser:0"] )
		driver ( name "writelog" file %q manual 1 requires ["position:0" "laser:0"] )`, absolute(t, room), log)))
	tab := b.open(t, s.dashboard(t))
	tab.ready(desk)
	tab.until(visible + `("record")`)
	f.shoot(tab, ".dock")
	tab.click("record")
	tab.hold(arrowUp, arrowUpCode)
	tab.until(`player.dock.run.recording?.on && player.shown.data.p.x > 1`)
	f.shoot(tab, ".dock")
	tab.letGo(arrowUp, arrowUpCode)
	tab.click("record")
	tab.until(`player.dock.run.recording.on === false`)
	tab.close()

	s = start(t, "-http", "127.0.0.1:0", write(t, t.TempDir(), "replay.cfg", fmt.Sprintf(`driver ( name "readlog" file %q )`, log)))
	tab = b.open(t, s.dashboard(t))
	tab.resize(desk)
	tab.until(`player.dock.run.playback?.state === "ended" && player.shown.data.l`)
	tab.click("play")
	tab.until(`player.dock.run.playback.state === "playing" && player.shown.data.p?.x > 0.3`)
	f.shoot(tab, ".dock")
}

// A hundred robots: those that are stopped come first, and one is found.
func recordRobots(t *testing.T, b browser, f *recording) {
	page := hundredRobots(t)
	tab := b.open(t, page)
	tab.resize(screen{1280, 760})
	tab.until(`player.robots.length === 100 && player.world.poses.length === 100 && player.shown.data.p && ` + shows("fleet-state", "2 stopped"))
	tab.settle()
	f.shoot(tab)
	tab.click("search")
	must.Do(t, chromedp.Do(tab.ctx, chromedp.KeyEvent("unit5")))
	tab.until(shows("fleet-state", "11 of 100"))
	tab.settle()
	f.shoot(tab)
}

// A phone upright: the world, the robot's sensors, the list of robots, and a stop.
func recordPhone(_ *testing.T, b browser, f *recording) {
	tab := f.phone(b, screen{360, 640}, "light")
	tab.click("robots-open")
	tab.media("prefers-color-scheme", "dark")
	tab.settle()
	f.shoot(tab)
	tab.click("robots-open")
	tab.click("stop")
	tab.until(`document.getElementById("stop").ariaPressed === "true"`)
	tab.settle()
	f.shoot(tab)
}

// A phone in landscape.
func recordLandscape(_ *testing.T, b browser, f *recording) { f.phone(b, screen{640, 360}, "dark") }

// phone opens a page on a phone, and takes pictures of the world and, in a theme, of the
// robot's sensors.
func (f *recording) phone(b browser, size screen, theme string) *tab {
	f.t.Helper()
	_, page := startDashboard(f.t)
	tab := b.open(f.t, page)
	tab.ready(size)
	tab.settle()
	f.shoot(tab)
	tab.click("tab-robot")
	tab.media("prefers-color-scheme", theme)
	tab.settle()
	f.shoot(tab)
	return tab
}

// A browser that may only watch, and one whose server has gone.
func recordLimits(t *testing.T, b browser, f *recording) {
	s, page := readOnly(t)
	tab := b.open(t, page)
	tab.ready(screen{1180, 760})
	tab.settle()
	f.shoot(tab)
	s.kill(t)
	tab.until(dead)
	tab.settle()
	f.shoot(tab)
}

// The page of vision: before a click, and with a colour.
func recordCalibrate(t *testing.T, b browser, f *recording) {
	c, _, page := balls(t, filepath.Join(t.TempDir(), "colors.cfg"))
	c.reads()
	tab := b.open(t, page)
	tab.resize(screen{560, 680})
	tab.until(`document.getElementById("picture").width === 320 && document.getElementById("file").textContent !== ""`)
	tab.settle()
	f.shoot(tab, "h1", "#picture", "#colors")
	tab.drawBox(colored(t, page, seen(t, page, 0).Number, red))
	tab.until(`document.querySelectorAll("#colors li[data-channel]").length === 1`)
	tab.settle()
	f.shoot(tab, "h1", "#picture", "#colors")
}

// The page of a fleet: a hundred robots, and one that is searched.
func recordFleet(t *testing.T, b browser, f *recording) {
	_, dashboard := startDashboard(t)
	tab := b.open(t, fleetPage(t, dashboard, "anna"))
	tab.resize(screen{1000, 640})
	tab.until(shows("summary", "^100 robots · 0 stopped · 1 in trouble · 1 driven$"))
	tab.until(`fleet.map.robots.length === 99 && fleet.map.draws > 0`)
	tab.settle()
	f.shoot(tab)
	tab.media("prefers-color-scheme", "dark")
	tab.click("search")
	must.Do(t, chromedp.Do(tab.ctx, chromedp.KeyEvent("unit4"+kb.Tab)))
	tab.settle()
	f.shoot(tab)
}

// The page of a fleet whose robots are on a floor plan: one is stopped, and one cannot be reached.
func recordPlan(t *testing.T, b browser, f *recording) {
	var world strings.Builder
	for i := range 4 {
		fmt.Fprintf(&world, "box ( pose [%d %d 0 %d] size [8.1 0.1 1] )\n", []int{4, 0, -4, 0}[i], []int{0, 4, 0, -4}[i], 90*(i+1))
	}
	args := []string{"-robot", fmt.Sprintf("noether=127.0.0.1:%d", ports.Free(t, 1))}
	names := []string{"ada", "bell", "curie", "darwin", "euler", "frege", "gauss", "hertz"}
	for i, name := range names {
		degrees, port := 360*i/len(names), ports.Free(t, 1)
		sin, cos := math.Sincos(float64(degrees) * math.Pi / 180)
		x, y, heading := 3*cos, 3*sin, degrees+180 // on a circle, towards its middle
		fmt.Fprintf(&world, "position ( name %q port %d pose [%.2f %.2f 0 %d] )\n", name, port, x, y, heading)
		args = append(args, "-robot", fmt.Sprintf("%s=127.0.0.1:%d page=PAGE at=%.2f,%.2f,%d", name, port, x, y, heading))
	}
	dashboard := start(t, "-stage", write(t, t.TempDir(), "fleet.world", world.String()), "-http", "127.0.0.1:0").dashboard(t)
	for i := range args {
		args[i] = strings.Replace(args[i], "PAGE", dashboard, 1)
	}
	tab := b.open(t, startFleet(t, args...).url)
	tab.resize(screen{1000, 600})
	tab.until(`fleet.map.plan && fleet.map.robots.length === 8 && ` + shows("summary", "^9 robots · 0 stopped · 1 in trouble · 0 driven$"))
	evaluate[chromedp.Void](tab, `[...document.querySelectorAll("#robots li")].find((li) => li.querySelector("b").textContent === "curie").querySelector("button").click()`)
	tab.until(shows("summary", "^9 robots · 1 stopped · 1 in trouble · 0 driven$"))
	tab.settle()
	f.shoot(tab)
}
