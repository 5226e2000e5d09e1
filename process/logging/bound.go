package logging

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"player/codec/peertext"
)

// bound returns before followed by fields, each with at most limit bytes of text. A field of
// a type without a length limit becomes text.
func bound(before, fields []zapcore.Field, limit int) []zapcore.Field {
	bounded := slices.Grow(slices.Clip(before), len(fields))
	for _, f := range fields {
		limit := limit
		if f.Key == stackKey {
			limit *= stackFactor
		}
		f.Key = clip(f.Key, limit)
		switch f.Type {
		case zapcore.StringType:
			f.String = clip(f.String, limit)
		case zapcore.ByteStringType, zapcore.BinaryType:
			b := f.Interface.([]byte)
			f = zap.String(f.Key, clip(string(b[:min(len(b), limit+1)]), limit))
		case zapcore.ErrorType, zapcore.StringerType:
			f = zap.String(f.Key, clip(fmt.Sprint(f.Interface), limit)) // Sprint recovers from panics
		case zapcore.ReflectType, zapcore.ArrayMarshalerType, zapcore.ObjectMarshalerType, zapcore.InlineMarshalerType:
			f = zap.String(f.Key, clip(composed(f), limit))
		}
		bounded = append(bounded, f)
	}
	return bounded
}

// composed returns the text of a field with parts.
func composed(f zapcore.Field) string {
	parts := zapcore.NewMapObjectEncoder()
	f.AddTo(parts)
	if value, ok := parts.Fields[f.Key]; ok && len(parts.Fields) == 1 {
		return fmt.Sprint(value)
	}
	return fmt.Sprint(parts.Fields)
}

// ellipsis marks text that was cut.
const ellipsis = "..."

// asciiControls are the characters that JSON escapes, and so does textEncoder.
const asciiControls = "\x00\x01\x02\x03\x04\x05\x06\a\b\t\n\v\f\r\x0e\x0f" +
	"\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f"

// clip cuts text that takes more than limit bytes in JSON, between two characters. It escapes
// control characters of terminals, unless JSON does.
func clip(text string, limit int) string {
	text = peertext.Escape(text[:min(len(text), limit+utf8.UTFMax)], asciiControls)
	size, room := 0, 0 // the ellipsis fits behind text[:room]
	for i, r := range text {
		if size <= limit-len(ellipsis) {
			room = i
		}
		if size += escaped(r); size > limit {
			return text[:room] + ellipsis
		}
	}
	return text
}

// escaped returns the size of a character in a JSON string, in bytes, as clip and zap write it.
func escaped(r rune) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t':
		return 2
	case r < 0x20: // as \u0000
		return 6
	}
	return utf8.RuneLen(r)
}
