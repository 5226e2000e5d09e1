package lines

import (
	"math"
	"strings"
	"testing"

	"player/e2e/must"
)

func mustRead(t testing.TB, text string) pattern {
	t.Helper()
	return must.Get(newPattern(text))(t)
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, line string
		want          map[int]float64 // nil: no match
	}{
		{"O {left} {right}", "O 12 -34", map[int]float64{fieldLeft: 12, fieldRight: -34}},
		{"x={x*1000},y={y*1000}", "x=1.5,y=-2e-1", map[int]float64{fieldX: 1500, fieldY: -200}},
		{"B {battery/1000}", "B 11640", map[int]float64{fieldBattery: 11.64}},
		{"S {sonar0} {sonar15}", "S 1 2", map[int]float64{fieldSonar: 1, fieldSonar + 15: 2}},
		{"$ODO,{_},{heading};", "$ODO,abc-7,90;", map[int]float64{fieldHeading: 90}},
		{"{x} mm", "7 mm", map[int]float64{fieldX: 7}},
		{`{{"T":1001,{...}"odl":{left*1000},{...}"v":{battery}{...}}`, `{"T":1001,"L":0,"y":"a, b","odl":-0.5,"odr":1,"v":11.9,"pan":0}`,
			map[int]float64{fieldLeft: -500, fieldBattery: 11.9}},
		{`{{"T":1,{...}"v":{battery}{...}}`, `{"T":1,"v":11.9}`, map[int]float64{fieldBattery: 11.9}},
		{`{{"T":1,{...}"v":{battery}}`, `{"T":1,"w":11.9}`, nil},
		{"{x} {...}", "1 ", map[int]float64{fieldX: 1}},
		{"ready", "ready", map[int]float64{}},
		{"O {left} {right}", "O 12", nil},
		{"O {left} {right}", "O 12 34 56", nil},
		{"O {left} {right}", "P 12 34", nil},
		{"O {left} {right}", "O 1-2 3", nil},
		{"x {x}", "", nil},
		{"x {x}", "x ", nil},
		{"x {x}", "x -", nil},
		{"x {x}", "x .", nil},
		{"x {x}", "x e5", nil},
		// As printf pads: "%5d", "%-5d", "%05d", "%+d", "% d".
		{"O {left} {right}", "O    12   -34", map[int]float64{fieldLeft: 12, fieldRight: -34}},
		{"O {left} {right}", "O 12    -34   ", map[int]float64{fieldLeft: 12, fieldRight: -34}},
		{"O {left} {right}", "  O 00012 -0034", map[int]float64{fieldLeft: 12, fieldRight: -34}},
		{"O {left} {right}", "O +12   +3.", map[int]float64{fieldLeft: 12, fieldRight: 3}},
		{"x={x},y={y}", "x= 1   ,y=-2", map[int]float64{fieldX: 1, fieldY: -2}},
		{"{x} mm {y} mm", "  7   mm  8 mm ", map[int]float64{fieldX: 7, fieldY: 8}},
		{"{x}mm", "7   mm", map[int]float64{fieldX: 7}},
		{"{_} {x}", "ab    7", map[int]float64{fieldX: 7}},
		{"{_} {x}", "    7", nil},
		{"O{left} {right}", "O12,34", nil},
		// Exponents, and letters behind a number.
		{"{x}", "1.25E+3", map[int]float64{fieldX: 1250}},
		{"{x}", "-.5e1", map[int]float64{fieldX: -5}},
		{"{x}end", "12end", map[int]float64{fieldX: 12}},
		{"{x}e{y}", "12e3", nil},
	} {
		var v values
		p := mustRead(t, tt.pattern)
		ok := p.match([]byte(tt.line), &v)
		if ok != (tt.want != nil) {
			t.Errorf("%q matches %q: %v", tt.line, tt.pattern, ok)
			continue
		}
		for field := range v.has {
			want, has := tt.want[field]
			if ok && (has != v.has[field] || has && math.Abs(v.number[field]-want) > 1e-9) {
				t.Errorf("%q by %q: field %d is %v (%v), want %v", tt.line, tt.pattern, field, v.number[field], v.has[field], want)
			}
		}
	}
}

// A field without a number, or with an impossible one, is unknown; the others of its line are
// not.
func TestUnknown(t *testing.T) {
	for _, tt := range []struct {
		pattern, line string
		want          map[int]float64
		unknown       bool
	}{
		{"O {x} {heading}", "O nan 12", map[int]float64{fieldHeading: 12}, true},
		{"O {x} {heading}", "O -NAN 12", map[int]float64{fieldHeading: 12}, true},
		{"O {x} {heading}", "O inf -inf", nil, true},
		{"O {x} {heading}", "O INFINITY 3", map[int]float64{fieldHeading: 3}, true},
		{"O {x} {heading}", "O ovf -ovf", nil, true},
		{`{{"x":{x},"h":{heading}}`, `{"x":null,"h":5}`, map[int]float64{fieldHeading: 5}, true},
		{"O {x} {heading}", "O 1e300 12", map[int]float64{fieldHeading: 12}, true},
		{"O {x} {heading}", "O 1e999 12", map[int]float64{fieldHeading: 12}, true},
		{"O {x*1000} {heading}", "O 2147484 12", map[int]float64{fieldHeading: 12}, true},
		{"O {x} {heading}", "O 2147483647 -720", map[int]float64{fieldX: math.MaxInt32, fieldHeading: -720}, false},
		{"O {x} {heading}", "O -2147483649 1e7", nil, true},
		{"{speed} {turn}", "32768 -32769", nil, true},
		{"{left} {right}", "-4294967296 1e13", map[int]float64{fieldLeft: -4294967296}, true},
		{"{front} {rear}", "31 32", map[int]float64{fieldFront: 31}, true},
		{"{front} {rear}", "-1 0", map[int]float64{fieldRear: 0}, true},
		{"{battery}", "48", map[int]float64{fieldBattery: 48}, false},
		{"{battery}", "11640", nil, true},
		{"{sonar0} {sonar1} {stall}", "inf 99999 7000", map[int]float64{fieldSonar: math.Inf(1), fieldSonar + 1: 99999, fieldStall: 7000}, false},
		{"{sonar0} {sonar1}", "nan -inf", nil, true},
	} {
		var v values
		if !mustRead(t, tt.pattern).match([]byte(tt.line), &v) || v.unknown != tt.unknown {
			t.Errorf("%q by %q: unknown %v, want a match, unknown %v", tt.line, tt.pattern, v.unknown, tt.unknown)
		}
		for field, has := range v.has {
			if want, wanted := tt.want[field]; wanted != has || has && v.number[field] != want {
				t.Errorf("%q by %q: field %d is %v (%v), want %v (%v)", tt.line, tt.pattern, field, v.number[field], has, want, wanted)
			}
		}
	}
}

func TestTemplate(t *testing.T) {
	a := [args]float64{argSpeed: 250, argTurn: -12.345, argLeft: -0.4, argRight: 333.5}
	for text, want := range map[string]string{
		"V {speed} {turn}":          "V 250 -12\n",
		"V {speed/1000:2},{turn:1}": "V 0.25,-12.3\n",
		"M {left} {right}":          "M 0 334\n",
		"{right*0.1:3}":             "33.350\n",
		"go":                        "go\n",
		`{{"T":13,"X":{speed/1000:2},"Z":{turn*0.0174533:3}}`: `{"T":13,"X":0.25,"Z":-0.215}` + "\n",
		"v 0 {left}{eol}v 1 {right*-1}":                       "v 0 0\nv 1 -334\n",
	} {
		line := must.Get(newTemplate(text, "\n", writable()))(t)
		if got := string(line.append(nil, &a)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	for want, o := range map[string]Options{
		`read "O {left": a { has no }`:                                             {Read: []string{"O {left"}},
		`there is no field "lft"; fields are ..., _, ax, ay, az, battery, compass`: {Read: []string{"O {lft}"}},
		`{x*}: "" is no factor`:                                                    {Read: []string{"{x*}"}},
		`{x/0}: "0" is no factor`:                                                  {Read: []string{"{x/0}"}},
		"nothing stands between two fields":                                        {Read: []string{"{x}{y}"}},
		`"{...}{x}": nothing stands between two fields`:                            {Read: []string{"{...}{x}"}},
		`eol "\\n": want lf, cr or crlf`:                                           {Read: []string{"{x}"}, EOL: `\n`},
		"poll: want pairs":                                                         {Poll: []string{"e"}},
		`poll "{left": a { has no }`:                                               {Poll: []string{"e", "{left"}},
		`hello "{": a { has no }`:                                                  {Read: []string{"{x}"}, Hello: []string{"{"}},
		"it is empty":                                                              {Read: []string{""}},
		"{left} and {right} go together":                                           {Read: []string{"{left}"}},
		"the position is either {left} and {right}, or":                            {Read: []string{"{left} {right}", "{x}"}},
		"no pattern has a field":                                                   {Read: []string{"ready"}},
		`drive "V {x}": {x}: there is no field "x"; fields are eol, left, rig`:     {Read: []string{"{x}"}, Drive: "V {x}"},
		`stop "S {": a { has no }`:                                                 {Read: []string{"{x}"}, Stop: "S {"},
		"the number of decimals is 0 to 6":                                         {Read: []string{"{x}"}, Drive: "{speed:9}"},
		"motors: want two lines":                                                   {Read: []string{"{x}"}, Motors: []string{"E 1"}},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// FuzzMatch never panics, whatever the pattern and the line, and takes no number that
// the line has not.
func FuzzMatch(f *testing.F) {
	f.Add("O {left*0.45} {right}", "O 12 -34")
	f.Add("{_},{x}", "a,1e3")
	f.Add("{sonar0} {stall/2}", "inf  7")
	f.Fuzz(func(t *testing.T, text, line string) {
		p, err := newPattern(text)
		if err != nil {
			return
		}
		var v values
		if !p.match([]byte(line), &v) {
			return
		}
		for i, has := range v.has {
			if n := v.number[i]; has && (math.IsNaN(n) || !math.IsInf(n, 0) && !strings.ContainsAny(line, "0123456789")) {
				t.Fatalf("%q by %q: field %d is %v", line, text, i, n)
			}
		}
	})
}

func TestMatchAllocatesNothing(t *testing.T) {
	p := mustRead(t, "O {left*0.45} {right*0.45}")
	line, v := []byte("O 123456 -123.456"), values{}
	if n := testing.AllocsPerRun(1000, func() { p.match(line, &v) }); n != 0 {
		t.Errorf("%v allocations a line", n)
	}
}
