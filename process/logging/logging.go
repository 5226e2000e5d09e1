// Package logging is the program's log. A field has at most 256 bytes, a line at most 2 KiB, and
// equal messages at most 100 lines in 10 s. No caller waits for the reader of the log.
package logging

import (
	"io"
	"os"
	"strings"
	"unicode"

	"go.uber.org/zap"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
)

const (
	// maxLine bounds a line with its newline, in bytes. A pipe takes up to 4096 bytes in one
	// piece, so lines of several programs that write to one pipe do not mix.
	maxLine = 2048
	// maxField bounds the text of the message and of each field, in bytes with escapes and without
	// quotes. A path or an error with its causes fits.
	maxField = 256
	// stackKey is the field of a goroutine's stack. It may be stackFactor times as
	// long as others: in a shorter one the frames that matter are cut off.
	stackKey    = "stack"
	stackFactor = 6
	// minField is the lowest limit to which the fields of a long line are cut, in bytes. A line
	// that is still too long is written without fields.
	minField = 16
)

// New returns a logger that writes to a file in a format, with the priority before each
// line if the file is the journal's. Sync waits until the lines are written, for at most
// syncLimit.
func New(file *os.File, format Format, debug bool) *zap.Logger {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.ISO8601TimeEncoder
	config.EncodeDuration = zapcore.StringDurationEncoder
	plain := zapcore.NewJSONEncoder(config)
	encode := plain.Clone()
	if format == Text || format == Auto && isTerminal(file) {
		encode = textEncoder{plain, coloursOf(file), buffer.NewPool()}
	}
	level := zapcore.InfoLevel
	if debug {
		level = zapcore.DebugLevel
	}
	if isJournal(file, os.Getenv("JOURNAL_STREAM")) {
		encode = journalEncoder{encode, buffer.NewPool()}
	}
	c := newCore(encode, plain, level, file)
	c.greets = format != JSON && isTerminal(file)
	return zap.New(c)
}

// core is a zapcore.Core that bounds fields and lines.
type core struct {
	zapcore.LevelEnabler
	encoder zapcore.Encoder // without fields
	fields  []zapcore.Field // of With, bounded
	sink    *sink
	plain   zapcore.Encoder // of the tail
	tail    *Tail
	greets  bool // the file is a terminal, and the log is text
}

func newCore(encoder, plain zapcore.Encoder, level zapcore.LevelEnabler, file io.Writer) *core {
	c := &core{LevelEnabler: level, encoder: encoder, plain: plain, tail: &Tail{}}
	c.sink = &sink{file: file, encode: c.encode}
	return c
}

// With implements zapcore.Core.
func (c *core) With(fields []zapcore.Field) zapcore.Core {
	with := *c
	with.fields = bound(c.fields, fields, maxField)
	return &with
}

// Check implements zapcore.Core. A line over the budget is not encoded.
func (c *core) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) && c.sink.allow(e) {
		return checked.AddCore(e, c)
	}
	return checked
}

// Write implements zapcore.Core.
func (c *core) Write(e zapcore.Entry, fields []zapcore.Field) error {
	line, err := c.encode(e, bound(c.fields, fields, maxField))
	if err != nil {
		return err
	}
	c.sink.put(line.Bytes())
	line.Free()
	return nil
}

// Sync implements zapcore.Core.
func (c *core) Sync() error { return c.sink.sync() }

// encode makes a line of at most maxLine bytes, and keeps it in the tail. It shortens
// bounded fields until the line fits.
func (c *core) encode(e zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	e = zapcore.Entry{Level: e.Level, Time: e.Time, Message: message(e.Message)}
	for limit := maxField / 2; ; limit /= 2 {
		line, err := c.encoder.EncodeEntry(e, fields)
		if err != nil || line.Len() <= maxLine {
			c.keep(e, fields)
			return line, err
		}
		line.Free()
		if limit < minField {
			fields = nil
		}
		fields = bound(nil, fields, limit)
	}
}

// keep adds a line to the tail.
func (c *core) keep(e zapcore.Entry, fields []zapcore.Field) {
	if line, err := c.plain.EncodeEntry(e, fields); err == nil {
		c.tail.add(line.Bytes())
		line.Free()
	}
}

// message bounds a message. It is not quoted on a terminal, so its control characters are
// replaced.
func message(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, clip(text, maxField))
}
