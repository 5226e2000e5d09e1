package reactor

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Some system calls are made directly, without Go's scheduler and x/sys: for each frame, for each
// check of a network, and for each wake (epoll.go). They do not block.

// writeNow writes to a descriptor that does not block. It returns how many bytes the kernel took, and
// the error, zero if there is none. If Go's scheduler knew of the write, it would take the processor
// away after 20 us, and the loop would have to get it back. On a full machine that was a fifth of the
// cost of a frame (DECISIONS).
func writeNow(fd int, p []byte) (int, unix.Errno) {
	if len(p) == 0 {
		return 0, 0
	}
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	switch errno {
	case 0:
		return int(n), 0
	case unix.EAGAIN, unix.EINTR:
		return 0, 0
	}
	return 0, errno
}

// transmitting reports whether packets of a socket wait in this computer: in a queue of the
// kernel, or in the network adapter. SO_MEMINFO returns nine 32-bit numbers, of which the third
// counts the memory of such packets. x/sys has no function for it that does not allocate.
func transmitting(fd int) bool {
	var info [9]uint32
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	return errno == 0 && info[2] >= leastPacket
}

// leastPacket is the memory of the smallest packet with data, in bytes. One without data, an
// acknowledgement, counts one or two.
const leastPacket = 64
