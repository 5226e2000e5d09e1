package site

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxSource is the longest file that the site shows, in bytes. Pages link to sources and
// configurations, which are shorter.
const maxSource = 256 << 10

// files copies the pictures to which pages link, and shows the other files and folders as pages.
func (s *site) files() error {
	slices.Sort(s.linked)
	shown := slices.Compact(s.linked)
	for i := 0; i < len(shown); i++ { // a folder adds its files
		name := shown[i]
		info, err := os.Stat(filepath.Join(s.root, name))
		if err != nil {
			return err
		}
		if picture(name) {
			data, err := os.ReadFile(filepath.Join(s.root, name))
			if err != nil {
				return err
			}
			if err := s.put(name, data); err != nil {
				return err
			}
			continue
		}
		d := &document{Title: name, Path: place(name)}
		if !info.IsDir() {
			if err := s.showFile(name, d); err != nil {
				return err
			}
			s.all = append(s.all, d)
			continue
		}
		inside, err := s.showFolder(name, d)
		if err != nil {
			return err
		}
		for _, file := range inside {
			there := slices.ContainsFunc(s.all, func(d *document) bool { return d.Path == place(file) }) // a reference
			if !there && !slices.Contains(shown, file) {
				shown = append(shown, file)
			}
		}
		s.all = append(s.all, d)
	}
	return nil
}

// showFile makes a page of a text, with a number and an anchor at each line.
func (s *site) showFile(name string, d *document) error {
	data, err := os.ReadFile(filepath.Join(s.root, name))
	if err != nil {
		return err
	}
	if len(data) > maxSource || bytes.IndexByte(data, 0) >= 0 {
		return fmt.Errorf("a page links to %s, which is no text of at most %d bytes", name, maxSource)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1><pre class=source><code>", html.EscapeString(name))
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		fmt.Fprintf(&b, "<span id=L%d>%s</span>\n", i+1, html.EscapeString(line))
	}
	b.WriteString("</code></pre>")
	d.Body = template.HTML(b.String())
	d.Sections = []section{{Title: name}}
	return nil
}

// showFolder makes a page that lists the sources in a folder, and returns their names.
func (s *site) showFolder(name string, d *document) (inside []string, err error) {
	entries, err := os.ReadDir(filepath.Join(s.root, name))
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1><ul>", html.EscapeString(name))
	for _, entry := range entries {
		file := path.Join(name, entry.Name())
		info, err := entry.Info()
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() || info.Size() > maxSource || strings.HasSuffix(file, "_test.go") || entry.Name()[0] == '.' {
			continue
		}
		fmt.Fprintf(&b, `<li><a href="%s">%s</a>`, html.EscapeString(relative(d.Path, place(file))), html.EscapeString(entry.Name()))
		if path.Ext(file) != ".md" {
			inside = append(inside, file)
		}
	}
	b.WriteString("</ul>")
	d.Body = template.HTML(b.String())
	d.Sections = []section{{Title: name}}
	return inside, nil
}
