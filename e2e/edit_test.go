package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"player/devices/stage"
	"player/e2e/must"
	"player/e2e/waiting"
)

// A world file is edited with mouse and keyboard and downloaded; a server that runs it
// has the things where they were put.
func testEditWorld(t *testing.T, chromium browser) {
	_, page := startDashboard(t)
	b := chromium.open(t, page)
	dir := t.TempDir()
	params := cdpbrowser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: dir}
	must.Get(chromedp.Call(b.ctx, cdpbrowser.SetDownloadBehavior, params))(t)
	click := func(id string) {
		t.Helper()
		b.until(fmt.Sprintf(`!player.editor?.busy && !document.getElementById(%q).disabled`, id))
		evaluate[chromedp.Void](b, fmt.Sprintf(`document.getElementById(%q).click()`, id))
	}
	b.until(`player.shown?.data.l && player.world.poses.length === 2`)
	click("edit")
	b.until(`player.editor.on && document.getElementById("edit-bar").checkVisibility()`)
	for _, size := range screens {
		b.resize(size)
		evaluate[chromedp.Void](b, `document.getElementById("tab-world").click()`)
		for _, problem := range evaluate[[]string](b, cutOff) {
			t.Errorf("%dx%d: %s", size.width, size.height, problem)
		}
	}
	b.resize(screen{1360, 850})
	things := evaluate[int](b, `player.editor.things.length`)

	b.drag(-2, -1.5, 1, -0.5) // the robot
	b.until(`!player.editor.busy && Math.abs(player.editor.things[player.editor.selected].start.x - 1) < 0.05`)
	evaluate[chromedp.Void](b, `document.getElementById("world-canvas").focus()`)
	must.Do(t, chromedp.Do(b.ctx, chromedp.KeyEvent(kb.ArrowLeft, chromedp.KeyModifiers(chromedp.ModifierShift))))
	b.until(`!player.editor.busy && Math.abs(player.editor.things[player.editor.selected].start.x - 0.9) < 0.05`)
	b.drag(0.9, -0.5, 4, -0.5) // into the wall
	b.until(shows("world-note", stage.ErrNoRoom.Error()))

	click("edit-wall")
	b.drag(-3, 0, -1, 0)
	b.until(fmt.Sprintf(`!player.editor.busy && player.editor.things.length === %d`, things+1))
	click("edit-wall")
	evaluate[chromedp.Void](b, `document.getElementById("edit-kind").value = "pioneer2dx"`)
	click("edit-add") // in the middle of the view
	b.until(fmt.Sprintf(`!player.editor.busy && player.editor.things.length === %d`, things+2))
	b.drag(-1.5, 1.8, -1.5, 1.7) // a crate
	b.until(`!player.editor.busy && player.editor.things[player.editor.selected]?.name.startsWith("crate")`)
	must.Do(t, chromedp.Do(b.ctx, chromedp.KeyEvent(kb.Delete)))
	b.until(fmt.Sprintf(`!player.editor.busy && player.editor.things.length === %d`, things+1))
	click("edit-undo") // of deleting it
	b.until(fmt.Sprintf(`!player.editor.busy && player.editor.things.length === %d`, things+2))

	if x := evaluate[float64](b, `player.world.now[0].x`); x != -2 {
		t.Errorf("the robot that runs is at x = %v", x)
	}
	click("edit-save")
	file := filepath.Join(dir, "room.world")
	waiting.Until(t, "the file", func() bool {
		_, err := os.Stat(file)
		return err == nil
	})
	saved := evaluate[string](b, `player.editor.draft.text`)
	waiting.Until(t, "the whole file", func() bool {
		text, err := os.ReadFile(file)
		return err == nil && string(text) == saved
	})
	click("edit")
	b.until(`!player.editor.on && !document.getElementById("edit-bar").checkVisibility()`)
	b.close()

	s := start(t, "-stage", file, "-http", "127.0.0.1:0")
	b = chromium.open(t, s.dashboard(t))
	b.until(`player.robots.length === 2 && player.world.now?.length === 3`)
	b.until(`Math.abs(player.world.now[0].x - 0.9) < 0.05 && Math.abs(player.world.now[0].y + 0.5) < 0.05`)
}
