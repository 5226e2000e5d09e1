package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"player/e2e/must"
	"player/e2e/waiting"
	"player/packaging/site"
)

// The pages of the project as a web site are read from files, searched, and good for readers of all kinds, on a
// desktop and on a phone.
func testSite(t *testing.T, chromium browser) {
	output := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(output, "1.10.0"), 0o777)) // another version: a whole one costs javadoc
	write(t, filepath.Join(output, "1.10.0"), "index.html", "<!doctype html><title>1.10.0</title>")
	if missing := must.Get(site.Build("..", output, "1.9.0"))(t); len(missing) > 0 {
		t.Errorf("the site lacks %q", missing)
	}
	open := func(page string) *tab { return chromium.open(t, "file://"+filepath.Join(output, "1.9.0", page)) }
	sizes := []screen{screens[0], screens[4]}

	b := open("index.html")
	b.until(`document.getElementById("versions").options.length === 2`)
	if newest := evaluate[string](b, `document.getElementById("versions").options[0].value`); newest != "1.10.0" {
		t.Errorf("the first version is %s, want 1.10.0", newest)
	}
	b.checkLooks("the index", sizes...)
	evaluate[chromedp.Void](b, `document.getElementById("versions").value = "1.10.0"; document.getElementById("versions").dispatchEvent(new Event("change"))`)
	arrives(b, "/1.10.0/index.html")

	b = open("docs/PROTOCOL.html")
	b.checkLooks("a long page", sizes...)
	evaluate[chromedp.Void](b, `document.getElementById("query").value = "emergency stop"; document.getElementById("query").dispatchEvent(new Event("input"))`)
	b.until(`document.querySelectorAll("#found a").length > 5`)
	b.checkLooks("results of a search", sizes...)
	best := evaluate[string](b, `document.querySelector("#found a").href`)
	evaluate[chromedp.Void](b, `document.getElementById("search").requestSubmit()`)
	arrives(b, best)
	b.until(`/emergency\s+stop/i.test(document.body?.innerText)`)

	b = open("docs/PROTOCOL.html")
	evaluate[chromedp.Void](b, `document.getElementById("query").value = "zyzzyva"; document.getElementById("query").dispatchEvent(new Event("input"))`)
	b.until(`document.querySelectorAll("#found li").length === 1 && !document.querySelector("#found a")`)

	for _, page := range []string{"reference/go/client.html", "source/clients/c/player.h.html", "README.html"} {
		b := open(page)
		b.checkLooks(page, sizes...)
		for _, size := range sizes {
			b.resize(size)
			if wide := evaluate[int](b, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
				t.Errorf("%s: %d pixels are cut off on %s", page, wide, fmt.Sprint(size))
			}
		}
		if broken := evaluate[[]string](b, `[...document.images].filter((i) => i.complete && i.naturalWidth === 0).map((i) => i.src)`); len(broken) > 0 {
			t.Errorf("%s: pictures are not shown: %q", page, broken)
		}
	}
}

// arrives waits until a tab is at an address with an end. While a page is left, the tab has none.
func arrives(b *tab, end string) {
	b.t.Helper()
	waiting.Until(b.t, "the page "+end, func() bool {
		at, err := chromedp.Run(b.ctx, chromedp.Location())
		return err == nil && strings.HasSuffix(at, end)
	})
}
