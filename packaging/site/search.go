package site

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// words returns the index of the search as a script, because a page that was opened as a file may not
// fetch another file: [path, anchor, title of the page, title of the section, text] for each section.
func (s *site) words() ([]byte, error) {
	var entries [][5]string
	for _, d := range s.all {
		for _, part := range d.Sections {
			entries = append(entries, [5]string{d.Path, part.Anchor, d.Title, part.Title, part.Text})
		}
	}
	data, err := json.Marshal(entries)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "window.words = %s;\n", data), nil
}

// listVersions writes versions.js: the folders of a site, each a version, newest first. The pages of
// all versions offer them.
func listVersions(output string) error {
	entries, err := os.ReadDir(output)
	if err != nil {
		return err
	}
	var versions []string
	for _, entry := range entries {
		if entry.IsDir() {
			versions = append(versions, entry.Name())
		}
	}
	slices.SortFunc(versions, func(a, b string) int { return compareVersions(b, a) })
	data, err := json.Marshal(versions)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(output, "versions.js"), fmt.Appendf(nil, "window.versions = %s;\n", data), 0o666)
}

// compareVersions compares "1.10.0" and "1.9.2" by their numbers; 1.9.0-dev is before 1.9.0.
func compareVersions(a, b string) int {
	a, afterA, _ := strings.Cut(a, "-")
	b, afterB, _ := strings.Cut(b, "-")
	if order := slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int {
		numberA, errA := strconv.Atoi(a)
		numberB, errB := strconv.Atoi(b)
		if errA != nil || errB != nil {
			return strings.Compare(a, b)
		}
		return numberA - numberB
	}); order != 0 {
		return order
	}
	if (afterA == "") != (afterB == "") {
		return strings.Compare(afterB, afterA)
	}
	return strings.Compare(afterA, afterB)
}
