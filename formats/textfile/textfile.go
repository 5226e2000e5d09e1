// Package textfile reads text as editors write it: with or without a byte order mark, with lines
// that end in LF, CRLF or CR.
package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
)

// errUTF16 refuses text in two or four bytes for each character, which some editors call Unicode.
var errUTF16 = errors.New("it is text in UTF-16: save it as UTF-8")

// Clean returns the text of a file without the byte order mark that some editors begin it with.
// Text in UTF-16 is an error, and so is data with a NUL byte: it is no text.
func Clean(data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	at := bytes.IndexByte(data, 0)
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}),
		at == 0 && len(data) > 1 && data[1] != 0, // without a mark, the high byte of a letter first
		at == 1:                                  // or the low one
		return nil, errUTF16
	case at >= 0:
		return nil, fmt.Errorf("it is no text: line %d has a NUL byte", 1+bytes.Count(Lines(data[:at]), []byte("\n")))
	}
	return data, nil
}

// Lines returns the text with lines that end in LF.
func Lines(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
}

// Read returns the text of the file at path, as Clean and Lines return it. The error names the file.
func Read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if data, err = Clean(data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return Lines(data), nil
}
