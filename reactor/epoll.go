package reactor

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// epoll is the number of an epoll: gnet's, or one of ours.
type epoll int

// inputEvents are the events that gnet polls for input.
const inputEvents = unix.EPOLLIN | unix.EPOLLPRI

func newEpoll() (epoll, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return 0, fmt.Errorf("cannot make an epoll: %w", err)
	}
	return epoll(fd), nil
}

func (e epoll) close() { _ = unix.Close(int(e)) } // an epoll has no data to lose

// add has the epoll report events of a descriptor.
func (e epoll) add(fd int, events uint32) error { return e.control(unix.EPOLL_CTL_ADD, fd, events) }

// set changes the events that are reported of a descriptor. It fails only if the descriptor was not
// added.
func (e epoll) set(fd int, events uint32) error { return e.control(unix.EPOLL_CTL_MOD, fd, events) }

// remove ends the reports. It fails only for a descriptor that was not added.
func (e epoll) remove(fd int) error { return e.control(unix.EPOLL_CTL_DEL, fd, 0) }

func (e epoll) control(operation, fd int, events uint32) error {
	return unix.EpollCtl(int(e), operation, fd, &unix.EpollEvent{Fd: int32(fd), Events: events})
}

// take takes the events that there are, without waiting, and returns their number. It does not pass
// through the Go scheduler (syscalls.go).
func (e epoll) take(events []unix.EpollEvent) int {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(e),
		uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// hasEvents reports whether the epoll has events. It does not take them.
func (e epoll) hasEvents() bool {
	polled := unix.PollFd{Fd: int32(e), Events: unix.POLLIN}
	var now unix.Timespec // zero: do not wait
	n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&polled)), 1,
		uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	return errno == 0 && n > 0
}
