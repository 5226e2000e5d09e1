package dashboard

import (
	"net/http"
	"strings"
	"testing"

	"player/codec"
	"player/config/rights"
	"player/server/status"
)

func TestShape(t *testing.T) {
	f := newFake()
	ask := newStatus(t, f, rights.Read)
	for path, want := range map[string]int{"/shape?robot=localhost:6665": http.StatusNoContent, "/shape?robot=localhost:6666": http.StatusNoContent, "/shape": http.StatusNoContent} {
		if w := ask("GET", path, ""); w.Code != want || w.Body.Len() > 0 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	f.now.Robots[0].Devices = map[string]status.Device{"laser": {Parts: []codec.Part{{Range: 8000}}}}
	if w := ask("GET", "/shape?robot=localhost:6665", ""); w.Code != http.StatusNoContent {
		t.Errorf("a laser without a pose: %d %s", w.Code, w.Body)
	}
	f.now.Robots[0].Devices = map[string]status.Device{"laser": {Parts: []codec.Part{{X: 100, Range: 8000}}}, "ptz": {Parts: []codec.Part{{Y: -50, Heading: 90}}}}
	if w, want := ask("GET", "/shape?robot=localhost:6665", ""), `{"Outline":null,"Sonars":null,"Laser":{"X":0.1,"Y":0,"Heading":0},"Camera":{"X":0,"Y":-0.05,"Heading":1.5707963267948966}}`; strings.TrimSpace(w.Body.String()) != want {
		t.Errorf("%s, want %s", w.Body, want)
	}
	f.now.Robots[0].Devices = map[string]status.Device{
		"position": {Parts: []codec.Part{{X: -50, Length: 500, Width: 400}}},
		"sonar":    {Parts: []codec.Part{{Number: 1, X: 3000, Y: 4000, Heading: 180}, {Number: 99}}},
	}
	want := `{"Outline":[{"X":0.2,"Y":0.1},{"X":0.1,"Y":0.2},{"X":-0.2,"Y":0.2},{"X":-0.3,"Y":0.1},` +
		`{"X":-0.3,"Y":-0.1},{"X":-0.2,"Y":-0.2},{"X":0.1,"Y":-0.2},{"X":0.2,"Y":-0.1}],"Sonars":[{"X":0,"Y":0,"Heading":0},{"X":3,"Y":4,"Heading":3.141592653589793}`
	if w := ask("GET", "/shape?robot=localhost:6665", ""); w.Code != http.StatusOK || len(w.Body.String()) < len(want) || w.Body.String()[:len(want)] != want {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
