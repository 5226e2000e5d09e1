package logging

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode"

	"go.uber.org/zap"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
	"golang.org/x/sys/unix"
)

// Format is how lines are written.
type Format string

const (
	Auto Format = ""     // Text in a terminal, otherwise JSON
	Text Format = "text" // for people: time, level, message, and fields as name=value
	JSON Format = "json" // an object a line
)

// Known reports whether there is such a format.
func (f Format) Known() bool { return f == Auto || f == Text || f == JSON }

// isTerminal reports whether a file is a terminal.
func isTerminal(file *os.File) bool {
	_, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS)
	return err == nil
}

// Greet writes lines as they are, if the log is Text in a terminal. Programs find the same facts in
// the lines of the log.
func Greet(log *zap.Logger, lines string) {
	if c := log.Core().(*core); c.greets {
		c.sink.put([]byte(lines))
	}
}

// clearLine clears the line of a terminal.
const clearLine = "\r\x1b[K"

// Show shows a state as the last line of the log, until the next line or state overwrites it. It
// reports false, and does nothing, unless the log is Text in a terminal.
func Show(log *zap.Logger, state string) bool {
	c := log.Core().(*core)
	if c.greets {
		c.sink.put([]byte(state))
	}
	return c.greets
}

// colours are escape sequences of a terminal. The zero value has none.
type colours struct{ dim, warn, bad, end string }

// coloursOf returns a terminal's colours, unless NO_COLOR forbids them (no-color.org).
func coloursOf(file *os.File) colours {
	if !isTerminal(file) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return colours{}
	}
	return colours{dim: "\x1b[2m", warn: "\x1b[33m", bad: "\x1b[31m", end: "\x1b[0m"}
}

// textEncoder writes a line for people.
type textEncoder struct {
	zapcore.Encoder // of everything but lines
	colours         colours
	pool            buffer.Pool
}

// EncodeEntry implements zapcore.Encoder.
func (t textEncoder) EncodeEntry(e zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	line := t.pool.Get()
	paint := func(colour, text string) {
		line.AppendString(colour)
		line.AppendString(text)
		if colour != "" {
			line.AppendString(t.colours.end)
		}
	}
	paint(t.colours.dim, e.Time.Format("15:04:05.000"))
	switch {
	case e.Level >= zapcore.ErrorLevel:
		paint(t.colours.bad, "  error: ")
	case e.Level == zapcore.WarnLevel:
		paint(t.colours.warn, "  warning: ")
	case e.Level == zapcore.DebugLevel:
		paint(t.colours.dim, "  debug: ")
	default:
		line.AppendString("  ")
	}
	line.AppendString(e.Message)
	gap := "  "
	for _, f := range fields {
		if f.Type == zapcore.SkipType {
			continue
		}
		line.AppendString(gap)
		gap = " "
		paint(t.colours.dim, f.Key+"=")
		line.AppendString(legible(f))
	}
	line.AppendString("\n")
	return line, nil
}

// legible returns the value of a field. Text is quoted if it has characters that seem to end it, or
// that a terminal may obey.
func legible(f zapcore.Field) string {
	values := zapcore.NewMapObjectEncoder()
	f.AddTo(values)
	text := fmt.Sprint(values.Fields[f.Key])
	unclear := func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '=' || !unicode.IsPrint(r) }
	if text == "" || strings.ContainsFunc(text, unclear) {
		return strconv.Quote(text)
	}
	return text
}
