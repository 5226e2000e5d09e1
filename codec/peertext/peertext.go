// Package peertext makes a peer's text safe to show, to log, or to use in a path: names of
// robots, cameras, devices and clients, versions, reasons of errors. A peer is any other program
// or computer, and hardware. Text goes through this package where it leaves the program; within
// it names stay as they are, because peers use them as identifiers.
package peertext

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxLine is the most bytes of a text that Line takes: more than any reason that a
	// server sends (codec.MaxAnswer), but one name cannot fill a screen.
	maxLine = 2048
	// maxFileName bounds FileName, in bytes: a file system allows 255, and callers add a date and
	// an extension.
	maxFileName = 100
	// ellipsis marks the end of text that was cut.
	ellipsis = "..."
)

// Line returns text as one line for people. Only printable characters and spaces stay. Others
// are escaped as in Go: control characters, which a terminal obeys, characters that change the
// direction of writing or have no width, and bytes that are not UTF-8. At most 2048 bytes of
// text are shown, and "..." for the rest.
func Line(text string) string { return Escape(bounded(text), "") }

// Lines is Line for each line of a text with several, such as a list of errors. Tabs stay.
func Lines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Escape(bounded(line), "\t")
	}
	return strings.Join(lines, "\n")
}

func bounded(line string) string {
	if len(line) > maxLine {
		return cut(line, maxLine) + ellipsis
	}
	return line
}

// Escape is Line without its bound, and leaves the characters in keep as they are.
func Escape(text, keep string) string {
	plain := func(r rune) bool { return unicode.IsPrint(r) || strings.ContainsRune(keep, r) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case plain(r):
			b.WriteRune(r)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		text = text[size:]
	}
	return b.String()
}

// JSON returns valid JSON with the characters escaped that Line would escape. Programs read the
// same from it.
func JSON(text []byte) ([]byte, error) {
	if !json.Valid(text) {
		return nil, errors.New("it is not JSON")
	}
	var escaped []byte
	for _, r := range string(text) { // bytes that are not UTF-8 become U+FFFD, as in readers of JSON
		switch high, low := utf16.EncodeRune(r); {
		case r == '\r': // between tokens: in strings it is escaped
			escaped = append(escaped, ' ')
		case unicode.IsPrint(r), r == '\n', r == '\t':
			escaped = utf8.AppendRune(escaped, r)
		case r <= 0xFFFF:
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		default:
			escaped = fmt.Appendf(escaped, `\u%04x\u%04x`, high, low)
		}
	}
	return escaped, nil
}

// FileName returns a name for a file in a folder, without an extension, that shows a name: of 1 to
// 100 bytes, letters, digits, "-", "_" and ".". It is no path, no hidden file, no flag, and no
// device of Windows. Two names may have one file name, so files are created exclusively.
func FileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune("-_.", r) {
			return '_'
		}
		return r
	}, cut(name, maxFileName))
	name = strings.TrimRight(name, ".")
	if reserved(name) || name == "" || strings.ContainsAny(name[:1], ".-") {
		name = cut("_"+name, maxFileName)
	}
	return name
}

// reserved reports whether Windows has a device of that name: logs are also stored on its disks.
func reserved(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	port := len(stem) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT"))
	return port || slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, stem)
}

// File returns a path in a folder: the file name that FileName makes of a name, with an extension.
func File(folder, name, extension string) string {
	return filepath.Join(folder, FileName(name)+extension)
}

// cut returns the beginning of text with at most size bytes, without half a character.
func cut(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}
