// Package site makes the pages of the project a web site that needs no server: every page of
// the repository in HTML with navigation and search, the files that pages link to, and the
// references of the client libraries.
package site

import (
	"embed"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed assets
var assets embed.FS

// index is the page that lists all others. Its lists are the navigation, and "next" follows
// their order.
const index = "docs/README.md"

// Build writes the site of the clone at root into the folder output/version, which must not
// exist, and output/versions.js, which lists the versions in output, newest first. It reports the
// parts that it left out because a program is missing.
func Build(root, output, version string) (missing []string, err error) {
	folder := filepath.Join(output, version)
	if err := os.MkdirAll(output, 0o777); err != nil {
		return nil, err
	}
	if err := os.Mkdir(folder, 0o777); err != nil {
		return nil, err
	}
	s := &site{root: root, folder: folder, version: version, written: map[string]bool{}}
	if s.layout, err = template.ParseFS(assets, "assets/page.html"); err != nil {
		return nil, err
	}
	if err := s.pages(); err != nil {
		return nil, err
	}
	if err := s.references(); err != nil {
		return nil, err
	}
	if err := s.files(); err != nil {
		return nil, err
	}
	if err := s.write(); err != nil {
		return nil, err
	}
	return s.missing, listVersions(output)
}

// site is one that is built.
type site struct {
	root, folder, version string

	layout  *template.Template
	all     []*document // in the order of the navigation; behind them those that no list has
	groups  []*group
	linked  []string        // files and folders that pages link to, relative to root
	written map[string]bool // paths of the site
	missing []string
}

// group is a part of the navigation.
type group struct {
	Title string
	Pages []*document
}

// document is a page of the site.
type document struct {
	Title    string
	About    string // a line for the navigation
	Path     string // in the site, with slashes
	Body     template.HTML
	Sections []section
	listed   bool // in the navigation
}

// section is a part of a page, for the search.
type section struct {
	Anchor string
	Title  string
	Text   string
}

// place returns where the site has a page, a file or a folder of the repository.
func place(name string) string {
	switch {
	case name == index:
		return "index.html"
	case path.Ext(name) == ".md":
		return strings.TrimSuffix(name, ".md") + ".html"
	case picture(name):
		return name
	}
	return path.Join("source", name) + ".html"
}

// picture reports whether a browser shows a file.
func picture(name string) bool {
	return slices.Contains([]string{".svg", ".webp", ".png"}, path.Ext(name))
}

// relative returns the link from a page of the site to another.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

// write writes all pages, the index of the search and the looks.
func (s *site) write() error {
	for i, d := range s.all {
		var previous, next *document
		if d.listed && i > 0 {
			previous = s.all[i-1]
		}
		if i+1 < len(s.all) && s.all[i+1].listed {
			next = s.all[i+1]
		}
		d.Body = template.HTML(strings.ReplaceAll(string(d.Body), "<pre", `<pre tabindex="0"`)) // it scrolls, which needs the keyboard
		var b strings.Builder
		err := s.layout.Execute(&b, map[string]any{
			"Version": s.version, "Page": d, "Groups": s.groups, "Previous": previous, "Next": next,
			"Link": func(to string) string { return relative(d.Path, to) }, "Root": relative(d.Path, ""),
		})
		if err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
		if err := s.put(d.Path, []byte(b.String())); err != nil {
			return err
		}
	}
	for _, name := range []string{"site.css", "site.js", "icon.svg"} {
		text, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return err
		}
		if err := s.put(name, text); err != nil {
			return err
		}
	}
	words, err := s.words()
	if err != nil {
		return err
	}
	return s.put("words.js", words)
}

// put writes a file of the site.
func (s *site) put(name string, data []byte) error {
	if s.written[name] {
		return fmt.Errorf("two pages are %s", name)
	}
	s.written[name] = true
	to := filepath.Join(s.folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o666)
}
