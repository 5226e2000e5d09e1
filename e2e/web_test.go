package e2e

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"player/app"
	"player/codec"
	"player/devices/stage"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
	"player/e2e/waiting"
	"player/visitors"
)

// TestWeb runs the tests of the dashboard that need a browser, each in a window
// of one browser: its start costs more than most of them. They do not run together with the
// tests of other things: a browser takes the processor that emulated hardware needs.
func TestWeb(t *testing.T) {
	acceptance.Only(t)
	b := startBrowser(t)
	slots := make(chan struct{}, 3) // windows at a time: each draws all the time
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, b browser)
	}{
		{"scan", testScan},
		{"driving", testDriving},
		{"keeps nothing", testKeepsNothing},
		{"behind proxies", testProxied},
		{"browser dies", testBrowserDies},
		{"dragging", testDragging},
		{"devices without letters", testOthers},
		{"going to a place", testGoTo},
		{"edit the world", testEditWorld},
		{"strangers", testStrangers},
		{"who drives", testWhoDrives},
		{"take control", testTakeControl},
		{"stop holds", testStopHolds},
		{"stop elsewhere", testStopElsewhere},
		{"read only", testReadOnly},
		{"stop shown", testStopShown},
		{"gone", testGone},
		{"screens", testScreens},
		{"calm", testCalm},
		{"stop stays", testStopStays},
		{"touch", testTouch},
		{"keyboard", testKeyboard},
		{"accessibility", testAccessibility},
		{"record and replay", testRecordAndReplay},
		{"pictures", testPictures},
		{"laser in pictures", testLaserInPictures},
		{"calibrate", testCalibrate},
		{"hundred robots", testHundredRobots},
		{"page of a fleet", testFleetPage},
		{"floor plans of a fleet", testFleetPlans},
		{"teleoperation by rosbridge", testTeleop},
		{"site", testSite},
		{"far away", testFarAway},
		{"film", testRecording},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			tt.run(t, b)
		})
	}
}

// startDashboard runs a simulated robot with a dashboard and returns its
// address.
func startDashboard(t *testing.T) (s *server, page string) {
	t.Helper()
	s = start(t, "-stage", room, "-http", "127.0.0.1:0")
	return s, s.dashboard(t)
}

// dashboard waits until the log has the address of the dashboard.
func (s *server) dashboard(t *testing.T) (page string) {
	t.Helper()
	url := regexp.MustCompile(`"url": ?"(http://[^"]+)"`)
	waiting.Until(t, "the address of the dashboard in the log", func() bool {
		match := url.FindStringSubmatch(s.Output.String())
		if match != nil {
			page = match[1] + "/"
		}
		return match != nil
	})
	return page
}

// browser is the context of a running browser.
type browser struct{ ctx context.Context }

// startBrowser starts a browser with further options. In CI a missing browser is a failure.
func startBrowser(t *testing.T, options ...chromedp.ExecAllocatorOption) browser {
	t.Helper()
	// Chromium without its windows does the same work in half of the processor time. Debian's
	// command for it is a script that goes on next to the browser: killing it kills no browser.
	chromium, err := exec.LookPath("/usr/lib/chromium/chromium-headless-shell")
	if err != nil {
		chromium = needs.Program(t, "chromium")
	}
	options = append([]chromedp.ExecAllocatorOption{
		chromedp.ExecPath(chromium), chromedp.UserDataDir(profile(t)), chromedp.WindowSize(1360, 850),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.WSURLReadTimeout(3 * patience), // a start on a busy machine
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
	}, options...)
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting chromium: %v", err)
	}
	return browser{ctx}
}

// profile makes a folder for the files of a browser. Processes of a browser that was killed write
// there for a moment longer.
func profile(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "browser"))(t)
	t.Cleanup(func() {
		waiting.Until(t, "the folder of the browser is gone", func() bool { return os.RemoveAll(dir) == nil })
	})
	return dir
}

// seldom has a page draw ten times a second instead of sixty. The test is about the content, not
// the rate; without a graphics card, drawing takes most of the processor.
const seldom = `const draw = requestAnimationFrame; window.requestAnimationFrame = (then) => setTimeout(() => draw(then), 100);`

// tab is a page in a window of a browser.
type tab struct {
	t     *testing.T
	ctx   context.Context
	close context.CancelFunc
}

// open opens a page. It is visible and has the focus, whatever other windows
// the browser has. It draws seldom.
func (b browser) open(t *testing.T, page string) *tab {
	t.Helper()
	return b.openWith(t, page, seldom)
}

// openWith opens a page in which a script runs first.
func (b browser) openWith(t *testing.T, page, script string) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(b.ctx)
	p := &tab{t, ctx, closeTab}
	t.Cleanup(func() {
		if t.Failed() && ctx.Err() == nil {
			t.Logf("the page shows: %s", tail(evaluate[string](p, `document.body?.innerText ?? ""`), 2000))
		}
		closeTab()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("opening a window: %v", err)
	}
	must.Get(chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))(t)
	must.Get(chromedp.Call(ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script}))(t)
	if err := chromedp.Do(ctx, chromedp.Navigate(page)); err != nil {
		t.Fatalf("opening %s: %v", page, err)
	}
	return p
}

// evaluate returns the value of an expression in the page.
func evaluate[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits until an expression is true in the page.
func (b *tab) until(expression string) {
	b.t.Helper()
	evaluate[bool](b, `new Promise((done, fail) => {
		let pause = 10;
		const check = () => {
			try {
				if (`+expression+`) done(true);
				else setTimeout(check, pause = Math.min(2 * pause, 100)); // a check of a hundred robots costs much
			} catch (error) {
				fail(error);
			}
		};
		check();
	})`)
}

// key presses or releases a key.
func (b *tab) key(event input.DispatchKeyEventType, key string, code int64) {
	b.t.Helper()
	params := input.DispatchKeyEventParams{Type: event, Key: key, Code: key, WindowsVirtualKeyCode: code}
	must.Get(chromedp.Call(b.ctx, input.DispatchKeyEvent, params))(b.t)
}

const (
	arrowUp, arrowUpCode     = "ArrowUp", 38
	arrowLeft, arrowLeftCode = "ArrowLeft", 37
)

// drag drags the mouse over the world, in metres.
func (b *tab) drag(fromX, fromY, toX, toY float64, modifiers ...chromedp.Modifier) {
	b.t.Helper()
	b.until(`player.world.view.width === player.world.view.canvas.clientWidth && player.world.view.height === player.world.view.canvas.clientHeight`)
	at := func(x, y float64) (float64, float64) {
		p := evaluate[map[string]float64](b, fmt.Sprintf(`(() => {
			const {view} = player.world, box = view.canvas.getBoundingClientRect(), p = view.toScreen({x: %v, y: %v});
			return {x: box.left + p.x, y: box.top + p.y}; })()`, x, y))
		return p["x"], p["y"]
	}
	mouse := func(event input.DispatchMouseEventType, x, y float64) chromedp.Action[chromedp.Void] {
		x, y = at(x, y)
		return chromedp.MouseEvent(event, x, y, chromedp.ButtonLeft, chromedp.ButtonModifiers(modifiers...))
	}
	must.Do(b.t, chromedp.Do(b.ctx,
		mouse(chromedp.MousePressed, fromX, fromY),
		mouse(chromedp.MouseMoved, (fromX+toX)/2, (fromY+toY)/2),
		mouse(chromedp.MouseMoved, toX, toY),
		mouse(chromedp.MouseReleased, toX, toY)))
}

// scan reads the next laser scan, metres.
func (p *peer) scan() (ranges [codec.LaserCount]float64) {
	p.t.Helper()
	for i, mm := range next[codec.LaserData](p, codec.Laser) {
		ranges[i] = float64(mm) / 1000
	}
	return ranges
}

// The robot is at (-2, -1.5), the wall at its right is y = -3.
func testScan(t *testing.T, chromium browser) {
	s, page := startDashboard(t)
	b := chromium.open(t, page)
	b.until(`player.shown?.data.l && player.shown.mounts.Sonars.length === 16 && player.world.poses.length === 2`)
	p := s.dial(t)
	p.request("lr")
	want := p.scan()
	got := evaluate[[]float64](b, `Array.from(player.shown.data.l)`)
	if len(got) != len(want) {
		t.Fatalf("%d readings", len(got))
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-4 {
			t.Errorf("reading %d is %v m on the page, %v m on the wire", i, got[i], want[i])
		}
	}
	b.until(`document.getElementById("nearest").textContent.startsWith("1.50 m, 8")`) // at 87 or 88 degrees to the right
	// Pixels: the colour of the laser where the wall is, in the robot's
	// view and in the world's, and none of it behind.
	for _, at := range []struct {
		what, view string
		x, y       float64
		wall       bool
	}{
		{"the wall to the right, from the robot", `player.scope.view`, 1.5, 0.5, true},
		{"behind that wall", `player.scope.view`, 1.8, 0.5, false},
		{"behind the robot", `player.scope.view`, 0.3, -1, false},
		{"the wall, from above", `player.world.view`, 1.5, -3, true},
		{"free floor, from above", `player.world.view`, -1, -2, false},
	} {
		drawn := evaluate[bool](b, fmt.Sprintf(`(async () => {
			const view = %s;
			view.changed();
			await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			const at = view.toScreen({x: %v, y: %v}), color = (data, i) => data.slice(i, i + 3).join();
			const probe = new OffscreenCanvas(1, 1).getContext("2d");
			probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--laser").trim();
			probe.fillRect(0, 0, 1, 1);
			const laser = color(probe.getImageData(0, 0, 1, 1).data, 0);
			const {data} = view.context.getImageData((at.x - 4) * view.ratio, (at.y - 4) * view.ratio, 9 * view.ratio, 9 * view.ratio);
			for (let i = 0; i < data.length; i += 4) if (color(data, i) === laser) return true;
			return false; })()`, at.view, at.x, at.y))
		if drawn != at.wall {
			t.Errorf("%s: laser drawn %v", at.what, drawn)
		}
	}
}

// A browser may refuse to keep data of sites, and kept data may be another program's: the
// robot is shown and stopped all the same.
func testKeepsNothing(t *testing.T, chromium browser) {
	_, page := startDashboard(t)
	const refuse = `for (const name of ["localStorage", "sessionStorage"]) {
		Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } });
	}`
	const rubbish = `for (const storage of [localStorage, sessionStorage]) {
		for (const name of ["theme", "robots", "plots", "shown", "editing"]) storage.setItem(name, "5");
	}`
	for _, tt := range []struct{ name, script string }{{"refuses", refuse}, {"has rubbish", rubbish}} {
		b := chromium.openWith(t, page, tt.script+seldom)
		b.until(`globalThis.player?.shown?.data.l && player.presence.heard && !document.getElementById("stop").disabled`)
		evaluate[chromedp.Void](b, `document.getElementById("theme").click()`)
		evaluate[chromedp.Void](b, `document.getElementById("stop").click()`)
		b.until(`!document.getElementById("alert").hidden`)
		evaluate[chromedp.Void](b, `document.getElementById("release").click()`)
		b.until(`document.getElementById("alert").hidden`)
		b.close()
		if t.Failed() {
			t.Fatalf("a browser that %s", tt.name)
		}
	}
}

// The robot moves while the arrow key is held, and no longer; nor without the
// focus.
func testDriving(t *testing.T, chromium browser) {
	s, page := startDashboard(t)
	p := s.dial(t)
	p.request("pr")
	b := chromium.open(t, page)
	b.until(`player.shown?.data.l`)
	stands := func() bool { d := p.position(); return d.Speed == 0 && d.TurnRate == 0 }

	b.key(input.DispatchKeyEventTypeKeyDown, arrowUp, arrowUpCode)
	waiting.Until(t, "the robot moves", func() bool { return p.position().X > 200 })
	b.until(`player.shown.data.p.x > 0.2 && document.getElementById("drive-state").textContent.includes("300 mm/s")`)
	b.key(input.DispatchKeyEventTypeKeyUp, arrowUp, arrowUpCode)
	waiting.Until(t, "the robot stands", stands)

	b.key(input.DispatchKeyEventTypeKeyDown, arrowLeft, arrowLeftCode)
	waiting.Until(t, "the robot turns left", func() bool { return p.position().TurnRate > 0 })
	evaluate[chromedp.Void](b, `dispatchEvent(new Event("blur"))`)
	waiting.Until(t, "the robot stands without the focus", stands)
	b.key(input.DispatchKeyEventTypeKeyUp, arrowLeft, arrowLeftCode)

	// The stick, by mouse.
	disc := evaluate[map[string]float64](b, `(({x, y, width}) => ({x: x + width / 2, y: y + width / 2, r: width / 2}))(document.getElementById("stick").getBoundingClientRect())`)
	mouse := func(event input.DispatchMouseEventType, y float64) {
		must.Do(t, chromedp.Do(b.ctx, chromedp.MouseEvent(event, disc["x"], y, chromedp.ButtonLeft)))
	}
	mouse(chromedp.MousePressed, disc["y"])
	mouse(chromedp.MouseMoved, disc["y"]+disc["r"])
	waiting.Until(t, "the robot backs off", func() bool { return p.position().Speed == -300 })
	mouse(chromedp.MouseReleased, disc["y"]+disc["r"])
	waiting.Until(t, "the robot stands without the stick", stands)

	// A gamepad: nothing moves unless a shoulder button is held.
	evaluate[chromedp.Void](b, `window.pad = {connected: true, axes: [-1, 0, 0, 0], buttons: Array.from({length: 17}, () => ({pressed: false}))};
		navigator.getGamepads = () => [pad];
		dispatchEvent(new Event("gamepadconnected"))`)
	b.until(`!document.getElementById("pad-hint").hidden`)
	if evaluate[bool](b, `player.driver.moving`) {
		t.Error("the gamepad drives without its shoulder button")
	}
	evaluate[chromedp.Void](b, `pad.buttons[5].pressed = true`)
	waiting.Until(t, "the robot turns left", func() bool { return p.position().TurnRate == 60 })
	evaluate[chromedp.Void](b, `pad.buttons[5].pressed = false`)
	waiting.Until(t, "the robot stands without the button", stands)

	// In a field to type in, keys are letters.
	must.Do(t, chromedp.Do(b.ctx, chromedp.SendKeys(chromedp.CSS("#host"), "wasd")))
	if evaluate[bool](b, `player.driver.moving`) {
		t.Error("typing drives")
	}

	evaluate[chromedp.Void](b, `document.getElementById("host").blur()`)
	b.key(input.DispatchKeyEventTypeKeyDown, arrowUp, arrowUpCode)
	waiting.Until(t, "the robot moves", func() bool { return p.position().Speed > 100 })
	b.close() // the tab, with the key held
	waiting.Until(t, "the robot stands without the tab", stands)
}

// A browser that is killed closes its sockets without a stop command. It needs a
// browser of its own.
func testBrowserDies(t *testing.T, _ browser) {
	s, page := startDashboard(t)
	p := s.dial(t)
	p.request("pr")
	b := startBrowser(t).open(t, page)
	b.until(`player.shown?.data.l`)
	b.key(input.DispatchKeyEventTypeKeyDown, arrowLeft, arrowLeftCode)
	waiting.Until(t, "the robot turns", func() bool { return p.position().TurnRate > 0 })
	must.Do(t, chromedp.FromContext(b.ctx).Browser.Process().Kill())
	waiting.Until(t, "the robot stands", func() bool { return p.position().TurnRate == 0 })
}

// A dragged or turned robot senses its new place, and its odometry does not
// change.
func testDragging(t *testing.T, chromium browser) {
	s, page := startDashboard(t)
	p := s.dial(t)
	p.request("lrpr")
	b := chromium.open(t, page)
	b.until(`player.shown?.data.l && player.world.poses.length === 2`)
	// Ahead there is the wall at x = 4, from the laser at 0.08.
	ahead := func(want float64) func() bool {
		return func() bool { return math.Abs(p.scan()[180]-want) < 0.06 }
	}
	if !ahead(5.92)() {
		t.Fatalf("the wall ahead is at %v m", p.scan()[180])
	}
	b.drag(-2, -1.5, 1, -0.5)
	waiting.Until(t, "the robot sees from the new place", ahead(2.92))
	b.until(`Math.abs(player.shown.data.l[180] - 2.92) < 0.06 && Math.abs(player.world.poses[0].x - 1) < 0.05`)
	if d := p.position(); d.X != 0 || d.Y != 0 {
		t.Errorf("the odometry changed: %+v", d)
	}
	b.drag(1, -0.5, 1, -2.5, chromedp.ModifierShift) // now it faces the wall y = -3
	waiting.Until(t, "the robot has turned", ahead(2.42))
	// The same by keyboard: ten centimetres to the left of the page.
	evaluate[chromedp.Void](b, `document.getElementById("world-canvas").focus()`)
	must.Do(t, chromedp.Do(b.ctx, chromedp.KeyEvent(kb.ArrowLeft, chromedp.KeyModifiers(chromedp.ModifierShift))))
	b.until(`Math.abs(player.world.poses[0].x - 0.9) < 0.05`)
	b.drag(0.9, -0.5, 4, -0.5) // into the wall
	b.until(shows("world-note", stage.ErrNoRoom.Error()))
	if x := evaluate[float64](b, `player.world.poses[0].x`); x > 3.9 {
		t.Errorf("the robot is in the wall, at %v", x)
	}
	evaluate[chromedp.Void](b, `document.getElementById("pause").click()`)
	b.until(`player.world.paused`)
}

// Devices without letters have their views, and this page commands them.
func testOthers(t *testing.T, chromium browser) {
	b := chromium.open(t, startOthers(t))
	b.until(`player.shown?.data["imu:0"] && player.shown.data["gps:0"] && document.querySelectorAll("#others .panel").length === 5`)
	b.until(`/bumpers.*Battery\d+\.\d V/.test(document.querySelector("#others .misc").textContent)`)
	b.commandOthers()
	b.checkLooks("devices without letters", screens[:2]...)
}

// A page of another site must not reach the robot.
func testStrangers(t *testing.T, chromium browser) {
	s, page := startDashboard(t)
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<title>Free pictures of cats</title>")
	}))
	defer stranger.Close()
	b := chromium.open(t, stranger.URL)
	const attempt = `new Promise((done) => {
		const socket = new WebSocket("%s?robot=%s");
		socket.onopen = () => { socket.send('{"drive":[300,0]}'); done("open"); };
		socket.onerror = () => done("refused"); })`
	for _, path := range []string{"drive", "stream", "world"} {
		if got := evaluate[string](b, fmt.Sprintf(attempt, strings.Replace(page, "http", "ws", 1)+path, s.address)); got != "refused" {
			t.Errorf("%s: %s", path, got)
		}
	}
	if got := evaluate[string](b, fmt.Sprintf(`fetch("%srobots").then((r) => r.text()).catch(() => "refused")`, page)); got != "refused" {
		t.Errorf("robots: %s", got)
	}
	// A name of the stranger that points here (DNS rebinding).
	r := must.Get(http.NewRequest("GET", page, nil))(t)
	r.Host = "cats.example:8080"
	reply := must.Get(http.DefaultClient.Do(r))(t)
	reply.Body.Close()
	if reply.StatusCode != http.StatusForbidden {
		t.Errorf("host %s: status %d", r.Host, reply.StatusCode)
	}
	waiting.Until(t, "five refusals in the log", func() bool { return strings.Count(s.Output.String(), visitors.LogRefused) == 5 })
}

// A simulated robot has a dashboard, and starts without one when the default
// address is taken.
func TestWebAddress(t *testing.T) {
	t.Parallel()
	address := func(s *server) (line string) {
		waiting.Until(t, "the dashboard in the log", func() bool {
			line = regexp.MustCompile(`.*("url"|` + regexp.QuoteMeta(app.LogNoDashboard) + `).*`).FindString(s.Output.String())
			return line != ""
		})
		return line
	}
	// Another program may have the default address, but two servers cannot.
	first, second := start(t, "-stage", room, "-http", ""), start(t, "-stage", room, "-http", "")
	if line := address(first); strings.Contains(line, "localhost:8080") {
		if line := address(second); !strings.Contains(line, app.LogNoDashboard) {
			t.Errorf("the second one: %s", line)
		}
	} else if !strings.Contains(line, app.LogNoDashboard) {
		t.Errorf("the first one: %s", line)
	}
	open := start(t, "-stage", room, "-http", ":0")
	waiting.Until(t, "a warning about the network", func() bool { return strings.Contains(open.Output.String(), visitors.LogOpen) })
	taken := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	if code, out := exits(t, "-stage", room, "-http", taken.Addr().String(), "-gp", strconv.Itoa(ports.Free(t, 1))); code != 2 || !strings.Contains(out, "-http") {
		t.Errorf("a taken address: exit %d, %q", code, out)
	}
}
