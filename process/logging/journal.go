package logging

import (
	"fmt"
	"os"

	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
	"golang.org/x/sys/unix"
)

// isJournal reports whether a file is the stream to the journal. The service manager names its
// device and inode in JOURNAL_STREAM: systemd.exec(5).
func isJournal(file *os.File, stream string) bool {
	var stat unix.Stat_t
	return unix.Fstat(int(file.Fd()), &stat) == nil && stream == fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
}

// journalEncoder puts the priority before each line, as sd-daemon(3) describes.
type journalEncoder struct {
	zapcore.Encoder
	pool buffer.Pool
}

// EncodeEntry implements zapcore.Encoder.
func (j journalEncoder) EncodeEntry(e zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	line, err := j.Encoder.EncodeEntry(e, fields)
	if err != nil {
		return nil, err
	}
	prefixed := j.pool.Get()
	prefixed.AppendString(priority(e.Level))
	_, _ = prefixed.Write(line.Bytes()) // it cannot fail
	line.Free()
	return prefixed, nil
}

// priority is the priority of syslog(3).
func priority(level zapcore.Level) string {
	switch level {
	case zapcore.DebugLevel:
		return "<7>"
	case zapcore.InfoLevel:
		return "<6>"
	case zapcore.WarnLevel:
		return "<4>"
	case zapcore.ErrorLevel:
		return "<3>"
	}
	return "<2>" // DPanic, Panic, Fatal
}
