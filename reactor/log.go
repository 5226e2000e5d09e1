package reactor

import (
	"fmt"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// engineLog writes gnet's log to ours. gnet's greeting is for debugging, and so is its only warning:
// an event of a connection that the loop has closed in the same round of its epoll.
type engineLog struct {
	log          *zap.Logger
	acceptFailed func(reason any) // replaces the log line of a failed accept
}

func (l engineLog) Debugf(format string, args ...any) { l.write(zap.DebugLevel, format, args) }
func (l engineLog) Infof(format string, args ...any)  { l.write(zap.DebugLevel, format, args) }
func (l engineLog) Warnf(format string, args ...any)  { l.write(zap.DebugLevel, format, args) }
func (l engineLog) Fatalf(format string, args ...any) { l.write(zap.ErrorLevel, format, args) }

func (l engineLog) Errorf(format string, args ...any) {
	if strings.HasPrefix(format, acceptLine) && len(args) == 1 {
		l.acceptFailed(args[0])
		return
	}
	l.write(zap.ErrorLevel, format, args)
}

// write logs a line whose message has no values: the log counts lines of one message
// against their budget, and a descriptor's number would make each a message of its own.
func (l engineLog) write(level zapcore.Level, format string, args []any) {
	values := make([]string, len(args))
	for i, arg := range args {
		values[i] = fmt.Sprint(arg)
	}
	fixed := strings.NewReplacer("%v", "*", "%d", "*", "%s", "*").Replace(format) // gnet uses these verbs
	l.log.Log(level, "gnet: "+fixed, zap.Strings("values", values))
}
