package e2e

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"player/codec"
	"player/e2e/must"
	"player/e2e/waiting"
)

// Tests of the dashboard: the driver, stops, rights, screens, fingers and keys. TestWeb runs them.

// screen is a size in CSS pixels.
type screen struct{ width, height int64 }

// screens are those on which nothing may be cut off: a phone upright and in
// landscape, a small laptop, and 4K.
var screens = []screen{{360, 640}, {640, 360}, {390, 844}, {844, 390}, {1280, 720}, {3840, 2160}}

// resize gives the page another size.
func (b *tab) resize(s screen) {
	b.t.Helper()
	params := emulation.SetDeviceMetricsOverrideParams{Width: s.width, Height: s.height, DeviceScaleFactor: 1}
	must.Get(chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, params))(b.t)
	b.until(fmt.Sprintf(`innerWidth === %d && innerHeight === %d`, s.width, s.height))
}

// media sets a preference of the user, as prefers-color-scheme.
func (b *tab) media(name, value string) {
	b.t.Helper()
	params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: name, Value: value}}}
	must.Get(chromedp.Call(b.ctx, emulation.SetEmulatedMedia, params))(b.t)
}

// click clicks on an element, which must not be covered.
func (b *tab) click(id string) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS("#"+id))); err != nil {
		b.t.Fatalf("clicking %s: %v", id, err)
	}
}

// shows is an expression: the text of an element matches a pattern.
func shows(id, pattern string) string {
	return fmt.Sprintf(`/%s/.test(document.getElementById("%s").textContent)`, pattern, id)
}

// has is an expression: an element has a value of a data attribute.
func has(id, name, value string) string {
	return fmt.Sprintf(`document.getElementById("%s").dataset.%s === "%s"`, id, name, value)
}

const visible = `((id) => document.getElementById(id).checkVisibility())`

// program is a client from an address of this computer that says its name and commands
// 20 times a second until stop is called or the test ends.
func program(t *testing.T, s *server, name, from string) (stop func()) {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn := must.Get(dialer.Dial("tcp", s.address))(t)
	t.Cleanup(func() { conn.Close() })
	p := &peer{t, conn}
	p.message('x', 'y', append([]byte{codec.ConfigName}, name...)...)
	p.mustOpen("pw", "pw")
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-end:
				return
			case <-ticker.C:
			}
			if _, err := p.conn.Write([]byte{'c', 'p', 0, 4, 0, 0, 0, 20}); err != nil {
				return
			}
		}
	}()
	stop = sync.OnceFunc(func() { close(end); <-ended })
	t.Cleanup(stop)
	return stop
}

// The page names the driver, lists the clients, and takes control where that is
// possible.
func testWhoDrives(t *testing.T, chromium browser) {
	s, page := startDashboard(t)
	b := chromium.open(t, page)
	b.until(`player.shown?.data.l && ` + has("who", "role", "nobody") + ` && ` + shows("clients", "^You") + ` && !` + visible + `("take")`)
	stop := program(t, s, "<b>anna</b>", "127.0.0.1")
	const anna = `127\.0\.0\.1 \(<b>anna<\/b>\)`
	b.until(has("who", "role", "alone program") + ` && ` + shows("who", anna) + ` && !` + visible + `("take")`)
	b.until(shows("clients", anna+` ?commands \d+\/s`) + ` && ` + shows("client-count", "^2 connected$"))
	evaluate[bool](b, `(() => {
		const begun = performance.now(), who = document.getElementById("who");
		new MutationObserver((_, observer) => who.dataset.role.startsWith("both ") && (window.shownAfter = performance.now() - begun, observer.disconnect()))
			.observe(who, { attributes: true });
		return true; })()`)
	b.key(input.DispatchKeyEventTypeKeyDown, arrowLeft, arrowLeftCode)
	b.until(`/^both (you|program)$/.test(document.getElementById("who").dataset.role)`)
	t.Logf("that two drive is shown %.0f ms after the key", evaluate[float64](b, `shownAfter`))
	b.key(input.DispatchKeyEventTypeKeyUp, arrowLeft, arrowLeftCode)
	b.until(has("who", "role", "alone program") + ` && ` + shows("who", anna))
	stop()
	b.until(has("who", "role", "last program") + ` && ` + shows("who", anna) + ` && ` + visible + `("take")`)
	b.click("take")
	b.until(has("take", "keeps", "true") + ` && / you$/.test(document.getElementById("who").dataset.role)`)
	b.click("take")
	b.until(`["last you", "nobody"].includes(document.getElementById("who").dataset.role) && !` + visible + `("take")`)

	// Another page is another browser, and sees this one as such.
	b.key(input.DispatchKeyEventTypeKeyDown, arrowLeft, arrowLeftCode)
	other := chromium.open(t, page)
	other.until(has("who", "role", "alone browser") + ` && ` + shows("who", `127\.0\.0\.1`))
	b.key(input.DispatchKeyEventTypeKeyUp, arrowLeft, arrowLeftCode)
}

// An operator who may take control keeps it until it is given back.
func testTakeControl(t *testing.T, chromium browser) {
	s := start(t, "-http", "127.0.0.1:0", write(t, t.TempDir(), "first.cfg", fmt.Sprintf(`
		driver ( name "stage" world %q control "first" )
		access ( allow ["read" "write"] from ["127.0.0.0/8"] )
		access ( allow "take" from "127.0.0.1" )`, absolute(t, room))))
	program(t, s, "anna", "127.0.0.2")
	b := chromium.open(t, s.dashboard(t))
	b.until(`player.shown?.data.p && player.shown.data.p.turn > 0.1 && ` + has("who", "role", "alone program") + ` && ` + shows("who", `\(anna\)`) + ` && ` + visible + `("take")`)
	b.click("take")
	b.until(`player.shown.data.p.turn === 0 && ` + has("take", "keeps", "true") + ` && / you$/.test(document.getElementById("who").dataset.role)`)
	b.key(input.DispatchKeyEventTypeKeyDown, arrowUp, arrowUpCode)
	b.until(`player.shown.data.p.speed > 0.2 && player.shown.data.p.turn === 0 && ` + shows("drive-state", "mm.s"))
	b.key(input.DispatchKeyEventTypeKeyUp, arrowUp, arrowUpCode)
	b.until(`player.shown.data.p.speed === 0 && player.shown.data.p.turn === 0`)
	b.click("take")
	b.until(`player.shown.data.p.turn > 0.1 && ` + has("who", "role", "alone program") + ` && ` + shows("who", `\(anna\)`) + ` && ` + has("take", "keeps", "false"))
}

// Stop holds against all commands until it is released. All pages show it.
func testStopHolds(t *testing.T, chromium browser) {
	s, page := startDashboard(t)
	program(t, s, "anna", "127.0.0.1")
	p := s.dial(t)
	p.mustOpen("yrpr", "yrpr")
	turns := func(want bool) func() bool {
		return func() bool { return (p.position().TurnRate != 0) == want }
	}
	waiting.Until(t, "the robot turns", turns(true))
	first, second := chromium.open(t, page), chromium.open(t, page)
	for _, b := range []*tab{first, second} {
		b.until(`player.shown?.data.p && player.presence.of(player.shown) && !` + visible + `("alert")`)
	}
	const stopped, released = visible + `("alert") && ` + visible + `("release") && ` +
		`document.getElementById("stick").ariaDisabled === "true"`, `!` + visible + `("alert") && document.getElementById("stick").ariaDisabled === "false"`
	press := map[string]func(){
		"the button":      func() { first.click("stop") },
		"the one for all": func() { first.click("stop-all") },
		"Escape": func() {
			must.Do(t, chromedp.Do(first.ctx, chromedp.KeyEvent(kb.Escape)))
		},
		"another client": func() { p.message('x', 'y', codec.ConfigStop, 1) },
	}
	for _, how := range []string{"the button", "the one for all", "Escape", "another client"} {
		press[how]()
		first.until(stopped)
		second.until(stopped)
		waiting.Until(t, "the robot stands after "+how, turns(false))
		// Nothing drives it: neither the program nor a key.
		second.key(input.DispatchKeyEventTypeKeyDown, arrowUp, arrowUpCode)
		frames := 0
		waiting.Until(t, "it stays where it is", func() bool {
			if p.position().Speed != 0 || !turns(false)() {
				t.Fatalf("it moves after %s", how)
			}
			frames++
			return frames == 5
		})
		second.key(input.DispatchKeyEventTypeKeyUp, arrowUp, arrowUpCode)
		second.click("release") // by somebody else
		first.until(released)
		second.until(released)
		waiting.Until(t, "the program drives again", turns(true))
	}
}

// A robot of another server is also stopped.
func testStopElsewhere(t *testing.T, chromium browser) {
	_, page := startDashboard(t)
	other := start(t, "-stage", room, "-http", "off")
	program(t, other, "anna", "127.0.0.1")
	p := other.dial(t)
	p.mustOpen("yrpr", "yrpr")
	waiting.Until(t, "the robot turns", func() bool { return p.position().TurnRate != 0 })
	b := chromium.open(t, page)
	b.until(`player.shown?.data.l`)
	must.Do(t, chromedp.Do(b.ctx, chromedp.SendKeys(chromedp.CSS("#host"), other.address+"\r")))
	b.until(fmt.Sprintf(`player.shown.address === "%s" && %s`, other.address, has("who", "role", "unknown")))
	b.click("stop")
	b.until(visible + `("alert")`)
	waiting.Until(t, "the robot stands", func() bool { return p.position().TurnRate == 0 })
	b.click("release")
	b.until(`!` + visible + `("alert")`)
	waiting.Until(t, "the robot turns", func() bool { return p.position().TurnRate != 0 })

	// One that does not let this server stop it is not shown as stopped.
	refuses, _ := readOnly(t)
	must.Do(t, chromedp.Do(b.ctx, chromedp.SendKeys(chromedp.CSS("#host"), refuses.address+"\r")))
	b.until(fmt.Sprintf(`player.shown.address === "%s" && player.shown.data.l`, refuses.address))
	b.click("stop")
	b.until(shows("alert-text", "stop failed: its server does not allow") + ` && !player.shown.stopped`)
}

// A visitor that may only watch sees which controls are disabled, and why.
func testReadOnly(t *testing.T, chromium browser) {
	s, page := readOnly(t)
	p := s.dial(t)
	p.mustOpen("yrpr", "yrpr")
	b := chromium.open(t, page)
	b.until(`player.shown?.data.p && Boolean(player.world.poses[0]) && ` + visible + `("why") && ` + shows("why", `127\.0\.0\.1`))
	b.until(`[...document.querySelectorAll("[data-needs^=write]")].every((c) => (c.disabled || c.ariaDisabled === "true") && c.title === document.getElementById("why").textContent)`)
	b.key(input.DispatchKeyEventTypeKeyDown, arrowUp, arrowUpCode)
	b.drag(-2, -1.5, 1, -0.5)
	if evaluate[bool](b, `player.driver.moving || player.driver.socket || Boolean(player.world.ghost)`) {
		t.Error("the page commands")
	}
	b.key(input.DispatchKeyEventTypeKeyUp, arrowUp, arrowUpCode)
	if x := evaluate[float64](b, `player.world.poses[0].x`); x != -2 {
		t.Errorf("the robot was moved to %v", x)
	}
}

// readOnly starts a simulated robot that this computer may only read.
func readOnly(t *testing.T) (*server, string) {
	t.Helper()
	s := start(t, "-http", "127.0.0.1:0", write(t, t.TempDir(), "robot.cfg", fmt.Sprintf(`
		driver ( name "stage" world %q )
		access ( allow "read" from "127.0.0.1" )`, absolute(t, room))))
	return s, s.dashboard(t)
}

// On all screens nothing is cut off: the page does not scroll sideways, and every
// control can be scrolled to and is not covered.
func testScreens(t *testing.T, chromium browser) {
	s, page := startDashboard(t)
	program(t, s, "a program with a rather long name, as people give them", "127.0.0.1")
	b := chromium.open(t, page)
	b.until(`player.shown?.data.l && ` + shows("who", "rather long name"))
	for _, stopped := range []bool{false, true} {
		if stopped {
			b.click("stop")
			b.until(visible + `("alert")`)
		}
		for _, size := range screens {
			b.resize(size)
			for _, view := range []string{"world", "robot"} {
				evaluate[chromedp.Void](b, fmt.Sprintf(`document.getElementById("tab-%s").click()`, view))
				for _, problem := range evaluate[[]string](b, cutOff) {
					t.Errorf("%dx%d, %s, stopped %v: %s", size.width, size.height, view, stopped, problem)
				}
			}
		}
	}
}

// Stop is at the same place whatever happens: no text, notice or name moves it, however long.
// On a phone the stick is also on the first screen.
func testStopStays(t *testing.T, chromium browser) {
	_, page := startDashboard(t)
	b := chromium.open(t, page)
	b.until(`player.shown?.data.l && player.presence.of(player.shown)`)
	const long = `"word ".repeat(60) + "x".repeat(200)`
	states := []struct{ name, enter, leave string }{
		{"at first", `true`, `true`},
		{"scrolled", `!void scrollTo(0, 1e6)`, `!void scrollTo(0, 0)`},
		{"stopped", `player.presence.stop([player.shown]).then(() => true)`, `player.presence.stop([player.shown], false).then(() => true)`},
		{"stopping", `player.presence.asking.add(player.shown) && (player.presence.changed() ?? true)`, `player.presence.asking.clear() ?? player.presence.changed() ?? true`},
		{"a long problem", `(player.presence.problem = ` + long + `) && (player.presence.changed() ?? true)`, `(player.presence.problem = "") || (player.presence.changed() ?? true)`},
		{"the server is gone", `player.presence.setLost(true) ?? true`, `player.presence.setLost(false) ?? true`},
		{"long texts", `["robot-name", "robot-state", "world-name", "who", "why", "drive-state", "sim-time", "devices-open", "robots-open", "run-note", "bumper-state"].every((id) => {
			const e = document.getElementById(id);
			e.dataset.was = e.textContent;
			e.hidden = false;
			return (e.textContent = ` + long + `); })`,
			`[...document.querySelectorAll("[data-was]")].every((e) => ((e.textContent = e.dataset.was), delete e.dataset.was))`},
		{"the list of robots", `document.getElementById("robots-open").click() ?? true`, `document.getElementById("robots-open").click() ?? true`},
		{"devices", `document.getElementById("devices-open").click() ?? true`, `document.getElementById("devices-open").click() ?? true`},
		{"editing", `document.getElementById("edit").click() ?? true`, `document.getElementById("edit").click() ?? true`},
	}
	type place struct{ Left, Top, Right, Bottom float64 }
	for _, size := range screens {
		b.resize(size)
		var first place
		for _, state := range states {
			evaluate[bool](b, state.enter)
			const of = `(({left, top, right, bottom}) => ({left, top, right, bottom}))(document.getElementById("%s").getBoundingClientRect())`
			stop, stick := evaluate[place](b, fmt.Sprintf(of, "stop")), evaluate[place](b, fmt.Sprintf(of, "stick"))
			if state.name == "at first" {
				first = stop
				if stop.Left < 0 || stop.Top < 0 || stop.Right > float64(size.width) || stop.Bottom > float64(size.height) {
					t.Errorf("%v: Stop is not on the first screen: %v", size, stop)
				}
			}
			if stop != first {
				t.Errorf("%v, %s: Stop moves from %v to %v", size, state.name, first, stop)
			}
			if state.name != "scrolled" && state.name != "long texts" && (stick.Top < stop.Bottom || stick.Bottom > float64(size.height)) {
				t.Errorf("%v, %s: the stick is not on the first screen: %v", size, state.name, stick)
			}
			evaluate[bool](b, state.leave)
		}
	}
}

// cutOff is an expression: the elements that cannot be seen or used on this screen.
const cutOff = `(async () => {
	await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	const problems = [], wide = document.documentElement.scrollWidth - innerWidth;
	if (wide > 0) problems.push("the page is " + wide + " px too wide");
	const name = (e) => e.id || e.ariaLabel || e.textContent.trim() || e.className;
	for (const e of document.querySelectorAll("button, input, select, canvas, meter, [tabindex]")) {
		if (!e.checkVisibility()) continue;
		e.scrollIntoView({ block: "center", inline: "center" });
		const box = e.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
		const scrolls = e.tagName === "CANVAS" ? 1 : 0; // larger ones are as wide as the page allows
		if (box.width < 8 || box.height < 8) problems.push(name(e) + " is too small");
		if (box.left < -1 || box.right > innerWidth + 1 || (!scrolls && (box.top < -1 || box.bottom > innerHeight + 1)))
			problems.push(name(e) + " is cut off: " + [box.left, box.top, box.right, box.bottom].map(Math.round));
		const there = document.elementFromPoint(x, y);
		if (!there || !(e.contains(there) || there.contains(e) || there.closest("label")?.contains(e))) problems.push(name(e) + " is covered by " + (there ? name(there) : "nothing"));
	}
	scrollTo(0, 0);
	return problems;
})()`

// A finger drives with the stick, on a phone.
func testTouch(t *testing.T, chromium browser) {
	s, page := startDashboard(t)
	p := s.dial(t)
	p.mustOpen("yrpr", "yrpr")
	b := chromium.open(t, page)
	must.Get(chromedp.Call(b.ctx, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true, MaxTouchPoints: 2}))(t)
	b.resize(screen{390, 844})
	b.until(`player.shown?.data.l`)
	disc := evaluate[map[string]float64](b, `(() => {
		const stick = document.getElementById("stick");
		stick.scrollIntoView({block: "center"});
		const {x, y, width} = stick.getBoundingClientRect();
		return {x: x + width / 2, y: y + width / 2, r: width / 2}; })()`)
	before := evaluate[float64](b, `scrollY`)
	touch := func(kind input.DispatchTouchEventType, points ...*input.TouchPoint) {
		t.Helper()
		if points == nil {
			points = []*input.TouchPoint{}
		}
		must.Get(chromedp.Call(b.ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points}))(t)
	}
	touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: disc["x"], Y: disc["y"]})
	touch(input.DispatchTouchEventTypeTouchMove, &input.TouchPoint{X: disc["x"], Y: disc["y"] - disc["r"]})
	waiting.Until(t, "the robot drives ahead", func() bool { return p.position().Speed == 300 })
	if scrolled := evaluate[float64](b, `scrollY`) - before; scrolled != 0 {
		t.Errorf("the page scrolls by %v while a finger is on the stick", scrolled)
	}
	touch(input.DispatchTouchEventTypeTouchEnd)
	waiting.Until(t, "the robot stands", func() bool { return p.position().Speed == 0 })
}

// With the keyboard alone every control is reached, a robot is stopped, and the
// stop is released.
func testKeyboard(t *testing.T, chromium browser) {
	_, page := startDashboard(t)
	b := chromium.open(t, page)
	b.until(`player.shown?.data.l && player.presence.of(player.shown)`)
	press := func(key string) {
		t.Helper()
		must.Do(t, chromedp.Do(b.ctx, chromedp.KeyEvent(key)))
	}
	evaluate[chromedp.Void](b, `window.reached = new Set()`)
	const controls = `[...document.querySelectorAll("button, input, select, [tabindex='0']")].filter((e) => e.checkVisibility() && !e.disabled)`
	for range evaluate[int](b, controls+`.length`) + 5 {
		press(kb.Tab)
		evaluate[chromedp.Void](b, `reached.add(document.activeElement)`)
	}
	if missed := evaluate[[]string](b, controls+`.filter((e) => !reached.has(e)).map((e) => e.id || e.textContent)`); len(missed) > 0 {
		t.Errorf("Tab does not reach %q", missed)
	}
	if hidden := evaluate[[]string](b, `[...reached].filter((e) => e !== document.body && getComputedStyle(e).outlineStyle === "none" && e.matches(":focus-visible")).map((e) => e.id)`); len(hidden) > 0 {
		t.Errorf("the focus is not seen on %q", hidden)
	}
	focus := func(id string) {
		t.Helper()
		for range 100 {
			if evaluate[string](b, `document.activeElement.id`) == id {
				return
			}
			press(kb.Tab)
		}
		t.Fatalf("Tab does not reach %s", id)
	}
	focus("stop")
	press(kb.Enter)
	b.until(visible + `("release")`)
	focus("release")
	press(kb.Enter)
	b.until(`!` + visible + `("alert")`)
}

// A normal state is one line, each number has its unit, and a part that a robot lacks does not look
// usable.
func testCalm(t *testing.T, chromium browser) {
	_, page := startDashboard(t)
	b := chromium.open(t, page)
	b.until(shows("devices-open", `^7 devices, \d+ Hz, \d+ ms old$`) + ` && ` + shows("picture-age", "s old$") + ` && ` + shows("clients", "reads"))
	for _, id := range []string{"details", "alert", "why", "past", "plots", "log", "edit-bar"} {
		if evaluate[bool](b, visible+fmt.Sprintf("(%q)", id)) {
			t.Errorf("%s is shown, and nothing is unusual", id)
		}
	}
	b.click("devices-open")
	b.click("plots-open")
	b.until(shows("robot-flow", "frames") + ` && document.querySelector("#plots output").textContent`)
	if bare := evaluate[[]string](b, bareNumbers); len(bare) > 0 {
		t.Errorf("these have no unit: %q", bare)
	}
	for _, size := range screens {
		b.resize(size)
		if !evaluate[bool](b, `document.querySelector(".panel.body").getBoundingClientRect().bottom <= document.getElementById("camera").getBoundingClientRect().top`) {
			t.Errorf("%v: the camera is before battery and bumpers", size)
		}
	}

	bare := start(t, "-http", "127.0.0.1:0", "-stage", write(t, t.TempDir(), "bare.world", `position ( pose [0 0 0 0] )`))
	b = chromium.open(t, bare.dashboard(t))
	b.until(`player.shown?.data.p && player.shown.device("z").access === "e" && player.shown.device("g").access === "e"`)
	b.until(`["image", "pan", "zoom", "ahead", "grip-buttons"].every((id) => !` + visible + `(id)) && document.getElementById("camera").getBoundingClientRect().height < 60`)
}

// bareNumbers is an expression: numbers that are shown without a unit.
const bareNumbers = `[...document.querySelectorAll("output, dd, .number, .status, .state, .who, .clients span, .chip span")]
	.filter((e) => e.checkVisibility() && e.children.length === 0)
	.flatMap((e) => [...e.textContent.matchAll(/(?<![\w.:−-])[−-]?\d+(?:\.\d+)?(?![\d.:])\s?([^\s,]*)/g)]
		.filter(([, unit]) => !/^(m|mm|°|Hz|ms|s|V|px|B|kB|MB|devices?|connected|blobs?|rounds|times|robots|frames)?(\/s)?\.?$/.test(unit) || !unit)
		.map(([number]) => (e.id || e.className) + ": " + number + " in " + e.textContent))`

// A press in the world, or in the view of the robot, is a goal. The page shows it, and how the robot gets there. The emergency
// stop, a button and a key that drives end it, and so does the focus that goes.
func testGoTo(t *testing.T, chromium browser) {
	s := start(t, "-stage", room, "-goto", "-http", "127.0.0.1:0")
	b := chromium.open(t, s.dashboard(t))
	const panel = `document.querySelector("#others [data-device='goto:0']")`
	says := func(pattern string) string {
		return fmt.Sprintf(`/%s/.test(%s.textContent)`, pattern, panel)
	}
	press := func() {
		t.Helper()
		must.Do(t, chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS("#others [data-device='goto:0'] button"))))
	}
	b.until(`player.shown?.data.l && player.world.plan && player.world.poses.length && ` + panel + ` && ` + says("no goal.*Go to a place"))
	press()
	b.until(says("Press the place") + ` && document.documentElement.classList.contains("aiming")`)
	b.checkLooks("a place is asked for", screens[:2]...)
	b.resize(screen{1280, 720})
	b.drag(0, -1.5, 0, -1.5)
	b.until(says(`drives: \d\.\d m left.*Give up`))
	b.until(says("arrived.*Go to a place") + ` && Math.hypot(player.world.poses[0].x, player.world.poses[0].y + 1.5) < 0.1`)

	press()
	scope := evaluate[map[string]float64](b, `(() => {
		const {view} = player.scope, box = view.canvas.getBoundingClientRect(), p = view.toScreen({x: 0, y: 1.5});
		return {x: box.left + p.x, y: box.top + p.y}; })()`)
	must.Do(t, chromedp.Do(b.ctx, chromedp.MouseClickXY(scope["x"], scope["y"]))) // ahead
	b.until(says("drives"))
	b.click("stop")
	b.until(says("given up: (its client left it|emergency stop).*Go to a place") + ` && ` + panel + `.querySelector("button").disabled`)
	b.click("release")
	b.until(`!` + panel + `.querySelector("button").disabled`)

	press()
	b.drag(-2, 1.5, -2, 1.5)
	b.until(says("drives"))
	press()
	b.until(says("given up: its client left it.*Go to a place"))

	press()
	b.drag(-2, 1.5, -2, 1.5)
	b.until(says("drives"))
	b.hold(arrowLeft, arrowLeftCode)
	b.until(says("given up: the wheels got another command"))
	b.letGo(arrowLeft, arrowLeftCode)

	press()
	b.drag(-2, 1.5, -2, 1.5)
	b.until(says("drives"))
	evaluate[bool](b, `dispatchEvent(new Event("blur"))`)
	b.until(says("given up: its client left it") + ` && ` + shows("drive-state", "lost the focus"))

	// By the keyboard alone, and with the device closed meanwhile.
	field := func(n int) chromedp.CSS {
		return chromedp.CSS(fmt.Sprintf("#others [data-device='goto:0'] label:nth-of-type(%d) input", n))
	}
	must.Do(t, chromedp.Do(b.ctx, chromedp.SendKeys(field(1), "0")))
	must.Do(t, chromedp.Do(b.ctx, chromedp.SendKeys(field(2), "0\r")))
	b.until(says("drives.*Give up") + ` && document.activeElement === ` + panel + `.querySelector("button")`)
	const toggle = `(document.querySelector(".chip[data-device='goto:0']").click(), true)`
	evaluate[bool](b, toggle)
	b.until(`player.shown.device("goto:0").access === "c" && ` + panel + ` && ` + says("Give up"))
	press()
	b.until(`!` + panel)
	evaluate[bool](b, toggle)
	b.until(panel + ` && ` + says("given up: its client left it.*Go to a place"))
}
