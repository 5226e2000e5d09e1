// Package promtool checks what Prometheus and Grafana read of this project by Prometheus's own
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
	"testing"

	"player/e2e/needs"
)

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

// expressions returns what a dashboard asks Prometheus, with values for its variables.
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
