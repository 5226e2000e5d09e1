package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"player/e2e/must"
)

// notMeasured are figures in the heads of pages that bench does not measure, and why they are there.
var notMeasured = map[string]map[string]string{
	"README.md":            {"below 13 MB": "a limit, which packaging keeps"},
	"docs/BENCHMARKING.md": {"20ms of timer slack": "a setting", "3 % wide": "a setting"},
	"docs/DECISIONS.md":    {"slices of 1 ms": "a setting", "yields every 2 ms": "a setting", "on a 5 ms grid": "a setting"},
	"docs/LOGS.md":         {"is 33 MB, and about 19 MB with": "sizes of files"},
	"docs/SECURITY.md":     {"4 KiB in 2 ms": "a limit"},
	"docs/STATUS.md":       {"500 and 64 KiB": "a limit"},
}

// headLines is how many lines of a page are its head. All of README is.
const headLines = 20

var looksMeasured = regexp.MustCompile(`[0-9][0-9.,]*\s*(us|ms|s old|KiB|MiB|kB|MB|%|frames a second|wakes)(\W|$)`)

// Every figure in the head of a page is a quotation of medians.json, or is known not to be measured.
func TestHeadsOfPages(t *testing.T) {
	pages := append(must.Get(filepath.Glob("../docs/*.md"))(t), "../README.md")
	for _, path := range pages {
		page := strings.TrimPrefix(filepath.ToSlash(path), "../")
		if page == "docs/BENCHMARKS.md" { // bench writes it
			continue
		}
		text := string(must.Get(os.ReadFile(path))(t))
		if page != "README.md" {
			text = strings.Join(strings.Split(text, "\n")[:min(headLines, strings.Count(text, "\n"))], "\n")
		}
		for _, figure := range unknownFigures(page, text) {
			t.Errorf("%s has a figure in its head that bench/pages.go does not quote: %s", page, figure)
		}
	}
	if got := unknownFigures("README.md", "It takes 7 ms, in files below 13 MB."); len(got) != 1 || !strings.HasPrefix(got[0], "7 ms") {
		t.Errorf("found %q", got)
	}
}

// unknownFigures are the figures of a text that are neither quoted nor known.
func unknownFigures(page, text string) []string {
	for _, q := range quotations() {
		if q.page == page {
			text = q.expression().ReplaceAllString(text, "")
		}
	}
	for known := range notMeasured[page] {
		text = strings.ReplaceAll(text, known, "")
	}
	return looksMeasured.FindAllString(text, -1)
}

// Pages have the figures of the kept results, rounded.
func TestFiguresOfPages(t *testing.T) {
	m := must.Get(readMedians("results"))(t)
	if !m.Clean || len(m.Commits) != 1 {
		t.Fatalf("medians.json is of %v, clean: %v", m.Commits, m.Clean)
	}
	for _, q := range quotations() {
		text := string(must.Get(os.ReadFile(filepath.Join("..", q.page)))(t))
		filled, err := q.fill(text, m)
		if err != nil {
			t.Errorf("%v: change bench/pages.go with the page", err)
			continue
		}
		if filled != text {
			t.Errorf("%s does not have the figures of medians.json in %q: go run ./bench -pages -out bench/results", q.page, q.text)
		}
	}
}

// medians.json is made of results.jsonl.
func TestMediansAreOfTheResults(t *testing.T) {
	r := must.Get(readResults("results", machine{}))(t)
	dir := t.TempDir()
	must.Do(t, must.Get(r.medians())(t).write(dir))
	want, got := must.Get(os.ReadFile(filepath.Join(dir, mediansFile)))(t), must.Get(os.ReadFile(filepath.Join("results", mediansFile)))(t)
	if string(want) != string(got) {
		t.Error("bench/results/medians.json is not of results.jsonl: go run ./bench -pages -out bench/results")
	}
}

func TestMedians(t *testing.T) {
	r := resultsOf(t, "scale/50x50Hz", fullest, "idle")
	m := must.Get(r.medians())(t)
	if got := m.Figures["full-age-floor"]; got.Value != 100.6 || got.Unit != "ms" || got.N != 1 || got.Commit != "abc" || got.Cell != fullest {
		t.Errorf("full-age-floor is %+v", got)
	}
	if got, ok := m.Figures["memory-client"]; ok {
		t.Errorf("a figure that was not measured is %+v", got)
	}
	dir := t.TempDir()
	must.Do(t, m.write(dir))
	if again := must.Get(readMedians(dir))(t); again.Figures["cpu-frame"] != m.Figures["cpu-frame"] || len(again.Figures) != len(m.Figures) {
		t.Errorf("read again: %+v", again)
	}
	r.find("idle").Commit += withChanges
	if _, err := r.medians(); err == nil || !strings.Contains(err.Error(), "idle was measured at") {
		t.Errorf("a tree with changes: %v", err)
	}
}

func TestQuotations(t *testing.T) {
	m := medians{Figures: map[string]median{
		"age": {Value: 99.37, Unit: "ms"}, "rate": {Value: 99929, Unit: "/s"}, "wakes": {}, "memory": {Value: 1.902, Unit: "KiB"},
	}}
	for _, tt := range []struct{ text, page, want string }{
		{"is {age 1 s} old", "It is 7 s\nold.", "It is 0.1 s\nold."},
		{"is {age 2 ms}.", "is 1 ms. is 2 ms.", "is 99 ms. is 2 ms."},
		{"sends {rate 2} frames and {wakes 1} wakes", "sends 5 frames and 1,000 wakes", "sends 100,000 frames and 0 wakes"},
		{"takes {memory 2 KiB} or {lost 2 MiB}", "takes (not measured) or\n5.5 MiB", "takes 1.9 KiB or\n(not measured)"},
		{"is {age 1 s} old", "It was 7 s old.", ""}, // another text
		{"is {age 1 KiB} old", "is 7 s old", ""},    // another unit
	} {
		got, err := quotation{"page", tt.text}.fill(tt.page, m)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q in %q: %q, %v", tt.text, tt.page, got, err)
		}
	}
}

// A name in a quotation is one of the figures, whatever was measured.
func TestQuotationsNameFigures(t *testing.T) {
	names := map[string]bool{}
	for _, q := range quotes() {
		if names[q.name] {
			t.Errorf("two figures %s", q.name)
		}
		for _, s := range cellNamed(t, q.cell).servers() {
			if names[q.name] = true; s != player {
				names[q.name+"-"+string(s)] = true
			}
		}
	}
	for _, q := range quotations() {
		parts := inQuotation.FindAllStringSubmatch(q.text, -1)
		if len(parts) == 0 || len(parts) != strings.Count(q.text, "{") {
			t.Errorf("%q has a figure that cannot be read", q.text)
		}
		for _, part := range parts {
			if !names[part[1]] {
				t.Errorf("%q names %s, which is no figure", q.text, part[1])
			}
		}
	}
}
