package main

import (
	"fmt"
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/sys/unix"
)

// newLogger logs to standard error: lines for a person on a terminal, JSON for
// a program elsewhere. It drops lines rather than wait for a reader.
func newLogger(debug bool) *zap.Logger {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.ISO8601TimeEncoder
	config.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder
	if _, err := unix.IoctlGetTermios(int(os.Stderr.Fd()), unix.TCGETS); err == nil {
		encoder = zapcore.NewConsoleEncoder
		config.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
		config.EncodeLevel = zapcore.CapitalColorLevelEncoder
	}
	level := zapcore.InfoLevel
	if debug {
		level = zapcore.DebugLevel
	}
	// No sampling: complaints are rate-limited where they arise.
	return zap.New(zapcore.NewCore(encoder(config), zapcore.Lock(&impatient{file: os.Stderr}), level))
}

// impatient is a file that lines are written to as long as it takes them at
// once. The loop logs, and motors must not wait for a terminal that is held or
// a program that has stopped reading.
type impatient struct {
	file    *os.File
	dropped int // lines since the last one that was written
}

// Write writes a line, or drops it. A pipe that says it is ready has room for
// 4096 bytes, more than a line has.
func (f *impatient) Write(line []byte) (int, error) {
	ready := []unix.PollFd{{Fd: int32(f.file.Fd()), Events: unix.POLLOUT}}
	if n, err := unix.Poll(ready, 0); err == nil && n == 0 {
		f.dropped++
		return len(line), nil
	}
	if f.dropped > 0 {
		line = append(fmt.Appendf(nil, "%d log lines were dropped: nobody read them\n", f.dropped), line...)
		f.dropped = 0
	}
	return f.file.Write(line)
}

// Sync has nothing to do: lines are not kept.
func (f *impatient) Sync() error { return nil }
