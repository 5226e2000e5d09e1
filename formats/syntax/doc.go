// Package syntax reads the common grammar of Player configuration files (*.cfg) and Stage
// world files (*.world).
//
// # Grammar
//
//	file    := { include | define | plugin | section | field }
//	include := 'include' "file" EOL
//	define  := 'define' NAME TYPE '(' { field | section } ')'
//	plugin  := 'plugin' "name" EOL
//	section := WORD '(' { field | section } ')'
//	field   := WORD ( number | "string" | true | false | yes | no | tuple )
//	tuple   := '[' { number | "string" } ']'
//
// A comment runs from # to the end of the line and may appear anywhere except inside a
// tuple. A word is an ASCII letter followed by letters, digits and any of . - _ [ ] : so
// point[3] is one word, and a blank is needed before or behind the [ of a tuple. A number
// is a run of + - . and digits, without exponent; a string stays on one line, has no
// escapes, and is enclosed in " or, with a " in it, in '. The value of a field is on the
// line of its name; the ( of a section may follow on a later line, and a tuple may span
// lines. A newline is LF, CR, CRLF or LFCR. The byte order mark that some editors begin a
// file with is skipped; text in UTF-16 is refused.
//
// # Includes
//
// The named file replaces the statement. Its name is relative to the directory
// of the main file, also in nested includes. Each file is complete: a section
// cannot be opened in one file and closed in another. Including a file twice
// is allowed, including a file within itself is an error.
//
// # Defines
//
// After define NAME TYPE ( ... ), a section NAME ( ... ) is a section of type TYPE that
// starts with the fields and sections of the define. Its own fields override the define's,
// and its own sections are added at the end. TYPE may be another NAME. If a tuple is
// overridden, only the given elements change: [1 2 3] overridden by [7] is [7 2 3].
//
// A section has the last define of its name above it. Within a define, a name without a
// define above it has the last one above the place where the outer define is used, as in
// Stage. [File.Redefined] lists the defines of a name that already has one, other than by
// including the same file twice: worlds have such defines, in a configuration they are
// mistakes. It is an error to define a name after a section used it as a plain type.
//
// # Reading
//
// Fields at top level belong to [File.Global]. The getters of [Section] take a default,
// convert units, mark the field as used, and record a wrong type in the File: read
// everything, then check [File.Err] once. [File.Unused] lists the fields and sections that
// no getter read.
//
// # Limits
//
// The text may come from an untrusted source. Size, nesting, includes and
// macro expansion are bounded; text that exceeds a bound is refused with an
// [Error] at that place.
package syntax
