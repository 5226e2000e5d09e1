package evidence

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.uber.org/zap/zapcore"
)

// most bounds the lines of a Log. A port that makes noise logs one a second.
const most = 500

// secret are the fields of messages that are left out: texts that people have chosen, and places. Paths and addresses in
// other fields are found by Cleaner.
var secret = []string{"name", "line", "port", "path", "file", "config", "address", "url", "client", "server"}

// Log keeps the messages of a run, at most 500. It is a zapcore.Core, whose methods any goroutine may call.
type Log struct {
	zapcore.LevelEnabler
	fields []zapcore.Field
	*kept
}

type kept struct {
	mu    sync.Mutex
	lines []string
}

// NewLog returns a log of the messages from information on.
func NewLog() *Log { return &Log{LevelEnabler: zapcore.InfoLevel, kept: &kept{}} }

// Lines returns the messages, the oldest first.
func (l *Log) Lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// With implements zapcore.Core.
func (l *Log) With(fields []zapcore.Field) zapcore.Core {
	return &Log{LevelEnabler: l.LevelEnabler, fields: slices.Concat(l.fields, fields), kept: l.kept}
}

// Check implements zapcore.Core.
func (l *Log) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if l.Enabled(e.Level) {
		return checked.AddCore(e, l)
	}
	return checked
}

// Write implements zapcore.Core.
func (l *Log) Write(e zapcore.Entry, fields []zapcore.Field) error {
	values := zapcore.NewMapObjectEncoder()
	for _, f := range slices.Concat(l.fields, fields) {
		f.AddTo(values)
	}
	var line strings.Builder
	fmt.Fprintf(&line, "%s %s", e.Level, e.Message)
	for _, key := range sorted(values.Fields) {
		if !slices.Contains(secret, key) {
			fmt.Fprintf(&line, " %s=%v", key, values.Fields[key])
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) < most {
		l.lines = append(l.lines, line.String())
	}
	return nil
}

// Sync implements zapcore.Core.
func (l *Log) Sync() error { return nil }
