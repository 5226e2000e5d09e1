package syntax

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// All mistakes of a file are found at once, each once, and nothing else.
func TestAllMistakes(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a line each", "a b\nc 1\nd e\n", "1:3 3:3"},
		{"in a section", "s (\n  port /dev/ttyS0\n  name wheels\n  rate 10\n)\nd e\n", "2:8 3:8 6:3"},
		{"a section in a line", "s ( port x rate 10 )\nd e\n", "1:10 2:3"},
		{"two in a line", "s ( port x rate y ) t ( a b )\n", "1:10 1:27"},
		{"no value", "s (\n  port\n  rate 10\n)\n", "3:3"},
		{"a value on the next line", "s (\n  port\n  10\n)\n", "3:3"},
		{"a string without end", "s (\n  port \"x\n  name y\n)\nd e\n", "2:8 3:8 5:3"},
		{"a wrong tuple", "s (\n  read [ \"a\" b\n    \"c\" ]\n  name y\n)\n", "2:14 4:8"},
		{"a section that is none", "s x (\n  a 1\n  b 2\n)\nd e\n", "1:3 5:3"},
		{"a ) too many", "s ( a 1 ) )\nd e\n", "1:11 2:3"},
		{"a stranger", "s ( a 1\n  ; b 2\n c d )\n", "2:3 3:4"},
		{"define", "define a\ndefine b c ( x y )\nb ( z w )\n", "1:9 2:16 3:7"},
		{"an include", "include nothing\nd e\n", "1:9 2:3"},
		{"a section without end", "d e\ns ( a 1\n t ( b 2\n", "1:3 4:1"},
	} {
		f, err := parseText(tt.text, nil)
		var got []string
		for _, mistake := range Mistakes(err) {
			e, ok := mistake.(*Error)
			if !ok {
				t.Errorf("%s: %v has no place", tt.name, mistake)
				continue
			}
			got = append(got, fmt.Sprintf("%d:%d", e.Line, e.Column))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: mistakes at %v, want %s\n%v", tt.name, got, tt.want, err)
		}
		if f == nil || f.Err() == nil {
			t.Errorf("%s: no file, or one without mistakes", tt.name)
		}
	}
}

// Statements without mistakes are read.
func TestRestOfAFile(t *testing.T) {
	f, err := parseText("a b\ns (\n  port x\n  rate 10\n)\nt ( n 3 )\n", nil)
	if err == nil {
		t.Fatal("no mistake")
	}
	sections := f.Global.Sections()
	if len(sections) != 2 || !sections[0].Broken || sections[0].Int("rate", 0) != 10 || sections[1].Broken || sections[1].Int("n", 0) != 3 {
		t.Errorf("%d sections", len(sections))
	}
}

// A file for another program does not fill the screen.
func TestManyMistakes(t *testing.T) {
	f, err := parseText(strings.Repeat("a b\n", 1000), nil)
	if n := len(Mistakes(err)); n != maxErrors {
		t.Errorf("%d mistakes", n)
	}
	var more []error
	for range 5 {
		more = append(more, errors.New("more"))
	}
	joined := Mistakes(f.Join(err, errors.Join(more...)))
	if len(joined) != maxErrors+1 || joined[maxErrors].Error() != "and 5 more mistakes" {
		t.Errorf("%d mistakes, the last is %v", len(joined), joined[len(joined)-1])
	}
	if f.Join(nil, nil) != nil || Mistakes(nil) != nil {
		t.Error("a mistake out of nothing")
	}
}
