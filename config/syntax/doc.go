// Package syntax reads the grammar shared by Player configuration files
// (*.cfg) and Stage world files (*.world).
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
// A comment runs from # to the end of the line and may stand anywhere but
// inside a tuple. A word is an ASCII letter followed by letters, digits and any
// of . - _ [ ] : so point[3] is one word, and a blank is needed between a field
// name and its tuple. A number is a run of + - . and digits, without exponent; a
// string stays on one line and knows no escapes. The value of a field stands on
// the line of its name; the ( of a section may follow on a later line, and a
// tuple may span lines. A newline is LF, CR, CRLF or LFCR.
//
// # Includes
//
// The named file takes the place of the statement. Its name is relative to the
// directory of the main file, also in nested includes. Each file is complete in
// itself: a section cannot be opened in one file and closed in another. Reading
// a file twice is allowed, reading a file within itself is an error.
//
// # Defines
//
// After define NAME TYPE ( ... ), a section NAME ( ... ) is a section of type
// TYPE that starts with the fields and sections of the define. Its own fields
// override those, each at its old place, and its own sections come after. TYPE
// may be a NAME defined before. Of a field given again only the elements given
// change: [1 2 3] overridden by [7] is [7 2 3].
//
// A name has one meaning in all files: defining it twice (other than by reading
// the same file twice), or after a section or define used it as a plain type, is
// an error.
//
// # Reading
//
// Fields at top level belong to [File.Global]. The getters of [Section] take a
// default, convert units, mark the field as used, and note a wrong type in the
// File: read everything, then look at [File.Err] once. [File.Unused] lists what
// nobody asked for.
//
// # Limits
//
// The text may come from a stranger. Size, nesting, includes and macro expansion
// are bounded; what exceeds a bound is refused with an [Error], at the place
// where it does.
package syntax
