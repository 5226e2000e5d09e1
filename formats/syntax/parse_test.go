package syntax

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"player/e2e/acceptance"
	"player/e2e/must"
)

// parseText parses the text as main.world, with further files given by name.
func parseText(text string, files map[string]string) (*File, error) {
	return Parse("main.world", func(name string) ([]byte, error) {
		if name == "main.world" {
			return []byte(text), nil
		}
		data, ok := files[name]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return []byte(data), nil
	})
}

func mustParse(t *testing.T, text string) *File {
	t.Helper()
	return must.Get(parseText(text, nil))(t)
}

// tree writes the complete tree without positions: name=type<macros{fields
// children}.
func tree(f *File) string {
	var b strings.Builder
	for _, p := range f.Plugins {
		fmt.Fprintf(&b, "plugin %v ", p)
	}
	var walk func(s *Section)
	walk = func(s *Section) {
		fmt.Fprintf(&b, "%s=%s%v{", s.Name, s.Type, s.Macros)
		for _, field := range s.Fields {
			fmt.Fprintf(&b, "%s:%v%v ", field.Name, field.Values, map[bool]string{true: "t"}[field.Tuple])
		}
		for _, child := range s.Children {
			walk(child)
		}
		b.WriteString("}")
	}
	walk(f.Global)
	return b.String()
}

func TestTree(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "=[]{}"},
		{"only comment", "# nothing", "=[]{}"},
		{"fields of each kind", `a 1 b "x" c yes d [1 "y"] e []`,
			`=[]{a:[number 1] b:[string "x"] c:[word "yes"] d:[number 1 string "y"]t e:[]t }`},
		{"nested, parenthesis on a later line", "p # a\n# b\n(\n q(r\n(s 1)t 2)u 3)",
			`=[]{p=p[]{u:[number 3] q=q[]{t:[number 2] r=r[]{s:[number 1] }}}}`},
		{"tuple over lines", "a [1\n\r2\r\n\r3\n]", `=[]{a:[number 1 number 2 number 3]t }`},
		{"repeated field replaced in its place", `a 1 b 2 a "x"`, `=[]{a:[string "x"] b:[number 2] }`},
		{"shorter tuple leaves the rest", `a [1 2 3] a [7]`, `=[]{a:[number 7 number 2 number 3]t }`},
		{"longer tuple", `a [1] a [7 8]`, `=[]{a:[number 7 number 8]t }`},
		{"scalar replaces tuple", `a [1 2] a 3`, `=[]{a:[number 3] }`},
		{"tuple replaces scalar", `a 3 a []`, `=[]{a:[]t }`},
		{"indexed names are names", `a[0] 1 a[1] 2 a[0] 3`, `=[]{a[0]:[number 3] a[1]:[number 2] }`},
		{"plugin at top level", "plugin \"one\"# x\nplugin \"two\"", `plugin string "one" plugin string "two" =[]{}`},
		{"plugin inside is a field", `driver( plugin "one" )`, `=[]{driver=driver[]{plugin:[string "one"] }}`},
		{"define", "define m t(a 1 c())\nm()",
			`=[]{m=t[m]{a:[number 1] c=c[]{}}}`},
		{"override and extend", "define m t\n(a 1 b 2 c())\nm(d 4 b 9 e())",
			`=[]{m=t[m]{a:[number 1] b:[number 9] d:[number 4] c=c[]{}e=e[]{}}}`},
		{"define on define", "define m t(a 1 b 1 x()) define n m(b 2 c 2 y()) n(c 3 z())",
			`=[]{n=t[n m]{a:[number 1] b:[number 2] c:[number 3] x=x[]{}y=y[]{}z=z[]{}}}`},
		{"define in define", "define m t(a 1) define n u(m(b 2)) n(m(a 3)) m()",
			`=[]{n=u[n]{m=t[m]{a:[number 1] b:[number 2] }m=t[m]{a:[number 3] }}m=t[m]{a:[number 1] }}`},
		{"define without use", "define m t(a 1)", `=[]{}`},
		{"define of its own type", "define m m(a 1) m()", `=[]{m=m[m]{a:[number 1] }}`},
		{"define with a name defined below", "define a b(c(x 1) y 2)\ndefine c d(x 3 z 4 e())\na()",
			`=[]{a=b[a]{y:[number 2] c=d[c]{x:[number 1] z:[number 4] e=e[]{}}}}`},
		{"define on a name defined below", "define a b(x [1] c())\ndefine b d(x [3 4] y 5 e())\na(y 6)",
			`=[]{a=d[a b]{x:[number 1 number 4]t y:[number 6] e=e[]{}c=c[]{}}}`},
		{"define of what is defined below twice", "define a b(c())\ndefine e a(c(x 1))\ndefine c d(y 1)\ne()\ndefine c f()\ne()",
			`=[]{e=b[e a]{c=d[c]{y:[number 1] }c=d[c]{y:[number 1] x:[number 1] }}e=b[e a]{c=f[c]{}c=f[c]{x:[number 1] }}}`},
		{"define that leads back to itself, unused", "define a b(c())\ndefine c d(a())\ne()", `=[]{e=e[]{}}`},
		{"define again", "define a b(x 1)\na()\ndefine a c(y 2)\na()", `=[]{a=b[a]{x:[number 1] }a=c[a]{y:[number 2] }}`},
		{"define again on itself", "define a b(x 1)\ndefine a a(y 2)\na()", `=[]{a=b[a a]{x:[number 1] y:[number 2] }}`},
		{"override does not reach the define", "define m t(a [1 2]) m(a [3]) m()",
			`=[]{m=t[m]{a:[number 3 number 2]t }m=t[m]{a:[number 1 number 2]t }}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := tree(mustParse(t, test.text)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestRedefined(t *testing.T) {
	f := mustParse(t, "define a b()\ndefine c d()\ndefine a e()\ndefine a f()")
	want := []string{"main.world:3:8: a is already defined at main.world:1:8", "main.world:4:8: a is already defined at main.world:3:8"}
	if len(f.Redefined()) != len(want) {
		t.Fatal(f.Redefined())
	}
	for i, e := range f.Redefined() {
		if !strings.HasPrefix(e.Error(), want[i]) {
			t.Errorf("%v, want %s", e, want[i])
		}
	}
	f, err := parseText("include \"inc\"\ninclude \"inc\"\n", map[string]string{"inc": "define a b()\n"})
	if err != nil || len(f.Redefined()) != 0 {
		t.Errorf("a file included twice: %v, %v", f.Redefined(), err)
	}
}

func TestPositions(t *testing.T) {
	f := must.Get(ParseFile("testdata/yard.world", nil))(t)
	robot := f.Global.Children[1]
	ring := robot.Children[0]
	for want, got := range map[string]Pos{
		"testdata/yard.world:5:8":    f.Plugins[0].Pos,
		"testdata/yard.world:32:1":   robot.Pos,
		"testdata/yard.world:34:16":  robot.Field("name").Pos,
		"testdata/yard.world:34:21":  robot.Field("name").Values[0].Pos,
		"testdata/yard.world:35:14":  robot.Field("pose").Values[1].Pos,
		"testdata/yard.world:12:3":   robot.Field("size").Pos,
		"testdata/yard.world:14:3":   ring.Pos,
		"testdata/sensors.inc:12:3":  ring.Children[1].Pos,
		"testdata/sensors.inc:5:3":   ring.Children[1].Field("reach").Pos,
		"testdata/sensors.inc:12:33": ring.Children[1].Field("cone").Pos,
		"testdata/yard.world:25:16":  robot.Children[1].Field("corner[1]").Values[1].Pos,
	} {
		if got.String() != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

// The comment of each case describes the mistake.
func TestSyntaxErrors(t *testing.T) {
	const head = "# heading\ntest 1\n\nrobot\n(\n  port 6665\n" // the next line is 7
	for _, test := range []struct{ text, want string }{
		// commas
		{head + "  pose [1, 2, 0]\n)\n", `7:10: syntax error: unexpected ","`},
		// parenthesis not closed
		{head + "  sonar (\n)\n\n", `10:1: syntax error: missing ")" for the "(" of robot at main.world:5:1`},
		{head + "  sonar (", `7:10: syntax error: missing ")" for the "(" of sonar at main.world:7:9`},
		// one parenthesis too many
		{head + "  sonar ())\n)\n", `8:1: syntax error: unexpected ")": no section is open`},
		// section without parentheses
		{head + "  sonar\n)\n", `8:1: syntax error: unexpected ")": sonar needs a value on its line, or "( )"`},
		{head + "  sonar", `7:8: syntax error: unexpected end of file: sonar needs a value on its line, or "( )"`},
		// quotes forgotten, or not closed
		{head + "  name rover\n)\n", `7:8: syntax error: unexpected word "rover" after name: a string needs quotes`},
		{head + "  name \"rover\n)\n", `7:8: syntax error: string has no closing "`},
		{"a [ \"rover\n]\n", `1:5: syntax error: string has no closing "`},
		// value on the next line
		{"name\n\"rover\"", `2:1: syntax error: unexpected string "rover": name needs a value on its line, or "( )"`},
		// exponent
		{"a 1.5e\nb 2", `2:1: syntax error: unexpected word "b": e needs a value on its line, or "( )"`},
		// value without name
		{"5", `1:1: syntax error: unexpected number 5`},
		{"a 1 true 1", `1:5: syntax error: unexpected word "true"`},
		{"a( [1] )", `1:4: syntax error: unexpected "["`},
		{"a @", `1:3: syntax error: unexpected "@": a needs a value on its line, or "( )"`},
		// tuples
		{"a [1\n2", `2:2: syntax error: missing "]" for the "[" at main.world:1:3`},
		{"a [1 [2]]", `1:6: syntax error: unexpected "[" inside "[ ]": it holds only numbers and "strings"`},
		{"a [1 no ]", `1:6: syntax error: unexpected word "no" inside "[ ]": it holds only numbers and "strings"`},
		{"a [1 # one\n]", `1:6: syntax error: unexpected comment inside "[ ]": it holds only numbers and "strings"`},
		{"b( a [1 )", `1:9: syntax error: unexpected ")" inside "[ ]": it holds only numbers and "strings"`},
		// include and plugin
		{"include rover.inc\n", `1:9: syntax error: unexpected word "rover.inc" after include: write include "name"`},
		{"include\n\"rover.inc\"", `1:8: syntax error: unexpected end of line after include: write include "name"`},
		{`include "good.inc" a 1`, `1:20: syntax error: unexpected word "a" after the name in include`},
		{"plugin 5", `1:8: syntax error: unexpected number 5 after plugin: write plugin "name"`},
		{`a( include "good.inc" )`, `1:4: syntax error: include belongs at top level, not inside a ( )`},
		{"a( define b c() )", `1:4: syntax error: define belongs at top level, not inside a ( )`},
		// define
		{"define rover\n(a 1)", `1:13: syntax error: unexpected end of line: define rover lacks the section type it stands for`},
		{"define ( )", `1:8: syntax error: unexpected "(" in define: write define NAME TYPE ( ... )`},
		{"define a b\nc 1", `2:1: syntax error: unexpected word "c": define a needs its "("`},
		{"define a b (\n", `2:1: syntax error: missing ")" for the "(" of a at main.world:1:12`},
		{"a()\ndefine a b()", `2:8: a is used at main.world:1:1, before it is defined here: move the define up`},
		{"define a b( a() )", `1:8: a is used at main.world:1:13, before it is defined here: move the define up`},
		{"define a b( c() )\na()\ndefine c d()", `3:8: c is used at main.world:1:13, before it is defined here: move the define up`},
		{"define a b( c() )\ndefine c d( a() )\na()", `3:1: define c leads back to itself`},
		{"define a b()\ndefine b a()\na()", `3:1: define b leads back to itself`},
		// errors in included files
		{`include "missing.inc"`, `1:9: cannot include "missing.inc": file does not exist`},
		{`include "bad.inc"`, `bad.inc:2:3: syntax error: unexpected ")": no section is open`},
		{`include "open.inc"` + "\n)", `open.inc:1:7: syntax error: missing ")" for the "(" of a at open.inc:1:3`},
		{`include "main.world"`, `1:9: include cycle: main.world -> main.world`},
		{`include "loop.inc"`, `pool.inc:1:9: include cycle: main.world -> loop.inc -> pool.inc -> loop.inc`},
		// units
		{`unit_length "inch"`, `1:13: unit_length wants one of cm, m, mm, not string "inch"`},
		{`unit_angle 5`, `1:12: unit_angle wants one of degrees, radians, not number 5`},
	} {
		_, err := parseText(test.text, map[string]string{
			"good.inc": "",
			"bad.inc":  "a()\n  )",
			"open.inc": "a (b 1",
			"loop.inc": `include "pool.inc"`,
			"pool.inc": `include "loop.inc"`,
		})
		complaint, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("%q: got %v, want %s", test.text, err, test.want)
			continue
		}
		got, _, _ := strings.Cut(complaint.Error(), "\n")
		if got = strings.TrimPrefix(got, "main.world:"); got != test.want {
			t.Errorf("%q:\ngot  %s\nwant %s", test.text, got, test.want)
		}
	}
}

// A file may come from an editor that marks UTF-8, or ends lines in another way. Text in another
// encoding has one mistake.
func TestTextOfOtherEditors(t *testing.T) {
	const text = "include \"a.inc\"\n# Räder\nm ( name \"x\" )\n"
	for _, ends := range []string{"\n", "\r\n", "\r"} {
		f, err := parseText("\ufeff"+strings.ReplaceAll(text, "\n", ends), map[string]string{"a.inc": "\ufeffdefine m t ()" + ends})
		if err != nil {
			t.Errorf("lines end in %q: %v", ends, err)
			continue
		}
		if m := f.Global.Children[0]; m.Type != "t" || m.Pos.String() != "main.world:3:1" || strings.HasPrefix(f.Texts()[0], "\ufeff") {
			t.Errorf("lines end in %q: %s at %v", ends, m.Type, m.Pos)
		}
	}
	utf16 := "\xff\xfen\x00a\x00m\x00e\x00 \x001\x00\n\x00"
	for _, tt := range []struct{ main, include, want string }{
		{utf16, "", "main.world: it is text in UTF-16: save it as UTF-8"},
		{"a 1\nb \x00\n", "", "main.world: it is no text: line 2 has a NUL byte"},
		{"include \"a.inc\"\n", utf16, `cannot include "a.inc": it is text in UTF-16: save it as UTF-8`},
	} {
		_, err := parseText(tt.main, map[string]string{"a.inc": tt.include})
		if err == nil || !strings.Contains(err.Error(), tt.want) || len(Mistakes(err)) != 1 {
			t.Errorf("%q: %v", tt.main, err)
		}
	}
}

func TestIncludes(t *testing.T) {
	files := map[string]string{
		"sub/a.inc":    "define m t(a 1)\ninclude \"sub/b.inc\"",
		"sub/b.inc":    `include "/abs/c.inc"`,
		"/abs/c.inc":   "define k m(c 1)",
		"../other.inc": "title \"x\"",
	}
	f := must.Get(parseText("include \"sub/a.inc\" # first\ninclude \"../other.inc\"\r"+
		"include \"sub/./a.inc\"\nk()", files))(t) // a file may be included twice
	if got, want := tree(f), `=[]{title:[string "x"] k=t[k m]{a:[number 1] c:[number 1] }}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestMainFileUnreadable(t *testing.T) {
	_, err := ParseFile("testdata/none.world", nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that the file does not exist", err)
	}
	_, err = parseText(`include "none.inc"`, nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that the file does not exist", err)
	}
}

func TestParseFileOnDisk(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.cfg":      `include "parts/one.inc"`,
		"parts/one.inc": `include "two.inc"`, // relative to main.cfg, not to one.inc
		"two.inc":       "found yes",
	} {
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	}
	f := must.Get(ParseFile(filepath.Join(dir, "main.cfg"), nil))(t)
	if !f.Global.Bool("found", false) {
		t.Error("the nested include was not read")
	}
}

func TestLibrary(t *testing.T) {
	library := fstest.MapFS{"pioneer.inc": {Data: []byte("found yes")}, "room.world": {}}
	main := filepath.Join(t.TempDir(), "main.world")
	for name, want := range map[string]string{
		"pioneer.inc": "",
		"pioner.inc":  `did you mean "pioneer.inc"?`,
		"x[.inc":      "no such file",
	} {
		must.Do(t, os.WriteFile(main, []byte("include \""+name+"\""), 0o644))
		f, err := ParseFile(main, library)
		if want == "" && (err != nil || !f.Global.Bool("found", false)) {
			t.Errorf("%s: %v", name, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// An include of a pipe or a device is an error and not a wait. The main file may
// be a pipe.
func TestIncludesAreRegularFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, main, linked := filepath.Join(dir, "pipe"), filepath.Join(dir, "main.cfg"), filepath.Join(dir, "link")
	must.Do(t, errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(linked, []byte("found yes"), 0o600), os.Symlink(linked, filepath.Join(dir, "found.inc"))))
	for include, want := range map[string]string{
		"pipe": `main.cfg:1:9: cannot include "` + pipe + `": not a regular file`, "/dev/zero": `"/dev/zero": not a regular file`, ".": "not a regular file",
		"found.inc": "",
	} {
		text := fmt.Sprintf("include %q", include)
		must.Do(t, os.WriteFile(main, []byte(text), 0o600))
		parsed := make(chan error, 1)
		go func() {
			_, err := ParseFile(main, nil)
			parsed <- err
		}()
		select {
		case err := <-parsed:
			if (err == nil) != (want == "") || err != nil && !strings.Contains(strings.ReplaceAll(err.Error(), filepath.Dir(pipe)+"/main", "main"), want) {
				t.Errorf("%s: %v, want %q", text, err, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: no result", text)
		}
	}
	go func() {
		_ = os.WriteFile(pipe, []byte("found yes"), 0) // ParseFile checks it
	}()
	if f, err := ParseFile(pipe, nil); err != nil || !f.Global.Bool("found", false) {
		t.Errorf("the main file is a pipe: %v", err)
	}
}

// doubling returns defines that each contain the previous one twice.
func doubling(levels int) string {
	var b strings.Builder
	b.WriteString("define d0 t(a 1)\n")
	for i := range levels {
		fmt.Fprintf(&b, "define d%d t(d%d() d%d())\n", i+1, i, i)
	}
	return b.String()
}

// upward returns defines in the opposite order: each uses names that are defined below.
func upward(defines string) string {
	lines := strings.SplitAfter(defines, "\n")
	slices.Reverse(lines)
	return strings.Join(lines, "")
}

// chain returns defines that each build on the previous one.
func chain(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "define c%d c%d()\n", i+1, i)
	}
	return b.String()
}

func fields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "f%d 1\n", i)
	}
	return b.String()
}

func nested(depth int) string {
	return strings.Repeat("a(", depth) + strings.Repeat(")", depth)
}

func TestLimits(t *testing.T) {
	acceptance.Alone(t)
	includes := func(n int) map[string]string {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprintf("%d.inc", i)] = fmt.Sprintf("include \"%d.inc\"", i+1)
		}
		files[fmt.Sprintf("%d.inc", n)] = ""
		return files
	}
	// Each of these files includes the next one 40 times.
	bush := map[string]string{"9.inc": "a 1"}
	for i := range 9 {
		bush[fmt.Sprintf("%d.inc", i)] = strings.Repeat(fmt.Sprintf("include \"%d.inc\"\n", i+1), 40)
	}
	wide := "define w t(" + nested(maxNesting-1) + ")\n"
	for _, test := range []struct {
		name, text string
		files      map[string]string
		want       string // "" if it is accepted
	}{
		{"nesting at the limit", nested(maxNesting), nil, ""},
		{"nesting above", nested(maxNesting + 1), nil, "nested more than"},
		{"nesting by a define", "define w t(" + nested(maxNesting-1) + ")\nw()", nil, ""},
		{"nesting above by a define", wide + "x( w() )", nil, "nested more than"},
		{"nesting far above by defines", wide + "define v t(w())", nil, "nested more than"},
		{"includes at the limit", `include "0.inc"`, includes(maxIncludes - 2), ""},
		{"includes above", `include "0.inc"`, includes(maxIncludes - 1), "includes nested more than"},
		{"fields at the limit", "s(" + fields(maxFields) + "f0 2)", nil, ""},
		{"fields above", "s(" + fields(maxFields+1) + ")", nil, "fields in one section"},
		{"text at the limit", strings.Repeat("#", maxSource), nil, ""},
		{"text above", strings.Repeat("#", maxSource+1), nil, "too much text"},
		{"text above by includes", strings.Repeat("include \"big.inc\"\n", 12),
			map[string]string{"big.inc": strings.Repeat("#", maxSource/11)}, "too much text"},
		{"includes that multiply", `include "0.inc"`, bush, "too much text"},
		{"defines that double, few", doubling(10) + "d10()", nil, ""},
		{"defines that double, many", doubling(50) + "d50()", nil, "too many fields and sections"},
		{"defines below that double, few", upward(doubling(10)) + "d10()", nil, ""},
		{"defines below that double, many", upward(doubling(50)) + "d50()", nil, "too many fields and sections"},
		{"defines below in a long row", upward(chain(30000)) + "c30000()", nil, "nested more than"},
		{"defines in a long row", chain(30000), nil, "too many fields and sections"},
		{"long text copied often", "define m t(a \"" + strings.Repeat("x", 50000) + "\")\n" + strings.Repeat("m()", 10000), nil,
			"too many fields and sections"},
		{"long tuple overridden often", "define m t(a [" + strings.Repeat("1 ", 50000) + "])\n" + strings.Repeat("m(a [2])", 10000), nil,
			"too many fields and sections"},
		{"long tuple overridden in place", "a [" + strings.Repeat("1 ", 50000) + "]\n" + strings.Repeat("a [2]", 10000), nil,
			"too many fields and sections"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := parseText(test.text, test.files)
			if test.want == "" && err != nil {
				t.Fatalf("refused: %.300v", err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Fatalf("got %.300v, want %q", err, test.want)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}

// A file cut anywhere is read, or refused at a place within it.
func TestCutEverywhere(t *testing.T) {
	main := must.Get(os.ReadFile("testdata/yard.world"))(t)
	sensors := must.Get(os.ReadFile("testdata/sensors.inc"))(t)
	refused := 0
	for n := range len(main) + 1 {
		text := string(main[:n])
		f, err := parseText(text, map[string]string{"sensors.inc": string(sensors)})
		if err == nil {
			if f == nil {
				t.Fatalf("cut at %d: neither file nor error", n)
			}
			continue
		}
		refused++
		complaint, ok := errors.AsType[*Error](err)
		if !ok {
			t.Fatalf("cut at %d: %v is no *Error", n, err)
		}
		lines := strings.Split(text, "\n")
		if p := complaint.Pos; p.Line > len(lines) || p.Column > len(lines[p.Line-1])+1 {
			t.Fatalf("cut at %d: %v is outside the file", n, p)
		}
	}
	if refused < len(main)/2 {
		t.Errorf("only %d of %d cuts were refused", refused, len(main))
	}
}
