package site

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"player/e2e/must"
)

// A site of the repository has all pages, and each of its links leads to a file and an anchor of the site.
func TestBuild(t *testing.T) {
	t.Setenv("PATH", "") // neither pydoc nor javadoc: a test of one layer starts no program
	output := t.TempDir()
	missing := must.Get(Build("../..", output, "1.2.0"))(t)
	if len(missing) != 2 {
		t.Errorf("missing are %q, want the references for Python and Java", missing)
	}
	folder := filepath.Join(output, "1.2.0")
	text := map[string]string{}
	must.Do(t, filepath.WalkDir(folder, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		text[filepath.ToSlash(must.Get(filepath.Rel(folder, file))(t))] = string(data)
		return err
	}))
	for _, name := range []string{"index.html", "README.html", "docs/PROTOCOL.html", "docs/decisions/loop.html", "reference/go/client.html"} {
		if text[name] == "" {
			t.Errorf("the site has no %s", name)
		}
	}
	link := regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	links := 0
	for name, page := range text {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, match := range link.FindAllStringSubmatch(page, -1) {
			to, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(to, "://") || strings.HasSuffix(to, "../versions.js") {
				continue
			}
			links++
			target := name
			if to != "" {
				target = path.Join(path.Dir(name), to)
			}
			switch there, ok := text[target]; {
			case !ok:
				t.Errorf("%s links to %s", name, match[1])
			case anchor != "" && !strings.Contains(there, `id="`+anchor+`"`) && !strings.Contains(there, "id="+anchor+">"):
				t.Errorf("%s links to %s, which has no such anchor", name, match[1])
			}
		}
	}
	if links < 1000 {
		t.Errorf("the site has %d links", links)
	}
	if cited := `<a href="../docs/PROTOCOL.html#5.4">PROTOCOL 5.4</a>`; !strings.Contains(text["docs/SAFETY.html"], cited) {
		t.Errorf("SAFETY has no %s", cited)
	}
	if strings.Contains(text["docs/SUBSUMPTION.html"], "omitted") {
		t.Error("a page shows that a comment was left out")
	}
	if _, err := Build("../..", output, "1.2.0"); err == nil {
		t.Error("a second site of a version was written over the first")
	}
	if got, want := string(must.Get(os.ReadFile(filepath.Join(output, "versions.js")))(t)), "window.versions = [\"1.2.0\"];\n"; got != want {
		t.Errorf("versions.js is %q, want %q", got, want)
	}
}

// A list of the index that the navigation can't show is an error, not a page that is missing.
func TestNavigation(t *testing.T) {
	for name, text := range map[string]string{
		"a page twice": "## Use\n\n- [A](A.md)\n- [Again](A.md)\n",
		"no link":      "## Use\n\n- [A](A.md)\n- nothing\n",
		"no page":      "## Use\n\n- [B](B.md)\n",
	} {
		root := t.TempDir()
		must.Do(t, os.Mkdir(filepath.Join(root, "docs"), 0o777))
		must.Do(t, os.WriteFile(filepath.Join(root, "docs/A.md"), []byte("# A\n"), 0o666))
		must.Do(t, os.WriteFile(filepath.Join(root, index), []byte(text), 0o666))
		s := &site{root: root}
		if err := s.pages(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	sorted := []string{"1.0.0-rc1", "1.0.0", "1.9.2", "1.10.0-dev", "1.10.0", "2.0.0"}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := compareVersions(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("compareVersions(%q, %q) = %d", a, b, got)
			}
		}
	}
}

// A flag is not broken after its dash; long code is broken, because a phone is narrow.
func TestShortCode(t *testing.T) {
	root := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(root, "A.md"), []byte("`-deadman 500` and `player check /etc/player/player.cfg`"), 0o666))
	d := &document{Path: "A.html"}
	must.Do(t, (&site{root: root}).render("A.md", d))
	want := `<code class="short">-deadman 500</code> and <code>player check /etc/player/player.cfg</code>`
	if !strings.Contains(string(d.Body), want) {
		t.Errorf("the body is %s, want %s in it", d.Body, want)
	}
}

// The search finds the sections of a page by their headings, and has their text without marks.
func TestSections(t *testing.T) {
	root := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(root, "A.md"), []byte("# Title\n\nFirst *words*\nand `code`.\n\n<!-- run by: TestX -->\n## The `second` one\n\n| a | b |\n|---|---|\n| c | d |\n"), 0o666))
	d := &document{Path: "A.html"}
	s := &site{root: root}
	must.Do(t, s.render("A.md", d))
	want := []section{{Title: "Title", Text: "First words and code. "}, {Anchor: "the-second-one", Title: "The second one", Text: "a b c d "}}
	if !slices.Equal(d.Sections, want) {
		t.Errorf("sections are %q, want %q", d.Sections, want)
	}
	if strings.Contains(string(d.Body), "<!--") {
		t.Errorf("the body has a comment: %s", d.Body)
	}
}
