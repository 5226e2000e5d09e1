package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"player/e2e/must"
)

func TestReleaseNotes(t *testing.T) {
	const changelog = "# Changelog\n\nWhat users notice.\n\n## Unreleased\n\n- Later.\n\n## 1.2.0, 2026-11-22\n\n" +
		"- Fleets ([FLEET](docs/FLEET.md#json)); [README](clients/tcl/README.md).\n" +
		"- [A host](https://example.org/a#b), ([what is\n  served](clients/README.md)).\n\n## 1.1.0, 2026-11-21\n\n- Before.\n"
	const want = "- Fleets (docs/FLEET.md); clients/tcl/README.md.\n" +
		"- [A host](https://example.org/a#b), (what is\n  served, clients/README.md).\n\n" +
		"The files that are named are in the source of this version.\n"
	if got, err := releaseNotes(changelog, "1.2.0"); got != want || err != nil {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for _, number := range []string{"1.3.0", "1.2", "Unreleased"} {
		if got, err := releaseNotes(changelog, number); err == nil {
			t.Errorf("%s: %q", number, got)
		}
	}
	if _, err := releaseNotes("\n## 1.2.0, 2026-11-22\n\n## 1.1.0, 2026-11-21\n\n- Before.\n", "1.2.0"); err == nil {
		t.Error("a release without notes has some")
	}
}

// Each file that the notes of the first release name is in the repository.
func TestReleaseNotesNameFiles(t *testing.T) {
	changelog := must.Get(os.ReadFile("../CHANGELOG.md"))(t)
	notes := must.Get(releaseNotes(string(changelog), "1.0.0"))(t)
	if link := regexp.MustCompile(`\]\([^h][^)]*\)`).FindString(notes); link != "" {
		t.Errorf("the notes have a link to a file: %s", link)
	}
	for _, path := range regexp.MustCompile(`\bdocs/[A-Z]+\.md\b`).FindAllString(notes, -1) {
		if _, err := os.Stat("../" + path); err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(notes, "docs/"); n < 10 {
		t.Errorf("the notes name %d pages only", n)
	}
}
