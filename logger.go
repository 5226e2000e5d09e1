package main

import (
	"fmt"
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/sys/unix"
)

// newLogger returns a logger that writes to a file: text if it is a terminal,
// otherwise JSON. It drops lines that would block.
func newLogger(file *os.File, debug bool) *zap.Logger {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.ISO8601TimeEncoder
	config.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder
	if _, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS); err == nil {
		encoder = zapcore.NewConsoleEncoder
		config.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
		config.EncodeLevel = zapcore.CapitalColorLevelEncoder
	}
	level := zapcore.InfoLevel
	if debug {
		level = zapcore.DebugLevel
	}
	// No sampling: whoever logs limits the rate of its lines.
	return zap.New(zapcore.NewCore(encoder(config), zapcore.Lock(zapcore.AddSync(&lossyWriter{file: file})), level))
}

// lossyWriter writes lines to a file and drops those that would block. The loop
// logs, and motors must not wait for a paused terminal or a program that no
// longer reads its input.
type lossyWriter struct {
	file    *os.File
	dropped int // lines since the last one written
}

// Write writes or drops one line. A pipe that poll(2) reports as writable has
// room for 4096 bytes, more than a line has.
func (w *lossyWriter) Write(line []byte) (int, error) {
	ready := []unix.PollFd{{Fd: int32(w.file.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(ready, 0)
	for err == unix.EINTR {
		n, err = unix.Poll(ready, 0)
	}
	if err == nil && n == 0 {
		w.dropped++
		return len(line), nil
	}
	text := line
	if w.dropped > 0 {
		text = append(fmt.Appendf(nil, "%d log lines were dropped: nobody read them\n", w.dropped), line...)
		w.dropped = 0
	}
	if _, err := w.file.Write(text); err != nil {
		return 0, err
	}
	return len(line), nil
}
