package foxglove

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"player/e2e/must"
	"player/visitors/roomtest"
)

// The layout names topics, services and frames that the server offers, and each of its
// panels has a place.
func TestLayout(t *testing.T) {
	l := newLab(t, silenceLimit)
	page := strings.Replace(l.url, "ws", "http", 1) + layoutPath
	reply, text := roomtest.Request(t, "GET", page+"?robot=r0", nil)
	if reply.StatusCode != http.StatusOK {
		t.Fatalf("%v: %s", reply.Status, text)
	}
	var layout struct {
		ConfigByID map[string]json.RawMessage
		Layout     json.RawMessage
	}
	must.Do(t, json.Unmarshal([]byte(text), &layout))
	placed := regexp.MustCompile(`"\w+!\w+"`).FindAllString(string(layout.Layout), -1)
	if len(placed) != len(layout.ConfigByID) {
		t.Errorf("%d panels have a place, of %d", len(placed), len(layout.ConfigByID))
	}
	for _, name := range placed {
		if layout.ConfigByID[strings.Trim(name, `"`)] == nil {
			t.Errorf("%s has no settings", name)
		}
	}
	v := l.open("127.0.0.1")
	offered := map[string]bool{"/r0" + velocityTopic: true}
	for _, c := range v.channels {
		offered[c.Topic] = true
	}
	for _, s := range v.services {
		offered[s.Name] = true
	}
	seen := 0
	for _, match := range regexp.MustCompile(`"(/r0/[a-z_/]+)(\.[a-z_]+)?"`).FindAllStringSubmatch(text, -1) {
		if seen++; !offered[match[1]] {
			t.Errorf("%s is not offered", match[1])
		}
	}
	if seen < 10 {
		t.Errorf("only %d names", seen)
	}
	if reply, text := roomtest.Request(t, "GET", page+"?robot=r9", nil); reply.StatusCode != http.StatusNotFound {
		t.Errorf("another robot: %v, %v", reply.Status, text)
	}
}
