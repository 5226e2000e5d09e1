package syntax

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"player/e2e/must"
	"player/formats/textfile"
)

// String returns the tree as a configuration file without comments and
// includes, each section with everything that its defines contributed. The
// text parses back to an equal tree: empty defines are written to keep the
// names. A text above the size limit of a file is still returned, but refused
// when parsed.
func (f *File) String() string {
	var b strings.Builder
	for _, p := range f.Plugins {
		b.WriteString("plugin " + p.quoted() + "\n")
	}
	f.Global.formatFields(&b, "")
	defined := map[string]bool{}
	for _, s := range f.Global.Children {
		s.formatDefines(&b, defined)
		s.format(&b, "")
	}
	return b.String()
}

// formatDefines writes empty defines for the macros in s that have none yet,
// the last of a chain first, because the others build on it.
func (s *Section) formatDefines(b *strings.Builder, defined map[string]bool) {
	base := s.Type
	for i := len(s.Macros) - 1; i >= 0; i-- {
		name := s.Macros[i]
		if !defined[name] {
			defined[name] = true
			b.WriteString("define " + name + " " + base + " ()\n")
		}
		base = name
	}
	for _, child := range s.Children {
		child.formatDefines(b, defined)
	}
}

func TestFormat(t *testing.T) {
	f := mustParse(t, `
# lost
s( a [ 1 "x" ] # lost
b yes) plugin "p"
t "text"
define m n(i 1) define k m( p( q 1 ) )
k( i 2 )m(
)`)
	const want = `plugin "p"
t "text"
s (
  a [1 "x"]
  b yes
)
define m n ()
define k m ()
k (
  i 2
  p (
    q 1
  )
)
m (
  i 1
)
`
	if got := f.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFormatParsesBack(t *testing.T) {
	worlds, err := filepath.Glob("testdata/*.world")
	if err != nil || len(worlds) == 0 {
		t.Fatalf("no worlds in testdata: %v", err)
	}
	for _, path := range worlds {
		f := must.Get(ParseFile(path, nil))(t)
		if got, want := tree(mustParse(t, f.String())), tree(f); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", path, got, want)
		}
	}
}

// size counts the tree as the parser does, without the bodies of defines.
func (s *Section) size() int {
	n := sectionCost
	for _, field := range s.Fields {
		n += field.cost()
	}
	for _, child := range s.Children {
		n += child.size()
	}
	return n
}

func FuzzParse(f *testing.F) {
	for _, path := range []string{"testdata/yard.world", "testdata/sensors.inc"} {
		text := must.Get(os.ReadFile(path))(f)
		f.Add(string(text), "define echo transducer ( reach 4 )\ndefine ring ranger ( echo () )")
	}
	f.Add("include \"inc\"\rm(a [7])include \"inc\"\n", "define m m(a [1 \"b\" 2] b no)")
	f.Add("include \"inc\"\n\rm()", "include \"main.world\"")
	f.Add("x 1 define m t(a()) define n m(b(c 1.5e))n(a(d \"e\"))", "")
	f.Add("define a b(c()) define c d() a()", "")
	f.Add(doubling(12)+"d12()", "")
	f.Add("a (b \"\x1b\" , ", "\xff")
	f.Add("unit_length \"mm\" unit_angle 5 plugin \"p\" # c\n", "")
	f.Add("\x00", "")
	f.Add("include \"inc\"", "\xff\xfe")
	f.Fuzz(func(t *testing.T, text, included string) {
		file, err := parseText(text, map[string]string{"inc": included, "sensors.inc": included})
		if _, unreadable := textfile.Clean([]byte(text)); unreadable != nil {
			if err == nil || !strings.HasSuffix(err.Error(), unreadable.Error()) {
				t.Fatalf("%v, want %v", err, unreadable)
			}
			return // no place in the text is wrong
		}
		if err != nil {
			if wrong := checkComplaint(err); wrong != "" {
				t.Fatalf("%s: %q", wrong, err)
			}
			return
		}
		if n := file.Global.size(); n > maxTree+sectionCost {
			t.Fatalf("the tree has %d bytes", n)
		}
		for _, e := range file.Unused() {
			if wrong := checkComplaint(e); wrong != "" {
				t.Fatalf("%s: %q", wrong, e)
			}
		}
		printed := file.String()
		if len(printed) > maxSource || file.Redefined() != nil { // it prints one define of a name
			return
		}
		again, err := parseText(printed, nil)
		if err != nil {
			t.Fatalf("%v\nin the text printed:\n%s", err, printed)
		}
		if got, want := tree(again), tree(file); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		if reprinted := again.String(); reprinted != printed {
			t.Fatalf("printed again:\n%s\nafter:\n%s", reprinted, printed)
		}
	})
}
