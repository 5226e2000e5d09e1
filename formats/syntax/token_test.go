package syntax

import (
	"fmt"
	"slices"
	"testing"
)

// scanAll returns the tokens of the text as "line:column token".
func scanAll(text string) []string {
	var tokens []string
	for s := (scanner{file: "x", text: text, line: 1}); ; {
		t := s.next()
		if t.kind == kindEOF {
			return tokens
		}
		tokens = append(tokens, fmt.Sprintf("%d:%d %v", t.pos.Line, t.pos.Column, t))
		if t.kind == kindUnterminated {
			return append(tokens, "unterminated")
		}
	}
}

func TestTokens(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" \t", nil},
		{"pose [1 -2.5]", []string{`1:1 word "pose"`, `1:6 "["`, `1:7 number 1`, `1:9 number -2.5`, `1:13 "]"`}},
		{"point[0] spose[12][1", []string{`1:1 word "point[0]"`, `1:10 word "spose[12][1"`}},
		{"pose[ 1 ]", []string{`1:1 word "pose"`, `1:5 "["`, `1:7 number 1`, `1:9 "]"`}},
		{"a.b-c_d:e9(", []string{`1:1 word "a.b-c_d:e9"`, `1:11 "("`}},
		{`a"b"c`, []string{`1:1 word "a"`, `1:2 string "b"`, `1:5 word "c"`}},
		{`"" "#no (comment)"`, []string{`1:1 string ""`, `1:4 string "#no (comment)"`}},
		{"1# one\n2", []string{`1:1 number 1`, `1:2 comment`, `1:7 end of line`, `2:1 number 2`}},
		{"-1.5e", []string{`1:1 number -1.5`, `1:5 word "e"`}},
		{"1+2..3-", []string{`1:1 number 1+2..3-`}},
		{"yes trueish", []string{`1:1 word "yes"`, `1:5 word "trueish"`}},
		{"1, 2", []string{`1:1 number 1`, `1:2 ","`, `1:4 number 2`}},
		{"é_\xff", []string{`1:1 "é"`, `1:3 "_"`, `1:4 "\xff"`}},
		{`x "y`, []string{`1:1 word "x"`, `1:3 "\""`, "unterminated"}},
		{`'{"T":1}' "it's" '#'`, []string{`1:1 string "{\"T\":1}"`, `1:11 string "it's"`, `1:18 string "#"`}},
		{`x 'y"`, []string{`1:1 word "x"`, `1:3 "'"`, "unterminated"}},
		{"x \"y\r\"", []string{`1:1 word "x"`, `1:3 "\""`, "unterminated"}},
		{"\"", []string{`1:1 "\""`, "unterminated"}},
	} {
		if got := scanAll(test.text); !slices.Equal(got, test.want) {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
}

func TestNewlines(t *testing.T) {
	for _, newline := range []string{"\n", "\r", "\r\n", "\n\r"} {
		got := scanAll("a" + newline + newline + " b")
		want := []string{`1:1 word "a"`, "1:2 end of line", "2:1 end of line", `3:2 word "b"`}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", newline, got, want)
		}
	}
}

func TestBooleanKind(t *testing.T) {
	for text, want := range map[string]kind{
		"true": kindBool, "false": kindBool, "yes": kindBool, "no": kindBool,
		"True": kindWord, "on": kindWord, "nope": kindWord,
	} {
		s := scanner{text: text, line: 1}
		if got := s.next().kind; got != want {
			t.Errorf("%s: kind %d, want %d", text, got, want)
		}
	}
}
