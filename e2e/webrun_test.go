package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"player/e2e/must"
	"player/e2e/ports"
)

// A run is recorded from the page, and then replayed, paused and sought from it.
func testRecordAndReplay(t *testing.T, chromium browser) {
	log := filepath.Join(t.TempDir(), "run.mcap")
	world := must.Get(filepath.Abs(room))(t)
	s := start(t, "-http", "127.0.0.1:0", write(t, t.TempDir(), "record.cfg", fmt.Sprintf(`
		driver ( name "stage" world "%s" provides ["position:0" "laser:0"] )
		driver ( name "writelog" file "%s" manual 1 requires ["position:0" "laser:0"] )`, world, log)))
	b := chromium.open(t, s.dashboard(t))
	b.until(`player.shown?.data.l && !document.getElementById("record").hidden`)
	if _, err := os.Stat(log); err == nil {
		t.Error("it records before anybody has it record")
	}
	evaluate[bool](b, `document.getElementById("record").click() ?? true`)
	b.until(`player.dock.run.recording?.on && player.dock.run.recording.messages > 20`)
	evaluate[bool](b, `player.driver.setInput("test", [1, 0]) ?? true`)
	b.until(`player.shown.data.p?.x > 0.2`)
	evaluate[bool](b, `player.driver.setInput("test", [0, 0]) ?? true`)
	evaluate[bool](b, `document.getElementById("record").click() ?? true`)
	b.until(`player.dock.run.recording?.on === false`)
	b.close()

	s = start(t, "-http", "127.0.0.1:0", write(t, t.TempDir(), "replay.cfg", fmt.Sprintf(`driver ( name "readlog" file "%s" )`, log)))
	b = chromium.open(t, s.dashboard(t))
	b.until(`player.dock.run.playback?.state === "ended"`)
	b.until(`player.shown.data.p?.x > 0.15`)
	evaluate[bool](b, `document.getElementById("play").click() ?? true`) // from the beginning
	b.until(`player.dock.run.playback.state === "playing"`)
	evaluate[bool](b, `document.getElementById("play").click() ?? true`)
	b.until(`player.dock.run.playback.state === "paused"`)
	evaluate[bool](b, `(() => {
		const seek = document.getElementById("seek");
		seek.value = 0;
		seek.dispatchEvent(new Event("change"));
		return true; })()`)
	b.until(`player.shown.data.p?.x === 0 && player.dock.run.playback.state === "paused"`)
	b.until(`document.getElementById("play-time").textContent.startsWith("0:00 / ")`)
	b.checkLooks("a replay", screens[0], screens[4])
}

// hundredRobots starts a hundred robots, two of them stopped, and returns their dashboard.
func hundredRobots(t *testing.T) (page string) {
	t.Helper()
	var world strings.Builder
	numbers := make([]int, 100)
	for i := range numbers {
		numbers[i] = ports.Free(t, 1)
	}
	slices.Sort(numbers) // robots are listed by port
	for i := range numbers {
		fmt.Fprintf(&world, "position ( name \"unit%d\" port %d pose [%d %d 0 0] )\n", i, numbers[i], 2*(i%10), 2*(i/10))
	}
	s := start(t, "-stage", write(t, t.TempDir(), "fleet.world", world.String()), "-http", "127.0.0.1:0")
	page = s.dashboard(t)
	for _, i := range []int{37, 88} {
		reply := must.Get(http.Post(fmt.Sprintf("%sstop?robot=%d", page, numbers[i]), "", nil))(t)
		reply.Body.Close()
	}
	return page
}

// A hundred robots: robots in trouble come first, one can be found, and only shown
// robots cost a connection.
func testHundredRobots(t *testing.T, chromium browser) {
	page := hundredRobots(t)
	b := chromium.open(t, page)
	b.until(`player.robots.length === 100 && player.world.poses.length === 100 && player.shown.data.p`)
	const names = `[...document.querySelectorAll("#robots li")].filter((li) => !li.hidden).map((li) => li.querySelector("b").textContent).join(" ")`
	first := func(want string) {
		t.Helper()
		b.until(fmt.Sprintf(`(%s + " ").startsWith(%q)`, names, want+" "))
	}
	first("unit37 unit88")
	b.until(`document.getElementById("fleet-state").textContent.includes("2 stopped")`)
	b.until(`player.robots.filter((r) => r.state !== "off").length === 1`)
	evaluate[bool](b, `(() => {
		const search = document.getElementById("search");
		search.value = "unit5";
		search.dispatchEvent(new Event("input"));
		return true; })()`)
	first("unit5 unit50")
	if got := evaluate[string](b, names); len(strings.Fields(got)) != 11 {
		t.Errorf("found %s", got)
	}
	evaluate[bool](b, `document.querySelector("#robots li:not([hidden]) .card").click() ?? true`)
	b.until(`player.shown.name === "unit5" && player.shown.data.p && player.robots.filter((r) => r.state !== "off").length === 1`)
	// Each has a Stop of its own.
	evaluate[bool](b, `[...document.querySelectorAll("#robots .halt")].find((e) => e.ariaLabel === "Stop unit50").click() ?? true`)
	b.until(`[...document.querySelectorAll("#robots .halt")].filter((e) => e.textContent === "Stopped").map((e) => e.ariaLabel).sort().join() === "Stopped unit37,Stopped unit50,Stopped unit88"`)
	b.checkLooks("a hundred robots", screens[0], screens[4])
	for _, size := range []screen{{1360, 850}, {390, 844}} {
		b.resize(size)
		b.until(`document.documentElement.scrollWidth <= innerWidth`)
		// The list scrolls and leaves room for the rest.
		b.until(`document.getElementById("robots").clientHeight < innerHeight`)
		b.until(`document.getElementById("world-canvas").clientHeight > 250`)
	}
}
