// Package terminals gives tests pseudo-terminals of the kernel: serial lines without
// hardware, and terminals without a person.
package terminals

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"player/e2e/needs"
)

// Open returns the far end of a new pseudo-terminal, which is closed when the test ends, and the
// path of the other one, which a program opens. Nothing is read from the far end in advance: the
// program's writes wait when the kernel's buffer is full.
func Open(t testing.TB) (far *os.File, path string) {
	t.Helper()
	needs.Programs(t)
	far, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() })
	raw, err := far.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	if controlErr := raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}); errors.Join(err, controlErr) != nil {
		t.Fatal(err, controlErr)
	}
	return far, fmt.Sprintf("/dev/pts/%d", number)
}

// OpenBoth is Open for a test that passes the program's end to a process.
func OpenBoth(t testing.TB) (far, program *os.File) {
	t.Helper()
	far, path := Open(t)
	program, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return far, program
}
