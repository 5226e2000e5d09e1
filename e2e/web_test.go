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
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"player/codec"
)

// startWindow runs a simulated robot with a window and returns the page's
// address.
func startWindow(t *testing.T) (s *server, page string) {
	t.Helper()
	address := fmt.Sprintf("localhost:%d", freePort(t))
	return start(t, "-stage", room, "-http", address), "http://" + address + "/"
}

// tab is a tab of a real browser.
type tab struct {
	t     *testing.T
	ctx   context.Context
	close context.CancelFunc
}

// browse opens a page in a browser of its own. In CI a missing browser is a
// failure.
func browse(t *testing.T, page string) *tab {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no chromium")
		}
		t.Skip("needs the browser chromium")
	}
	allocator, closeBrowser := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(chromium), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1360, 850),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	ctx, closeTab := chromedp.NewContext(allocator)
	b := &tab{t, ctx, closeTab}
	t.Cleanup(func() {
		if t.Failed() && ctx.Err() == nil {
			b.t.Logf("the page says: %s", tail(evaluate[string](b, `document.body?.innerText ?? ""`), 2000))
		}
		closeTab()
		closeBrowser()
	})
	if err := chromedp.Do(ctx, chromedp.Navigate(page)); err != nil {
		t.Fatalf("opening %s: %v", page, err)
	}
	return b
}

// evaluate returns what an expression is worth in the page.
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
	await(b.t, expression, func() bool { return evaluate[bool](b, "Boolean("+expression+")") })
}

// key presses or releases a key.
func (b *tab) key(event input.DispatchKeyEventType, key string, code int64) {
	b.t.Helper()
	params := input.DispatchKeyEventParams{Type: event, Key: key, Code: key, WindowsVirtualKeyCode: code}
	if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, params); err != nil {
		b.t.Fatal(err)
	}
}

const (
	arrowUp, arrowUpCode     = "ArrowUp", 38
	arrowLeft, arrowLeftCode = "ArrowLeft", 37
)

// drag drags the mouse over the world, in metres.
func (b *tab) drag(fromX, fromY, toX, toY float64, modifiers ...chromedp.Modifier) {
	b.t.Helper()
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
	if err := chromedp.Do(b.ctx,
		mouse(chromedp.MousePressed, fromX, fromY),
		mouse(chromedp.MouseMoved, (fromX+toX)/2, (fromY+toY)/2),
		mouse(chromedp.MouseMoved, toX, toY),
		mouse(chromedp.MouseReleased, toX, toY)); err != nil {
		b.t.Fatal(err)
	}
}

// scan reads the next laser scan, metres.
func (p *peer) scan() (ranges [codec.LaserCount]float64) {
	p.t.Helper()
	for {
		letter, payload := p.block()
		if letter != codec.Laser {
			continue
		}
		var d codec.LaserData
		if err := d.Decode(payload); err != nil {
			p.t.Fatal(err)
		}
		for i, mm := range d {
			ranges[i] = float64(mm) / 1000
		}
		return ranges
	}
}

// The robot is at (-2, -1.5), the wall at its right is y = -3.
func TestWindowShowsScan(t *testing.T) {
	s, page := startWindow(t)
	b := browse(t, page)
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
	// What is drawn: the colour of the laser where the wall is, in the robot's
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

// Every device has a chip that ends its subscription and takes it up again.
func TestWindowChips(t *testing.T) {
	_, page := startWindow(t)
	b := browse(t, page)
	for _, device := range "plsmgzv" {
		chip := fmt.Sprintf(`[data-device="%c"]`, device)
		data := fmt.Sprintf("player.shown?.data.%c", device)
		b.until(data)
		click := func() {
			if err := chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(chip))); err != nil {
				t.Fatal(err)
			}
		}
		click()
		b.until(fmt.Sprintf(`!%s && player.shown.devices.get("%c").access === "c" && document.querySelector('%s').ariaPressed === "false"`, data, device, chip))
		click()
		b.until(data)
	}
	b.until(`/\d Hz/.test(document.querySelector('[data-device="l"]').textContent) && /\d m?s$/.test(document.querySelector('[data-device="l"]').textContent)`)
	b.until(`/frames.s .* 0 dropped/.test(document.getElementById("robot-flow").textContent)`)
}

// The robot moves while the arrow key is held, and no longer; nor without the
// focus.
func TestWindowDrives(t *testing.T) {
	s, page := startWindow(t)
	p := s.dial(t)
	p.request("pr")
	b := browse(t, page)
	b.until(`player.shown?.data.l`)
	stands := func() bool { d := p.position(); return d.Speed == 0 && d.TurnRate == 0 }

	b.key(input.DispatchKeyEventTypeKeyDown, arrowUp, arrowUpCode)
	await(t, "the robot moves", func() bool { return p.position().X > 200 })
	b.until(`player.shown.data.p.x > 0.2 && document.getElementById("drive-state").textContent.includes("300 mm/s")`)
	b.key(input.DispatchKeyEventTypeKeyUp, arrowUp, arrowUpCode)
	await(t, "the robot stands", stands)

	b.key(input.DispatchKeyEventTypeKeyDown, arrowLeft, arrowLeftCode)
	await(t, "the robot turns left", func() bool { return p.position().TurnRate > 0 })
	evaluate[chromedp.Void](b, `dispatchEvent(new Event("blur"))`)
	await(t, "the robot stands without the focus", stands)
	b.key(input.DispatchKeyEventTypeKeyUp, arrowLeft, arrowLeftCode)

	// The stick, by mouse.
	disc := evaluate[map[string]float64](b, `(({x, y, width}) => ({x: x + width / 2, y: y + width / 2, r: width / 2}))(document.getElementById("stick").getBoundingClientRect())`)
	mouse := func(event input.DispatchMouseEventType, y float64) {
		if err := chromedp.Do(b.ctx, chromedp.MouseEvent(event, disc["x"], y, chromedp.ButtonLeft)); err != nil {
			t.Fatal(err)
		}
	}
	mouse(chromedp.MousePressed, disc["y"])
	mouse(chromedp.MouseMoved, disc["y"]+disc["r"])
	await(t, "the robot backs off", func() bool { return p.position().Speed == -300 })
	mouse(chromedp.MouseReleased, disc["y"]+disc["r"])
	await(t, "the robot stands without the stick", stands)

	// A gamepad: nothing moves unless a shoulder button is held.
	evaluate[chromedp.Void](b, `window.pad = {connected: true, axes: [-1, 0, 0, 0], buttons: Array.from({length: 17}, () => ({pressed: false}))};
		navigator.getGamepads = () => [pad];
		dispatchEvent(new Event("gamepadconnected"))`)
	b.until(`!document.getElementById("pad-hint").hidden`)
	if evaluate[bool](b, `player.driver.moving`) {
		t.Error("the gamepad drives without its shoulder button")
	}
	evaluate[chromedp.Void](b, `pad.buttons[5].pressed = true`)
	await(t, "the robot turns left", func() bool { return p.position().TurnRate == 60 })
	evaluate[chromedp.Void](b, `pad.buttons[5].pressed = false`)
	await(t, "the robot stands without the button", stands)

	// In a field to type in, keys are letters.
	if err := chromedp.Do(b.ctx, chromedp.SendKeys(chromedp.CSS("#host"), "wasd")); err != nil {
		t.Fatal(err)
	}
	if evaluate[bool](b, `player.driver.moving`) {
		t.Error("typing drives")
	}

	evaluate[chromedp.Void](b, `document.getElementById("host").blur()`)
	b.key(input.DispatchKeyEventTypeKeyDown, arrowUp, arrowUpCode)
	await(t, "the robot moves", func() bool { return p.position().Speed > 100 })
	b.close() // the tab, with the key held
	await(t, "the robot stands without the tab", stands)
}

// A browser that dies says nothing.
func TestWindowBrowserDies(t *testing.T) {
	s, page := startWindow(t)
	p := s.dial(t)
	p.request("pr")
	b := browse(t, page)
	b.until(`player.shown?.data.l`)
	b.key(input.DispatchKeyEventTypeKeyDown, arrowLeft, arrowLeftCode)
	await(t, "the robot turns", func() bool { return p.position().TurnRate > 0 })
	if err := chromedp.FromContext(b.ctx).Browser.Process().Kill(); err != nil {
		t.Fatal(err)
	}
	await(t, "the robot stands", func() bool { return p.position().TurnRate == 0 })
}

// A hand moves and turns the robot: what it sees changes, what it believes
// does not.
func TestWindowDragsRobot(t *testing.T) {
	s, page := startWindow(t)
	p := s.dial(t)
	p.request("lrpr")
	b := browse(t, page)
	b.until(`player.shown?.data.l && player.world.poses.length === 2`)
	// Ahead there is the wall at x = 4, from the laser at 0.08.
	ahead := func(want float64) func() bool {
		return func() bool { return math.Abs(p.scan()[180]-want) < 0.06 }
	}
	if !ahead(5.92)() {
		t.Fatalf("the wall ahead is at %v m", p.scan()[180])
	}
	b.drag(-2, -1.5, 1, -0.5)
	await(t, "the robot sees from the new place", ahead(2.92))
	b.until(`Math.abs(player.shown.data.l[180] - 2.92) < 0.06 && Math.abs(player.world.poses[0].x - 1) < 0.05`)
	if d := p.position(); d.X != 0 || d.Y != 0 {
		t.Errorf("the odometry knows: %+v", d)
	}
	b.drag(1, -0.5, 1, -2.5, chromedp.ModifierShift) // now it looks at the wall y = -3
	await(t, "the robot has turned", ahead(2.42))
	// The same by keyboard: ten centimetres to the left of the page.
	evaluate[chromedp.Void](b, `document.getElementById("world-canvas").focus()`)
	if err := chromedp.Do(b.ctx, chromedp.KeyEvent(kb.ArrowLeft, chromedp.KeyModifiers(chromedp.ModifierShift))); err != nil {
		t.Fatal(err)
	}
	b.until(`Math.abs(player.world.poses[0].x - 0.9) < 0.05`)
	b.drag(0.9, -0.5, 4, -0.5) // into the wall
	b.until(`document.getElementById("world-note").textContent.includes("no room")`)
	if x := evaluate[float64](b, `player.world.poses[0].x`); x > 3.9 {
		t.Errorf("the robot is in the wall, at %v", x)
	}
	evaluate[chromedp.Void](b, `document.getElementById("pause").click()`)
	b.until(`player.world.paused && document.getElementById("pause").textContent === "Run"`)
}

// Another robot, typed in.
func TestWindowSeveralRobots(t *testing.T) {
	_, page := startWindow(t)
	other := start(t, "-stage", room, "-http", "off")
	b := browse(t, page)
	b.until(`player.shown?.data.l`)
	if err := chromedp.Do(b.ctx, chromedp.SendKeys(chromedp.CSS("#host"), other.address+"\r")); err != nil {
		t.Fatal(err)
	}
	b.until(fmt.Sprintf(`player.shown.address === "%s" && player.shown.data.l && player.robots[0].data.l`, other.address))
	b.key(input.DispatchKeyEventTypeKeyDown, arrowUp, arrowUpCode)
	p := other.dial(t)
	p.request("pr")
	await(t, "the other robot moves", func() bool { return p.position().X > 0 })
	// Whoever is shown is driven: the other one stops.
	evaluate[chromedp.Void](b, `player.show(player.robots[0])`)
	await(t, "the other robot stands", func() bool { return p.position().Speed == 0 })
}

// A stranger's page must not reach the robot.
func TestWindowRefusesStrangers(t *testing.T) {
	s, page := startWindow(t)
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<title>Free pictures of cats</title>")
	}))
	defer stranger.Close()
	b := browse(t, stranger.URL)
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
	r, err := http.NewRequest("GET", page, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "cats.example:8080"
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	if reply.StatusCode != http.StatusForbidden {
		t.Errorf("host %s: status %d", r.Host, reply.StatusCode)
	}
	await(t, "five refusals in the log", func() bool { return strings.Count(s.log.String(), "request refused") == 5 })
}

// The window is on with a simulated robot, and never in the way.
func TestWindowAddress(t *testing.T) {
	url := func(s *server) string {
		var found string
		await(t, "the log tells of the window", func() bool {
			for line := range strings.Lines(s.log.String()) {
				if strings.Contains(line, `"url"`) || strings.Contains(line, "no window") {
					found = line
				}
			}
			return found != ""
		})
		return found
	}
	// Something else may have the default address, but two of them cannot.
	first, second := start(t, "-stage", room), start(t, "-stage", room)
	if line := url(first); strings.Contains(line, "localhost:8080") {
		if line := url(second); !strings.Contains(line, "no window") {
			t.Errorf("the second one: %s", line)
		}
	} else if !strings.Contains(line, "no window") {
		t.Errorf("the first one: %s", line)
	}
	open := start(t, "-stage", room, "-http", ":"+strconv.Itoa(freePort(t)))
	if url(open); !strings.Contains(open.log.String(), "open to the network") {
		t.Error("no warning of an address that is open to the network")
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if code, out := exits(t, "-stage", room, "-http", taken.Addr().String(), "-gp", strconv.Itoa(freePort(t))); code != 2 || !strings.Contains(out, "-http") {
		t.Errorf("a taken address: exit %d, %q", code, out)
	}
}
