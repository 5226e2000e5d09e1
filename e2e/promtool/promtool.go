// Package promtool checks this project's files for Prometheus and Grafana by Prometheus's own
// program.
package promtool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"player/e2e/needs"
)

// Names checks the names of metrics without promtool: their letters, that counters and no others end in total, and that
// a time, a rate and a size have the base unit of Prometheus as their suffix.
func Names(t *testing.T, metrics []byte) {
	t.Helper()
	form := regexp.MustCompile(`^player(_[a-z0-9]+)+$`)
	units := map[*regexp.Regexp]string{
		regexp.MustCompile(`_(uptime|age|rtt|period|duration)_`): "_seconds", regexp.MustCompile(`_rate_`): "_hertz",
		regexp.MustCompile(`_(stored|buffered|size)_`): "_bytes",
	}
	other := regexp.MustCompile(`_([mnu]s|milliseconds|minutes|hours|hz|k?b|kilobytes|percent)(_|$)`)
	families := regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`).FindAllSubmatch(metrics, -1)
	if len(families) < 10 {
		t.Errorf("only %d metrics", len(families))
	}
	for _, family := range families {
		name, kind := string(family[1]), string(family[2])
		base, total := strings.CutSuffix(name, "_total")
		if !form.MatchString(name) || other.MatchString(name) || total != (kind == "counter") {
			t.Errorf("the name of the %s %s", kind, name)
		}
		for of, unit := range units {
			if of.MatchString(name+"_") && !strings.HasSuffix(base, unit) {
				t.Errorf("%s does not end in %s", name, unit)
			}
		}
	}
}

// Check checks a file of alerts, the expressions of a dashboard for Grafana, and metrics.
func Check(t *testing.T, alerts, dashboard string, metrics []byte) {
	t.Helper()
	program := needs.Program(t, "promtool")
	run := func(what string, input []byte, args ...string) {
		t.Helper()
		check := exec.Command(program, append([]string{"check"}, args...)...)
		check.Stdin = bytes.NewReader(input)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
	run(alerts, nil, "rules", "--lint-fatal", alerts)
	run("the metrics", metrics, "metrics")

	// A rule that records it has the syntax of an expression checked, and YAML has JSON in it.
	type rule struct {
		Record string `json:"record"`
		Expr   string `json:"expr"`
	}
	var rules []rule
	for i, expression := range expressions(t, dashboard) {
		rules = append(rules, rule{fmt.Sprint("expression:", i), expression})
	}
	const least = 5 // of a dashboard: with fewer this test has not found them
	if len(rules) < least {
		t.Fatalf("%s has only %v", dashboard, rules)
	}
	text, err := json.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	run(dashboard, nil, "rules", file)
}

// expressions returns a dashboard's questions to Prometheus, with values for its variables.
func expressions(t *testing.T, dashboard string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(dashboard)
	if err != nil {
		t.Fatal(err)
	}
	var content struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal(text, &content); err != nil {
		t.Fatalf("%s: %v", dashboard, err)
	}
	variable := regexp.MustCompile(`\$\w+`)
	for _, p := range content.Panels {
		for _, target := range p.Targets {
			all = append(all, variable.ReplaceAllString(target.Expr, "x"))
		}
	}
	return all
}
