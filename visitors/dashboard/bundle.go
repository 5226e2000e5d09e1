package dashboard

import (
	"fmt"
	"path"
	"strings"
	"unicode"
)

// The text is the page's own source, in the forms that it has. Package regexp would make the
// program larger by 250 KB.

// inFolder returns the text of index.html with the folder before the names of the files that
// it loads itself.
func inFolder(text, folder string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(text, `="`)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		b.WriteString(`="`)
		name, _, _ := strings.Cut(after, `"`)
		if (strings.HasSuffix(before, "href") || strings.HasSuffix(before, "src")) && isLoaded(name) {
			b.WriteString(folder + "/")
		}
		text = after
	}
}

// isLoaded reports whether a reference is the name of a style, a script or a picture beside the page.
func isLoaded(name string) bool {
	switch path.Ext(name) {
	case ".css", ".js", ".svg":
		return !strings.ContainsAny(name, "/:?#")
	}
	return false
}

// module is the import of a module of the page, which has a line of its own.
type module struct {
	names string // as "{ a, b as c }", or one name that has all
	name  string // without .js
}

// imported reads a line: import NAMES from "./NAME.js";
func imported(line string) (m module, ok bool) {
	rest, imports := strings.CutPrefix(line, "import ")
	names, file, from := strings.Cut(rest, ` from "./`)
	name, ends := strings.CutSuffix(file, `.js";`)
	return module{strings.TrimPrefix(names, "* as "), name}, imports && from && ends
}

// exported reads a line that begins with export, and returns it without that word, and the name.
func exported(line string) (rest, name string, ok bool) {
	rest, ok = strings.CutPrefix(line, "export ")
	for _, kind := range []string{"class ", "const ", "function ", "async function "} {
		if name, is := strings.CutPrefix(rest, kind); ok && is {
			end := strings.IndexFunc(name, func(r rune) bool { return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			return rest, name[:max(end, 0)], end > 0
		}
	}
	return line, "", false
}

// without returns a text without the parts from begin to end, and its lines without indentation. Lines
// that are empty then are left out.
func without(begin, end, text string) string {
	var left, b strings.Builder
	for more := true; more; {
		var before string
		before, text, more = strings.Cut(text, begin)
		left.WriteString(before)
		if more {
			_, text, _ = strings.Cut(text, end)
		}
	}
	for line := range strings.Lines(left.String()) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// withoutRemarks returns a script without types, which are in comments, and without what people
// read: that is a tenth of what a page would load. A comment behind code ends its line, and has no
// quotation mark: what looks like one and has it may be in a string.
func withoutRemarks(text string) string {
	var b strings.Builder
	for line := range strings.Lines(without("/**", "*/", text)) {
		code, remark, found := strings.Cut(" "+line, " //")
		if !found || code != "" && strings.ContainsAny(remark, "\"`") {
			code = line
		}
		if code = strings.TrimSpace(code); code != "" {
			b.WriteString(code + "\n")
		}
	}
	return b.String()
}

// bundle returns one module with main and all that it imports, without comments: each in a
// function that returns what it exports, after those that it imports. Modules may not import
// each other in a circle.
func bundle(texts map[string][]byte, main string) ([]byte, error) {
	var b strings.Builder
	begun, ended := map[string]bool{}, map[string]bool{}
	var add func(file string) error
	add = func(file string) error {
		text, ok := texts[file]
		switch {
		case ended[file]:
			return nil
		case begun[file]:
			return fmt.Errorf("%s imports itself, through others", file)
		case !ok:
			return fmt.Errorf("there is no module %s", file)
		}
		begun[file] = true
		var names []string
		var body strings.Builder
		for line := range strings.Lines(string(text)) {
			if m, ok := imported(strings.TrimSuffix(line, "\n")); ok {
				if err := add(m.name + ".js"); err != nil {
					return err
				}
				line = fmt.Sprintf("const %s = from_%s;\n", strings.ReplaceAll(m.names, " as ", ": "), m.name)
			} else if rest, name, ok := exported(line); ok {
				names = append(names, name)
				line = rest
			}
			body.WriteString(line)
		}
		fmt.Fprintf(&b, "const from_%s = (() => {\n%sreturn { %s };\n})();\n", strings.TrimSuffix(file, ".js"), withoutRemarks(body.String()), strings.Join(names, ", "))
		ended[file] = true
		return nil
	}
	err := add(main)
	return []byte(b.String()), err
}
