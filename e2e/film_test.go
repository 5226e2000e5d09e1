package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"player/e2e/needs"
)

var filmFolder = flag.String("film", "", "folder for which TestWeb/film makes the pictures of the dashboard: docs")

// filmRate is how many pictures a second the film shows. Where a screenshot takes longer, the film
// is faster than what it shows.
const filmRate = 6

// testFilm makes the film of README.md and the strip of views of docs/DASHBOARD.md, of the real
// program, with -film ABSOLUTE-FOLDER.
func testFilm(t *testing.T, b browser) {
	if *filmFolder == "" {
		return // the pictures are made when the page has changed
	}
	ffmpeg, frames := needs.Program(t, "ffmpeg"), t.TempDir()
	_, page := startDashboard(t)
	tab := b.open(t, page)
	save := func(name string) {
		t.Helper()
		picture, err := chromedp.Run(tab.ctx, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(filepath.Join(frames, name+".png"), picture, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	convert := func(args ...string) {
		t.Helper()
		command := exec.Command(ffmpeg, append([]string{"-hide_banner", "-loglevel", "error", "-y"}, args...)...)
		command.Dir = frames
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("ffmpeg: %v: %s", err, out)
		}
	}
	tab.resize(screen{1280, 760})
	tab.until(`player.shown?.data.l && player.world.plan && player.shown.frames.rate() > 5`)
	down := func() { tab.key(input.DispatchKeyEventTypeKeyDown, arrowUp, arrowUpCode) }
	up := func() { tab.key(input.DispatchKeyEventTypeKeyUp, arrowUp, arrowUpCode) }
	left := func() { tab.key(input.DispatchKeyEventTypeKeyDown, arrowLeft, arrowLeftCode) }
	script := map[int]func(){
		4: down, 16: left, 26: func() { tab.key(input.DispatchKeyEventTypeKeyUp, arrowLeft, arrowLeftCode) },
		40: func() { tab.click("stop") }, 42: up, 52: func() { tab.click("release") }, 56: left,
		64: func() { tab.key(input.DispatchKeyEventTypeKeyUp, arrowLeft, arrowLeftCode) },
	}
	ticker := time.NewTicker(time.Second / filmRate)
	defer ticker.Stop()
	for i := range 70 {
		if act := script[i]; act != nil {
			act()
		}
		save(fmt.Sprintf("film%03d", i))
		<-ticker.C
	}
	convert("-framerate", fmt.Sprint(filmRate), "-i", "film%03d.png", "-vf", "scale=960:-1:flags=lanczos",
		"-c:v", "libwebp_anim", "-loop", "0", "-quality", "70", "-compression_level", "6", filepath.Join(*filmFolder, "dashboard.webp"))

	tab.resize(screen{1280, 800})
	settle := func() { evaluate[bool](tab, `new Promise((done) => setTimeout(() => done(true), 500))`) }
	settle()
	tab.click("devices-open")
	settle()
	save("view0")
	tab.click("devices-open")
	tab.click("edit")
	tab.until(`player.editor.draft`)
	settle()
	save("view1")
	tab.click("edit")
	tab.resize(screen{390, 800})
	settle()
	save("view2")
	convert("-i", "view0.png", "-i", "view1.png", "-i", "view2.png",
		"-filter_complex", "[0][1]vstack,scale=-1:800:flags=lanczos[two];[two][2]hstack", "-c:v", "libwebp", "-quality", "80", filepath.Join(*filmFolder, "dashboard-views.webp"))
}
