package syntax

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"player/formats/textfile"
)

const (
	// maxSource bounds the text of all files together, in bytes; a file
	// included twice counts twice. A rich world with its includes has 20 kB. A
	// larger text is refused.
	maxSource = 1 << 20

	// maxTree bounds the tree, in bytes as counted by the costs below, including the bodies
	// of defines. A robot with 16 sonars takes 35 kB, a thousand of them half of the bound.
	// Defines that double each other would need more; a larger tree is refused.
	maxTree = 64 << 20

	// sectionCost, fieldCost and valueCost are the sizes of one of each, in
	// bytes, rounded up; the text of a value is added. If they were too low,
	// maxTree would not bound memory.
	sectionCost = 256
	fieldCost   = 160
	valueCost   = 64

	// maxNesting bounds the depth of sections, after expansion. Real worlds
	// have 4 levels. It bounds the recursion here and in callers that walk the
	// tree; a deeper section is refused.
	maxNesting = 64

	// maxIncludes bounds the depth of includes, counting the main file. Real
	// worlds have 3 levels. It ends include cycles that symbolic links hide
	// from the comparison of names.
	maxIncludes = 16

	// maxFields bounds the fields of one section. The largest known body
	// outline has 30. Look-up is linear: without a bound, the time to read a
	// file would grow with the square of its size. Further fields are refused.
	maxFields = 1024
)

// installedWorlds ends the path of the folder with the includes of Stage, wherever it was installed.
// Worlds from other computers name it: /usr/local/share/stage/worlds/pioneer.inc.
const installedWorlds = "/stage/worlds"

var errNotRegular = errors.New("not a regular file")

// ParseFile reads the configuration file at path and the files it includes, which must be regular files. An included
// file that does not exist is read from library, which may be nil, by its path from the directory of the main file, or
// by its name if that path is in Stage's installation. The error joins an *[Error] for each mistake, the first 20,
// unless the file at path cannot be read. With mistakes the File has the statements without mistakes: enough to find
// mistakes of other kinds, whose errors [File.Err] also has.
func ParseFile(path string, library fs.FS) (*File, error) {
	return Parse(path, Reader(path, library))
}

// Reader returns the function with which [ParseFile] reads files.
func Reader(path string, library fs.FS) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		// The user may pass a pipe, for example <(...) in a shell. A pipe that a file names
		// is not opened: that would wait for a writer that may never come.
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && name != path {
			return nil, errNotRegular
		}
		file, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) && library != nil && name != path {
			rel, e := filepath.Rel(filepath.Dir(path), name)
			if strings.HasSuffix(filepath.ToSlash(filepath.Dir(name)), installedWorlds) {
				rel, e = filepath.Base(name), nil
			}
			if e == nil && fs.ValidPath(rel) {
				if text, e := fs.ReadFile(library, rel); e == nil {
					return text, nil
				}
			}
			names, _ := fs.Glob(library, "*"+filepath.Ext(name)) // none if the extension is no pattern
			if near := Nearest(filepath.Base(name), names); near != "" {
				return nil, fmt.Errorf("%w; did you mean %q?", fs.ErrNotExist, near)
			}
		}
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return io.ReadAll(io.LimitReader(file, maxSource+1))
	}
}

// Parse is [ParseFile] with files that read returns. read is called with name
// and, for includes, with the directory of name joined with the included name.
// To read from an [io/fs.FS] pass
//
//	func(name string) ([]byte, error) { return fs.ReadFile(fsys, name) }
func Parse(name string, read func(name string) ([]byte, error)) (*File, error) {
	f := &File{Name: name, sources: map[string]source{}, defines: map[string]*Section{}}
	f.Global = &Section{Pos: Pos{File: name, Line: 1, Column: 1}, Used: true, file: f}
	p := parser{file: f, read: read, plain: map[string]Pos{}}
	if err := p.parse(name, f.Global.Pos); err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return nil, err
		}
		p.note(e)
	}
	f.setUnits()
	return f, f.Err()
}

type parser struct {
	file   *File
	read   func(string) ([]byte, error)
	scan   scanner        // of the innermost open file
	open   []string       // files from the main one to the innermost
	plain  map[string]Pos // first use of names as section types without a define
	within string         // the define whose body is being read; empty outside
	uses   []string       // defines that are copied, the outermost first
	ended  bool           // nothing more is read: a limit is passed, or a section has no end
	source int            // bytes read, see maxSource
	tree   int            // bytes built, see maxTree
}

func (p *parser) syntaxError(pos Pos, format string, args ...any) error {
	return p.file.Errorf(pos, "syntax error: "+format, args...)
}

// limit returns the error of a file that is too large. It ends the parsing.
func (p *parser) limit(pos Pos, format string, args ...any) error {
	p.ended = true
	return p.file.Errorf(pos, format, args...)
}

// note keeps a mistake, only the first one of each place.
func (p *parser) note(e *Error) {
	if !slices.ContainsFunc(p.file.errs, func(o *Error) bool { return o.Pos == e.Pos }) {
		p.file.keep(e)
	}
	p.ended = p.ended || len(p.file.errs) >= maxErrors
}

// recover continues after a mistake in the statement, field or section that started at from:
// behind its line, and behind the brackets that the line opens, but before the ")" that
// closes s. It returns err if nothing more can be read.
func (p *parser) recover(s *Section, from scanner, err error) error {
	s.Broken = true
	e, ok := errors.AsType[*Error](err)
	if !ok || p.ended {
		return err
	}
	if p.note(e); p.ended {
		return nil
	}
	p.scan = from
	for open := 0; ; {
		before := p.scan
		switch t := p.scan.next(); {
		case t.is("("), t.is("["):
			open++
		case open > 0 && (t.is(")") || t.is("]")):
			open--
		case t.is(")") && s != p.file.Global:
			p.scan = before
			return nil
		case t.kind == kindNewline && open == 0, t.kind == kindEOF:
			return nil
		case t.kind == kindUnterminated:
			p.scan.offset += lineLength(p.scan.text[p.scan.offset:])
		}
	}
}

func (p *parser) unexpected(t token, where string) error {
	if t.kind == kindUnterminated {
		return p.syntaxError(t.pos, "string has no closing %s", t.text)
	}
	return p.syntaxError(t.pos, "unexpected %v%s", t, where)
}

// next returns the next token that is not a comment.
func (p *parser) next() token {
	for {
		if t := p.scan.next(); t.kind != kindComment {
			return t
		}
	}
}

// nextLine returns the next token other than a comment or a newline.
func (p *parser) nextLine() token {
	for {
		if t := p.next(); t.kind != kindNewline {
			return t
		}
	}
}

// load returns the text of a file that the statement at pos includes.
func (p *parser) load(name string, pos Pos) (string, error) {
	from, known := p.file.sources[name]
	if !known {
		data, err := p.read(name)
		if err == nil {
			if data, err = textfile.Clean(data); err != nil && len(p.open) == 0 {
				err = fmt.Errorf("%s: %w", name, err)
			}
		}
		if err != nil && len(p.open) == 0 {
			return "", err
		} else if err != nil {
			if path, ok := errors.AsType[*fs.PathError](err); ok {
				err = path.Err // the message names the file once, clipped
			}
			return "", p.file.Errorf(pos, "cannot include %.80q: %w", name, err)
		}
		from = source{string(data), len(p.file.sources)}
	}
	if p.source += len(from.text); p.source > maxSource {
		return "", p.limit(pos, "too much text: all files together may have %d bytes", maxSource)
	}
	p.file.sources[name] = from
	return from.text, nil
}

// parse reads one file, included at pos, to its end.
func (p *parser) parse(name string, pos Pos) error {
	if slices.Contains(p.open, name) {
		return p.limit(pos, "include cycle: %s", strings.Join(append(p.open, name), " -> "))
	}
	if len(p.open) >= maxIncludes {
		return p.limit(pos, "includes nested more than %d deep", maxIncludes)
	}
	text, err := p.load(name, pos)
	if err != nil {
		return err
	}
	outer := p.scan
	p.scan, p.open = scanner{file: name, text: text, line: 1}, append(p.open, name)
	for err == nil && !p.ended {
		t := p.nextLine()
		if t.kind == kindEOF {
			break
		}
		from := p.scan
		if err = p.statement(t); err != nil {
			err = p.recover(p.file.Global, from, err)
		}
	}
	p.scan, p.open = outer, p.open[:len(p.open)-1]
	return err
}

// statement reads the top-level statement that starts with t.
func (p *parser) statement(t token) error {
	switch {
	case t.is(")"):
		return p.unexpected(t, ": no section is open")
	case t.kind != kindWord:
		return p.unexpected(t, "")
	case t.text == "include":
		name, err := p.argument(t)
		if err != nil {
			return err
		}
		return p.parse(p.file.resolve(name.text), name.pos)
	case t.text == "plugin":
		name, err := p.argument(t)
		if err != nil {
			return err
		}
		p.file.Plugins = append(p.file.Plugins, valueOf(name))
		return p.spend(name.pos, valueCost+len(name.text))
	case t.text == "define":
		return p.define()
	}
	return p.item(p.file.Global, t, 0)
}

// argument reads the string and the end of line after include or plugin.
func (p *parser) argument(statement token) (token, error) {
	name := p.next()
	if name.kind != kindString {
		return name, p.unexpected(name, fmt.Sprintf(` after %s: write %[1]s "name"`, statement.text))
	}
	if end := p.next(); end.kind != kindNewline && end.kind != kindEOF {
		return name, p.unexpected(end, fmt.Sprintf(" after the name in %s", statement.text))
	}
	return name, nil
}

// define reads the rest of a statement after the word define.
func (p *parser) define() error {
	name := p.next()
	if name.kind != kindWord {
		return p.unexpected(name, " in define: write define NAME TYPE ( ... )")
	}
	base := p.next()
	if base.kind != kindWord {
		return p.unexpected(base, fmt.Sprintf(": define %.40s lacks the section type it stands for", name.text))
	}
	open := p.nextLine()
	if !open.is("(") {
		return p.unexpected(open, fmt.Sprintf(`: define %.40s needs its "("`, name.text))
	}
	p.within = name.text
	defer func() { p.within = "" }()
	body := &Section{Name: name.text, Pos: name.pos, file: p.file}
	if err := p.begin(body, base.text, name.pos); err != nil {
		return err
	}
	body.open = body.open && base.text != name.text
	body.Macros = append([]string{name.text}, body.Macros...)
	if err := p.spend(name.pos, sectionCost+valueCost*len(body.Macros)); err != nil {
		return err
	}
	if err := p.body(body, open, 1); err != nil {
		return err
	}
	if before := p.file.defines[name.text]; before != nil {
		if before.Pos == name.pos { // the same file again
			return nil
		}
		p.file.redefined = append(p.file.redefined, p.file.errorf(name.pos, "%.40s is already defined at %v", name.text, before.Pos))
		if err := p.spend(name.pos, fieldCost); err != nil {
			return err
		}
	} else if use, used := p.plain[name.text]; used {
		return p.file.Errorf(name.pos, "%.40s is used at %v, before it is defined here: move the define up", name.text, use)
	}
	p.file.defines[name.text] = body
	return nil
}

// item reads the field or section of s that starts with the word name. depth
// is the number of open sections.
func (p *parser) item(s *Section, name token, depth int) error {
	field := &Field{Name: name.text, Pos: name.pos}
	t := p.next()
	switch {
	case t.kind == kindNumber, t.kind == kindString, t.kind == kindBool:
		field.Values, field.end = []Value{valueOf(t)}, p.scan.offset
		return p.setField(s, field)
	case t.is("["):
		var err error
		if field.Values, err = p.tuple(t); err != nil {
			return err
		}
		field.Tuple, field.end = true, p.scan.offset
		return p.setField(s, field)
	case t.is("("):
		return p.section(s, name, t, depth)
	case t.kind == kindWord:
		return p.unexpected(t, fmt.Sprintf(" after %.40s: a string needs quotes", name.text))
	case t.kind == kindNewline:
		if t = p.nextLine(); t.is("(") {
			return p.section(s, name, t, depth)
		}
	}
	return p.unexpected(t, fmt.Sprintf(`: %.40s needs a value on its line, or "( )"`, name.text))
}

func (p *parser) tuple(open token) ([]Value, error) {
	values := []Value{}
	for {
		// Not p.next: the grammar allows no comments here.
		t := p.scan.next()
		switch {
		case t.is("]"):
			return values, nil
		case t.kind == kindNewline:
		case t.kind == kindNumber, t.kind == kindString:
			values = append(values, valueOf(t))
		case t.kind == kindEOF:
			return nil, p.limit(t.pos, `syntax error: missing "]" for the "[" at %v`, open.pos)
		case t.kind == kindWord, t.kind == kindBool, t.kind == kindComment, t.is("("), t.is(")"), t.is("["):
			return nil, p.unexpected(t, ` inside "[ ]": it holds only numbers and "strings"`)
		default:
			return nil, p.unexpected(t, "")
		}
	}
}

// setField adds the field to s, or overrides the field of that name in its
// place. A shorter override leaves the other elements unchanged.
func (p *parser) setField(s *Section, field *Field) error {
	i := slices.IndexFunc(s.Fields, func(f *Field) bool { return f.Name == field.Name })
	if i >= 0 {
		if old := s.Fields[i]; old.Tuple && field.Tuple && len(old.Values) > len(field.Values) {
			field.Values = append(field.Values, old.Values[len(field.Values):]...)
		}
		s.Fields[i] = field
	} else {
		if len(s.Fields) >= maxFields {
			return p.limit(field.Pos, "more than %d fields in one section", maxFields)
		}
		s.Fields = append(s.Fields, field)
	}
	return p.spend(field.Pos, field.cost())
}

// section reads the section name ( ... ) into parent.
func (p *parser) section(parent *Section, name, open token, depth int) error {
	s := &Section{Name: name.text, Pos: name.pos, file: p.file}
	if err := p.begin(s, name.text, name.pos); err != nil {
		return err
	}
	if s.open && name.text == p.within {
		p.plain[name.text] = name.pos // refused at the end of the define
	}
	if depth+1+s.height() > maxNesting {
		return p.limit(name.pos, "sections nested more than %d deep", maxNesting)
	}
	if err := p.spend(name.pos, sectionCost); err != nil {
		return err
	}
	parent.Children = append(parent.Children, s)
	return p.body(s, open, depth+1)
}

// body reads the rest of s up to its ")". depth is the number of open
// sections, including s.
func (p *parser) body(s *Section, open token, depth int) error {
	for !p.ended {
		t := p.nextLine()
		from := p.scan
		var err error
		switch {
		case t.is(")"):
			s.end = p.scan.offset
			return nil
		case t.kind == kindEOF:
			s.Broken = true
			return p.limit(t.pos, `syntax error: missing ")" for the "(" of %.40s at %v`, s.Name, open.pos)
		case t.kind != kindWord:
			err = p.unexpected(t, "")
		case t.text == "include", t.text == "define":
			err = p.syntaxError(t.pos, "%s belongs at top level, not inside %.40s ( )", t.text, s.Name)
		default:
			err = p.item(s, t, depth)
		}
		if err != nil {
			if err = p.recover(s, from, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin gives an empty section the type of that name, with the fields and sections of its define if
// there is one. In the body of a define a name may have no define yet: the section then has the
// name's define at the place where the body is used.
func (p *parser) begin(s *Section, name string, pos Pos) error {
	macro := p.file.defines[name]
	if macro == nil {
		s.Type, s.open = name, p.within != ""
		if _, noted := p.plain[name]; !noted && !s.open {
			p.plain[name] = s.Pos
		}
		return nil
	}
	if slices.Contains(p.uses, name) {
		return p.limit(pos, "define %.40s leads back to itself", name)
	}
	if len(p.uses) >= maxNesting {
		return p.limit(pos, "sections nested more than %d deep", maxNesting)
	}
	p.uses = append(p.uses, name)
	defer func() { p.uses = p.uses[:len(p.uses)-1] }()
	return p.copyInto(s, macro, pos)
}

// copyInto gives an empty section the type, fields and sections of the macro. Both have the
// same values, which never change.
func (p *parser) copyInto(s, macro *Section, pos Pos) error {
	s.Type = macro.Type
	if macro.open {
		if err := p.begin(s, macro.Type, pos); err != nil {
			return err
		}
	}
	s.Broken = s.Broken || macro.Broken
	if s.Macros == nil {
		s.Macros = macro.Macros
	} else {
		s.Macros = slices.Concat(macro.Macros, s.Macros)
		if err := p.spend(pos, valueCost*len(s.Macros)); err != nil {
			return err
		}
	}
	for _, field := range macro.Fields {
		fresh := *field
		if err := p.setField(s, &fresh); err != nil {
			return err
		}
	}
	for _, child := range macro.Children {
		if err := p.spend(pos, sectionCost); err != nil {
			return err
		}
		fresh := &Section{Name: child.Name, Pos: child.Pos, file: p.file}
		s.Children = append(s.Children, fresh)
		if err := p.copyInto(fresh, child, pos); err != nil {
			return err
		}
	}
	return nil
}

// spend counts bytes of the tree, and refuses a tree above maxTree with an
// error at pos.
func (p *parser) spend(pos Pos, bytes int) error {
	if p.tree += bytes; p.tree > maxTree {
		return p.limit(pos, "too many fields and sections: with defines expanded they take more than %d MB", maxTree>>20)
	}
	return nil
}
