// Package worlds holds the worlds that come with Player, so that they need no
// files at run time.
package worlds

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

// Files are the worlds, their includes and their pictures.
//
//go:embed *.world *.inc bitmaps
var Files embed.FS

// Extension is the extension of a world's file. A name is the file's without it.
const Extension = ".world"

// Exists reports whether there is a world of that name.
func Exists(name string) bool {
	_, err := fs.Stat(Files, name+Extension)
	return err == nil
}

// Names returns the names of all worlds, sorted.
func Names() (names []string) {
	found, _ := fs.Glob(Files, "*"+Extension) // the pattern is well formed
	for _, file := range found {
		names = append(names, strings.TrimSuffix(file, Extension))
	}
	slices.Sort(names) // with their extensions they sort differently
	return names
}

// Summary returns the first sentence of the comment that a world begins with.
func Summary(name string) string {
	text, _ := Files.ReadFile(name + Extension) // no such world: no description
	var words []string
	for line := range strings.Lines(string(text)) {
		comment, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		words = append(words, strings.Fields(comment)...)
	}
	sentence, _, _ := strings.Cut(strings.Join(words, " "), ". ")
	return strings.TrimSuffix(sentence, ".")
}
