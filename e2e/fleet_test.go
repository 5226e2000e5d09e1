package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"player/codec"
	"player/e2e/built"
	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/programs"
)

// fleetBinary is the program of the fleet, built once.
var fleetBinary = sync.OnceValues(func() (string, error) {
	dir, err := built.Programs("../fleet", ".") // a module of its own
	return filepath.Join(dir, "fleet"), err
})

// fleetProgram is a bridge with its page and its server of NATS.
type fleetProgram struct{ url, nats, token string }

// startFleet starts the program of the fleet.
func startFleet(t *testing.T, args ...string) fleetProgram {
	t.Helper()
	binary := must.Get(fleetBinary())(t)
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	args = append([]string{"-fleet", "lab", "-listen", "127.0.0.1:0", "-dir", filepath.Join(dir, "nats"),
		"-token", token, "-http", "127.0.0.1:0"}, args...)
	fleet := programs.Start(t, exec.Command(binary, args...))
	url, nats := regexp.MustCompile(`"url": ?"(http://[^"]+)"`), regexp.MustCompile(`"nats": ?"nats://([^"]+)"`)
	fleet.Until(t, "the fleet", func() bool { return nats.MatchString(fleet.Output.String()) })
	log := fleet.Output.String()
	secret := must.Get(os.ReadFile(token))(t)
	return fleetProgram{url.FindStringSubmatch(log)[1] + "/", nats.FindStringSubmatch(log)[1], strings.TrimSpace(string(secret))}
}

// fleetPage starts the program of the fleet with its page, and a bridge that is made up:
// it has a hundred robots, whose own page is dashboard. Of unit99 there is no data, and
// unit42 is driven by the client with the name in who. It returns the page.
func fleetPage(t *testing.T, dashboard, who string) (page string) {
	t.Helper()
	fleet := startFleet(t, "-robot", fmt.Sprintf("unit99=127.0.0.1:%d page=%s", ports.Free(t, 1), dashboard))
	fleet.publish(t, 99, func(out io.Writer, round int) {
		for i := range 99 {
			var holders map[string]string
			odometry := codec.PositionData{X: 100}
			if i == 42 {
				holders = map[string]string{"position": who}
				odometry.Speed = 200
			}
			publishStatus(out, i, dashboard, map[string]int{"x": 2 * (i % 10), "y": 2 * (i / 10), "heading": 37 * i % 360}, holders)
			publishData(out, i, round, odometry)
		}
		time.Sleep(time.Second / 4) // its rate
	})
	return fleet.url
}

// publish calls round again and again, in which messages of robots that are made up are written
// by NATS's protocol (https://docs.nats.io/reference/reference-protocols/nats-protocol),
// until the test ends.
func (f fleetProgram) publish(t *testing.T, robots int, round func(out io.Writer, number int)) {
	t.Helper()
	conn := must.Get(net.Dial("tcp", f.nats))(t)
	t.Cleanup(func() { conn.Close() })
	out := bufio.NewWriterSize(conn, robots*1000) // one write for each round: a PONG comes between two
	fmt.Fprintf(out, "CONNECT {\"verbose\":false,\"headers\":true,\"auth_token\":%q}\r\n", f.token)
	go func() {
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			if lines.Text() == "PING" {
				fmt.Fprint(conn, "PONG\r\n")
			}
		}
	}()
	go func() {
		for number := 0; out.Flush() == nil; number++ {
			round(out, number)
		}
	}()
}

// publishStatus writes the status of a robot.
func publishStatus(out io.Writer, robot int, dashboard string, origin map[string]int, holders map[string]string) {
	text, err := json.Marshal(map[string]any{"robot": fmt.Sprint("unit", robot), "page": dashboard, "connected": true, "origin": origin, "holders": holders})
	if err != nil {
		panic(err) // of strings and numbers
	}
	fmt.Fprintf(out, "PUB player.lab.unit%d.status %d\r\n%s\r\n", robot, len(text), text)
}

// publishData writes the odometry and the battery of a robot.
func publishData(out io.Writer, robot, sequence int, odometry codec.PositionData) {
	header := fmt.Sprintf("NATS/1.0\r\nPlayer-Time: %d\r\nPlayer-Age: 20000\r\n\r\n", sequence)
	for iface, payload := range map[string][]byte{
		"position": odometry.Append(nil), "misc": (&codec.MiscData{Battery: 120}).Append(nil),
	} {
		fmt.Fprintf(out, "HPUB player.lab.unit%d.%s.0.data %d %d\r\n%s%s\r\n", robot, iface, len(header), len(header)+len(payload), header, payload)
	}
}

// The page of a fleet of a hundred robots: a list and a map, robots in trouble first, the
// drivers, a search, and links to the robots' own pages.
func testFleetPage(t *testing.T, chromium browser) {
	_, dashboard := startDashboard(t)
	url := fleetPage(t, dashboard, "<b>anna</b>")
	b := chromium.open(t, url)
	b.until(shows("summary", "^100 robots · 0 stopped · 1 in trouble · 1 driven$"))
	const names = `[...document.querySelectorAll("#robots li")].filter((li) => !li.hidden).map((li) => li.querySelector("b").textContent).join(" ")`
	first := func(want string) {
		t.Helper()
		b.until(fmt.Sprintf(`(%s + " ").startsWith(%q)`, names, want+" "))
	}
	first("unit99 unit42 unit0 unit1 unit2")
	const row = `[...document.querySelectorAll("#robots li")].find((li) => li.querySelector("b").textContent === "%s")`
	b.until(fmt.Sprintf(row, "unit99") + `.querySelector(".text").textContent.includes("no server runs")`)
	// Of the others there are the battery and the age.
	b.until(`document.querySelectorAll("#robots li:not([data-state=trouble])").length === 99 &&
		[...document.querySelectorAll("#robots li:not([data-state=trouble])")].every((li) => /^\d+\.\d V$/.test(li.querySelector(".volts").textContent) && /^\d.*s$/.test(li.querySelector(".age").textContent))`)

	other := chromium.open(t, below(t, url))
	other.until(shows("summary", "^100 robots · 0 stopped · 1 in trouble · 1 driven$") + ` && fleet.map.robots.length === 99`)
	other.close()

	// The map has the robots where they are, in their colours, and their names.
	b.until(`fleet.map.robots.length === 99 && fleet.map.draws > 0`)
	if far := evaluate[[]string](b, `(() => {
		const at = (n) => fleet.robots.get(n), [a, b, c] = ["unit0", "unit9", "unit90"].map(at);
		return [b.sx > a.sx + 100 ? "" : "unit9 is not right of unit0", c.sy < a.sy - 100 ? "" : "unit90 is not above unit0"].filter(Boolean); })()`); len(far) > 0 {
		t.Error(far)
	}
	for robot, color := range map[string]string{"unit0": "good", "unit42": "accent"} {
		b.until(drawn("--"+color, fmt.Sprintf(`fleet.robots.get(%q)`, robot)))
	}
	b.until(named(`"unit42 · <b>anna</b>"`))
	b.until(named(`"unit98"`))

	b.until(fmt.Sprintf(row, "unit42") + `.querySelector(".text").textContent === "<b>anna</b> has control"`)
	// A click on a robot opens its own page.
	must.Do(t, chromedp.Do(b.ctx, chromedp.MouseEvent(chromedp.MouseMoved, 0, 0)))
	at := evaluate[[]float64](b, `(() => { const {left, top} = document.getElementById("plan").getBoundingClientRect(), r = fleet.robots.get("unit42"); return [left + r.sx, top + r.sy]; })()`)
	must.Do(t, chromedp.Do(b.ctx, chromedp.MouseEvent(chromedp.MouseMoved, at[0], at[1])))
	b.until(`document.elementFromPoint(` + fmt.Sprintf("%v, %v", at[0], at[1]) + `).id === "here"`)
	if link := evaluate[[]string](b, `(({href, target, rel, title}) => [href, target, rel, title])(document.getElementById("here"))`); !slices.Equal(link, []string{dashboard, "_blank", "noopener noreferrer", "unit42: <b>anna</b> has control"}) {
		t.Errorf("the link on the map is %q", link)
	}

	for _, size := range screens[2:] { // on smaller ones the marks of 100 robots are too small to hit; the list has them
		b.resize(size)
		for _, problem := range evaluate[[]string](b, cutOff) {
			t.Errorf("%dx%d: %s", size.width, size.height, problem)
		}
		b.until(`document.getElementById("robots").clientHeight > 100 && document.getElementById("plan").clientHeight > 100`)
	}

	// By keyboard: search, and open the found robot.
	press := func(keys string) {
		t.Helper()
		must.Do(t, chromedp.Do(b.ctx, chromedp.KeyEvent(keys)))
	}
	for _, id := range []string{"stop", "release", "search"} {
		press(kb.Tab)
		b.until(fmt.Sprintf(`document.activeElement.id === %q`, id))
	}
	press("unit5")
	first("unit5 unit50")
	if found := strings.Fields(evaluate[string](b, names)); len(found) != 11 {
		t.Errorf("found %v", found)
	}
	b.until(`fleet.map.robots.filter((r) => r.faded).length === 88`)
	press(kb.Tab)
	press(kb.Tab)
	b.until(`document.activeElement.tagName === "A" && document.activeElement.querySelector("b").textContent === "unit5"`)
	if link := evaluate[[]string](b, `[document.activeElement.href, document.activeElement.target, document.activeElement.rel]`); !slices.Equal(link, []string{dashboard, "_blank", "noopener noreferrer"}) {
		t.Errorf("the link is %q", link)
	}
	evaluate[chromedp.Void](b, `document.activeElement.removeAttribute("target")`) // a window of its own is not reached from here
	press(kb.Enter)
	b.until(`location.href === ` + fmt.Sprintf("%q", dashboard) + ` && window.player?.robots.length === 1`)

	b = chromium.open(t, url)
	b.until(shows("summary", "1 driven"))
	b.checkLooks("a hundred robots", screens[:3]...)
}

// drawn is an expression: a colour of the theme is at a point of the map.
func drawn(color, point string) string {
	return fmt.Sprintf(`(() => {
		const {canvas, view} = fleet.map, probe = new OffscreenCanvas(1, 1).getContext("2d"), {sx, sy} = %s;
		canvas.style.color = "var(%s)";
		probe.fillStyle = getComputedStyle(canvas).color;
		probe.fillRect(0, 0, 1, 1);
		const bytes = (data) => data.slice(0, 3).join();
		const {data} = view.context.getImageData((sx - 4) * view.ratio, (sy - 4) * view.ratio, 9 * view.ratio, 9 * view.ratio);
		for (let i = 0; i < data.length; i += 4) if (bytes(data.slice(i)) === bytes(probe.getImageData(0, 0, 1, 1).data)) return true;
		return false; })()`, point, color)
}

// named is an expression: the map is drawn with a name.
func named(name string) string {
	return fmt.Sprintf(`(() => {
		const {view} = fleet.map, names = [], {fillText} = CanvasRenderingContext2D.prototype;
		view.context.fillText = function (text, ...at) { names.push(text); fillText.call(this, text, ...at); };
		view.context.setTransform(1, 0, 0, 1, 0, 0);
		fleet.map.drawNames(view.context, fleet.map.place());
		delete view.context.fillText;
		fleet.map.moved();
		return names.includes(%s); })()`, name)
}

// Robots with one floor plan are on one map, with its walls; others are on another one.
func testFleetPlans(t *testing.T, chromium browser) {
	s, dashboard := startDashboard(t)
	url := startFleet(t, "-robot", fmt.Sprintf("a=%s page=%s at=1,1,0", s.address, dashboard), "-robot", fmt.Sprintf("b=%s page=%s at=-1,0,90", s.address, dashboard),
		"-robot", fmt.Sprintf("c=%s at=0,0,0", s.address)).url
	b := chromium.open(t, url)
	b.until(`fleet.map.plan && fleet.map.robots.length === 2 && !document.getElementById("floor").hidden`)
	wall := `(() => {
		const {plan, view} = fleet.map, p = plan.mask.getContext("2d").getImageData(0, 0, plan.mask.width, plan.mask.height);
		const n = p.data.findIndex((v, i) => i % 4 === 3 && v > 0) >> 2, cell = (plan.extent.right - plan.extent.left) / p.width;
		const at = view.toScreen({x: plan.extent.left + (n % p.width + 0.5) * cell, y: plan.extent.bottom + (Math.floor(n / p.width) + 0.5) * cell});
		return {sx: at.x, sy: at.y}; })()`
	b.until(drawn("--wall", wall))
	b.until(named(`"a"`))
	// Battery and age as lines.
	b.until(`document.querySelectorAll("#robots .lines path[d]").length === 6`)
	b.checkLooks("floor plans", screens[:3]...)

	// By keyboard: the other map, and a part of it.
	press := func(keys string) {
		t.Helper()
		must.Do(t, chromedp.Do(b.ctx, chromedp.KeyEvent(keys)))
	}
	evaluate[chromedp.Void](b, `document.getElementById("floor").focus()`)
	press(kb.ArrowDown)
	b.until(`fleet.map.plan === null && fleet.map.robots.length === 1 && fleet.map.robots[0].name === "c"`)
	press(kb.Tab)
	b.until(`document.activeElement.id === "plan"`)
	scale := evaluate[float64](b, `fleet.map.view.scale`)
	press("-")
	b.until(fmt.Sprintf(`fleet.map.view.scale < %v`, scale))
	press("0")
	b.until(fmt.Sprintf(`fleet.map.view.scale === %v`, scale))
}
