package peertext_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"player/codec/peertext"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       "",
		"Röbot 2, \"x\" \\":      "Röbot 2, \"x\" \\",
		"a\x1b[2J\rb":            `a\x1b[2J\x0db`,
		"a\nb\tc":                `a\x0ab\x09c`,
		"a\u202etxt.exe":         `a\u202etxt.exe`,
		"a\u009b31m\u2028":       `a\u009b31m\u2028`,
		"a\xffb\ufffd":           `a\xffb` + "\ufffd",
		"\U000e0001":             `\U000e0001`,
		strings.Repeat("ü", 2e3): strings.Repeat("ü", 1024) + "...",
	} {
		if got := peertext.Line(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got, want := peertext.Lines("a\x07\n\tb\x07"), "a\\x07\n\tb\\x07"; got != want {
		t.Errorf("lines: %q, want %q", got, want)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	const text = "{\"a\u009b\": \r\n [\"\u202e\U000e0001ü\\u001b\"]}"
	got, err := peertext.JSON([]byte(text))
	if want := "{\"a\\u009b\":  \n [\"" + `\u202e\udb40\udc01ü\u001b"]}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	var before, after map[string][]string
	if json.Unmarshal([]byte(text), &before) != nil || json.Unmarshal(got, &after) != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("%v has become %v", before, after)
	}
	if got, err := peertext.JSON([]byte("\x1b[2J{}")); err == nil {
		t.Errorf("text that is no JSON: %s", got)
	}
}

func TestFileName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"front":            "front",
		"Röbot 2":          "Röbot_2",
		"../evil\x1b[2J":   "_.._evil__2J",
		"..":               "_",
		"":                 "_",
		".profile":         "_.profile",
		"-rf":              "_-rf",
		"a/b\\c:d":         "a_b_c_d",
		"nul.txt":          "_nul.txt",
		"COM1":             "_COM1",
		"end..":            "end",
		"\xff\u202e\ufffd": "___",
	} {
		if got := peertext.FileName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := peertext.FileName(strings.Repeat("ü", 99)); len(got) != 100 {
		t.Errorf("a long name has %d bytes", len(got))
	}
	if got := peertext.File("runs", "../a", ".csv"); got != filepath.Join("runs", "_.._a.csv") {
		t.Errorf("a path: %s", got)
	}
}

func FuzzNames(f *testing.F) {
	f.Add("../evil\x1b[2J")
	f.Add(strings.Repeat("ü", 300))
	f.Fuzz(func(t *testing.T, text string) {
		line := peertext.Line(text)
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("the line of %q: %q", text, line)
		}
		name := peertext.FileName(text)
		if name == "" || len(name) > 100 || !utf8.ValidString(name) || filepath.Base(name) != name || strings.ContainsAny(name[:1], ".-") {
			t.Errorf("the file of %q: %q", text, name)
		}
	})
}
