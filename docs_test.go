package main

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"player/config"
)

var update = flag.Bool("update", false, "bring generated parts of docs/ up to date")

// generated compares the generated parts of a page with the text that want
// returns, and with -update replaces them. A part is the last group of pattern;
// match holds the whole match and all groups.
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

// The drivers shown on these pages are compiled and tested.
func TestDocsShowTheCode(t *testing.T) {
	code := regexp.MustCompile("(?s)<!-- ([^ ]*/[^ ]*) -->\n```[a-z]*\n(.*?)```")
	for _, page := range []string{"docs/DRIVERS.md", "docs/PLUGINS.md"} {
		generated(t, page, code, func(match []string) string {
			text, err := os.ReadFile(match[1])
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		})
	}
}

// The reference in docs/CONFIG.md equals the output of -list.
func TestDocsReference(t *testing.T) {
	var list strings.Builder
	if err := config.WriteMarkdown(&list, catalogue()); err != nil {
		t.Fatal(err)
	}
	generated(t, "docs/CONFIG.md", regexp.MustCompile("(?s)<!-- drivers -->\n(.*)<!-- end -->"), func([]string) string { return list.String() })
}

// maxDocLine is the longest line of a page, in characters. It fits a terminal,
// and a change of a shorter line is a shorter diff.
const maxDocLine = 120

func TestDocsHaveShortLines(t *testing.T) {
	pages := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path == ".git":
			return fs.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		pages++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if n := utf8.RuneCountInString(line); n > maxDocLine {
				t.Errorf("%s:%d: a line of %d characters, at most %d: %.40s...", path, i+1, n, maxDocLine, line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages == 0 {
		t.Fatal("no pages found")
	}
}
