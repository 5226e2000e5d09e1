package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"player/e2e/needs"
	"player/e2e/npm"
)

// Tests of the dashboard for people who need more than a mouse and a light screen.

// axe returns the source of axe-core, of the version in testdata/axe.
var axe = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "axe")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if err := npm.Into(dir, "testdata/axe"); err != nil {
		return "", err
	}
	source, err := os.ReadFile(filepath.Join(dir, "node_modules/axe-core/axe.min.js"))
	return string(source), err
})

// checkAxe checks the rules of axe-core: labels, roles, contrast and more; or those that are
// named. what is the state of the page.
func (b *tab) checkAxe(what string, rules ...string) {
	b.t.Helper()
	source, err := axe()
	if err != nil {
		needs.Missing(b.t, "axe-core: ", err)
	}
	if !evaluate[bool](b, `"axe" in window`) {
		evaluate[chromedp.Void](b, source)
	}
	// Passes are not collected, which takes most of the time.
	options := `{resultTypes: ["violations"], preload: false}`
	if len(rules) > 0 {
		options = fmt.Sprintf(`{resultTypes: ["violations"], preload: false, runOnly: ["%s"]}`, strings.Join(rules, `", "`))
	}
	found := evaluate[[]string](b, `axe.run(document, `+options+`).then(({violations}) => violations.flatMap(({id, help, nodes}) =>
		nodes.map((n) => id + ": " + help + ": " + n.target + ": " + n.failureSummary.replaceAll("\n", " "))))`)
	for _, violation := range slices.Compact(found) {
		b.t.Errorf("%s: %s", what, violation)
	}
}

// checkLooks checks a view with axe-core in both themes, on each of the screens or on the one that
// it has, and that nothing moves by itself for users who do not want that. The theme is light then.
func (b *tab) checkLooks(what string, sizes ...screen) {
	b.t.Helper()
	for _, scheme := range []string{"dark", "light"} { // light is the last, on the last of the screens
		var rules []string
		if scheme == "dark" {
			rules = []string{"color-contrast"} // the rest does not follow the theme
		}
		b.media("prefers-color-scheme", scheme)
		b.until(fmt.Sprintf(`matchMedia("(prefers-color-scheme: %s)").matches && (document.documentElement.dataset.theme ?? %[1]q) === %[1]q`, scheme))
		if len(sizes) == 0 {
			b.checkAxe(fmt.Sprint(what, ", ", scheme), rules...)
		}
		for i, size := range sizes {
			if i > 0 && rules != nil {
				break // a theme has the same colours on all screens
			}
			b.resize(size)
			b.checkAxe(fmt.Sprint(what, ", ", scheme, size), rules...)
		}
	}
	b.media("prefers-reduced-motion", "reduce")
	if moving := evaluate[[]string](b, moves); len(moving) > 0 {
		b.t.Errorf("%s: these move though the user does not want that: %q", what, moving)
	}
	b.media("prefers-color-scheme", "light")
}

// moves is an expression: the elements that move by themselves.
const moves = `[...document.querySelectorAll("*")].filter((e) => {
	const style = getComputedStyle(e);
	return style.animationName !== "none" || style.transitionDuration.split(", ").some((d) => d !== "0s");
}).map((e) => e.id || e.getAttribute("class") || e.tagName)`

func testAccessibility(t *testing.T, chromium browser) {
	s, page := startDashboard(t)
	program(t, s, "anna", "127.0.0.1")
	reader, readerPage := readOnly(t)
	b := chromium.open(t, page)
	sizes := screens[:5]
	b.until(`player.shown?.data.l && player.world.plan && ` + has("who", "role", "alone program"))
	b.checkLooks("at first", sizes...)
	click := func(id string) func() {
		return func() {
			evaluate[chromedp.Void](b, fmt.Sprintf(`document.getElementById(%q).click()`, id)) // also what this screen folds
		}
	}
	for _, view := range []struct {
		name         string
		enter, leave func()
		there        string
	}{
		{"stopped", click("stop"), click("release"), visible + `("alert")`},
		{"editing the world", click("edit"), click("edit"), visible + `("edit-bar")`},
		{"devices", click("devices-open"), click("devices-open"), visible + `("details")`},
		{"plots", click("plots-open"), click("plots-open"), visible + `("plots") && document.querySelector("#plots canvas")`},
		{"the log", click("log-open"), click("log-open"), visible + `("log") && document.querySelectorAll("#log li").length > 3`},
		{"the past", click("live"), click("to-live"), visible + `("past")`},
		{"the robot on a phone", click("tab-robot"), click("tab-world"), `document.getElementById("tab-robot").ariaPressed === "true"`},
		{"the list of robots on a phone", click("robots-open"), click("robots-open"), `document.getElementById("robots-open").ariaExpanded === "true"`},
	} {
		view.enter()
		b.until(view.there)
		b.checkLooks(view.name)
		view.leave()
		b.until(`!(` + view.there + `)`)
	}
	b = chromium.open(t, readerPage)
	b.until(`player.shown?.data.l && ` + visible + `("why")`)
	b.checkLooks("read-only")
	reader.kill(t)
	b.until(`document.querySelectorAll(".pane.old").length === 2`)
	b.checkLooks("without the server")
}
