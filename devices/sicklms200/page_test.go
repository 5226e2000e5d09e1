package sicklms200

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"player/e2e/must"
)

// The page prints the request for 500000 baud, which the driver itself does not send.
func TestSpeedOfThePage(t *testing.T) {
	const fast Mode = 0x48
	var escaped strings.Builder
	for _, b := range AppendMode(nil, fast) {
		fmt.Fprintf(&escaped, `\x%02x`, b)
	}
	page := string(must.Get(os.ReadFile("../../docs/devices/sicklms200.md"))(t))
	if want := "printf '" + escaped.String() + "' > "; !strings.Contains(page, want) {
		t.Errorf("the page lacks %s", want)
	}
}
