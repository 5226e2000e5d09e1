package syntax

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestErrorText(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, test := range []struct{ name, text, want string }{
		{"comma", "a(\n  pose [1, 2]\n)", "main.world:2:10: syntax error: unexpected \",\"\n" +
			"    pose [1, 2]\n" +
			"           ^"},
		{"tabs before and inside", "\t\tpose\t[1,\t2]", "main.world:1:10: syntax error: unexpected \",\"\n" +
			"    pose\t[1,\t2]\n" +
			"        \t  ^"},
		{"letters of two bytes", `a "äö" ,`, "main.world:1:10: syntax error: unexpected \",\"\n" +
			"    a \"äö\" ,\n" +
			"           ^"},
		{"end of line", "a 1\rb\n1", `main.world:3:1: syntax error: unexpected number 1: b needs a value on its line, or "( )"` +
			"\n    1\n    ^"},
		{"blank line", "a (\n  \n", `main.world:3:1: syntax error: missing ")" for the "(" of a at main.world:1:3`},
		{"unprintable", "a \"\x1b[2J\x07\" ,", "main.world:1:11: syntax error: unexpected \",\"\n" +
			"    a \"?[2J?\" ,\n" +
			"              ^"},
		{"long line", long + " , " + long, "main.world:1:302: syntax error: unexpected \",\": " + long[:40] + " needs a value on its line, or \"( )\"\n" +
			"    " + long[:excerptReach-1] + " , " + long[:excerptReach-2] + "\n" +
			"    " + strings.Repeat(" ", excerptReach) + "^"},
	} {
		_, err := parseText(test.text, nil)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: got\n%v\nwant\n%s", test.name, err, test.want)
		}
	}
}

func TestErrorf(t *testing.T) {
	f := mustParse(t, "driver(\n  name \"p2so\"\n)")
	driver := f.Global.Sections("driver")[0]
	for _, test := range []struct {
		err  error
		want string
	}{
		{f.Errorf(driver.Pos, "unknown driver %q: %w", "p2so", fs.ErrNotExist),
			"main.world:1:1: unknown driver \"p2so\": file does not exist\n    driver(\n    ^"},
		{f.Errorf(Pos{}, "no place: %w", fs.ErrNotExist), ":0:0: no place: file does not exist"},
		{f.Errorf(Pos{File: "main.world", Line: 9, Column: 9}, "no place: %w", fs.ErrNotExist),
			"main.world:9:9: no place: file does not exist"},
		{f.Errorf(Pos{"main.world", 9, 9, 999}, "no place: %w", fs.ErrNotExist),
			"main.world:9:9: no place: file does not exist"},
		{driver.Errorf("name", "unknown driver: %w", fs.ErrNotExist),
			"main.world:2:8: unknown driver: file does not exist\n    name \"p2so\"\n         ^"},
		{driver.Errorf("port", "needs a port: %w", fs.ErrNotExist),
			"main.world:1:1: needs a port: file does not exist\n    driver(\n    ^"},
	} {
		if test.err.Error() != test.want {
			t.Errorf("got\n%v\nwant\n%s", test.err, test.want)
		}
		if !errors.Is(test.err, fs.ErrNotExist) {
			t.Errorf("%v does not wrap its cause", test.err)
		}
	}
	if err := f.Err(); err != nil {
		t.Errorf("Errorf kept %v", err)
	}
}

func TestNearest(t *testing.T) {
	valid := []string{"port", "pose", "provides", "requires", "alwayson", "x", "size"}
	for name, want := range map[string]string{
		"port":       "port",
		"prot":       "port",
		"por":        "port",
		"ports":      "port",
		"Pose":       "pose",
		"povides":    "provides",
		"provdise":   "provides",
		"require":    "requires",
		"always_on":  "alwayson",
		"sise":       "size",
		"y":          "", // one letter is not enough
		"X":          "x",
		"":           "",
		"resolution": "",
		"prose":      "pose",
		"gui":        "",
	} {
		if got := Nearest(name, valid); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got := Nearest("pors", valid); got != "port" {
		t.Errorf("of two equally near: got %q, want the first, port", got)
	}
	if got := Nearest("port", nil); got != "" {
		t.Errorf("got %q from no names", got)
	}
}

// checkComplaint returns the mistake in an error message, or "".
func checkComplaint(err error) string {
	text := err.Error()
	complaint, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return "not an *Error"
	case complaint.Line < 1 || complaint.Column < 1:
		return "no place"
	case len(text) > 2000:
		return "too long"
	case !utf8.ValidString(text):
		return "not UTF-8"
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }):
		return "control characters"
	}
	return ""
}
