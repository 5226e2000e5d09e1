package syntax

import (
	"math"
	"slices"
	"strings"
	"testing"

	"player/e2e/must"
)

const values = `
unit_length "cm"
text "hello" empty "" number 5 real -2.5 big 99999999999999999999 mess 1-2 on yes off false one 1 zero 0
tuple [1 2 3] words ["a" "b"] mixed ["a" 1] none [] colour "red" hex "#00ffA0" badhex "#12345" sign "#+12345" single [5]
file "maps/a.png" absolute "/etc/x" pose [100 -50 0 180]
`

func TestGetters(t *testing.T) {
	const lines = "main.world:"
	for _, test := range []struct {
		name  string
		read  func(s *Section) any
		want  any
		wrong string // start of the error, after the file name
	}{
		{"String", func(s *Section) any { return s.String("text", "d") }, "hello", ""},
		{"String absent", func(s *Section) any { return s.String("absent", "d") }, "d", ""},
		{"String empty", func(s *Section) any { return s.String("empty", "d") }, "", ""},
		{"String of number", func(s *Section) any { return s.String("number", "d") }, "d", `3:30: number wants a "string", not number 5`},
		{"String of tuple", func(s *Section) any { return s.String("words", "d") }, "d", `4:15: words wants a "string", not a tuple`},
		{"Bool yes", func(s *Section) any { return s.Bool("on", false) }, true, ""},
		{"Bool false", func(s *Section) any { return s.Bool("off", true) }, false, ""},
		{"Bool 1", func(s *Section) any { return s.Bool("one", false) }, true, ""},
		{"Bool 0", func(s *Section) any { return s.Bool("zero", true) }, false, ""},
		{"Bool absent", func(s *Section) any { return s.Bool("absent", true) }, true, ""},
		{"Bool of 5", func(s *Section) any { return s.Bool("number", true) }, true, `3:30: number wants true or false, not number 5`},
		{"Bool of string", func(s *Section) any { return s.Bool("text", true) }, true, `3:6: text wants true or false, not string "hello"`},
		{"Int", func(s *Section) any { return s.Int("number", 7) }, 5, ""},
		{"Int absent", func(s *Section) any { return s.Int("absent", 7) }, 7, ""},
		{"Int of a tuple of one", func(s *Section) any { return s.Int("single", 7) }, 5, ""},
		{"Int of an empty tuple", func(s *Section) any { return s.Int("none", 7) }, 7, `4:45: none wants a whole number, not a tuple`},
		{"Int of real", func(s *Section) any { return s.Int("real", 7) }, 7, `3:37: real wants a whole number, not number -2.5`},
		{"Int too big", func(s *Section) any { return s.Int("big", 7) }, 7, `3:46: big wants a whole number, not number 99999999999999999999`},
		{"Int of bool", func(s *Section) any { return s.Int("on", 7) }, 7, `3:79: on wants a whole number, not word "yes"`},
		{"Float", func(s *Section) any { return s.Float("real", 7) }, -2.5, ""},
		{"Float absent", func(s *Section) any { return s.Float("absent", 7) }, 7.0, ""},
		{"Float of mess", func(s *Section) any { return s.Float("mess", 7) }, 7.0, `3:72: mess wants a number, not number 1-2`},
		{"Float of string", func(s *Section) any { return s.Float("text", 7) }, 7.0, `3:6: text wants a number, not string "hello"`},
		{"Length", func(s *Section) any { return s.Length("number", 7) }, 0.05, ""},
		{"Length absent", func(s *Section) any { return s.Length("absent", 7) }, 7.0, ""},
		{"Angle", func(s *Section) any { return s.Angle("number", 7) }, 5 * math.Pi / 180, ""},
		{"Floats", func(s *Section) any { return s.Floats("tuple") }, []float64{1, 2, 3}, ""},
		{"Floats with default", func(s *Section) any { return s.Floats("tuple", 9, 9, 9, 9) }, []float64{1, 2, 3, 9}, ""},
		{"Floats absent", func(s *Section) any { return s.Floats("absent", 9, 8) }, []float64{9, 8}, ""},
		{"Floats absent, no default", func(s *Section) any { return s.Floats("absent") }, []float64{}, ""},
		{"Floats of none", func(s *Section) any { return s.Floats("none", 9) }, []float64{9}, ""},
		{"Floats of number", func(s *Section) any { return s.Floats("number", 9, 9) }, []float64{5, 9}, ""},
		{"Floats too many", func(s *Section) any { return s.Floats("tuple", 9, 9) }, []float64{9, 9}, `4:12: tuple wants at most 2 numbers, not 3`},
		{"Floats of strings", func(s *Section) any { return s.Floats("mixed", 9, 9) }, []float64{9, 9}, `4:38: mixed wants numbers, not string "a"`},
		{"Lengths", func(s *Section) any { return s.Lengths("tuple") }, []float64{0.01, 0.02, 0.03}, ""},
		{"Tuple", func(s *Section) any { return s.Tuple("pose", "llla", 0, 0, 0, 0) }, []float64{1, -0.5, 0, math.Pi}, ""},
		{"Tuple, last letter repeated", func(s *Section) any { return s.Tuple("pose", "nl") }, []float64{100, -0.5, 0, 1.8}, ""},
		{"Strings", func(s *Section) any { return s.Strings("words") }, []string{"a", "b"}, ""},
		{"Strings of one", func(s *Section) any { return s.Strings("text") }, []string{"hello"}, ""},
		{"Strings absent", func(s *Section) any { return s.Strings("absent", "d") }, []string{"d"}, ""},
		{"Strings of none", func(s *Section) any { return s.Strings("none", "d") }, []string{}, ""},
		{"Strings of mixed", func(s *Section) any { return s.Strings("mixed", "d") }, []string{"d"}, `4:42: mixed wants "strings", not number 1`},
		{"Color name", func(s *Section) any { return s.Color("colour", "d") }, "red", ""},
		{"Color hex", func(s *Section) any { return s.Color("hex", "d") }, "#00ffA0", ""},
		{"Color bad", func(s *Section) any { return s.Color("badhex", "d") }, "d", `4:87: badhex wants "#rrggbb" or a "colour name", not string "#12345"`},
		{"Color with sign", func(s *Section) any { return s.Color("sign", "d") }, "d", `4:101: sign wants "#rrggbb"`},
		{"Color of number", func(s *Section) any { return s.Color("number", "d") }, "d", `3:30: number wants "#rrggbb"`},
		{"Path", func(s *Section) any { return s.Path("file", "d") }, "rooms/maps/a.png", ""},
		{"Path absolute", func(s *Section) any { return s.Path("absolute", "d") }, "/etc/x", ""},
		{"Path absent", func(s *Section) any { return s.Path("absent", "d") }, "d", ""},
		{"Path empty", func(s *Section) any { return s.Path("empty", "d") }, "", ""},
		{"Path of number", func(s *Section) any { return s.Path("number", "d") }, "d", `3:30: number wants a "file name"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := must.Get(Parse("rooms/main.world", func(string) ([]byte, error) { return []byte(values), nil }))(t)
			equal := false
			switch got := test.read(f.Global).(type) {
			case []float64:
				equal = slices.Equal(got, test.want.([]float64))
			case []string:
				equal = slices.Equal(got, test.want.([]string))
			default:
				equal = got == test.want
			}
			if !equal {
				t.Errorf("got %v, want %v", test.read(f.Global), test.want)
			}
			switch err := f.Err(); {
			case test.wrong == "" && err != nil:
				t.Errorf("unexpected error: %v", err)
			case test.wrong != "" && (err == nil || !strings.HasPrefix(err.Error(), "rooms/"+lines+test.wrong)):
				t.Errorf("got error %v, want %s", err, test.wrong)
			}
		})
	}
}

func TestDefaultsAreNotShared(t *testing.T) {
	f := mustParse(t, "a [5]")
	def := []float64{1, 2}
	if got := f.Global.Floats("a", def...); !slices.Equal(got, []float64{5, 2}) || def[0] != 1 {
		t.Errorf("got %v, default now %v", got, def)
	}
}

func TestUnits(t *testing.T) {
	for _, test := range []struct {
		text          string
		length, angle float64
	}{
		{`x 90`, 90, math.Pi / 2},
		{`unit_length "m" unit_angle "degrees" x 90`, 90, math.Pi / 2},
		{`x 90 unit_length "cm"`, 0.9, math.Pi / 2}, // applies to the text before it too
		{`unit_length "mm" x 90`, 0.09, math.Pi / 2},
		{`unit_angle "radians" x 90`, 90, 90},
	} {
		s := mustParse(t, test.text).Global
		if l, a := s.Length("x", 0), s.Angle("x", 0); l != test.length || a != test.angle {
			t.Errorf("%s: got %v m, %v rad, want %v m, %v rad", test.text, l, a, test.length, test.angle)
		}
		if n := len(s.File().Unused()); n != 0 {
			t.Errorf("%s: %d fields left unused, want none", test.text, n)
		}
	}
}

func TestErrorsAreCollected(t *testing.T) {
	f := mustParse(t, "define m t(a 1)\nm()m()\nb 2 c 3")
	for _, s := range f.Global.Sections("t") {
		s.String("a", "") // the same place a second time
	}
	f.Global.Bool("b", false)
	f.Global.Strings("c")
	err := f.Err().Error()
	var got []string
	for line := range strings.Lines(err) {
		if strings.HasPrefix(line, "main.world:") {
			got = append(got, line[:len("main.world:1:14")])
		}
	}
	if want := []string{"main.world:1:14", "main.world:3:3:", "main.world:3:7:"}; !slices.Equal(got, want) {
		t.Errorf("got errors at %q, want %q:\n%s", got, want, err)
	}
}

func TestErrorsAreBounded(t *testing.T) {
	f := mustParse(t, fields(500))
	for _, field := range f.Global.Fields {
		f.Global.String(field.Name, "")
	}
	if n := strings.Count(f.Err().Error(), "wants"); n != maxErrors {
		t.Errorf("%d errors kept, want %d", n, maxErrors)
	}
}

func TestSections(t *testing.T) {
	f := mustParse(t, "define m t(x())\nt(n 1)\nu(n 2)\nm(n 3)")
	numbers := func(sections []*Section) (n []int) {
		for _, s := range sections {
			n = append(n, s.Int("n", 0))
		}
		return n
	}
	for _, test := range []struct {
		types []string
		want  []int
	}{
		{nil, []int{1, 2, 3}},
		{[]string{"t"}, []int{1, 3}},
		{[]string{"u", "t"}, []int{1, 2, 3}},
		{[]string{"m"}, nil}, // a define is not a type
	} {
		if got := numbers(f.Global.Sections(test.types...)); !slices.Equal(got, test.want) {
			t.Errorf("%q: got %v, want %v", test.types, got, test.want)
		}
	}
}

func TestUnused(t *testing.T) {
	f := must.Get(parseText(`
paused 0
include "later.inc"
robot( prot 5 pose [1 2] gui( nose 1 ) laser( range 8 ) )
robto( port 5 )
seen( deep( deeper( x 1 ) ) )
r() r()
define pioneer_full robot()
pioneer_ful()
define heavy robot( pose [3 4] )
heavy( poes [1 2] )
`, map[string]string{"later.inc": "title \"x\" define r robot( mass 3 )\n"}))(t)
	f.Global.Ignore("seen", "nothing")
	for _, robot := range f.Global.Sections("robot") {
		robot.Int("port", 0)
		robot.Floats("pose")
		robot.Sections("laser")
		robot.Ignore("gui")
	}
	var got []string
	for _, e := range f.Unused() {
		line, _, _ := strings.Cut(e.Error(), "\n")
		got = append(got, line)
	}
	want := []string{
		`main.world:2:1: field "paused" is not used`,
		`main.world:4:8: field "prot" is not used in robot; did you mean "port"?`,
		`main.world:4:47: field "range" is not used in laser`,
		`main.world:5:1: section "robto" is not used; did you mean "robot"?`,
		`main.world:9:1: section "pioneer_ful" is not used; did you mean "pioneer_full"?`,
		`main.world:11:8: field "poes" is not used in heavy; did you mean "pose"?`,
		`later.inc:1:1: field "title" is not used`,
		`later.inc:1:27: field "mass" is not used in r`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Walking the tree without the getters leaves it unused.
func TestUsedMarks(t *testing.T) {
	f := mustParse(t, "a 1 b 2 s( c 3 )")
	s := f.Global.Children[0]
	f.Global.Int("a", 0)
	f.Global.Ignore("b")
	a, b, c := f.Global.Fields[0], f.Global.Fields[1], s.Fields[0]
	if !a.Used || !b.Used || s.Used || c.Used {
		t.Errorf("used: a %v, b %v, s %v, c %v; want a and b alone", a.Used, b.Used, s.Used, c.Used)
	}
	f.Global.Ignore("s")
	if !s.Used || !c.Used {
		t.Errorf("used after Ignore: s %v, c %v; want both", s.Used, c.Used)
	}
}
