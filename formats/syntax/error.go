package syntax

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"
)

// Pos is a place in a configuration file.
type Pos struct {
	File   string // as opened: the main file's directory joined with the name
	Line   int    // from 1
	Column int    // in bytes, from 1

	offset int // in bytes from the start of the file
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Place is the position without its column.
func (p Pos) Place() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Error is an error at a place in a configuration file.
type Error struct {
	Pos
	Err     error  // the mistake
	Excerpt string // the line at Pos and a caret below the column; "" if the line is blank
}

// Error returns "file:line:column: message" and the excerpt below it.
// Unprintable characters are shown as ?, so that a file cannot send control
// codes to the terminal.
func (e *Error) Error() string {
	head := strings.Map(printable, fmt.Sprintf("%s: %v", e.Pos, e.Err))
	if e.Excerpt == "" {
		return head
	}
	return head + "\n" + e.Excerpt
}

func (e *Error) Unwrap() error { return e.Err }

// excerptReach is the number of bytes shown on either side of the column. A line that fits a
// terminal is shown completely. Without the bound a hostile line of a megabyte would fill
// the log and, once for each error, the memory.
const excerptReach = 80

// excerpt returns the line at pos and a caret line, each indented by four
// blanks. Leading blanks are dropped.
func excerpt(text string, pos Pos) string {
	lineStart := pos.offset - pos.Column + 1
	if lineStart < 0 || lineStart > pos.offset || pos.offset > len(text) {
		return "" // a position that the parser did not make
	}
	before := strings.TrimLeft(text[max(lineStart, pos.offset-excerptReach):pos.offset], " \t")
	after := text[pos.offset:min(len(text), pos.offset+excerptReach)]
	after = after[:lineLength(after)]
	if strings.TrimSpace(before+after) == "" {
		return ""
	}
	// A tab is repeated below a tab, so that the terminal aligns both lines.
	blank := func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}
	return "    " + strings.Map(printable, before+after) + "\n    " + strings.Map(blank, before) + "^"
}

func printable(r rune) rune {
	if r == '\t' || unicode.IsPrint(r) {
		return r
	}
	return '?'
}

// Errorf returns an *[Error] at pos, for callers that check the meaning of the file. The
// arguments are as for [fmt.Errorf]. The error is not kept in f. With a pos of another file
// it has no excerpt.
func (f *File) Errorf(pos Pos, format string, args ...any) error {
	return f.errorf(pos, format, args...)
}

func (f *File) errorf(pos Pos, format string, args ...any) *Error {
	return &Error{pos, fmt.Errorf(format, args...), excerpt(f.sources[pos.File].text, pos)}
}

// maxErrors is the most errors that a File keeps. A file for another program
// would otherwise print a screenful. Later errors are dropped.
const maxErrors = 20

// fail keeps the error for Err. An error in a define appears in each section
// made from it, and is kept once.
func (f *File) fail(pos Pos, format string, args ...any) { f.keep(f.errorf(pos, format, args...)) }

func (f *File) keep(e *Error) {
	known := func(o *Error) bool { return o.Error() == e.Error() }
	if len(f.errs) < maxErrors && !slices.ContainsFunc(f.errs, known) {
		f.errs = append(f.errs, e)
	}
}

// Err returns the errors of the parser and of the getters so far, the first 20 joined,
// each an *[Error]; nil if there are none.
func (f *File) Err() error {
	errs := make([]error, len(f.errs))
	for i, e := range f.errs {
		errs[i] = e
	}
	return errors.Join(errs...)
}

// Mistakes returns the errors that errors.Join has joined into err, of any depth; err
// itself if it joins none, and nothing if err is nil.
func Mistakes(err error) (all []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		all = append(all, Mistakes(e)...)
	}
	return all
}

// Ignored is a field that no getter read, or a section that Sections did not return.
type Ignored struct {
	Pos
	What string // "field" or "section"
	Name string
	Type string // of a section whose name is a define, otherwise ""
	In   string // the section that it is in, "" at top level
	Near string // the valid name that it most likely misspells, "" if none is near
}

// Ignored returns the fields and sections that were not read, in order of files and lines.
// The contents of an unused section are not listed, and an unused field or section of a
// define is listed once.
func (f *File) Ignored() []Ignored {
	var all []Ignored
	f.Global.unused(func(in, child *Section, name string, pos Pos) {
		i := Ignored{Pos: pos, What: "field", Name: name, In: in.Name}
		valid := slices.Clone(in.asked)
		for _, field := range in.Fields { // also the fields of a define
			if field.Used {
				valid = append(valid, field.Name)
			}
		}
		if child != nil {
			i.What = "section"
			valid = slices.Concat(valid, f.Defined())
		}
		if child != nil && child.Macros != nil {
			i.Type = child.Type
		} else {
			i.Near = Nearest(name, valid)
		}
		all = append(all, i)
	})
	sort.Slice(all, func(i, j int) bool { return f.compare(all[i].Pos, all[j].Pos) < 0 }) // slices.SortFunc is 19 kB larger
	return slices.CompactFunc(all, func(a, b Ignored) bool { return a.Pos == b.Pos })
}

// Unused returns an error for each of Ignored.
func (f *File) Unused() []*Error {
	var unused []*Error
	for _, i := range f.Ignored() {
		message := fmt.Sprintf("%s %.40q is not used", i.What, i.Name)
		if i.In != "" {
			message += fmt.Sprintf(" in %.40s", i.In)
		}
		if i.Near != "" {
			message += fmt.Sprintf("; did you mean %q?", i.Near)
		}
		unused = append(unused, f.errorf(i.Pos, "%s", message))
	}
	return unused
}

// Redefined returns an error for each define of a name that has another define before
// it, in the order of reading. A section has the last define above it.
func (f *File) Redefined() []*Error { return f.redefined }

// sort sorts errors in order of files and lines.
func (f *File) sort(errs []*Error) {
	slices.SortFunc(errs, func(a, b *Error) int { return f.compare(a.Pos, b.Pos) })
}

func (f *File) compare(a, b Pos) int {
	if a.File != b.File {
		return f.sources[a.File].order - f.sources[b.File].order
	}
	return a.offset - b.offset
}

// Join joins errors, which may be joined ones, in the order of the files; those without
// a place come last. Of more than 20 the others are counted. It returns nil if there
// are none.
func (f *File) Join(errs ...error) error {
	var placed []*Error
	var others, all []error
	for _, err := range Mistakes(errors.Join(errs...)) {
		if e, ok := err.(*Error); ok {
			placed = append(placed, e)
		} else {
			others = append(others, err)
		}
	}
	f.sort(placed)
	for _, e := range placed {
		all = append(all, e)
	}
	all = append(all, others...)
	if more := len(all) - maxErrors; more > 0 {
		all = append(all[:maxErrors], fmt.Errorf("and %d more mistakes", more))
	}
	return errors.Join(all...)
}

func (s *Section) unused(report func(in, child *Section, name string, pos Pos)) {
	for _, field := range s.Fields {
		if !field.Used {
			report(s, nil, field.Name, field.Pos)
		}
	}
	for _, child := range s.Children {
		if child.Used {
			child.unused(report)
		} else {
			report(s, child, child.Name, child.Pos)
		}
	}
}

// Nearest returns the name among valid that name most likely misspells, the
// first of several, or "" if none is near. Letter case is ignored. The
// distance counts inserted, missing, changed and swapped letters; near is at
// most one in three letters of name, and one letter in a shorter name.
func Nearest(name string, valid []string) string {
	name = strings.ToLower(name)
	best, limit := "", min(max(1, len(name)/3), len(name)-1)
	for _, v := range valid {
		if d := distance(name, strings.ToLower(v), limit); d <= limit {
			best, limit = v, d-1
		}
	}
	return best
}

// distance returns the edit distance of a and b, including swaps of
// neighbours. Above limit, it returns any number above limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, above, row = above, row, before
		row[0] = i + 1
		for j := range b {
			change := above[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// Suggest ends an error about an invalid name: it gives the nearest valid name, or all of
// them.
func Suggest(name string, valid []string) string {
	if near := Nearest(name, valid); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Sprintf("; there are %s", strings.Join(valid, ", "))
}
