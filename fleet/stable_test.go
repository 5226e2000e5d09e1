package main

import (
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"player/devices"
	"player/e2e/must"
	"player/fleet/bridge"
)

var update = flag.Bool("update", false, "write testdata/stable.txt")

// The stable names of the fleet (docs/RELEASING.md) are in testdata/stable.txt: the subjects that
// the program takes and sends, its headers, the fields of its JSON, its metrics, and its flags.
func TestStable(t *testing.T) {
	t.Parallel()
	natsServer := startEmbedded(t)
	a := startRobot(t, "a")
	a.about = " page=http://" + a.page + "/"
	_, conn := startFleet(t, []robot{a}, "-nats", natsServer.ClientURL())
	names := regexp.MustCompile(`^player\.lab(\.a\b)?`)
	generic := func(subject string) string {
		return names.ReplaceAllStringFunc(subject, func(s string) string {
			return map[string]string{"player.lab": "player.FLEET", "player.lab.a": "player.FLEET.ROBOT"}[s]
		})
	}

	for _, spec := range devices.Lettered() {
		if spec.CommandSize > 0 { // the device takes commands by now if it answers
			request(t, conn, bridge.Subject("lab", "a", spec.Name, bridge.Lease), "no token", nil)
		}
	}
	all := must.Get(natsServer.Subsz(&server.SubszOptions{Subscriptions: true, Limit: 10_000}))(t)
	var lines []string
	for _, s := range all.Subs {
		if names.MatchString(s.Subject) {
			lines = append(lines, "takes "+generic(s.Subject))
		}
	}
	everything := subscribe(t, conn, "player.lab.>")
	must.Do(t, conn.Publish("player.lab.a.laser.0.rate", []byte(`{"answer":"NAME"}`)))
	camera := bridge.CameraSubject("lab", "a", a.simulated(), bridge.Rate)
	must.Do(t, conn.Publish(camera, []byte("1")))
	seen := map[string]bool{"player.lab.a.laser.0.rate": true, camera: true} // by this test
	for want := 2*(len(devices.Lettered())+2) + len([]string{"status", "bridges", "answer", "picture"}) + len(seen); len(seen) < want; {
		m, err := everything.NextMsg(patience)
		if err != nil {
			t.Fatalf("only %v were seen: %v", seen, err)
		}
		if !seen[m.Subject] {
			seen[m.Subject] = true
			lines = append(lines, "sends "+generic(strings.Replace(m.Subject, a.simulated(), "NAME", 1)))
		}
	}
	for _, header := range []string{bridge.HeaderTime, bridge.HeaderAge, bridge.HeaderSequence, bridge.HeaderEpoch, bridge.HeaderSchema, bridge.HeaderDescription, bridge.HeaderLease, bridge.HeaderPlan} {
		lines = append(lines, "header "+header)
	}
	for _, name := range bridge.Schemas() {
		text := must.Get(bridge.Schema(name))(t)
		var schema any
		must.Do(t, json.Unmarshal(text, &schema))
		lines = append(lines, fieldsOf("schema "+name, schema)...)
	}
	lines = append(lines, metricsOf(string(everyMetric().metrics()))...)
	for name, page := range map[string]string{"fleet": usage, "fleet export": exportUsage} {
		for _, match := range regexp.MustCompile(`(?m)^  (-[a-z][\w-]*(?: [A-Z][\w-]*)?)`).FindAllStringSubmatch(page, -1) {
			lines = append(lines, name+" "+match[1])
		}
	}

	slices.Sort(lines)
	lines = slices.Compact(lines)
	const path = "testdata/stable.txt"
	if *update {
		must.Do(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
		return
	}
	was := must.Get(os.ReadFile(path))(t)
	before := strings.Split(strings.TrimSpace(string(was)), "\n")
	for _, line := range before {
		if !slices.Contains(lines, line) {
			t.Errorf("gone: %s", line)
		}
	}
	for _, line := range lines {
		if !slices.Contains(before, line) {
			t.Errorf("new: %s", line)
		}
	}
	if t.Failed() {
		t.Log("if that is meant: go test . -run TestStable -update, in fleet/")
	}
}

// All stable names of version 1.0 are still there, or covered by a subject with a wildcard: they may only go with the
// first number of the version.
func TestStableSinceVersion1(t *testing.T) {
	t.Parallel()
	read := func(path string) []string {
		return strings.Split(strings.TrimSpace(string(must.Get(os.ReadFile(path))(t))), "\n")
	}
	today := read("testdata/stable.txt")
	first := read("testdata/stable-1.0.txt")
	if len(first) < 100 {
		t.Errorf("only %d lines are of version 1.0", len(first))
	}
	for _, line := range first {
		if !slices.ContainsFunc(today, func(name string) bool { return covers(name, line) }) {
			t.Errorf("of version 1.0 is gone: %s", line)
		}
	}
}

// covers reports whether a line is the same as another one, or has * for a part of its subject.
func covers(line, other string) bool {
	parts, others := strings.Split(line, "."), strings.Split(other, ".")
	return slices.EqualFunc(parts, others, func(part, other string) bool { return part == other || part == "*" })
}

// fieldsOf returns a line for each field of a schema, at any depth. Of choices, the title
// names each.
func fieldsOf(path string, schema any) (lines []string) {
	s, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	if properties, ok := s["properties"].(map[string]any); ok {
		for name, field := range properties {
			lines = append(lines, path+" "+name)
			lines = append(lines, fieldsOf(path+" "+name, field)...)
		}
	}
	lines = append(lines, fieldsOf(path, s["items"])...)
	for _, choice := range []string{"oneOf", "anyOf"} {
		choices, _ := s[choice].([]any)
		for _, c := range choices {
			title, _ := c.(map[string]any)["title"].(string)
			lines = append(lines, fieldsOf(strings.TrimSpace(path+" "+title), c)...)
		}
	}
	return lines
}

// metricsOf returns a line for each metric of Prometheus text: its name, kind and labels.
func metricsOf(text string) (lines []string) {
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\w+) (\w+)\n\w+(?:\{(.*)\})? `).FindAllStringSubmatch(text, -1) {
		line := "metric " + m[1] + " " + m[2]
		for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(m[3], -1) {
			line += " " + label[1]
		}
		lines = append(lines, line)
	}
	return lines
}
