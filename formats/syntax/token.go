package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

type kind uint8

const (
	kindEOF kind = iota
	kindNewline
	kindComment
	kindWord
	kindBool
	kindNumber
	kindString
	kindPunct        // one of ( ) [ ]
	kindUnterminated // a string without its closing quote
	kindBad          // a character that starts no token
)

type token struct {
	kind kind
	text string // of a string: without the quotes
	pos  Pos
}

// is reports whether t is one of ( ) [ ].
func (t token) is(bracket string) bool { return t.kind == kindPunct && t.text == bracket }

// String describes the token for messages, clipped to fit a line.
func (t token) String() string {
	switch t.kind {
	case kindEOF:
		return "end of file"
	case kindNewline:
		return "end of line"
	case kindComment:
		return "comment"
	case kindWord, kindBool:
		return fmt.Sprintf("word %.40q", t.text)
	case kindNumber:
		return fmt.Sprintf("number %.40s", t.text)
	case kindString:
		return fmt.Sprintf("string %.40q", t.text)
	}
	return fmt.Sprintf("%.40q", t.text)
}

const (
	letters     = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	wordChars   = letters + "0123456789.-_[]:"
	numberChars = "+-.0123456789"
)

// scanner splits the text of one file into tokens. Line must start at 1.
type scanner struct {
	file, text string
	offset     int
	line       int // of offset
	lineStart  int // offset of the line's first byte
}

// next returns the next token. At the end of the text it always returns
// kindEOF.
func (s *scanner) next() token {
	rest := strings.TrimLeft(s.text[s.offset:], " \t")
	s.offset = len(s.text) - len(rest)
	t := token{pos: Pos{s.file, s.line, s.offset - s.lineStart + 1, s.offset}}
	if rest == "" {
		return t
	}
	n := 1
	switch c := rest[0]; {
	case c == '\n' || c == '\r':
		// LF and CR next to each other, in either order, are one newline.
		if len(rest) > 1 && c+rest[1] == '\n'+'\r' {
			n = 2
		}
		s.line, s.lineStart = s.line+1, s.offset+n
		t.kind = kindNewline
	case c == '#':
		n = lineLength(rest)
		t.kind = kindComment
	case c == '"' || c == '\'':
		if n = strings.IndexAny(rest[1:], string(c)+"\r\n"); n < 0 || rest[1+n] != c {
			t.kind, t.text = kindUnterminated, rest[:1]
			return t
		}
		t.kind, t.text = kindString, rest[1:1+n]
		n += len(`""`)
	case strings.IndexByte(letters, c) >= 0:
		n = len(rest) - len(strings.TrimLeft(rest, wordChars))
		n = len(strings.TrimRight(rest[:n], "[")) // pose[ 0 0 0 0 ]
		t.kind, t.text = kindWord, rest[:n]
		switch t.text {
		case "true", "false", "yes", "no":
			t.kind = kindBool
		}
	case strings.IndexByte(numberChars, c) >= 0:
		n = len(rest) - len(strings.TrimLeft(rest, numberChars))
		t.kind, t.text = kindNumber, rest[:n]
	case strings.IndexByte("()[]", c) >= 0:
		t.kind, t.text = kindPunct, rest[:1]
	default:
		_, n = utf8.DecodeRuneInString(rest)
		t.kind, t.text = kindBad, rest[:n]
	}
	s.offset += n
	return t
}

// lineLength returns the length of the first line of s, without its newline.
func lineLength(s string) int {
	if n := strings.IndexAny(s, "\r\n"); n >= 0 {
		return n
	}
	return len(s)
}
