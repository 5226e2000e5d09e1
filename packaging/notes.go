package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// printNotes prints the notes of a release.
func printNotes(number string, tested nightly) error {
	changelog, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	notes, err := releaseNotes(string(changelog), number)
	if err == nil {
		_, err = fmt.Print(notes, tested.notes(number))
	}
	return err
}

// releaseNotes returns the changelog's part on a release, for the page that shows it. That page has no
// files next to it: a link to a file becomes the file's path in the source.
func releaseNotes(changelog, number string) (string, error) {
	_, section, found := strings.Cut(changelog, "\n## "+number+", ")
	if !found {
		return "", fmt.Errorf("CHANGELOG.md has no section of %s", number)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	_, section, _ = strings.Cut(section, "\n") // the date
	notes := strings.TrimSpace(fileLink.ReplaceAllStringFunc(section, func(link string) string {
		part := fileLink.FindStringSubmatch(link)
		if words := part[1]; strings.ContainsAny(words, " \n") {
			return words + ", " + part[2]
		}
		return part[2]
	}))
	if notes == "" {
		return "", fmt.Errorf("CHANGELOG.md says nothing of %s", number)
	}
	return notes + "\n\nThe files that are named are in the source of this version.\n", nil
}

// fileLink matches a link to a file of the repository: its words, and the path without # and the text behind it.
var fileLink = regexp.MustCompile(`\[([^\]]*)\]\(([^):#]+)(?:#[^)]*)?\)`)
