package app

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"player/e2e/acceptance"
	"player/e2e/must"
)

// source has the declarations of the repository's Go files.
type source struct {
	packages map[string]bool // folders with a program or a package, by path
	drivers  map[string]bool // packages with a function Kind
	names    map[string]bool // "Name", "Type.Name" and "package.Name", also of tests
}

// readSource reads the files of both modules.
func readSource(t *testing.T) source {
	t.Helper()
	atRoot(t)
	return must.Get(sourceOnce())(t)
}

var sourceOnce = sync.OnceValues(func() (source, error) {
	s := source{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (path == ".git" || entry.Name() == "third_party" || entry.Name() == "testdata" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if !strings.HasSuffix(path, "_test.go") {
			s.packages[filepath.Dir(path)] = true
		}
		for _, decl := range file.Decls {
			s.declare(file.Name.Name, filepath.Dir(path), decl)
		}
		return nil
	})
	return s, err
})

func (s source) declare(pkg, folder string, decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		s.add(pkg, receiver(decl), decl.Name.Name)
		if decl.Recv == nil && decl.Name.Name == "Kind" {
			s.drivers[folder] = true
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					s.add(pkg, "", name.Name)
				}
			case *ast.TypeSpec:
				s.add(pkg, "", spec.Name.Name)
				var members *ast.FieldList
				switch t := spec.Type.(type) {
				case *ast.StructType:
					members = t.Fields
				case *ast.InterfaceType:
					members = t.Methods
				default:
					continue
				}
				for _, member := range members.List {
					for _, name := range member.Names {
						s.add(pkg, spec.Name.Name, name.Name)
					}
				}
			}
		}
	}
}

func (s source) add(pkg, of, name string) {
	if of == "" {
		s.names[name], s.names[pkg+"."+name] = true, true
	} else {
		s.names[of+"."+name] = true
	}
}

// receiver returns the type of a method's receiver, "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	t := f.Recv.List[0].Type
	for {
		switch inner := t.(type) {
		case *ast.StarExpr:
			t = inner.X
		case *ast.IndexExpr:
			t = inner.X
		case *ast.IndexListExpr:
			t = inner.X
		case *ast.Ident:
			return inner.Name
		default:
			return ""
		}
	}
}

// spans returns the code spans of a page, without its blocks of code.
func spans(t *testing.T, page string) (spans []string) {
	t.Helper()
	text := must.Get(os.ReadFile(page))(t)
	prose := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(string(text), "")
	for _, match := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(prose, -1) {
		spans = append(spans, match[1])
	}
	return spans
}

// docs/ARCHITECTURE.md names every package, and its names are right: files, folders,
// and functions as Type.Name, package.Name, or by a name in camel case.
func TestArchitecture(t *testing.T) {
	acceptance.Alone(t)
	const page = "docs/ARCHITECTURE.md"
	code := readSource(t)
	named := map[string]bool{}
	identifier := regexp.MustCompile(`^[A-Za-z]\w*(\.[A-Za-z]\w*)?$`)
	unexported := regexp.MustCompile(`^[a-z]+[A-Z]\w*$`) // camel case, as no other word on the page
	functions := 0
	for _, span := range spans(t, page) {
		named[span] = true
		_, err := os.Stat(span)
		file, _, _ := strings.Cut(filepath.Base(span), " ")
		switch {
		case err == nil:
		case strings.HasPrefix(span, "gnet."), strings.HasSuffix(span, "/NAME"), !errors.Is(err, fs.ErrNotExist):
		case filepath.Ext(file) == ".go", strings.Contains(span, "/") && !strings.Contains(span, " "):
			if span != "/dev/null" {
				t.Errorf("%s names %s, which is not there", page, span)
			}
		case unexported.MatchString(span), identifier.MatchString(span) && strings.Contains(span, "."):
			if functions++; !code.names[span] {
				t.Errorf("%s names %s, which no file declares", page, span)
			}
		}
	}
	if functions < 20 {
		t.Errorf("only %d functions are found on the page: is it read as it is written?", functions)
	}
	for path := range code.packages {
		if !isNamed(path, named, code.drivers) {
			t.Errorf("%s does not name the package %s", page, path)
		}
	}
	files := must.Get(filepath.Glob("*.go"))(t)
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") && !named[file] {
			t.Errorf("%s does not name %s", page, file)
		}
	}
}

// isNamed reports whether a page with some code spans names a package, by itself or, if
// it is one of many, by their folder.
func isNamed(path string, named, drivers map[string]bool) bool {
	switch top, _, _ := strings.Cut(path, "/"); top {
	case ".":
		return named["main.go"]
	case "bench", "clients", "e2e", "examples", "packaging", "simulation":
		return named[top]
	case "tools":
		return named[path] || named["tools/NAME"]
	}
	return named[path] || drivers[path] && named["devices/NAME"] || strings.HasSuffix(path, "test")
}

// Tests that the pages name are there.
func TestDocsNameTests(t *testing.T) {
	code := readSource(t)
	test := regexp.MustCompile(`^Test[A-Z]\w*$`)
	for _, page := range guide(t) {
		for _, span := range spans(t, page.path) {
			if test.MatchString(span) && !code.names[span] {
				t.Errorf("%s names %s, which is not there", page.path, span)
			}
		}
	}
}

// A test that lacks something of the machine fails in CI: only package needs skips. The
// other reasons to skip are listed here.
func TestSkips(t *testing.T) {
	atRoot(t)
	reasons := map[string]string{
		"e2e/needs/needs.go":           "elsewhere than in CI",
		"e2e/acceptance/acceptance.go": "ACCEPTANCE, which the check sets",
		"e2e/soak_test.go":             "-soak, which the check sets",
		"e2e/chaos_test.go":            "-chaos, which the nightly check sets",
		"e2e/frames_test.go":           "-frames: a measurement, which judges nothing",
		"devices/stage/exact_test.go":  "a digest of the arithmetic of amd64, where the check runs",
	}
	skip, word := regexp.MustCompile(`\bt\.Skip(f|Now)?\(`), []byte("t.Skip") // which is soon found
	must.Do(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, word) && skip.Match(text) && reasons[path] == "" {
			t.Errorf("%s skips a test: use package e2e/needs", path)
		}
		return err
	}))
}

// A test that starts programs or opens terminals says so, and is skipped with -short. Packages
// whose tests all do say so in TestMain.
func TestUnitTestsStartNothing(t *testing.T) {
	acceptance.Alone(t)
	atRoot(t)
	all := []string{"e2e/server_test.go", "fleet/helpers_test.go"}
	for _, path := range all {
		if !strings.Contains(string(must.Get(os.ReadFile(path))(t)), "needs.Skipped(m)") {
			t.Errorf("%s does not skip its package", path)
		}
	}
	starts := regexp.MustCompile(`\bexec\.Command|\brawhost\.Open\(|\.host\.Start(Program|Plugin)\(`)
	says := regexp.MustCompile(`\b(needs\.(Programs|Program|Root)|acceptance\.Only)\(`)
	found := 0
	must.Do(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		folder := filepath.Dir(path)
		if err != nil || !strings.HasSuffix(path, "_test.go") || folder == "e2e" || folder == "fleet" {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && starts.Match(text) {
			if found++; !says.Match(text) {
				t.Errorf("%s starts a program or opens a terminal: its tests need needs.Programs", path)
			}
		}
		return err
	}))
	if found < 10 {
		t.Errorf("only %d files are found that start programs: is the pattern that of the code?", found)
	}
}

// The root shows the architecture: it has few folders, docs/ARCHITECTURE.md has a line for each,
// and their imports run one way.
func TestFolders(t *testing.T) {
	atRoot(t)
	const most = 20 // folders that one can hold in the head
	page := must.Get(os.ReadFile("docs/ARCHITECTURE.md"))(t)
	entries := must.Get(os.ReadDir("."))(t)
	imports := map[string]map[string]bool{}
	for _, entry := range entries {
		if !entry.IsDir() || strings.HasPrefix(entry.Name(), ".") || strings.HasPrefix(entry.Name(), "release-") {
			continue
		}
		imports[entry.Name()] = importedFolders(t, entry.Name())
		if row := "\n| `" + entry.Name() + "` | "; strings.Count(string(page), row) != 1 {
			t.Errorf("docs/ARCHITECTURE.md has not one line for the folder %s", entry.Name())
		}
	}
	if len(imports) > most || len(imports) < 10 {
		t.Errorf("the root has %d folders, at most %d", len(imports), most)
	}
	_, text, _ := strings.Cut(string(page), "to its left in this row")
	floors := strings.Split(strings.Split(text, "```")[1], "|")
	for i, floor := range floors {
		left := strings.Join(floors[:i], ",") + ","
		for folder := range strings.FieldsFuncSeq(floor, func(r rune) bool { return strings.ContainsRune(", \n", r) }) {
			for other := range imports[folder] {
				if !strings.Contains(strings.NewReplacer(" ", "", "\n", "").Replace(left), other+",") {
					t.Errorf("%s imports %s, which is not to its left in docs/ARCHITECTURE.md", folder, other)
				}
			}
			delete(imports, folder)
		}
	}
	for folder := range imports {
		if folder != "docs" {
			t.Errorf("docs/ARCHITECTURE.md does not say what may import the folder %s", folder)
		}
	}
}

// importedFolders returns the other folders of the root whose packages a folder's programs and
// packages import.
func importedFolders(t *testing.T, folder string) map[string]bool {
	t.Helper()
	imported := map[string]bool{}
	must.Do(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/testdata/") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			if name, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "player/"); ours {
				other, _, _ := strings.Cut(name, "/")
				if other != folder {
					imported[other] = true
				}
			}
		}
		return nil
	}))
	return imported
}
