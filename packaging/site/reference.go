package site

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"html"
	"html/template"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// goPackages are the packages for programs in Go. Others are not promised to stay as they are.
var goPackages = []string{"client", "client/simulation", "client/subsumption"}

// pythonModules are those for programs in Python, in clients/python. player_ros needs ROS to be read.
var pythonModules = []string{"playerclient", "playerclient.aio", "playerclient.simulation", "player_log"}

// declarations are the files that declare the libraries of the other languages, with their comments.
var declarations = []struct{ name, about string }{
	{"clients/c/player.h", "C: player.h"},
	{"clients/c/player_simulation.h", "C: player_simulation.h"},
	{"clients/cpp/player.hpp", "C++: player.hpp"},
	{"clients/cpp/simulation.hpp", "C++: simulation.hpp"},
	{"clients/javascript/lib/node.d.ts", "JavaScript: client of Node"},
	{"clients/javascript/lib/dashboard.d.ts", "JavaScript: client of pages"},
	{"clients/javascript/lib/session.d.ts", "JavaScript: sessions"},
	{"clients/javascript/lib/data.d.ts", "JavaScript: data"},
	{"clients/javascript/lib/errors.d.ts", "JavaScript: errors"},
	{"clients/javascript/lib/simulation.d.ts", "JavaScript: simulation"},
	{"clients/tcl/player.tcl", "Tcl: player.tcl"},
}

// javaFolder is where the site has javadoc's pages.
const javaFolder = "reference/java"

// references makes the references of the client libraries from their sources.
func (s *site) references() error {
	g := &group{Title: "Libraries, name by name"}
	add := func(d *document, about string) {
		d.About = about
		g.Pages = append(g.Pages, d)
		s.all = append(s.all, d)
	}
	for _, name := range goPackages {
		d, err := s.goPackage(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		add(d, "Go: "+name)
	}
	for _, name := range pythonModules {
		d, err := s.pythonModule(name)
		if errors.Is(err, exec.ErrNotFound) {
			s.missing = append(s.missing, "the reference for Python: python3 is not installed")
			break
		}
		if err != nil {
			return err
		}
		add(d, "Python: "+name)
	}
	for _, file := range declarations {
		d := &document{Title: file.name, Path: place(file.name)}
		if err := s.showFile(file.name, d); err != nil {
			return err
		}
		s.linked = slices.DeleteFunc(s.linked, func(name string) bool { return name == file.name })
		add(d, file.about)
	}
	err := s.javadoc()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		s.missing = append(s.missing, "the reference for Java: javadoc is not installed")
	case err != nil:
		return err
	default:
		g.Pages = append(g.Pages, &document{Path: javaFolder + "/index.html", About: "Java: javadoc"})
	}
	s.groups = append(s.groups, g)
	return nil
}

// goPackage makes a page of the exported names of a package.
func (s *site) goPackage(name string) (*document, error) {
	files := token.NewFileSet()
	var parsed []*ast.File
	matches, err := filepath.Glob(filepath.Join(s.root, name, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range matches {
		f, err := parser.ParseFile(files, file, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, f)
	}
	p, err := doc.NewFromFiles(files, parsed, "player/"+name)
	if err != nil {
		return nil, err
	}
	w := &goWriter{files: files, pkg: p, d: &document{Title: "package " + p.Name, Path: path.Join("reference/go", name) + ".html"}}
	fmt.Fprintf(&w.b, "<h1>package %s</h1><pre><code>import %q</code></pre>%s", p.Name, p.ImportPath, p.HTML(p.Doc))
	w.d.Sections = []section{{Title: w.d.Title, Text: p.Doc}}
	w.values(p.Consts)
	w.values(p.Vars)
	w.functions("", p.Funcs)
	for _, t := range p.Types {
		w.heading(t.Name, "type "+t.Name, t.Doc)
		w.declaration(t.Decl, t.Doc)
		w.examples(t.Examples)
		w.values(t.Consts)
		w.values(t.Vars)
		w.functions("", t.Funcs)
		w.functions(t.Name+".", t.Methods)
	}
	w.d.Body = template.HTML(w.b.String())
	return w.d, nil
}

// goWriter writes the page of a package.
type goWriter struct {
	files *token.FileSet
	pkg   *doc.Package
	d     *document
	b     strings.Builder
	err   error
}

func (w *goWriter) heading(anchor, title, text string) {
	fmt.Fprintf(&w.b, "<h2 id=%q>%s</h2>", anchor, html.EscapeString(title))
	w.d.Sections = append(w.d.Sections, section{Anchor: anchor, Title: title, Text: strings.Join(strings.Fields(text), " ")})
}

// declaration writes a declaration as its source has it, and its comment.
func (w *goWriter) declaration(decl ast.Decl, text string) {
	if f, ok := decl.(*ast.FuncDecl); ok {
		f.Body = nil
	}
	var source bytes.Buffer
	if err := format.Node(&source, w.files, decl); err != nil {
		w.err = errors.Join(w.err, err)
	}
	fmt.Fprintf(&w.b, "<pre><code>%s</code></pre>%s", html.EscapeString(source.String()), w.pkg.HTML(text))
}

func (w *goWriter) values(values []*doc.Value) {
	for _, v := range values {
		w.declaration(v.Decl, v.Doc)
	}
}

func (w *goWriter) functions(of string, functions []*doc.Func) {
	for _, f := range functions {
		w.heading(of+f.Name, "func "+of+f.Name, f.Doc)
		w.declaration(f.Decl, f.Doc)
		w.examples(f.Examples)
	}
}

func (w *goWriter) examples(examples []*doc.Example) {
	for _, e := range examples {
		var source bytes.Buffer
		if err := format.Node(&source, w.files, e.Code); err != nil {
			w.err = errors.Join(w.err, err)
		}
		fmt.Fprintf(&w.b, "<p>Example:</p><pre><code>%s</code></pre>", html.EscapeString(source.String()))
	}
}

// pythonModule makes a page of pydoc's text on a module, without the path of its file.
func (s *site) pythonModule(name string) (*document, error) {
	cmd := exec.Command("python3", "-B", "packaging/site/reference.py", name)
	cmd.Dir = s.root
	cmd.Env = append(os.Environ(), "PYTHONPATH=clients/python")
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("pydoc %s: %w: %s", name, err, problem.String())
	}
	text, _, found := strings.Cut(string(out), "\nFILE\n")
	if !found {
		return nil, fmt.Errorf("pydoc %s: %s", name, text)
	}
	d := &document{Title: "module " + name, Path: "reference/python/" + name + ".html"}
	d.Body = template.HTML("<h1>module " + name + "</h1><pre><code>" + html.EscapeString(text) + "</code></pre>")
	d.Sections = []section{{Title: d.Title, Text: strings.Join(strings.Fields(text), " ")}}
	return d, nil
}

// BriefJVM returns the arguments with which javac and javadoc take half of the processor time: their machine works
// for seconds, which is too short for its second compiler and its parallel garbage collector.
func BriefJVM() []string { return []string{"-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1"} }

// javadoc has the pages for Java written, without times, so that two sites of a commit are equal.
func (s *site) javadoc() error {
	var sources []string
	err := filepath.WalkDir(filepath.Join(s.root, "clients/java"), func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() != "java" && entry.Name() != "src" && entry.Name() != "player" {
			return fs.SkipDir
		}
		if err == nil && filepath.Ext(file) == ".java" && entry.Name() != "module-info.java" {
			sources = append(sources, file)
		}
		return err
	})
	if err != nil {
		return err
	}
	args := append(BriefJVM(), "-quiet", "-notimestamp", "-Xdoclint:all", "-encoding", "UTF-8", "-windowtitle", "Player", "-d", filepath.Join(s.folder, javaFolder))
	out, err := exec.Command("javadoc", append(args, sources...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("javadoc: %w: %s", err, out)
	}
	return nil
}
