package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"

	"player/e2e/ports"
)

// An emergency stop is the first word on a robot everywhere: on its card, in the heading and
// on the map, in the colour of alarms.
func testStopShown(t *testing.T, chromium browser) {
	_, page := startDashboard(t)
	b := chromium.open(t, page)
	// colour is an expression: an element of the card, or the heading, has a colour of the theme.
	colour := func(selector, name string) string {
		return fmt.Sprintf(`(() => {
			const probe = document.createElement("i"), is = (e) => getComputedStyle(e).color;
			probe.style.color = "var(--%s)";
			document.body.append(probe);
			const same = is(document.querySelector(%q)) === is(probe);
			probe.remove();
			return same; })()`, name, selector)
	}
	const card = `document.querySelector("#robots li .status")`
	b.until(`player.shown?.data.l && /Hz/.test(` + card + `.textContent) && ` + colour("#robots li .status", "good") + ` && ` + shows("robot-state", "^live$"))
	// It pushes against the wall: the wheels stall, and a bumper is pressed.
	evaluate[bool](b, `player.world.send({move: {mover: 0, x: -3.6, y: -1.5, heading: Math.PI}}) ?? player.driver.setInput("test", [1, 0]) ?? true`)
	b.until(`player.shown.data.p.stall && ` + shows("robot-state", "wheels stalled") + ` && ` + colour("#robot-state", "bad"))
	b.click("stop")
	b.until(`/^stopped/.test(` + card + `.textContent) && ` + colour("#robots li .status", "bad"))
	b.until(shows("robot-state", "^stopped") + ` && ` + colour("#robot-state", "bad") + ` && player.world.mark(player.shown) === "bad"`)
	evaluate[bool](b, `player.driver.setInput("test", [0, 0]) ?? true`)
	b.click("release")
	b.until(`!/stopped/.test(` + card + `.textContent) && !` + shows("robot-state", "stopped"))
}

// dead is an expression: nothing on the page seems alive, and one sentence says since when.
const dead = `(() => {
	const $ = (id) => document.getElementById(id);
	return /^Nothing has been heard from the server since \d+:\d+:\d+/.test($("alert-text").textContent) &&
		["stop", "stop-all", "timeline", "live", "motors-on", "motors-off", "pause", "speed", "rate", "max-speed"].every((id) => $(id).disabled && /Nothing has been heard/.test($(id).title)) &&
		$("stick").ariaDisabled === "true" && [...document.querySelectorAll("#devices button")].every((e) => e.matches(":disabled") && /lost|off|not there/.test(e.textContent)) &&
		["motors-on", "motors-off", "live", "stop"].every((id) => $(id).getAttribute("aria-pressed") === "false") && $("timeline-out").textContent === "–" &&
		$("clients").children.length === 0 && $("client-count").textContent === "" && $("release").hidden && $("release-all").hidden &&
		/^no connection/.test($("robot-state").textContent) && /^no connection/.test(document.querySelector("#robots li .status").textContent) &&
		[$("main"), document.querySelector(".dock"), $("stop-all")].every((e) => getComputedStyle(e).filter.includes("grayscale(1)")) &&
		[...document.querySelectorAll(".pane canvas, .card canvas, .panel canvas, meter")].every((e) => getComputedStyle(e).opacity < 0.5); })()`

// drives holds a key until the robot moves.
func (b *tab) drives() {
	b.t.Helper()
	b.key(input.DispatchKeyEventTypeKeyDown, arrowLeft, arrowLeftCode)
	b.until(`player.shown.data.p?.turn > 0`)
	b.key(input.DispatchKeyEventTypeKeyUp, arrowLeft, arrowLeftCode)
	b.until(`player.shown.data.p?.turn === 0`)
}

// A server from which nothing is heard, because it is paused or dead, leaves a page on
// which nothing seems alive. The page works again by itself when the server does.
func testGone(t *testing.T, chromium browser) {
	robot, at := ports.Free(t, 1), fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1))
	s := launch{port: robot}.start(t, "-stage", room, "-http", at)
	b := chromium.open(t, s.dashboard(t))
	const alive = `!document.documentElement.classList.contains("gone") && !` + visible + `("alert") && !document.getElementById("stop").disabled && ` +
		`document.getElementById("live").getAttribute("aria-pressed") === "true" && document.getElementById("clients").children.length > 0 && ` +
		`player.shown?.state === "live" && player.shown.data.p && !document.querySelector(".pane.old")`
	b.until(alive)
	b.click("motors-on")
	b.drives()

	resume := s.Pause(t)
	b.until(dead)
	resume()
	b.until(alive)
	b.drives()

	b.click("stop")
	b.until(shows("stop", "^Stopped$"))
	s.kill(t)
	b.until(dead + ` && ` + shows("robot-state", "was stopped"))
	for _, scheme := range []string{"light", "dark"} {
		b.media("prefers-color-scheme", scheme)
		b.until(fmt.Sprintf(`document.documentElement.dataset.theme === "%s"`, scheme))
		b.checkAxe(scheme + ", without the server")
	}
	launch{port: robot}.start(t, "-stage", room, "-http", at)
	b.until(alive)
	b.drives()
}
