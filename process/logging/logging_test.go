package logging

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/terminals"
)

// newFile returns a file, which is closed when the test ends.
func newFile(t *testing.T) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	must.Do(t, err)
	t.Cleanup(func() { file.Close() })
	return file
}

// newLog returns a logger that writes to a file, and a function that returns the text of the file.
func newLog(t *testing.T, file *os.File, debug bool) (log *zap.Logger, text func() string) {
	log = New(file, Auto, debug)
	return log, func() string {
		t.Helper()
		syncErr := log.Sync()
		text, err := os.ReadFile(file.Name())
		must.Do(t, errors.Join(syncErr, err))
		return string(text)
	}
}

func TestLevels(t *testing.T) {
	for _, debug := range []bool{false, true} {
		log, text := newLog(t, newFile(t), debug)
		log.Debug("small talk")
		log.Info("news", zap.Duration("after", time.Second))
		lines := strings.Split(strings.TrimSpace(text()), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, `"msg":"news","after":"1s"`) || (len(lines) == 2) != debug {
			t.Errorf("-debug=%v: %q", debug, lines)
		}
	}
}

// object and list are values with parts.
type object struct{ text string }

func (o object) MarshalLogObject(e zapcore.ObjectEncoder) error {
	e.AddString("first", o.text)
	return e.AddReflected("second", []string{o.text})
}

func (o object) String() string { return o.text }

type panics struct{}

func (*panics) Error() string  { panic("no text") }
func (*panics) String() string { panic("no text") }

type unreadable struct{}

func (unreadable) MarshalLogObject(zapcore.ObjectEncoder) error { return errors.New("unreadable") }

// hostile are texts that a stranger may send.
var hostile = []string{
	"", "short", `"quoted" \path`, strings.Repeat("a", 300), strings.Repeat("x", 100_000), strings.Repeat("\x00", 5000), strings.Repeat("\n", 5000),
	strings.Repeat("\xFF", 5000), strings.Repeat("é", 5000), strings.Repeat("日", 5000), strings.Repeat(`"`, 5000), strings.Repeat("\x1b[2J", 999),
	strings.Repeat("\u009b2J", 999), strings.Repeat("\x7F", 999), "a\nb\r\n{\"level\":\"info\"}\n", "\xE6\x97", strings.Repeat("\u2028", 999), strings.Repeat("\uFFFD", 999),
}

// kinds are the fields that a text can be logged by.
var kinds = map[string]func(key, text string) zap.Field{
	"string":  zap.String,
	"bytes":   func(key, text string) zap.Field { return zap.ByteString(key, []byte(text)) },
	"binary":  func(key, text string) zap.Field { return zap.Binary(key, []byte(text)) },
	"pointer": func(key, text string) zap.Field { return zap.Stringp(key, &text) },
	"error":   func(key, text string) zap.Field { return zap.NamedError(key, errors.New(text)) },
	"wrapped": func(key, text string) zap.Field {
		return zap.NamedError(key, fmt.Errorf("%s: %w", text, errors.New(text)))
	},
	"joined": func(key, text string) zap.Field {
		return zap.NamedError(key, errors.Join(errors.New(text), errors.New(text)))
	},
	"stringer":     func(key, text string) zap.Field { return zap.Stringer(key, object{text}) },
	"reflect":      func(key, text string) zap.Field { return zap.Reflect(key, map[string]any{text: []string{text}}) },
	"any":          func(key, text string) zap.Field { return zap.Any(key, struct{ Text string }{text}) },
	"strings":      func(key, text string) zap.Field { return zap.Strings(key, []string{text, text}) },
	"byte strings": func(key, text string) zap.Field { return zap.ByteStrings(key, [][]byte{[]byte(text)}) },
	"errors":       func(key, text string) zap.Field { return zap.Errors(key, []error{errors.New(text)}) },
	"object":       func(key, text string) zap.Field { return zap.Object(key, object{text}) },
	"inline":       func(_, text string) zap.Field { return zap.Inline(object{text}) },
	"dict":         func(key, text string) zap.Field { return zap.Dict(key, zap.String(text, text)) },
	"key":          func(_, text string) zap.Field { return zap.Int(text, 1) },
	"namespace":    func(_, text string) zap.Field { return zap.Namespace(text) },
	"stack":        func(_, text string) zap.Field { return zap.String("stack", text) },
	"panics":       func(key, _ string) zap.Field { return zap.NamedError(key, (*panics)(nil)) },
	"panics also":  func(key, _ string) zap.Field { return zap.Stringer(key, &panics{}) },
	"unreadable":   func(key, _ string) zap.Field { return zap.Object(key, unreadable{}) },
}

// limitOf returns how long the text of a field may be.
func limitOf(key string) int {
	if key == "stack" {
		return 6 * 256
	}
	return 256
}

// checkLine checks one line of the log: JSON on one line, and nothing in it is too
// long.
func checkLine(t *testing.T, line []byte) {
	t.Helper()
	if len(line) > 2048 || !utf8.Valid(line) || bytes.IndexByte(line, '\n') != len(line)-1 || bytes.ContainsAny(line, "\x00\x1b\x7f\u009b") {
		t.Errorf("line of %d bytes: %.300q", len(line), line)
	}
	var check func(fields map[string]json.RawMessage)
	check = func(fields map[string]json.RawMessage) {
		for key, value := range fields {
			var inner map[string]json.RawMessage
			if json.Unmarshal(value, &inner) == nil {
				check(inner)
			} else if len(key) > 256 || len(value) > limitOf(key)+len(`""`) {
				t.Errorf("field of %d bytes: %.100q: %.300s", len(value), key, value)
			}
		}
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		t.Errorf("%v: %.300q", err, line)
	}
	check(fields)
}

// A line is short and is one line, with every text in every kind of field.
func TestLinesAreBounded(t *testing.T) {
	acceptance.Alone(t)
	needs.Time(t)
	var out bytes.Buffer
	for name, field := range kinds {
		for _, text := range hostile {
			for _, log := range []func(*zap.Logger){
				func(l *zap.Logger) { l.Info("news", field("what", text)) },
				func(l *zap.Logger) { l.With(field("what", text)).Info("news", zap.Bool("last", true)) },
				func(l *zap.Logger) {
					l.With(zap.Namespace("inner"), field("a", text)).Info("news", field("b", text), field("c", text), field("stack", text))
				},
				func(l *zap.Logger) {
					for i := range 30 {
						l = l.With(field(fmt.Sprint(i), text))
					}
					l.Warn("news")
				},
				func(l *zap.Logger) { l.Info(text, field("what", text)) },
				func(l *zap.Logger) { l.Named(text).Info("news") },
			} {
				l := New(os.Stderr, Auto, false)
				c := l.Core().(*core)
				c.encoder = zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
				c.sink = &sink{file: &out, encode: c.encode}
				log(l)
				must.Do(t, l.Sync())
				if out.Len() == 0 {
					t.Fatalf("%s: nothing is logged", name)
				}
				checkLine(t, out.Bytes())
				out.Reset()
			}
		}
	}
}

// A field that fits is not changed.
func TestShortFields(t *testing.T) {
	log, text := newLog(t, newFile(t), false)
	fits := strings.Repeat("é", 128)
	log.With(zap.String("client", "10.0.0.7:6665")).Info("news",
		zap.Int("n", -3), zap.Float64("x", 0.5), zap.Bool("b", true), zap.Uint8("u", 255), zap.Error(nil), zap.Error(errors.New(`open "x"`)),
		zap.Stringer("nil", (*panics)(nil)), zap.String("fits", fits), zap.String("does not", fits+"é"), zap.Strings("list", []string{"a", "b"}),
		zap.Namespace("inner"), zap.ByteString("bytes", []byte("m\x01")), zap.Object("object", object{"o"}))
	want := `"msg":"news","client":"10.0.0.7:6665","n":-3,"x":0.5,"b":true,"u":255,"error":"open \"x\"","nil":"<nil>","fits":"` + fits +
		`","does not":"` + strings.Repeat("é", 126) + `...","list":"[a b]","inner":{"bytes":"m\u0001","object":"map[first:o second:[o]]"}}` + "\n"
	if got := text(); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant the end\n%s", got, want)
	}
}

// On a terminal the log is text, and a stranger cannot control the terminal.
func TestTerminal(t *testing.T) {
	terminal, program := terminals.OpenBoth(t)
	log := New(program, Auto, false)
	lines := bufio.NewReader(terminal)
	next := func(check func(line string) bool) {
		t.Helper()
		if line, err := lines.ReadString('\n'); err != nil || !check(line) {
			t.Errorf("%q, %v", line, err)
		}
	}
	log.Info("news")
	next(func(line string) bool { return strings.HasSuffix(line, "\x1b[0m  news\r\n") })
	log.Info("two\nlines \x1b[2J", zap.String("text", "\x1b]0;title\x07 \u009b2J \n"))
	const escaped = "  two lines  [2J  \x1b[2mtext=\x1b[0m\"\\x1b]0;title\\a \\\\u009b2J \\n\"\r\n"
	next(func(line string) bool { // with four escape sequences: the colours of the time and of the name
		return strings.Count(line, "\x1b") == 4 && strings.HasSuffix(line, escaped)
	})
	log.With(zap.Int("robot", 1)).Warn("mind", zap.Duration("after", time.Second), zap.Error(nil), zap.String("empty", ""))
	next(func(line string) bool {
		plain := regexp.MustCompile("\x1b\\[\\d+m").ReplaceAllString(line, "")
		return strings.HasSuffix(plain, "  warning: mind  robot=1 after=1s empty=\"\"\r\n") && strings.Contains(line, "\x1b[33m")
	})
	Greet(log, "hello\n")
	next(func(line string) bool { return line == "hello\r\n" })
	log = New(program, JSON, false)
	Greet(log, "hello\n") // not for programs
	log.Info("news")
	next(func(line string) bool { return strings.HasPrefix(line, `{"level":"info"`) })
	t.Setenv("NO_COLOR", "1")
	New(program, Auto, false).Info("news")
	next(func(line string) bool { return !strings.Contains(line, "\x1b") })
}
