package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/waiting"
	"player/visitors/vision/blobs"
)

// calibrated is a message to the page of vision.
type calibrated struct {
	Number        int
	Width, Height int
	Blobs         []struct{ Channel, Left, Top, Right, Bottom int }
	Colors        []struct {
		Name    string
		Channel int
	}
	Undo, Unsaved bool
}

// balls starts a robot that sees a red thing and a green one, with a file of colours that
// need not exist, and returns the dashboard and the page on which its colours are calibrated. That is there
// while c reads.
func balls(t *testing.T, colors string) (c *peer, dashboard, page string) {
	t.Helper()
	port := ports.Free(t, 3)
	dir := t.TempDir()
	world := write(t, dir, "balls.world", `
		include "`+absolute(t, "../simulation/worlds/pioneer.inc")+`"
		pioneer_full ( pose [0 0 0 0] )
		model ( pose [1 0.15 0 0] size [0.2 0.2 0.4] color "red" )
		model ( pose [1 -0.2 0 0] size [0.2 0.2 0.4] color "green" )`)
	file := write(t, dir, "robot.cfg", fmt.Sprintf(`
		driver ( name "stage" world %q provides ["position:0" "ptz:0"] )
		driver ( name "vision" plugin %q provides ["vision:0"] page ":%d"
			args ["-http" ":%d" "-colors" %q "http://127.0.0.1:%d/camera/simulated-%d"] )
	`, world, buildProgram(t, "visitors/vision"), port+2, port+2, colors, port+1, port))
	c = launch{port: port}.start(t, "-http", fmt.Sprintf("127.0.0.1:%d", port+1), file).dial(t)
	c.mustOpen("vr", "vr")
	return c, fmt.Sprintf("http://127.0.0.1:%d/", port+1), fmt.Sprintf("http://127.0.0.1:%d/", port+2)
}

// seen returns the message to a page about a picture after number last.
func seen(t *testing.T, page string, last int) (s calibrated) {
	t.Helper()
	code, text := fetch(t, "GET", fmt.Sprintf("%sseen?last=%d", page, last))
	if err := json.Unmarshal([]byte(text), &s); code != http.StatusOK || err != nil {
		t.Fatalf("%d, %v: %s", code, err, text)
	}
	return s
}

// colored returns the middle of the pixels of a picture that have a colour.
func colored(t *testing.T, page string, number int, has func(r, g, b uint32) bool) image.Point {
	t.Helper()
	code, text := fetch(t, "GET", fmt.Sprintf("%spicture?picture=%d", page, number))
	m, err := jpeg.Decode(bytes.NewReader([]byte(text)))
	if code != http.StatusOK || err != nil {
		t.Fatalf("picture %d: %d, %v", number, code, err)
	}
	var sum image.Point
	n := 0
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			if r, g, b, _ := m.At(x, y).RGBA(); has(r>>8, g>>8, b>>8) {
				sum = sum.Add(image.Pt(x, y))
				n++
			}
		}
	}
	if n < 100 {
		t.Fatalf("%d pixels have the colour", n)
	}
	return sum.Div(n)
}

func red(r, g, b uint32) bool   { return r > 2*g && r > 2*b && r > 80 }
func green(r, g, b uint32) bool { return g > 2*r && g > 2*b && g > 80 }

// change has the page change something, and returns why it does not; empty: it does.
func change(t *testing.T, page, what string) string {
	t.Helper()
	code, text := fetch(t, "POST", page+what)
	if code/100 == 2 {
		return ""
	}
	return fmt.Sprint(code, " ", strings.TrimSpace(text))
}

// A colour is taken by a click into a picture, is searched at once, and is in the file when
// it is saved, for the next start.
func TestCalibrate(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	file := filepath.Join(t.TempDir(), "colors.cfg")
	c, _, page := balls(t, file)
	has := func(what string, want ...int) {
		t.Helper()
		c.until(what, func() bool {
			d := c.blobs()
			for channel, n := range want {
				if int(d.Count[channel]) != n {
					return false
				}
			}
			return true
		})
	}
	has("nothing, without colours", 0, 0)
	click := func(is func(r, g, b uint32) bool, more string) string {
		t.Helper()
		s := seen(t, page, 0)
		at := colored(t, page, s.Number, is)
		return change(t, page, fmt.Sprintf("take?picture=%d&left=%d&top=%d&right=%d&bottom=%d%s", s.Number, at.X-2, at.Y-2, at.X+2, at.Y+2, more))
	}
	made := func(problem string) {
		t.Helper()
		if problem != "" {
			t.Fatal(problem)
		}
	}
	s := seen(t, page, 0)
	at := colored(t, page, s.Number, red)
	made(click(red, ""))
	has("the red one in channel 0", 1, 0)
	d := c.blobs()
	if b := d.Channel(0)[0]; max(b.X-at.X/2, at.X/2-b.X, b.Y-at.Y/2, at.Y/2-b.Y) > 2 {
		t.Errorf("the blob is %+v, the click was at %v", b, at)
	}
	made(click(green, ""))
	has("the green one in channel 1, too", 1, 1)
	made(change(t, page, "undo"))
	has("the red one alone", 1, 0)
	made(click(green, "&channel=0"))
	has("both in channel 0, which is wider", 2, 0)
	made(change(t, page, "undo"))
	has("the red one alone again", 1, 0)
	made(click(green, ""))
	made(change(t, page, "name?channel=1&name=grass"))
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is written before anybody saves it")
	}
	if s := seen(t, page, 0); !s.Unsaved || !s.Undo || len(s.Colors) != 2 || s.Colors[1].Name != "grass" {
		t.Errorf("the page is sent %+v", s)
	}
	made(change(t, page, "save"))
	if s := seen(t, page, 0); s.Unsaved {
		t.Error("the colours are unsaved when they have been saved")
	}
	if list, err := blobs.ReadColors(file); err != nil || len(list) != 2 || list[0].Channel != 0 || list[1].Name != "grass" {
		t.Errorf("the file has %+v, %v", list, err)
	}
	made(change(t, page, "delete?channel=0"))
	has("the green one alone", 0, 1)
	again, _, _ := balls(t, file)
	again.until("both, of the file", func() bool { d := again.blobs(); return d.Count[0] == 1 && d.Count[1] == 1 })

	for what, want := range map[string]string{
		"take?picture=999999&left=0&top=0&right=4&bottom=4": "that picture is gone",
		"take?picture=x&left=0&top=0&right=4&bottom=4":      "picture needs a number",
		"delete?channel=7":          "channel 7 has no colour",
		"delete?channel=32":         "from 0 to 31",
		"name?channel=1&name=":      "1 to 32 characters",
		"name?channel=1&name=a%22b": "no quotes",
		"name?channel=1&name=a%0Ab": "no quotes",
	} {
		if got := change(t, page, what); !strings.HasPrefix(got, "422 ") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	number := seen(t, page, 0).Number
	for where, want := range map[string]string{
		"left=2&top=2&right=6&bottom=6":         "grey",
		"left=5000&top=2&right=5006&bottom=6":   "not in the picture",
		"left=-1&top=2&right=5&bottom=6":        "left needs a whole number",
		"left=2&top=2&right=6&bottom=99999999":  "bottom needs a whole number",
		"left=2&top=2&right=6&bottom=6&channel": "channel needs a whole number",
	} {
		if got := change(t, page, fmt.Sprintf("take?picture=%d&%s", number, where)); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", where, got, want)
		}
	}
}

// Pages of other sites change nothing, and requests that are not meant to do nothing.
func TestCalibrateStrangers(t *testing.T) {
	t.Parallel()
	c, _, page := balls(t, absolute(t, "../visitors/vision/colors.cfg"))
	c.until("both", func() bool { d := c.blobs(); return d.Count[0] == 1 && d.Count[1] == 1 })
	for _, tt := range []struct {
		method, path, origin, host, body string
		want                             int
	}{
		{"POST", "delete?channel=0", "http://evil.example", "", "", http.StatusForbidden},
		{"POST", "delete?channel=0", "null", "", "", http.StatusForbidden},
		{"POST", "delete?channel=0", "http://evil.example", "evil.example", "", http.StatusForbidden},
		{"GET", "seen", "", "evil.example", "", http.StatusForbidden},
		{"GET", "delete?channel=0", "", "", "", http.StatusNotFound},
		{"PUT", "delete?channel=0", "", "", "", http.StatusMethodNotAllowed},
		{"POST", "delete?channel=0", "", "", "body", http.StatusRequestEntityTooLarge},
	} {
		r := must.Get(http.NewRequestWithContext(t.Context(), tt.method, page+tt.path, strings.NewReader(tt.body)))(t)
		r.Host = tt.host
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		reply := must.Get(http.DefaultClient.Do(r))(t)
		reply.Body.Close()
		if reply.StatusCode != tt.want {
			t.Errorf("%+v: %d", tt, reply.StatusCode)
		}
	}
	if s := seen(t, page, 0); len(s.Colors) != 7 || s.Undo {
		t.Errorf("somebody has changed the colours: %+v", s)
	}
}

// reads reads the server's output until the end of the test: it sends on while a client reads.
func (p *peer) reads() {
	go func() {
		for {
			if _, err := p.conn.Read(make([]byte, 4096)); err != nil {
				return
			}
		}
	}()
}

// drawBox drags over the middle of a thing in the picture of 320x240 pixels.
func (b *tab) drawBox(at image.Point) {
	b.t.Helper()
	box := evaluate[struct{ X, Y, Width, Height float64 }](b, `(({x, y, width, height}) => ({x, y, width, height}))(document.getElementById("picture").getBoundingClientRect())`)
	mouse := func(event input.DispatchMouseEventType, by float64) chromedp.Action[chromedp.Void] {
		return chromedp.MouseEvent(event, box.X+(float64(at.X)+by)*box.Width/320, box.Y+(float64(at.Y)+by)*box.Height/240, chromedp.ButtonLeft)
	}
	must.Do(b.t, chromedp.Do(b.ctx, mouse(chromedp.MousePressed, -4), mouse(chromedp.MouseMoved, 0), mouse(chromedp.MouseReleased, 4)))
}

// testCalibrate clicks at the red thing on the page, names its colour, and saves it.
func testCalibrate(t *testing.T, chromium browser) {
	file := filepath.Join(t.TempDir(), "colors.cfg")
	c, dashboard, page := balls(t, file)
	number := 0
	c.until("a picture", func() bool { c.blobs(); number = seen(t, page, 0).Number; return number > 0 })
	at := colored(t, page, number, red)
	c.reads()
	b := chromium.open(t, dashboard)
	b.until(`document.querySelector("#camera .head a.page")?.textContent === "Page of vision"`)
	b.checkAxe("with a link to the page")
	if link := evaluate[string](b, `document.querySelector("#camera .head a.page").href`); link != page {
		t.Errorf("the dashboard links %s, and the page is %s", link, page)
	}
	b = chromium.open(t, below(t, page))
	b.until(`document.getElementById("picture").width === 320 && document.getElementById("file").textContent !== ""`)
	b.close()
	b = chromium.open(t, page)
	b.until(`document.getElementById("picture").width === 320 && document.getElementById("file").textContent !== ""`)
	b.checkLooks("before a click", screens[0], screens[4])
	b.drawBox(at)
	b.until(`document.querySelectorAll("#colors li[data-channel='0']").length === 1 && !document.getElementById("save").disabled`)
	waiting.Until(t, "a blob where the click was", func() bool {
		d := seen(t, page, 0)
		return len(d.Blobs) == 1 && at.X >= d.Blobs[0].Left && at.X <= d.Blobs[0].Right && at.Y >= d.Blobs[0].Top && at.Y <= d.Blobs[0].Bottom
	})
	// Frames of blobs are white, in a world that has none but those.
	b.until(`(() => { const c = document.getElementById("picture"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
		let n = 0; for (let i = 0; i < d.length; i += 4) n += d[i] > 250 && d[i + 1] > 250 && d[i + 2] > 250 ? 1 : 0; return n > 40; })()`)
	b.checkLooks("with a colour", screens[0], screens[4])
	evaluate[bool](b, `(() => { const name = document.querySelector("#colors input[maxlength]");
		name.value = "ball"; name.dispatchEvent(new Event("change")); return true; })()`)
	waiting.Until(t, "the name", func() bool { return seen(t, page, 0).Colors[0].Name == "ball" })
	b.click("save")
	b.until(`document.getElementById("save").disabled && document.getElementById("says").textContent === "Saved."`)
	if list, err := blobs.ReadColors(file); err != nil || len(list) != 1 || list[0].Name != "ball" {
		t.Errorf("the file has %+v, %v", list, err)
	}
	b.click("undo")
	b.until(`document.querySelector("#colors input[maxlength]").value === "colour 0"`)
	b.click("undo")
	b.until(`document.querySelectorAll("#colors li[data-channel]").length === 0`)
	// The same by keys, at the middle of the picture moved to the thing.
	steps := (at.X - 160) / 5
	key := "ArrowRight"
	if steps < 0 {
		steps, key = -steps, "ArrowLeft"
	}
	evaluate[bool](b, fmt.Sprintf(`(() => { const c = document.getElementById("picture"); c.focus();
		const press = (key) => c.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
		for (let i = 0; i < %d; i++) press(%q);
		for (let i = 0; i < %d; i++) press(%q);
		press("Enter"); return true; })()`, steps, key, max(0, (at.Y-120)/5), "ArrowDown"))
	b.until(`document.querySelectorAll("#colors li[data-channel='0']").length === 1`)
	waiting.Until(t, "the blob again", func() bool { return len(seen(t, page, 0).Blobs) == 1 })
}
