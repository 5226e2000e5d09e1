package syntax

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// File is the content of a configuration file and its includes, with macros
// expanded.
type File struct {
	Name    string   // the main file, as opened
	Global  *Section // fields and sections at top level
	Plugins []Value  // names given by plugin statements, in order

	redefined     []*Error            // see Redefined
	defines       map[string]*Section // by name, the last of each, expanded except for names that are still undefined
	sources       map[string]source   // by name as in Pos
	errs          []*Error
	length, angle unit
}

// Texts returns the texts of all files, in the order in which they were read.
func (f *File) Texts() []string {
	texts := make([]string, len(f.sources))
	for _, s := range f.sources {
		texts[s.order] = s.text
	}
	return texts
}

// Defined returns the names of the defines, sorted.
func (f *File) Defined() []string { return slices.Sorted(maps.Keys(f.defines)) }

// TypeOf returns the type that a section of that name would have at the end of the file, empty if
// its define leads back to itself. It expands nothing.
func (f *File) TypeOf(name string) string {
	for range maxNesting {
		macro := f.defines[name]
		switch {
		case macro == nil:
			return name
		case !macro.open:
			return macro.Type
		}
		name = macro.Type
	}
	return ""
}

// Define returns the initial contents of a section of that name at the end of the file. It
// is nil if there is no such define, or if the define leads back to itself or is too large.
func (f *File) Define(name string) *Section {
	if f.defines[name] == nil {
		return nil
	}
	s := &Section{Name: name, Pos: f.defines[name].Pos, file: f}
	p := parser{file: f, plain: map[string]Pos{}}
	if p.begin(s, name, s.Pos) != nil {
		return nil
	}
	return s
}

// Units returns the unit of lengths in metres and the unit of angles in radians.
func (f *File) Units() (length, angle float64) {
	return f.length.mul / f.length.div, f.angle.mul / f.angle.div
}

// source is the text of one file.
type source struct {
	text  string
	order int // 0 for the main file, then in reading order
}

// Section is one block of a file. Its tree is read-only: sections made from the same define
// have the same values in memory.
type Section struct {
	Name     string   // the word before the parenthesis, for example "pioneer2dx"; "" for Global
	Type     string   // the type after macro expansion, for example "position"
	Macros   []string // defines from Name to the last one before Type; nil without a define
	Pos      Pos      // of Name; within the define for a section that comes from one
	Fields   []*Field
	Children []*Section
	Used     bool // returned by Sections, or ignored
	Broken   bool // a part of it, outside of its sections, could not be read, or is a value of a wrong type

	open  bool // in a define: Type had no define yet, and is looked up where the define is used
	end   int  // offset behind its ")", in the file of Pos
	file  *File
	asked []string // names that readers asked for, to suggest corrections
}

// Field is a name with its value. Walking the tree marks nothing as used; the
// getters of Section do.
type Field struct {
	Name   string
	Pos    Pos     // of Name
	Values []Value // one, or the elements of the tuple
	Tuple  bool
	Used   bool // read by a getter, or ignored

	end int // offset behind the value, in the file of Pos
}

// Value is a number, string or boolean as written, a string without its quotes.
type Value struct {
	Text string
	Pos  Pos
	kind kind
}

func valueOf(t token) Value { return Value{t.text, t.pos, t.kind} }

func (v Value) String() string { return token{v.kind, v.Text, v.Pos}.String() }

func (v Value) text() (string, bool) { return v.Text, v.kind == kindString }

// cost returns the bytes that the field and its values count towards maxTree.
func (f *Field) cost() int {
	n := fieldCost + len(f.Name)
	for _, v := range f.Values {
		n += valueCost + len(v.Text)
	}
	return n
}

// height returns the levels of sections below s.
func (s *Section) height() int {
	n := 0
	for _, child := range s.Children {
		n = max(n, 1+child.height())
	}
	return n
}

// unit converts a number to metres or radians. Dividing by 1000, instead of
// multiplying by 0.001, makes 15 mm exactly the number written 0.015.
type unit struct{ mul, div float64 }

func (u unit) read(v Value) (float64, bool) {
	n, err := strconv.ParseFloat(v.Text, 64)
	n = n * u.mul / u.div
	return n, err == nil && v.kind == kindNumber && !math.IsInf(n, 0)
}

// setUnits reads unit_length (default "m") and unit_angle (default "degrees").
func (f *File) setUnits() {
	f.length = f.unit("unit_length", "m", map[string]unit{"m": {1, 1}, "cm": {1, 100}, "mm": {1, 1000}})
	f.angle = f.unit("unit_angle", "degrees", map[string]unit{"degrees": {math.Pi, 180}, "radians": {1, 1}})
}

func (f *File) unit(name, def string, units map[string]unit) unit {
	names := slices.Sorted(maps.Keys(units))
	return units[get(f.Global, name, "one of "+strings.Join(names, ", "), def, func(v Value) (string, bool) {
		return v.Text, v.kind == kindString && slices.Contains(names, v.Text)
	})]
}

// resolve returns the path of a file named in the configuration.
func (f *File) resolve(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(f.Name), name)
}

// Span returns where s is in the text of the file in Pos, in bytes: from its name to
// behind its ")".
func (s *Section) Span() (from, to int) { return s.Pos.offset, s.end }

// Span returns where f is in the text of the file in Pos, in bytes: from its name to
// behind its value.
func (f *Field) Span() (from, to int) { return f.Pos.offset, f.end }

// File returns the file that s belongs to.
func (s *Section) File() *File { return s.file }

// ask records that a reader has asked for the name.
func (s *Section) ask(name string) {
	if !slices.Contains(s.asked, name) {
		s.asked = append(s.asked, name)
	}
}

// Sections returns the sections in s with a Type in types, or all of them if no type is
// given, and marks them as used.
func (s *Section) Sections(types ...string) []*Section {
	for _, t := range types {
		s.ask(t)
	}
	var found []*Section
	for _, child := range s.Children {
		if len(types) == 0 || slices.Contains(types, child.Type) {
			child.Used = true
			found = append(found, child)
		}
	}
	return found
}

// Ignore marks fields, and sections of that Type with their contents, as used:
// the names are known here and deliberately have no effect.
func (s *Section) Ignore(names ...string) {
	for _, name := range names {
		s.Field(name)
		for _, child := range s.Sections(name) {
			child.ignoreAll()
		}
	}
}

func (s *Section) ignoreAll() {
	s.Used = true
	for _, field := range s.Fields {
		field.Used = true
	}
	for _, child := range s.Children {
		child.ignoreAll()
	}
}

// Field returns the field of that name and marks it as used; nil if there is
// none.
func (s *Section) Field(name string) *Field {
	for _, field := range s.Fields {
		if field.Name == name {
			field.Used = true
			return field
		}
	}
	s.ask(name)
	return nil
}

// Errorf returns an *[Error] at the value of the field, or at s if there is no such field.
// The arguments are as for [fmt.Errorf]. The error is not kept.
func (s *Section) Errorf(field, format string, args ...any) error {
	pos := s.Pos
	if f := s.Field(field); f != nil {
		pos = f.Pos
		if len(f.Values) > 0 {
			pos = f.Values[0].Pos
		}
	}
	return s.file.Errorf(pos, format, args...)
}

// wrong records a value of a type that the getter does not expect.
func (s *Section) wrong(pos Pos, name, want string, got any) {
	s.Broken = true
	s.file.fail(pos, "%.40s wants %s, not %v", name, want, got)
}

// get returns the result of read for the value of a field, or def if there is
// no such field. A tuple of one is its element. If the field is another tuple or read
// refuses the value, it records the error and returns def.
func get[T any](s *Section, name, want string, def T, read func(Value) (T, bool)) T {
	field := s.Field(name)
	if field == nil {
		return def
	}
	if len(field.Values) != 1 {
		s.wrong(field.Pos, name, want, "a tuple")
		return def
	}
	result, ok := read(field.Values[0])
	if !ok {
		s.wrong(field.Values[0].Pos, name, want, field.Values[0])
		return def
	}
	return result
}

// String returns the string in the field, or def if there is no such field.
//
// In all getters: if the field has another type, the error is kept for [File.Err] and the
// default returned.
func (s *Section) String(name, def string) string {
	return get(s, name, `a "string"`, def, Value.text)
}

// Bool returns the boolean in the field: true, yes or 1; false, no or 0.
func (s *Section) Bool(name string, def bool) bool {
	return get(s, name, "true or false", def, func(v Value) (truth, ok bool) {
		truth = v.Text == "true" || v.Text == "yes" || v.Text == "1"
		ok = truth || v.Text == "false" || v.Text == "no" || v.Text == "0"
		return truth, ok && v.kind != kindString
	})
}

// Int returns the whole number in the field.
func (s *Section) Int(name string, def int) int {
	return get(s, name, "a whole number", def, func(v Value) (int, bool) {
		n, err := strconv.Atoi(v.Text)
		return n, err == nil && v.kind == kindNumber
	})
}

// Float returns the number in the field, without unit conversion.
func (s *Section) Float(name string, def float64) float64 {
	return get(s, name, "a number", def, unit{1, 1}.read)
}

// Length returns the length in the field in metres, like def.
func (s *Section) Length(name string, def float64) float64 {
	return get(s, name, "a number", def, s.file.length.read)
}

// Angle returns the angle in the field in radians, like def.
func (s *Section) Angle(name string, def float64) float64 {
	return get(s, name, "a number", def, s.file.angle.read)
}

// Color returns the colour in the field as written: "#rrggbb", or a name that
// the caller resolves.
func (s *Section) Color(name, def string) string {
	return get(s, name, `"#rrggbb" or a "colour name"`, def, func(v Value) (string, bool) {
		if digits, hex := strings.CutPrefix(v.Text, "#"); hex {
			if _, err := strconv.ParseUint(digits, 16, 32); err != nil || len(digits) != 6 {
				return "", false
			}
		}
		return v.text()
	})
}

// Path returns the file name in the field. A relative name is joined with the
// directory of the main configuration file; an absolute or empty one is
// returned unchanged, and so is def.
func (s *Section) Path(name, def string) string {
	return get(s, name, `a "file name"`, def, func(v Value) (string, bool) {
		if v.Text == "" {
			return v.text()
		}
		return s.file.resolve(v.Text), v.kind == kindString
	})
}

// Tuple returns the numbers in a tuple. units has one letter per element: 'n'
// a plain number, 'l' a length in metres, 'a' an angle in radians. The last
// letter applies to all further elements: a pose [x y z heading] is "llla".
//
// With defaults the result has as many elements as there are defaults; they
// replace elements missing from the file, and further elements in the file are
// an error. Without defaults the result has the elements of the file. A number
// without [ ] is a tuple of one.
func (s *Section) Tuple(name, units string, def ...float64) []float64 {
	values := s.elements(name)
	result := slices.Clone(def)
	if len(def) == 0 {
		result = make([]float64, len(values))
	} else if len(values) > len(def) {
		s.wrong(values[len(def)].Pos, name, fmt.Sprintf("at most %d numbers", len(def)), len(values))
		return result
	}
	for i, v := range values {
		u := unit{1, 1}
		switch units[min(i, len(units)-1)] {
		case 'l':
			u = s.file.length
		case 'a':
			u = s.file.angle
		}
		n, ok := u.read(v)
		if !ok {
			s.wrong(v.Pos, name, "numbers", v)
			return slices.Clone(def)
		}
		result[i] = n
	}
	return result
}

// Floats returns the plain numbers in a tuple; see Tuple.
func (s *Section) Floats(name string, def ...float64) []float64 { return s.Tuple(name, "n", def...) }

// Lengths returns the lengths in a tuple, in metres; see Tuple.
func (s *Section) Lengths(name string, def ...float64) []float64 { return s.Tuple(name, "l", def...) }

// Strings returns the strings in a tuple. A string without [ ] is a tuple of one.
func (s *Section) Strings(name string, def ...string) []string {
	values := s.elements(name)
	if values == nil {
		return def
	}
	result := make([]string, len(values))
	for i, v := range values {
		if v.kind != kindString {
			s.wrong(v.Pos, name, `"strings"`, v)
			return def
		}
		result[i] = v.Text
	}
	return result
}

// elements returns the elements of a tuple, the only value of another field,
// or nil if there is no such field.
func (s *Section) elements(name string) []Value {
	if field := s.Field(name); field != nil {
		return field.Values
	}
	return nil
}
