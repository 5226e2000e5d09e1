package main

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"player/config"
)

var update = flag.Bool("update", false, "bring generated parts of docs/ up to date")

// generated holds the part of a page that want says to what it should be. The
// part is the group of the pattern.
func generated(t *testing.T, page string, pattern *regexp.Regexp, want func(match []string) string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	matches := pattern.FindAllSubmatchIndex(text, -1)
	if len(matches) == 0 {
		t.Fatalf("%s has no generated part", page)
	}
	var b strings.Builder
	end := 0
	for _, m := range matches {
		var groups []string
		for i := 0; i < len(m); i += 2 {
			groups = append(groups, string(text[m[i]:m[i+1]]))
		}
		last := len(m) - 2
		b.Write(text[end:m[last]])
		b.WriteString(want(groups))
		end = m[last+1]
	}
	b.Write(text[end:])
	if b.String() == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date: go test . -run TestDocs -update", page)
	}
	if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The drivers in docs/DRIVERS.md are those that are compiled and tested.
func TestDocsShowTheCode(t *testing.T) {
	code := regexp.MustCompile("(?s)<!-- ([^ ]*/[^ ]*) -->\n```[a-z]*\n(.*?)```")
	generated(t, "docs/DRIVERS.md", code, func(match []string) string {
		text, err := os.ReadFile(match[1])
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	})
}

// The reference in docs/CONFIG.md is what -list prints.
func TestDocsReference(t *testing.T) {
	var list strings.Builder
	if err := config.WriteMarkdown(&list, catalogue()); err != nil {
		t.Fatal(err)
	}
	generated(t, "docs/CONFIG.md", regexp.MustCompile("(?s)<!-- drivers -->\n(.*)<!-- end -->"), func([]string) string { return list.String() })
}
