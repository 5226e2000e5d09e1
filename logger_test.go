package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"
)

// Lines that nobody reads are dropped. The next line that is written reports how
// many.
func TestLogWithoutReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Fatal(err)
	}
	f := &lossyWriter{file: w}
	line := append(bytes.Repeat([]byte("x"), 199), '\n')
	const lines = 1000
	for range lines {
		if n, err := f.Write(line); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	if f.dropped == 0 || f.dropped >= lines {
		t.Fatalf("%d of %d lines were dropped", f.dropped, lines)
	}
	if _, err := r.Read(make([]byte, 1<<16)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("the last\n")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1<<16)
	n, err := r.Read(b)
	if err != nil || !strings.Contains(string(b[:n]), "log lines were dropped: nobody read them\nthe last\n") {
		t.Errorf("%q, %v", b[:n], err)
	}
}

func TestLevels(t *testing.T) {
	for _, debug := range []bool{false, true} {
		file := newOutput(t)
		log := newLogger(file.File, debug)
		log.Debug("small talk")
		log.Info("news", zap.Duration("after", time.Second))
		lines := strings.Split(strings.TrimSpace(file.text(t)), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, `"msg":"news","after":"1s"`) || (len(lines) == 2) != debug {
			t.Errorf("-debug=%v: %q", debug, lines)
		}
	}
}

// On a terminal the log is text.
func TestLogOnATerminal(t *testing.T) {
	terminal, program := openTerminal(t)
	newLogger(program, false).Info("news")
	line, err := bufio.NewReader(terminal).ReadString('\n')
	if err != nil || !strings.HasSuffix(line, "\tnews\r\n") || !strings.Contains(line, "INFO") {
		t.Errorf("%q, %v", line, err)
	}
}

// openTerminal returns both ends of a pseudo-terminal.
func openTerminal(t *testing.T) (terminal, program *os.File) {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	fd := int(terminal.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return terminal, program
}
