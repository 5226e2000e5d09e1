package reactor

import (
	"errors"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// How the server notices that a client is gone without having said so
// (PROTOCOL 9.1): a laptop that walked out of range sends no FIN.
const (
	// The kernel probes an idle connection: after 5 s, then three times in 3 s
	// each, so that it is closed after 14 s. With frames under way the kernel
	// does not probe; then silenceLimit holds, looked at once a second. Together:
	// closed within 15 s.
	keepAliveIdle     = 5 * time.Second
	keepAliveInterval = 3 * time.Second
	keepAliveCount    = 3
	silenceLimit      = 13 * time.Second

	// A client that could leave motors running is watched more closely: it is
	// probed every second that it is idle, looked at four times a second, and
	// has to be heard of within driverSilence. A shorter limit would stop
	// robots on links that drop a packet or two; with it the motors stop
	// within two seconds.
	driverProbe   = 1 // s, idle time and interval of keep-alive probes
	driverCheck   = 250 * time.Millisecond
	driverSilence = 1500 * time.Millisecond
)

var (
	errNotReading = errors.New("it asks but does not read the replies")
	errSilent     = errors.New("its link has been dead for 13 s")
)

// watchDriver keeps reactor.drivers up to date with what a session may do.
func (r *Reactor) watchDriver(now time.Duration, c *client) {
	drives := !c.gone && c.session.Drives()
	if drives == c.drives {
		return
	}
	c.drives = drives
	if !drives {
		r.drivers = slices.DeleteFunc(r.drivers, func(o *client) bool { return o == c })
		return
	}
	r.drivers = append(r.drivers, c)
	// Errors leave the slower probes of the listener in place.
	_ = unix.SetsockoptInt(c.conn.Fd(), unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, driverProbe)
	_ = unix.SetsockoptInt(c.conn.Fd(), unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, driverProbe)
	_ = unix.SetsockoptInt(c.conn.Fd(), unix.IPPROTO_TCP, unix.TCP_KEEPCNT, int(silenceLimit/time.Second)-1)
	if !r.liveness.Armed() {
		r.queue.Set(r.liveness, now+driverCheck)
	}
}

// checkDrivers stops the motors of clients that have gone silent.
func (r *Reactor) checkDrivers(now time.Duration) time.Duration {
	for _, c := range r.drivers {
		silent := c.silence() > driverSilence
		if silent && !c.silent {
			c.session.Halt(now)
			c.Log().Warn("client has gone silent, its motors are stopped")
		}
		c.silent = silent
	}
	if len(r.drivers) == 0 {
		return 0
	}
	return now + driverCheck
}

// silence is how long the client's kernel has owed us an acknowledgement. It
// is zero while nothing is owed: a client that is paused, or does not read, is
// not silent, for its kernel answers.
func (c *client) silence() time.Duration {
	info, err := c.tcpInfo()
	if err != nil || info.Unacked == 0 && info.Probes == 0 {
		return 0
	}
	return time.Duration(info.Last_ack_recv) * time.Millisecond
}

// tcpInfo asks the kernel; what it does not know of is zero.
// unix.GetsockoptTCPInfo would allocate four times a second and client.
func (c *client) tcpInfo() (info unix.TCPInfo, err error) {
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(c.conn.Fd()), unix.IPPROTO_TCP, unix.TCP_INFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		err = errno
	}
	return info, err
}

// shut says that a client that could leave motors running has no room for a
// frame: it does not read. With a frame that waits for room, the kernel would
// ask for room instead of probing, up to two minutes apart, and a link that dies
// meanwhile would be found dead as late. A client that never had room for a
// whole frame gets it in pieces.
func (c *client) shut() bool {
	if !c.drives {
		return false
	}
	info, err := c.tcpInfo()
	if err != nil {
		return false // the next write will tell
	}
	window := int(info.Snd_wnd) // Linux 5.4 and later
	c.room = max(c.room, window)
	return window-c.unacknowledged() < min(c.frame, c.room)
}
