// Package poll stands in for the package of this name that goserial imports.
// That one calls poll(2) by number, which arm64 and riscv64 do not have, so
// goserial would not build for them. This one is ours, has only what goserial
// uses, and works everywhere (docs/DECISIONS.md).
package poll

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// WaitInput waits until fd has bytes to be read. The error is
// os.ErrDeadlineExceeded after timeout; a negative timeout waits for ever.
func WaitInput(fd int, timeout time.Duration) error {
	var limit *unix.Timespec
	if timeout >= 0 {
		ts := unix.NsecToTimespec(int64(timeout))
		limit = &ts
	}
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Ppoll(fds, limit, nil)
	switch {
	case err != nil:
		return os.NewSyscallError("ppoll", err)
	case n == 0:
		return os.ErrDeadlineExceeded
	case fds[0].Revents&unix.POLLIN == 0:
		return errors.New("the descriptor is closed or broken")
	}
	return nil
}
