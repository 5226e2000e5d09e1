package stage

import (
	"errors"
	"fmt"
	"strings"
)

// maxBrackets bounds the depth of lists and mappings, and with it the recursion here. Map files have
// one level.
const maxBrackets = 32

// yamlReader reads the part of YAML that map files are written in: one mapping of keys to scalars and to
// lists of scalars, in block or in flow style, with quotes and comments. Keys of other programs may
// have values of any kind.
type yamlReader struct {
	text string // lines end in LF
	at   int    // the text before it has been read; after an error its place
	set  func(key string, value yamlValue, isItem bool) error
}

// yamlValue is a scalar, or a list or mapping in brackets.
type yamlValue struct {
	at    int         // in the text
	text  string      // of a scalar, without quotes; otherwise as it is written
	list  bool        // it is a list
	items []yamlValue // of a list; of a mapping each key and its value
}

// readYAML calls set with each key and its value, or with each item of a list that has one on each line.
// The error has the line.
func readYAML(text string, set func(key string, value yamlValue, isItem bool) error) error {
	r := &yamlReader{text: text, set: set}
	if err := r.document(); err != nil {
		return fmt.Errorf("line %d: %w", 1+strings.Count(text[:r.at], "\n"), err)
	}
	return nil
}

// document reads the mapping.
func (r *yamlReader) document() error {
	// The last key, its column, whether its value is on the lines below, and whether these are passed over.
	key, margin, open, other := "", 0, false, false
	begin, end := 0, 0 // of the line, searched once: a line may have many documents
	for r.skip(true); r.at < len(r.text); r.skip(true) {
		start := r.at
		if start >= end {
			rest, _, _ := strings.Cut(r.text[start:], "\n")
			begin, end = 1+strings.LastIndexByte(r.text[:start], '\n'), start+len(rest)
		}
		line, column := r.text[start:end], start-begin
		below := open && column > margin
		switch {
		case line[0] == '%' || below && other:
			r.at += len(line)
			continue
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "..."):
			r.at += len("---")
			continue
		case line[0] == '{' && !below:
			all, err := r.brackets(0)
			if err != nil {
				return err
			}
			for i := 0; i+1 < len(all.items); i += 2 {
				if err := r.give(all.items[i].text, all.items[i+1], false); err != nil {
					return err
				}
			}
			continue
		case strings.HasPrefix(line, "- "):
			r.at += len("- ")
			if err := r.giveNext(key, true); err != nil {
				return err
			}
			open = false
			continue
		}
		name, err := r.scalar(false)
		switch isKey := err == nil && r.next() == ':'; {
		case isKey && below: // the value is a mapping, for another program
			r.at, other = start+len(line), true
		case isKey:
			r.at++
			key, margin = name, column
			r.skip(false)
			other = r.next() == '|' || r.next() == '>'
			open = other || r.next() == '\n'
			if other {
				r.at = start + len(line)
			} else if !open {
				err = r.giveNext(key, false)
			}
		case below: // the value is on the next line
			r.at, open = start, false
			err = r.giveNext(key, false)
		case err == nil:
			r.at, err = start, errors.New("write a key and its value, as in resolution: 0.05")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// giveNext reads the value in the rest of the line and sets it.
func (r *yamlReader) giveNext(key string, isItem bool) error {
	r.skip(false)
	value, err := r.value(false, 0)
	if err != nil {
		return err
	}
	if r.skip(false); r.next() != '\n' {
		return fmt.Errorf("%s: unexpected %q behind the value", key, r.next())
	}
	return r.give(key, value, isItem)
}

// give sets a value.
func (r *yamlReader) give(key string, value yamlValue, isItem bool) error {
	if err := r.set(key, value, isItem); err != nil {
		r.at = value.at
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// next returns the next byte, and LF at the end.
func (r *yamlReader) next() byte {
	if r.at == len(r.text) {
		return '\n'
	}
	return r.text[r.at]
}

// skip passes over blanks and a comment, and, if lines is set, over the ends of lines.
func (r *yamlReader) skip(lines bool) {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '#' && (r.at == 0 || strings.IndexByte(" \t\n", r.text[r.at-1]) >= 0):
			line, _, _ := strings.Cut(r.text[r.at:], "\n")
			if r.at += len(line) - 1; !lines {
				r.at++
				return
			}
		case c != ' ' && c != '\t' && (c != '\n' || !lines):
			return
		}
	}
}

// value reads a value. Within brackets it is at the depth of them.
func (r *yamlReader) value(inBrackets bool, depth int) (yamlValue, error) {
	if r.next() == '[' || r.next() == '{' {
		return r.brackets(depth)
	}
	start := r.at
	text, err := r.scalar(inBrackets)
	return yamlValue{at: start, text: text}, err
}

// brackets reads a list or a mapping in brackets.
func (r *yamlReader) brackets(depth int) (yamlValue, error) {
	v := yamlValue{at: r.at, list: r.next() == '['}
	if depth >= maxBrackets {
		return v, fmt.Errorf("brackets are nested more than %d deep", maxBrackets)
	}
	r.at++
	for {
		r.skip(true)
		switch c := r.next(); {
		case r.at == len(r.text):
			r.at = v.at
			return v, fmt.Errorf("\"%c\" has no closing bracket", r.next())
		case c == ']' || c == '}':
			r.at++
			v.text = r.text[v.at:r.at]
			return v, nil
		case c == ',' || c == ':':
			r.at++
		default:
			item, err := r.value(true, depth+1)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, item)
		}
	}
}

// scalar reads a scalar: in quotes, or up to a comment, the end of the line, or a colon before a blank,
// within brackets also up to a comma or bracket.
func (r *yamlReader) scalar(inBrackets bool) (string, error) {
	start, quote := r.at, r.next()
	if quote == '"' || quote == '\'' {
		var text strings.Builder
		for r.at++; r.next() != '\n'; r.at++ {
			c, following := r.next(), byte(0)
			if r.at+1 < len(r.text) {
				following = r.text[r.at+1]
			}
			switch {
			case quote == '"' && c == '\\' && (following == '"' || following == '\\'), c == '\'' && quote == c && following == c:
				r.at++
				text.WriteByte(following)
			case c == quote:
				r.at++
				return text.String(), nil
			default:
				text.WriteByte(c)
			}
		}
		r.at = start
		return "", fmt.Errorf("there is no closing %c", quote)
	}
	ends := "\n"
	if inBrackets {
		ends = "\n,[]{}"
	}
	for ; r.at < len(r.text) && strings.IndexByte(ends, r.text[r.at]) < 0; r.at++ {
		last := r.at+1 == len(r.text)
		if r.text[r.at] == ':' && (last || strings.IndexByte(" \t"+ends, r.text[r.at+1]) >= 0) ||
			r.text[r.at] == '#' && r.at > start && strings.IndexByte(" \t", r.text[r.at-1]) >= 0 {
			break
		}
	}
	return strings.TrimRight(r.text[start:r.at], " \t"), nil
}
