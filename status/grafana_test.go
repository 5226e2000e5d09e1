package status

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The dashboard for Grafana uses only metrics that exist.
func TestGrafana(t *testing.T) {
	text, err := os.ReadFile("../docs/grafana.json")
	if err != nil || !json.Valid(text) {
		t.Fatal("not JSON", err)
	}
	metrics := string(example().AppendMetrics(nil))
	names := regexp.MustCompile(`player_[a-z_]+`).FindAllString(string(text), -1)
	if len(names) < 10 {
		t.Errorf("it uses only %q", names)
	}
	for _, name := range names {
		if !strings.Contains(metrics, "# TYPE "+name+" ") {
			t.Errorf("there is no metric %s", name)
		}
	}
}
