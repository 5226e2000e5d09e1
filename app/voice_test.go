package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"player/e2e/acceptance"
	"player/e2e/must"
)

// A habit is a turn of phrase for which a sentence has to be read twice: it hides a noun.
type habit struct {
	name    string
	words   []string // a paragraph without them does not have it
	pattern *regexp.Regexp
}

var habits = []habit{
	{"a clause of what or who in place of a noun", []string{"what", "who"},
		regexp.MustCompile(`(?:^|[.;:|] |\b(?:of|to|from|by|with|for|in|than|at|on|and|or|but|is|are|about) |, )(?:what|who)\b[^.?]*[^?]`)},
	{"a pronoun of no person in particular", []string{"body", "whoever"}, regexp.MustCompile(`\b(?:some|no|every|any)body\b|\bwhoever\b`)},
	{"that of", []string{"that of", "those of"}, regexp.MustCompile(`\b(?:that|those) of\b`)},
	{"as in place of for example", []string{", as "},
		regexp.MustCompile(`, as (?:an?|the|of|by|for|at|with|from|to|on|when|after|here|there|it|they)\b`)},
	{"beside", []string{"beside"}, regexp.MustCompile(`\bbesides?\b`)},
	{"too at the end", []string{" too"}, regexp.MustCompile(`,? too(?:[.,;:)|]|$)`)},
	{"told", []string{"told", "tell"}, regexp.MustCompile(`\b(?:told|tells?)\b`)},
}

// in returns the places of a paragraph, in small letters, that have the habit.
func (h habit) in(paragraph string) (found []string) {
	if !slices.ContainsFunc(h.words, func(word string) bool { return strings.Contains(paragraph, word) }) {
		return nil
	}
	for _, at := range h.pattern.FindAllStringIndex(paragraph, -1) {
		found = append(found, h.name+": "+paragraph[max(0, at[0]-40):min(len(paragraph), at[1]+20)])
	}
	return found
}

// notProse are the parts of a page that are not sentences of its author.
var notProse = regexp.MustCompile("(?s)```.*?```|\n    [^\n]*|<!--.*?-->|`[^`\n]*`|\\]\\([^)\n]*\\)|\"[^\"\n]{1,200}\"")

// joined are lines of one paragraph.
var joined = regexp.MustCompile(`\n([^\n|#*\-0-9 ])`)

// dense is how many habits a page may have in a thousand words. Above it readers stop to think about
// the language.
const dense = 4

// Pages and help texts name the things that they speak of.
func TestVoice(t *testing.T) {
	acceptance.Alone(t)
	all := pages(t)
	for _, path := range must.Get(filepath.Glob("app/help/*.txt"))(t) {
		all = append(all, page{path, string(must.Get(os.ReadFile(path))(t))})
	}
	word := regexp.MustCompile(`[a-z][a-z'-]*`)
	for _, p := range all {
		text := strings.ToLower(joined.ReplaceAllString(notProse.ReplaceAllString(p.text, "X"), " $1"))
		words, found := len(word.FindAllString(text, -1)), []string{}
		for paragraph := range strings.Lines(text) {
			for _, h := range habits {
				found = append(found, h.in(strings.TrimSpace(paragraph))...)
			}
		}
		t.Logf("%s: %d in %d words", p.path, len(found), words)
		if 1000*len(found) >= dense*words && len(found) > 0 {
			t.Errorf("%s has %d in %d words:\n    %s", p.path, len(found), words, strings.Join(found, "\n    "))
		}
	}
}

var (
	slashes    = regexp.MustCompile(`(?s:/\*.*?\*/)|(?m:(?:^[ \t]*//.*\n)+|[ \t]//.*$)`)
	hashes     = regexp.MustCompile(`(?m:(?:^[ \t]*#.*\n)+|[ \t]# .*$)`)
	docstrings = regexp.MustCompile(`(?s:""".*?""")|` + hashes.String())
)

// comments finds the comments of a file by the end of its name.
var comments = map[string]*regexp.Regexp{
	".go": slashes, ".js": slashes, ".ts": slashes, ".css": slashes, ".java": slashes, ".ino": slashes,
	".c": slashes, ".h": slashes, ".cpp": slashes, ".hpp": slashes,
	".sh": hashes, ".tcl": hashes, ".cfg": hashes, ".world": hashes, ".py": docstrings,
}

// denseComments is how many habits the comments of a language may have in a thousand words. It is below the limit of
// pages, because a pattern takes some good sentences for habits and a page is short.
const denseComments = 1.2

// Comments of each language name the things that they speak of.
func TestVoiceOfComments(t *testing.T) {
	atRoot(t)
	words, found := map[string]int{}, map[string][]string{}
	leader := regexp.MustCompile(`(?m)^[ \t]*(?:/?\*+/?|//+|#+)`)
	must.Do(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		end := filepath.Ext(path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "node_modules", "testdata", "third_party"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || comments[end] == nil:
			return nil
		}
		for _, comment := range comments[end].FindAllString(string(must.Get(os.ReadFile(path))(t)), -1) {
			text := strings.Join(strings.Fields(leader.ReplaceAllString(comment, "")), " ")
			text = strings.ToLower(notProse.ReplaceAllString(strings.Trim(text, `"`), "X"))
			words[end] += len(strings.Fields(text))
			for _, h := range habits {
				for _, habit := range h.in(text) {
					found[end] = append(found[end], path+": "+habit)
				}
			}
		}
		return nil
	}))
	for end := range comments {
		t.Logf("%s: %d in %d words", end, len(found[end]), words[end])
		if words[end] == 0 {
			t.Errorf("no file has a comment of a language that ends in %s", end)
		}
		if float64(1000*len(found[end])) >= denseComments*float64(words[end]) && len(found[end]) > 1 {
			t.Errorf("comments in %s have %d in %d words:\n    %s", end, len(found[end]), words[end], strings.Join(found[end], "\n    "))
		}
	}
}

// Messages of the programs name the things that they speak of: errors, lines of the log, help of flags. A message is
// read alone and in a hurry, so it has no habit at all.
func TestVoiceOfMessages(t *testing.T) {
	acceptance.Alone(t)
	atRoot(t)
	seen := 0
	must.Do(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING || strings.Count(literal.Value, " ") < 2 {
				return true
			}
			seen++
			message := strings.ToLower(must.Get(strconv.Unquote(literal.Value))(t))
			for _, h := range habits {
				for _, found := range h.in(message) {
					t.Errorf("%s: %s", files.Position(literal.Pos()), found)
				}
			}
			return true
		})
		return nil
	}))
	if seen < 1000 {
		t.Errorf("only %d messages were seen", seen)
	}
}
