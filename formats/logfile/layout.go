package logfile

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"player/codec"
)

// maxColumns is the most columns of a table: a ranger has its unit and its readings.
const maxColumns = 1 + codec.MaxReadings

// layout is a parsed schema: it converts payloads to rows of a table.
type layout struct {
	columns []string
	fields  []field
	blobs   bool // vision: a row for each blob
	// repeats are the fields that follow again and again to the end of the payload, with the columns that they have each
	// time; # stands for the index.
	repeats      []field
	repeatedName []string
}

// repeatLine is the line of a schema behind which its fields repeat.
const repeatLine = "repeat"

// once is the size of the fields that repeat, in bytes; zero: there are none.
func (l *layout) once() (size int) {
	for _, f := range l.repeats {
		size += f.typ.size
	}
	return size
}

// repeated returns the number of values of the fields that repeat in payloads of a size.
func (l *layout) repeated(size int) int {
	once := l.once()
	if once == 0 {
		return 0
	}
	for _, f := range l.fields {
		size -= f.count * f.typ.size
	}
	return max(0, size/once) * len(l.repeats)
}

// header returns the columns of payloads of a size.
func (l *layout) header(size int) []string {
	once := l.once()
	for _, f := range l.fields {
		size -= f.count * f.typ.size
	}
	columns := slices.Clip(l.columns) // appended names go to a copy
	for i := 0; once > 0 && (i+1)*once <= size && len(columns) < maxColumns; i++ {
		for _, name := range l.repeatedName {
			columns = append(columns, strings.ReplaceAll(name, "#", strconv.Itoa(i)))
		}
	}
	return columns
}

// field is one line of a schema: count values of one type.
type field struct {
	typ   fieldType
	count int
}

// fieldType is the encoding of a value of size bytes. Size zero is the rest of
// the payload.
type fieldType struct {
	size    int
	append  func(dst, value []byte) []byte
	missing string // placeholder for a missing value
}

func fieldTypes() map[string]fieldType {
	be := binary.BigEndian
	return map[string]fieldType{
		"u8":   {size: 1, append: func(dst, v []byte) []byte { return strconv.AppendUint(dst, uint64(v[0]), 10) }},
		"u16":  {size: 2, append: func(dst, v []byte) []byte { return strconv.AppendUint(dst, uint64(be.Uint16(v)), 10) }},
		"u64":  {size: 8, append: func(dst, v []byte) []byte { return strconv.AppendUint(dst, be.Uint64(v), 10) }},
		"u32":  {size: 4, append: func(dst, v []byte) []byte { return strconv.AppendUint(dst, uint64(be.Uint32(v)), 10) }},
		"i16":  {size: 2, append: func(dst, v []byte) []byte { return strconv.AppendInt(dst, int64(int16(be.Uint16(v))), 10) }},
		"i32":  {size: 4, append: func(dst, v []byte) []byte { return strconv.AppendInt(dst, int64(int32(be.Uint32(v))), 10) }},
		"char": {size: 1, append: appendChar},
		"rest": {append: hex.AppendEncode},
	}
}

// appendChar appends a character that needs no quotes in a table, otherwise
// its code.
func appendChar(dst, v []byte) []byte {
	if c := v[0]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		return append(dst, c)
	}
	return strconv.AppendUint(dst, uint64(v[0]), 10)
}

// bits is the type of the n lowest bits of a byte, with one column for each.
func bits(n int) fieldType {
	return fieldType{missing: strings.Repeat(",", n-1), size: 1, append: func(dst, v []byte) []byte {
		for bit := range n {
			if bit > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, '0'+v[0]>>bit&1)
		}
		return dst
	}}
}

// unknown returns the layout of payloads without a schema.
func unknown() layout {
	return layout{columns: []string{"payload"}, fields: []field{{fieldTypes()["rest"], 1}}}
}

// parseLayout parses a schema. A schema that it cannot parse gives unknown.
func parseLayout(schema string) layout {
	if schema == "blobs" {
		return layout{columns: strings.Split("channel,area_px,x_px,y_px,left_px,right_px,top_px,bottom_px", ","), blobs: true}
	}
	types := fieldTypes()
	var l layout
	repeating := false
	for text := range strings.Lines(schema) {
		text = strings.TrimSuffix(text, "\n")
		if text == repeatLine && !repeating {
			repeating = true
			continue
		}
		typ, count, names, ok := parseLine(text)
		f := field{types[typ], 1}
		switch {
		case repeating && (!ok || f.typ.size == 0 || count != single || len(names) != 1):
			return unknown()
		case repeating:
			l.repeats, l.repeatedName = append(l.repeats, f), append(l.repeatedName, names[0])
			continue
		case !ok:
			return unknown()
		case typ == "bits8" && count == single && len(names) <= 8:
			f.typ = bits(len(names))
			l.columns = append(l.columns, names...)
		case f.typ.append == nil || len(names) != 1:
			return unknown()
		case count == single:
			l.columns = append(l.columns, names[0])
		default:
			f.count = count
			for i := range f.count {
				l.columns = append(l.columns, strings.ReplaceAll(names[0], "#", strconv.Itoa(i)))
			}
		}
		l.fields = append(l.fields, f)
		if len(l.columns) > maxColumns {
			return unknown()
		}
	}
	if len(l.columns)+len(l.repeats) == 0 {
		return unknown()
	}
	return l
}

// single is the count of a field that is not an array.
const single = -1

// parseLine parses a line of a schema, as "u16[16] s#": type, count and the names of
// the columns. The program has no other use for regular expressions, which would make
// it 250 kB larger.
func parseLine(line string) (typ string, count int, names []string, ok bool) {
	typ, columns, _ := strings.Cut(line, " ")
	names = strings.Split(columns, " ")
	for _, name := range names {
		if name == "" || strings.Trim(name, nameChars) != "" {
			return "", 0, nil, false
		}
	}
	typ, number, array := strings.Cut(typ, "[")
	if !array {
		return typ, single, names, true
	}
	number, closed := strings.CutSuffix(number, "]")
	n, err := strconv.ParseUint(number, 10, 16)
	return typ, int(n), names, closed && err == nil && n <= maxCount
}

// nameChars are the characters in the names of columns; # stands for the index.
const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_#"

// maxCount is the largest array of a schema. It bounds the memory for the columns
// of a hostile one before maxColumns is checked.
const maxCount = 9999

// appendRows appends the rows of one payload, each after the given first
// columns. Values missing from a short payload are left empty.
func (l *layout) appendRows(dst, first, payload []byte, vision *codec.VisionData) []byte {
	if l.blobs {
		return appendBlobs(dst, first, payload, vision)
	}
	dst = append(dst, first...)
	for i := range l.fields {
		f := &l.fields[i]
		for range f.count {
			dst = append(dst, ',')
			size := f.typ.size
			if size == 0 {
				size = len(payload)
			}
			if size > len(payload) {
				dst, payload = append(dst, f.typ.missing...), nil
				continue
			}
			dst = f.typ.append(dst, payload[:size])
			payload = payload[size:]
		}
	}
	for once := l.once(); once > 0 && len(payload) >= once; {
		for i := range l.repeats {
			f := &l.repeats[i]
			dst = f.typ.append(append(dst, ','), payload[:f.typ.size])
			payload = payload[f.typ.size:]
		}
	}
	return append(dst, '\n')
}

// appendBlobs appends a row for each blob, or one row without values if there
// are none.
func appendBlobs(dst, first, payload []byte, v *codec.VisionData) []byte {
	_ = v.Decode(payload) // an invalid payload has no blobs
	if len(v.Blobs) == 0 {
		dst = append(dst, first...)
		return append(dst, ",,,,,,,,\n"...)
	}
	for channel := range v.Count {
		for _, b := range v.Channel(channel) {
			dst = append(dst, first...)
			for _, value := range [...]int{channel, b.Area, b.X, b.Y, b.Left, b.Right, b.Top, b.Bottom} {
				dst = append(dst, ',')
				dst = strconv.AppendInt(dst, int64(value), 10)
			}
			dst = append(dst, '\n')
		}
	}
	return dst
}
