package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"player/codec"
)

// fleetPage starts the program of the fleet with its page, and a bridge that is made up:
// it has a hundred robots, whose own page is dashboard. Of unit99 there is no data, and
// unit42 is driven. It returns the page.
func fleetPage(t *testing.T, dashboard string) (page string) {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "fleet")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = "../fleet" // a module of its own
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the fleet: %v\n%s", err, out)
	}
	log := &lockedBuffer{}
	token := filepath.Join(dir, "token")
	fleet := exec.Command(binary, "-fleet", "lab", "-listen", "127.0.0.1:0", "-dir", filepath.Join(dir, "nats"), "-token", token, "-http", "127.0.0.1:0",
		"-robot", fmt.Sprintf("unit99=127.0.0.1:%d page=%s", freePort(t), dashboard))
	fleet.Stdout, fleet.Stderr = log, log
	if err := fleet.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = fleet.Process.Signal(os.Interrupt)
		_ = fleet.Wait()
		if t.Failed() {
			t.Logf("the fleet's log: %s", tail(log.String(), 3000))
		}
	})
	url, nats := regexp.MustCompile(`"url": ?"(http://[^"]+)"`), regexp.MustCompile(`"nats": ?"nats://([^"]+)"`)
	await(t, "the fleet", func() bool { return nats.MatchString(log.String()) })
	conn, err := net.Dial("tcp", nats.FindStringSubmatch(log.String())[1])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	secret, err := os.ReadFile(token)
	if err != nil {
		t.Fatal(err)
	}
	go publishFleet(conn, strings.TrimSpace(string(secret)), dashboard)
	return url.FindStringSubmatch(log.String())[1] + "/"
}

// publishFleet publishes status, odometry and battery of 99 robots four times a second
// until the connection ends, by NATS's protocol
// (https://docs.nats.io/reference/reference-protocols/nats-protocol).
func publishFleet(conn net.Conn, token, dashboard string) {
	out := bufio.NewWriterSize(conn, 1<<20) // one write for each round: a PONG comes between two
	fmt.Fprintf(out, "CONNECT {\"verbose\":false,\"headers\":true,\"auth_token\":%q}\r\n", token)
	go func() {
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			if lines.Text() == "PING" {
				fmt.Fprint(conn, "PONG\r\n")
			}
		}
	}()
	for sequence := 0; ; sequence++ {
		header := fmt.Sprintf("NATS/1.0\r\nPlayer-Time: %d\r\nPlayer-Age: 20000\r\n\r\n", sequence)
		for i := range 99 {
			prefix := fmt.Sprintf("player.lab.unit%d.", i)
			status := map[string]any{
				"robot": fmt.Sprint("unit", i), "page": dashboard, "connected": true,
				"origin": map[string]int{"x": 2 * (i % 10), "y": 2 * (i / 10), "heading": 37 * i % 360},
			}
			if i == 42 {
				status["holders"] = map[string]string{"position": "<b>anna</b>"}
			}
			text, err := json.Marshal(status)
			if err != nil {
				panic(err) // of strings and numbers
			}
			fmt.Fprintf(out, "PUB %sstatus %d\r\n%s\r\n", prefix, len(text), text)
			odometry := codec.PositionData{X: 100}
			if i == 42 {
				odometry.Speed = 200 // anna drives
			}
			for iface, payload := range map[string][]byte{
				"position": odometry.Append(nil), "misc": (&codec.MiscData{Battery: 120}).Append(nil),
			} {
				fmt.Fprintf(out, "HPUB %s%s.0.data %d %d\r\n%s%s\r\n", prefix, iface, len(header), len(header)+len(payload), header, payload)
			}
		}
		if out.Flush() != nil {
			return
		}
		time.Sleep(time.Second / 4) // its rate
	}
}

// The page of a fleet of a hundred robots: a list and a map, those in trouble first, who
// drives, a search, and links to the robots' own pages.
func testFleetPage(t *testing.T, chromium browser) {
	_, dashboard := startDashboard(t)
	url := fleetPage(t, dashboard)
	b := chromium.open(t, url)
	b.until(shows("summary", "^100 robots · 0 stopped · 1 in trouble · 1 driven$"))
	const names = `[...document.querySelectorAll("#robots li")].filter((li) => !li.hidden).map((li) => li.querySelector("b").textContent).join(" ")`
	first := func(want string) {
		t.Helper()
		b.until(fmt.Sprintf(`(%s + " ").startsWith(%q)`, names, want+" "))
	}
	first("unit99 unit42 unit0 unit1 unit2")
	const row = `[...document.querySelectorAll("#robots li")].find((li) => li.querySelector("b").textContent === "%s")`
	b.until(fmt.Sprintf(row, "unit99") + `.querySelector(".text").textContent.includes("refused")`)
	// Of the others there are the battery and the age.
	b.until(`document.querySelectorAll("#robots li:not([data-state=trouble])").length === 99 &&
		[...document.querySelectorAll("#robots li:not([data-state=trouble])")].every((li) => /^\d+\.\d V$/.test(li.querySelector(".volts").textContent) && /^\d.*s$/.test(li.querySelector(".age").textContent))`)

	// The map has the robots where they are; only one in trouble has its name there.
	b.until(`document.querySelectorAll("#plan [data-state]").length === 99`)
	if far := evaluate[[]string](b, `(() => {
		const at = (n) => [...document.querySelectorAll("#plan a")].find((a) => a.querySelector("title").textContent === n).querySelector("path").getBoundingClientRect();
		const [a, b, c] = ["unit0", "unit9", "unit90"].map(at);
		return [b.left > a.left + 100 ? "" : "unit9 is not right of unit0", c.top < a.top - 100 ? "" : "unit90 is not above unit0"].filter(Boolean); })()`); len(far) > 0 {
		t.Error(far)
	}

	b.until(fmt.Sprintf(row, "unit42") + `.querySelector(".text").textContent === "<b>anna</b> has control"`)
	b.until(`document.querySelectorAll("#plan [data-state=driven]").length === 1`)

	for _, size := range screens[2:] { // on smaller ones the marks of 100 robots are too small to hit; the list has them
		b.resize(size)
		for _, problem := range evaluate[[]string](b, cutOff) {
			t.Errorf("%dx%d: %s", size.width, size.height, problem)
		}
		b.until(`document.getElementById("robots").clientHeight > 100 && document.getElementById("plan").clientHeight > 100`)
	}

	// By keyboard: search, and open what is found.
	press := func(keys string) {
		t.Helper()
		if err := chromedp.Do(b.ctx, chromedp.KeyEvent(keys)); err != nil {
			t.Fatal(err)
		}
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
	b.until(`document.querySelectorAll("#plan .faded").length === 88`)
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
	for _, scheme := range []string{"light", "dark"} {
		b.media("prefers-color-scheme", scheme)
		for _, size := range screens[:3] {
			b.resize(size)
			b.checkAxe(fmt.Sprint(scheme, size))
		}
	}
}
