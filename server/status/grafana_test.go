package status

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"player/e2e/promtool"
)

// The dashboard for Grafana and the alerts use only metrics that exist.
func TestMetricsInDocs(t *testing.T) {
	metrics := string(example().AppendMetrics(nil))
	for page, least := range map[string]int{"grafana.json": 10, "alerts.yml": 8} {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		if page == "grafana.json" && !json.Valid(text) {
			t.Error("grafana.json is not JSON")
		}
		names := regexp.MustCompile(`player_[a-z_]+`).FindAllString(string(text), -1)
		if len(names) < least {
			t.Errorf("%s uses only %q", page, names)
		}
		for _, name := range names {
			if !strings.Contains(metrics, "# TYPE "+name+" ") {
				t.Errorf("%s: there is no metric %s", page, name)
			}
		}
	}
}

// Prometheus takes the alerts and the metrics, and what the dashboard asks for.
func TestPrometheus(t *testing.T) {
	promtool.Check(t, "../../docs/alerts.yml", "../../docs/grafana.json", example().AppendMetrics(nil))
}
