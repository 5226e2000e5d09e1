package app

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"player/config"
	"player/devices"
	"player/e2e/acceptance"
	"player/e2e/must"
)

var update = flag.Bool("update", false, "bring generated parts of docs/ up to date")

// generated compares the generated parts of a page with the text that want
// returns, and with -update replaces them. A part is the last group of pattern;
// match holds the whole match and all groups.
func generated(t *testing.T, page string, pattern *regexp.Regexp, want func(match []string) string) {
	t.Helper()
	text := must.Get(os.ReadFile(page))(t)
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
		t.Fatalf("%s is out of date: go test ./app -run TestDocs -update", page)
	}
	must.Do(t, os.WriteFile(page, []byte(b.String()), 0o644))
}

// The drivers shown on these pages are compiled and tested.
func TestDocsShowTheCode(t *testing.T) {
	code := regexp.MustCompile("(?s)<!-- ([^ ]*/[^ ]*) -->\n```[a-z]*\n(.*?)```")
	for _, page := range []string{"docs/DRIVERS.md", "docs/PLUGINS.md"} {
		generated(t, page, code, func(match []string) string {
			text := must.Get(os.ReadFile(match[1]))(t)
			return string(text)
		})
	}
}

// The reference in docs/CONFIG.md equals the output of player list.
func TestDocsReference(t *testing.T) {
	var list strings.Builder
	must.Do(t, config.WriteMarkdown(&list, catalogue()))
	generated(t, "docs/CONFIG.md", regexp.MustCompile("(?s)<!-- drivers -->\n(.*)<!-- end -->"), func([]string) string { return list.String() })
}

// maxDocLine is the longest line of a page, in characters. It fits a terminal,
// and a change of a shorter line is a shorter diff.
const maxDocLine = 120

func TestDocsHaveShortLines(t *testing.T) {
	for _, page := range pages(t) {
		for i, line := range strings.Split(page.text, "\n") {
			if n := utf8.RuneCountInString(line); n > maxDocLine {
				t.Errorf("%s:%d: a line of %d characters, at most %d: %.40s...", page.path, i+1, n, maxDocLine, line)
			}
		}
	}
}

// page is a page in Markdown.
type page struct{ path, text string }

// pages returns all pages of the repository.
func pages(t *testing.T) (pages []page) {
	t.Helper()
	atRoot(t)
	must.Do(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path == ".git":
			return fs.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		pages = append(pages, page{path, string(text)})
		return err
	}))
	if len(pages) == 0 {
		t.Fatal("no pages found")
	}
	return pages
}

// guide returns the README and the pages of docs/.
func guide(t *testing.T) []page {
	return slices.DeleteFunc(pages(t), func(p page) bool { return !strings.HasPrefix(p.path, "docs/") && p.path != "README.md" })
}

// anchors returns the anchors of a page: those that GitHub gives the headings, and its own.
func (p page) anchors() map[string]bool {
	anchors := map[string]bool{}
	text := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(p.text, "")
	for _, match := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, match[1])
		if anchors[name] {
			anchors[name+"-twice"] = true
		}
		anchors[name] = true
	}
	for _, match := range regexp.MustCompile(`<a id="([^"]*)"></a>`).FindAllStringSubmatch(text, -1) {
		anchors[match[1]] = true
	}
	return anchors
}

// Links lead somewhere, also to a heading. No page has two headings of one name, the
// index links every page of docs/, and every figure in docs/ is on a page.
func TestDocsLinks(t *testing.T) {
	acceptance.Alone(t)
	anchors := map[string]map[string]bool{}
	for _, p := range pages(t) {
		anchors[p.path] = p.anchors()
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)|(?m:^\[[^\]]+\]: (\S+)$)`)
	used, linked := map[string]bool{}, map[string]bool{}
	for _, p := range pages(t) {
		for _, match := range link.FindAllStringSubmatch(p.text, -1) {
			address := match[1] + match[2]
			to, anchor, _ := strings.Cut(address, "#")
			if strings.Contains(to, "://") {
				continue
			}
			target := p.path
			if to != "" {
				target = filepath.Join(filepath.Dir(p.path), to)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", p.path, address, err)
			}
			if anchor != "" && !anchors[target][anchor] {
				t.Errorf("%s links to %s, which has no such heading", p.path, address)
			}
			used[target] = true
			linked[target] = linked[target] || p.path == "docs/README.md"
		}
	}
	for _, pattern := range []string{"docs/*.md", "docs/devices/*.md", "docs/fleet/*.md", "docs/benchmarks/*.md", "docs/*.svg", "docs/*.webp", "docs/views/*.webp"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			switch {
			case !used[file]:
				t.Errorf("no page links to %s", file)
			case filepath.Ext(file) == ".md" && !linked[file] && file != "docs/README.md":
				t.Errorf("docs/README.md does not link to %s", file)
			}
		}
	}
	index := ""
	for _, p := range pages(t) {
		if p.path == "docs/DECISIONS.md" {
			index = p.text
		}
	}
	heading := regexp.MustCompile(`(?m)^## (.*)$`)
	for _, p := range pages(t) {
		if strings.HasPrefix(p.path, "docs/decisions/") {
			for _, match := range heading.FindAllStringSubmatch(p.text, -1) {
				if !strings.Contains(index, "\n- "+match[1]+"\n") {
					t.Errorf("docs/DECISIONS.md does not list %q of %s", match[1], p.path)
				}
			}
			if !used[p.path] {
				t.Errorf("no page links to %s", p.path)
			}
		}
	}
	for path, names := range anchors {
		for name := range names {
			if first, twice := strings.CutSuffix(name, "-twice"); twice && strings.HasPrefix(path, "docs") {
				t.Errorf("%s has two headings #%s", path, first)
			}
		}
	}
}

// Each driver with a line has a page, which DEVICES links and which has the speeds of the line.
func TestDocsDrivers(t *testing.T) {
	atRoot(t)
	table := string(must.Get(os.ReadFile("docs/DEVICES.md"))(t))
	row := regexp.MustCompile(`(?m)^\| speed \| (.*) \|$`)
	seen := 0
	for _, kind := range catalogue() {
		if !slices.ContainsFunc(kind.Options, func(o devices.Option) bool { _, is := o.Default.(devices.SerialPort); return is }) {
			continue
		}
		seen++
		path := "devices/" + kind.Name + ".md"
		text, err := os.ReadFile("docs/" + path)
		if err != nil || !strings.Contains(table, ": "+path) {
			t.Errorf("driver %s has no page that docs/DEVICES.md links: %v", kind.Name, err)
			continue
		}
		if kind.Probe == nil || len(kind.Probe.Speeds) == 0 {
			continue
		}
		match := row.FindSubmatch(text)
		if match == nil {
			t.Errorf("docs/%s has no row for the speed", path)
			continue
		}
		var speeds []int
		for _, number := range regexp.MustCompile(`\b[0-9]{4,}\b`).FindAllString(string(match[1]), -1) {
			speeds = append(speeds, must.Get(strconv.Atoi(number))(t))
		}
		want := slices.Clone(kind.Probe.Speeds)
		slices.Sort(speeds)
		slices.Sort(want)
		if !slices.Equal(speeds, want) {
			t.Errorf("docs/%s has the speeds %d, the driver has %d", path, speeds, want)
		}
	}
	if seen < 12 {
		t.Errorf("only %d drivers have a line", seen)
	}
}

// README has the number of the models of lidars, and DEVICES has a row with each of them.
func TestDocsCountLidars(t *testing.T) {
	atRoot(t)
	readme, table := string(must.Get(os.ReadFile("README.md"))(t)), string(must.Get(os.ReadFile("docs/DEVICES.md"))(t))
	list := regexp.MustCompile(`(RPLIDAR|LDROBOT|YDLIDAR) (.*) and (.*) laser scanners$`)
	seen := 0
	for _, kind := range catalogue() {
		match := list.FindStringSubmatch(kind.Doc)
		if match == nil {
			continue
		}
		seen++
		name, models := match[1], append(strings.Split(match[2], ", "), match[3])
		if !regexp.MustCompile(`\b` + name + ` \(` + strconv.Itoa(len(models)) + `\b`).MatchString(readme) {
			t.Errorf("README.md does not have the %d models of %s", len(models), name)
		}
		var rows strings.Builder
		for line := range strings.Lines(table) {
			if model, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |"); strings.HasPrefix(model, name) {
				rows.WriteString(model + ",")
			}
		}
		for _, model := range models {
			if !strings.Contains(rows.String(), " "+model+",") {
				t.Errorf("docs/DEVICES.md has no row with %s %s", name, model)
			}
		}
	}
	if seen != 3 {
		t.Errorf("%d drivers of lidars list their models", seen)
	}
}

// The pages that list all interfaces have each of them.
func TestDocsListInterfaces(t *testing.T) {
	atRoot(t)
	for path, begin := range map[string]string{"docs/CONFIG.md": "- **interface** is one of ", "docs/fleet/subjects.md": "INTERFACE is "} {
		_, list, _ := strings.Cut(string(must.Get(os.ReadFile(path))(t)), begin)
		list, _, _ = strings.Cut(list, ".")
		var listed, want []string
		for _, match := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(list, -1) {
			listed = append(listed, match[1])
		}
		for _, i := range devices.Interfaces() {
			want = append(want, i.Name)
		}
		slices.Sort(listed)
		slices.Sort(want)
		if !slices.Equal(listed, want) {
			t.Errorf("%s lists %q, want %q", path, listed, want)
		}
	}
}

// clicks is how far a page may be from README.md.
const clicks = 2

// Every page of docs/, of the examples and of the clients is two clicks from README.md at most. The table of tasks
// in docs/README.md, one click from it, leads to each task's page, so a task is two clicks away.
func TestDocsAreNear(t *testing.T) {
	acceptance.Alone(t)
	link := regexp.MustCompile(`\]\(([^)\s#]+)[^)\s]*\)|(?m:^\[[^\]]+\]: ([^\s#]+)\S*$)`)
	links := map[string][]string{}
	index := ""
	for _, p := range pages(t) {
		for _, match := range link.FindAllStringSubmatch(p.text, -1) {
			links[p.path] = append(links[p.path], filepath.Join(filepath.Dir(p.path), match[1]+match[2]))
		}
		if p.path == "docs/README.md" {
			index = p.text
		}
	}
	near, last := map[string]bool{"README.md": true}, []string{"README.md"}
	for range clicks {
		var next []string
		for _, from := range last {
			for _, to := range links[from] {
				if !near[to] {
					near[to], next = true, append(next, to)
				}
			}
		}
		last = next
	}
	for _, p := range pages(t) {
		folder, _, _ := strings.Cut(p.path, "/")
		if slices.Contains([]string{"docs", "clients", "examples"}, folder) && !near[p.path] {
			t.Errorf("%s is more than %d clicks from README.md", p.path, clicks)
		}
	}
	_, tasks, _ := strings.Cut(index, "| task | page |\n|---|---|\n")
	tasks, _, _ = strings.Cut(tasks, "\n\n")
	rows := strings.Split(tasks, "\n")
	for _, row := range rows {
		if !strings.Contains(row, "](") {
			t.Errorf("docs/README.md: a task without a page: %s", row)
		}
	}
	if len(rows) < 30 {
		t.Errorf("docs/README.md has %d tasks, want 30", len(rows))
	}
}

// The page of the examples links each of their folders.
func TestDocsListExamples(t *testing.T) {
	atRoot(t)
	list := string(must.Get(os.ReadFile("examples/README.md"))(t))
	for _, entry := range must.Get(os.ReadDir("examples"))(t) {
		if entry.IsDir() && !strings.Contains(list, "]("+entry.Name()+"/") {
			t.Errorf("examples/README.md does not list %s", entry.Name())
		}
	}
}

// The glossary is sorted, and explains each word once.
func TestDocsGlossary(t *testing.T) {
	atRoot(t)
	text := string(must.Get(os.ReadFile("docs/GLOSSARY.md"))(t))
	var words []string
	for _, match := range regexp.MustCompile(`(?m)^\| ([a-z][a-z ,/-]*) \|`).FindAllStringSubmatch(text, -1) {
		words = append(words, match[1])
	}
	words = words[1:] // the head
	if len(words) < 30 || !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) < len(words) {
		t.Errorf("%d words are not sorted, or one is there twice: %q", len(words), words)
	}
}

// Subcommands that the pages use are there.
func TestDocsUseTheCommands(t *testing.T) {
	acceptance.Alone(t)
	command := regexp.MustCompile("(?m)(?:^ *|`|\\$ |sudo |&& )player ([a-z]+)(?:[ `]|$)")
	seen := map[string]bool{}
	for _, p := range pages(t) {
		for _, match := range command.FindAllStringSubmatch(p.text, -1) {
			seen[match[1]] = true
			if _, ok := commandNamed(match[1]); !ok && match[1] != "help" {
				t.Errorf("%s: %q is no command", p.path, strings.TrimSpace(match[0]))
			}
		}
	}
	for _, name := range commandNames() {
		if !seen[name] {
			t.Errorf("no page shows player %s", name)
		}
	}
}

// A flag by itself, as in `+"`-http`"+`, is one of a program of this repository.
func TestDocsNameFlags(t *testing.T) {
	acceptance.Alone(t)
	atRoot(t)
	declared := regexp.MustCompile(`\.(?:\w*Var|Bool|Int|String|Duration|Float64|\w*Func)\((?:&[\w.]+, )?"([a-z][\w.-]*)"`)
	known := map[string]bool{
		"h": true, "buildmode": true, "p": true, // of all, of go, and of Player 1 to 3
		"time": true, "port": true, "headless": true, // of examples/scenario/run
	}
	must.Do(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range declared.FindAllSubmatch(text, -1) {
			known[string(match[1])] = true
		}
		return err
	}))
	flags := regexp.MustCompile("`-([a-z][a-z.-]*)")
	seen := 0
	for _, p := range pages(t) {
		for _, match := range flags.FindAllStringSubmatch(p.text, -1) {
			seen++
			if !known[match[1]] {
				t.Errorf("%s: there is no flag -%s", p.path, match[1])
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d flags are found on the pages: are they read as they are written?", seen)
	}
}

// Commands with subcommands in README.md and docs/ use flags that the subcommands have, and
// the files that they name are in the repository.
func TestDocsUseTheTools(t *testing.T) {
	acceptance.Alone(t)
	stable := must.Get(os.ReadFile("app/testdata/stable/flags.txt"))(t) // TestStable compares it with the program
	flags := map[string]map[string]bool{}                               // by subcommand
	for line := range strings.Lines(string(stable)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "player" && !strings.HasPrefix(words[1], "-") {
			if flags[words[1]] == nil {
				flags[words[1]] = map[string]bool{}
			}
			flags[words[1]][strings.Trim(append(words, "")[2], "[]")] = true
		}
	}
	command := regexp.MustCompile(`(?m)(?:^|[\s` + "`" + `(/])player ([a-z]+)( [^` + "`" + `|#;&>\n]*)`)
	file := regexp.MustCompile(`(?:^|[\s` + "`" + `"(])((?:simulation|config|examples|client|clients|packaging|bench|visitors|docs)/[\w./-]*\w)`)
	tools, files := 0, 0
	for _, page := range guide(t) {
		for _, match := range command.FindAllStringSubmatch(page.text, -1) {
			own, _, _ := strings.Cut(match[2], " -- ") // behind it is another program
			if flags[match[1]] == nil {
				continue // a word of a sentence
			}
			tools++
			for word := range strings.FieldsSeq(own) {
				if regexp.MustCompile(`^-[a-z]`).MatchString(word) && !flags[match[1]][word] {
					t.Errorf("%s: %s: there is no flag %s", page.path, strings.TrimSpace(match[0]), word)
				}
			}
		}
		for line := range strings.Lines(page.text) {
			if !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "go ") && !strings.HasPrefix(line, "player ") {
				continue // prose may name what a command makes
			}
			for _, match := range file.FindAllStringSubmatch(line, -1) {
				files++
				if _, err := os.Stat(match[1]); err != nil && !strings.Contains(line, "-o "+match[1]) && !strings.Contains(line, "> "+match[1]) {
					t.Errorf("%s: %s: %v", page.path, strings.TrimSpace(line), err)
				}
			}
		}
	}
	if tools < 40 || files < 8 {
		t.Errorf("%d commands and %d files were seen", tools, files)
	}
}
