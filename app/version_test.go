package app

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"player/e2e/must"
)

// The clients have the number of the program, and the changelog knows which number comes next.
func TestVersionAgrees(t *testing.T) {
	atRoot(t)
	now := strings.TrimSpace(number)
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(now) {
		t.Fatalf("app/version.txt: %q is no number of three parts", now)
	}
	for path, pattern := range map[string]string{
		"clients/python/pyproject.toml":   `(?m)^version = "(.*)"$`,
		"clients/javascript/package.json": `(?m)^  "version": "(.*)",$`,
		"clients/java/pom.xml":            `<artifactId>playerclient</artifactId>\n  <version>(.*)</version>`,
		"clients/tcl/pkgIndex.tcl":        `(?m)^package ifneeded \S+ (\S+) `,
		"clients/tcl/player.tcl":          `(?m)^package provide \S+ (\S+)$`,
		"clients/tcl/secure.tcl":          `(?m)^package provide \S+ (\S+)$`,
		"clients/tcl/simulation.tcl":      `(?m)^package provide \S+ (\S+)$`,
		"clients/c/player.h":              `(?m)^#define PLAYER_VERSION "(.*)"$`,
	} {
		text := must.Get(os.ReadFile(path))(t)
		found := regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s has no number", path)
		}
		for _, match := range found {
			if match[1] != now {
				t.Errorf("%s has %s, app/version.txt %s (docs/RELEASING.md)", path, match[1], now)
			}
		}
	}
	header := must.Get(os.ReadFile("clients/c/player.h"))(t)
	var parts []string
	for _, match := range regexp.MustCompile(`(?m)^#define PLAYER_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$`).FindAllSubmatch(header, -1) {
		parts = append(parts, string(match[1]))
	}
	if got := strings.Join(parts, "."); got != now {
		t.Errorf("the macros of clients/c/player.h have %s, app/version.txt %s", got, now)
	}
	changes := must.Get(os.ReadFile("CHANGELOG.md"))(t)
	sections := regexp.MustCompile(`(?m)^## (\S+?),? ?(\d{4}-\d\d-\d\d)?$`).FindAllStringSubmatch(string(changes), -1)
	switch {
	case len(sections) == 0:
		t.Error("CHANGELOG.md has no section")
	case sections[0][1] == "Unreleased":
		if len(sections) > 1 && sections[1][1] == now {
			t.Errorf("%s has been released: what is unreleased needs the next number in app/version.txt", now)
		}
	case sections[0][1] != now || sections[0][2] == "":
		t.Errorf("CHANGELOG.md begins with %q, want \"## %s, DATE\"", sections[0][0], now)
	}
}
