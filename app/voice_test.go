package app

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"player/e2e/must"
)

// habits are seven turns of phrase for which a sentence has to be read twice. Each hides a noun.
var habits = map[string]*regexp.Regexp{
	"a clause of what or who in place of a noun": regexp.MustCompile(`(?im)(?:^|[.;:|] |\b(?:of|to|from|by|with|for|in|than|at|on|and|or|but|is|are|about) |, )(?:what|who)\b[^.?\n]*[^?]`),
	"a pronoun of nobody in particular":          regexp.MustCompile(`(?i)\b(?:some|no|every|any)body\b|\bwhoever\b`),
	"that of":                                    regexp.MustCompile(`(?i)\b(?:that|those) of\b`),
	"as in place of for example":                 regexp.MustCompile(`(?i), as (?:an?|the|of|in|by|for|at|with|from|to|on|when|after|here|there|it|they)\b`),
	"beside":                                     regexp.MustCompile(`(?i)\bbesides?\b`),
	"too at the end":                             regexp.MustCompile(`(?im),? too(?:[.,;:)|]|$)`),
	"told":                                       regexp.MustCompile(`(?i)\b(?:told|tells?)\b`),
}

// notProse are the parts of a page that are not sentences of its author.
var notProse = regexp.MustCompile("(?s)```.*?```|<!--.*?-->|`[^`\n]*`|\\]\\([^)\n]*\\)|\"[^\"\n]{1,200}\"")

// joined are lines of one paragraph.
var joined = regexp.MustCompile(`\n([^\n|#*\-0-9 ])`)

// dense is how many habits a page may have in a thousand words. Above it readers stop to think about
// the language.
const dense = 4

// unedited are the pages that nobody has gone through yet.
var unedited = []string{
	"CHANGELOG.md", "CONTRIBUTING.md", "docs/CLIENTS.md", "docs/DASHBOARD.md", "docs/DEVICES.md", "docs/FLEET.md",
	"docs/GOTO.md", "clients/playerc/README.md", "docs/BENCHMARKS.md",
}

// Pages and help texts name the things that they speak of.
func TestVoice(t *testing.T) {
	all := pages(t)
	for _, path := range must.Get(filepath.Glob("app/help/*.txt"))(t) {
		all = append(all, page{path, string(must.Get(os.ReadFile(path))(t))})
	}
	word := regexp.MustCompile(`[A-Za-z][A-Za-z'-]*`)
	for _, p := range all {
		text := joined.ReplaceAllString(notProse.ReplaceAllString(p.text, "X"), " $1")
		words, found := len(word.FindAllString(text, -1)), []string{}
		for name, habit := range habits {
			for _, at := range habit.FindAllStringIndex(text, -1) {
				found = append(found, name+": "+text[max(0, at[0]-40):min(len(text), at[1]+20)])
			}
		}
		few := len(found) < 2 || 1000*len(found) < dense*words
		switch listed := slices.Contains(unedited, p.path); {
		case !few && !listed:
			t.Errorf("%s has %d in %d words:", p.path, len(found), words)
			for _, f := range found {
				t.Errorf("    %q", f)
			}
		case few && listed:
			t.Errorf("%s has %d in %d words: take it out of the list", p.path, len(found), words)
		}
	}
}
