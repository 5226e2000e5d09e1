package site

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// pages reads all pages of the repository: first the pages of the navigation.
func (s *site) pages() error {
	names, err := s.navigation()
	if err != nil {
		return err
	}
	listed := len(names)
	err = filepath.WalkDir(s.root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "testdata" || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		name, err := filepath.Rel(s.root, file)
		name = filepath.ToSlash(name)
		if err == nil && path.Ext(name) == ".md" && !slices.Contains(names, name) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	known := map[string]*document{}
	for _, g := range s.groups {
		for _, d := range g.Pages {
			known[d.Path] = d
		}
	}
	for i, name := range names {
		d := known[place(name)]
		if d == nil {
			d = &document{Path: place(name)}
		}
		d.listed = i < listed
		if err := s.render(name, d); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.all = append(s.all, d)
	}
	return nil
}

// navigation reads the lists of the index: the groups, and the names of their pages in order. The
// index itself is the first. A list has pages only, each once.
func (s *site) navigation() (names []string, err error) {
	source, err := os.ReadFile(filepath.Join(s.root, index))
	if err != nil {
		return nil, err
	}
	names = []string{index}
	var heading string
	err = ast.Walk(markdown().Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			heading = plain(n, source)
		case *ast.ListItem:
			link, _ := n.FirstChild().FirstChild().(*ast.Link)
			if link == nil {
				return 0, fmt.Errorf("%s: an item of a list under %q does not begin with a link", index, heading)
			}
			name := path.Join(path.Dir(index), string(link.Destination))
			if slices.Contains(names, name) {
				return 0, fmt.Errorf("%s lists %s twice", index, name)
			}
			names = append(names, name)
			if len(s.groups) == 0 || s.groups[len(s.groups)-1].Title != heading {
				s.groups = append(s.groups, &group{Title: heading})
			}
			g := s.groups[len(s.groups)-1]
			g.Pages = append(g.Pages, &document{Path: place(name), About: plain(link, source)})
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return names, err
}

// markdown returns a reader of pages as they are written here: with tables, and links in angle brackets.
func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(html.WithUnsafe())) // anchors are HTML
}

// unbroken is the length of code in bytes up to which it stays in one line: half the width of a phone. Browsers would
// break a line after the dash of a flag.
const unbroken = 24

// render turns a page of the repository into one of the site. Links to pages, files and folders of
// the repository become links in the site.
func (s *site) render(name string, d *document) error {
	source, err := os.ReadFile(filepath.Join(s.root, name))
	if err != nil {
		return err
	}
	m := markdown()
	root := m.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	var comments []ast.Node
	err = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock: // comments for the tests
			comments = append(comments, n)
		case *ast.Heading:
			if n.Level == 1 && d.Title == "" {
				d.Title = plain(n, source)
			}
		case *extensionast.Table: // it scrolls, which needs the keyboard
			n.SetAttributeString("tabindex", []byte("0"))
		case *extensionast.TableCell:
			if _, head := n.Parent().(*extensionast.TableHeader); head && !n.HasChildren() {
				n.SetAttributeString("role", []byte("presentation"))
			}
		case *ast.CodeSpan:
			if len(plain(n, source)) <= unbroken {
				n.SetAttributeString("class", []byte("short"))
			}
		case *ast.Link:
			n.Destination = s.follow(name, d, n.Destination)
		case *ast.Image:
			n.Destination = s.follow(name, d, n.Destination)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	for _, n := range comments {
		n.Parent().RemoveChild(n.Parent(), n)
	}
	d.Sections = sections(root, source, d.Title)
	var b bytes.Buffer
	if err := m.Renderer().Render(&b, source, root); err != nil {
		return err
	}
	d.Body = template.HTML(b.String())
	return nil
}

// follow returns where a link of a page leads in the site, and remembers its target.
func (s *site) follow(name string, d *document, destination []byte) []byte {
	to, anchor, _ := strings.Cut(string(destination), "#")
	if to == "" || strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
		return destination
	}
	target := path.Join(path.Dir(name), to)
	if path.Ext(target) != ".md" {
		s.linked = append(s.linked, target)
	}
	to = relative(d.Path, place(target))
	if anchor != "" {
		to += "#" + anchor
	}
	return []byte(to)
}

// sections divides a page for the search: the text before the first heading of level 2 belongs to the page.
func sections(root ast.Node, source []byte, title string) []section {
	found := []section{{Title: title}}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			if id, _ := h.AttributeString("id"); h.Level > 1 && id != nil {
				found = append(found, section{Anchor: string(id.([]byte)), Title: plain(h, source)})
			}
			continue
		}
		last := &found[len(found)-1]
		last.Text += plain(n, source) + " "
	}
	return found
}

// plain returns the words of a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// anchors gives headings the anchors that the repository's host gives them, which the links of the pages
// name. No page has two headings of one name.
type anchors struct{}

func (anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	return []byte(strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, string(bytes.ReplaceAll(heading, []byte("`"), nil))))
}

func (anchors) Put([]byte) {}
