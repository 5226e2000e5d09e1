package codec

import (
	"slices"
	"strings"
	"testing"
)

func TestAnswer(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	for _, tt := range []struct {
		name        string
		lines, want []string
	}{
		{"nothing", nil, nil},
		{"lines", []string{"l missing no laser", "stopped"}, []string{"l missing no laser", "stopped"}},
		{"not printable", []string{"a\nb\tc", "Zoë\x00"}, []string{"a b c", "Zo???"}},
		{"long", []string{long, "next"}, []string{long[:maxLine], "next"}},
		{"too many", slices.Repeat([]string{long}, 100), slices.Repeat([]string{long[:maxLine]}, 8)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := AppendAnswer([]byte("ab"), QuestionRefusals, tt.lines)
			letter, payload, rest, ok := Block(b[2:])
			if !ok || letter != KindAnswer || len(rest) > 0 || len(payload) > MaxAnswer || string(b[:2]) != "ab" {
				t.Fatalf("%q", b)
			}
			if question, lines := Answer(payload); question != QuestionRefusals || !slices.Equal(lines, tt.want) {
				t.Errorf("%q to %q", lines, question)
			}
		})
	}
}

func TestReason(t *testing.T) {
	for line, want := range map[string]Reason{
		"l missing the robot has no laser": {'l', WhyMissing, "the robot has no laser"},
		"p hardware ":                      {'p', WhyHardware, ""},
	} {
		got, ok := ParseReason(line, Letters)
		if !ok || got != want || got.Line(string(got.Device)) != line {
			t.Errorf("%q: %+v, %v, written %q", line, got, ok, got.Line(string(got.Device)))
		}
	}
	for _, line := range []string{"", "l", "l missing", "l  missing", "stopped it is", " missing x"} {
		if got, ok := ParseReason(line, Letters); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("el missing none\n\np right"))
	f.Fuzz(func(t *testing.T, b []byte) {
		question, lines := Answer(b)
		_, payload, _, ok := Block(AppendAnswer(nil, question, lines))
		if !ok || len(payload) > MaxAnswer {
			t.Fatalf("%q", payload)
		}
		for _, line := range lines {
			if r, ok := ParseReason(line, Letters); ok && r.Line(string(r.Device)) != line {
				t.Errorf("%q is written %q", line, r.Line(string(r.Device)))
			}
		}
	})
}
