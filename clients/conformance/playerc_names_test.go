package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"player/e2e/must"
)

// The names that programs for Player 2 and 3 have, by file: functions and methods in the
// first group.
var player3Names = map[string]*regexp.Regexp{
	"include/libplayerc++/playerc++.h": regexp.MustCompile(`(?m)^  [\w:<>*& ,]*\b([A-Z]\w+)\([^;\n]*\)(?: const)?(?:;| \{)`),
	"include/libplayerc/playerc.h":     regexp.MustCompile(`(?m)^[\w* ]+\b(playerc_\w+)\(`),
	"python/playerc.py":                regexp.MustCompile(`"(?:(\w+)": "[di]*"[,}])`),
	"python/playercpp.py":              regexp.MustCompile(`(?m)^    (?:def )?([A-Z]\w+)(?:\(| = )`),
}

var notPublic = regexp.MustCompile(`(?s)\nprotected:.*?\n};`)

// Each name of the shims is used by a program.
func TestPlayer3Names(t *testing.T) {
	programs := map[string]string{} // by the language of the names
	for _, file := range programFiles(t) {
		text := must.Get(os.ReadFile(file))(t)
		language := map[string]string{".cc": ".cpp", ".h": ".c"}[filepath.Ext(file)]
		if language == "" {
			language = filepath.Ext(file)
		}
		programs[language] += string(text)
	}
	for file, names := range player3Names {
		text := must.Get(os.ReadFile(filepath.Join("../playerc", file)))(t)
		language := map[string]string{"libplayerc++": ".cpp", "libplayerc": ".c", "python": ".py"}[filepath.Base(filepath.Dir(file))]
		all := names.FindAllStringSubmatch(notPublic.ReplaceAllString(string(text), ""), -1)
		if len(all) < 15 {
			t.Errorf("%s has %d names", file, len(all))
		}
		for _, found := range all {
			if !regexp.MustCompile(`\b` + found[1] + `\b`).MatchString(programs[language]) {
				t.Errorf("%s: no program uses %s", file, found[1])
			}
		}
	}
}
