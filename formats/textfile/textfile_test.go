package textfile_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"player/e2e/must"
	"player/formats/textfile"
)

// encoded returns text in UTF-16, with or without a byte order mark.
func encoded(text string, order binary.AppendByteOrder, mark bool) (data []byte) {
	if mark {
		text = "\ufeff" + text
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		data = order.AppendUint16(data, unit)
	}
	return data
}

func TestClean(t *testing.T) {
	t.Parallel()
	const text = "# Räder\r\nname \"r0\"\n"
	for _, tt := range []struct{ name, data, want, err string }{
		{"plain", text, text, ""},
		{"marked", "\ufeff" + text, text, ""},
		{"mark only", "\ufeff", "", ""},
		{"nothing", "", "", ""},
		{"a mark within is left", "a\ufeff", "a\ufeff", ""},
		{"Latin-1", "# R\xe4der", "# R\xe4der", ""},
		{"UTF-16, little endian", string(encoded(text, binary.LittleEndian, true)), "", "save it as UTF-8"},
		{"UTF-16, big endian", string(encoded(text, binary.BigEndian, true)), "", "save it as UTF-8"},
		{"UTF-16 without a mark", string(encoded(text, binary.LittleEndian, false)), "", "save it as UTF-8"},
		{"UTF-16 without a mark, big endian", string(encoded(text, binary.BigEndian, false)), "", "save it as UTF-8"},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", "", "save it as UTF-8"},
		{"NUL", "a 1\r\nb 2\rc \x00\n", "", "line 3 has a NUL byte"},
		{"zeros", "\x00\x00\x00\x00", "", "line 1 has a NUL byte"},
	} {
		got, err := textfile.Clean([]byte(tt.data))
		if string(got) != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.txt")
	for data, want := range map[string]string{"\ufeffa\r\nb\rc\n\r\n": "a\nb\nc\n\n", "a\x00": ""} {
		must.Do(t, os.WriteFile(path, []byte(data), 0o600))
		got, err := textfile.Read(path)
		if string(got) != want || (err != nil) != (want == "") || err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %q, %v", data, got, err)
		}
	}
	if _, err := textfile.Read(path + "?"); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}
