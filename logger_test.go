package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Nobody reads the log: lines are dropped, whoever logs goes on, and when it is
// read again it says how many are missing.
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
	f := &impatient{file: w}
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
