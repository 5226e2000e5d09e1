package line

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// A pty is one pseudo-terminal: the line holds the master, the host opens the
// slave at path.
type pty struct {
	file *os.File // the master, on the runtime's poller: no busy loop while the host is away
	fd   int      // of file
	path string
	gone chan struct{} // closed by close
	done chan struct{} // closed when read has ended

	mu      sync.Mutex
	unread  []byte // for the host; the pseudo-terminal is full
	waiting bool   // push is called when it has room again
}

// kept is how many bytes of a serial adapter Linux keeps that the host has not read: from version 3.12
// on 640 KiB, before that 64 KiB (TTYB_DEFAULT_MEM_LIMIT of its drivers/tty/tty_buffer.c), of which this is the
// smaller. A pseudo-terminal has 4 KiB, which is 0.1 s of a fast laser: YDLIDAR's SDK reads less often.
const kept = 64 << 10

// openPTY makes a pseudo-terminal and leaves its slave closed. It is raw, so that a host
// that configures the port slowly gets no echo and no CR for LF.
func openPTY() (*pty, error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/ptmx: %w", err)
	}
	p := &pty{
		file: os.NewFile(uintptr(fd), "/dev/ptmx"),
		fd:   fd,
		gone: make(chan struct{}),
		done: make(chan struct{}),
	}
	if err := p.setup(); err != nil {
		p.file.Close()
		return nil, fmt.Errorf("set up pseudo-terminal: %w", err)
	}
	return p, nil
}

func (p *pty) setup() error {
	if err := unix.IoctlSetPointerInt(p.fd, unix.TIOCSPTLCK, 0); err != nil {
		return err
	}
	n, err := unix.IoctlGetInt(p.fd, unix.TIOCGPTN)
	if err != nil {
		return err
	}
	p.path = "/dev/pts/" + strconv.Itoa(n)
	t, err := unix.IoctlGetTermios(p.fd, unix.TCGETS2)
	if err != nil {
		return err
	}
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cflag = t.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	if err := unix.IoctlSetTermios(p.fd, unix.TCSETS2, t); err != nil { // on a master this sets the slave's mode
		return err
	}
	// The master reports a hang-up while no slave is open, but only after one
	// was opened; present relies on it.
	return p.dropUnread()
}

func (p *pty) name() string { return p.path }

// dropUnread discards the bytes towards the host. This needs the slave, which is
// opened for a moment.
func (p *pty) dropUnread() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unread = nil
	fd, err := unix.Open(p.path, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH)
}

// read passes on the host's bytes until close. While the host is away the master returns
// EIO; read then waits for the next event, like when there is nothing to read.
func (p *pty) read(to chan<- heard) {
	defer close(p.done)
	raw, err := p.file.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 4096) // the capacity of a pseudo-terminal
	for {
		var h heard
		err := raw.Read(func(fd uintptr) bool {
			n, err := uninterrupted(func() (int, error) { return unix.Read(int(fd), buf) })
			if n <= 0 && err != unix.EIO {
				return false
			}
			h = heard{from: p, data: slices.Clone(buf[:max(n, 0)]), baud: speed(int(fd)), closed: n <= 0}
			if !h.closed {
				return true
			}
			select {
			case to <- h:
			case <-p.gone:
			}
			return false
		})
		if err != nil {
			return // closed
		}
		select {
		case to <- h:
		case <-p.gone:
			return
		}
	}
}

// present reports whether a host has the slave open.
func (p *pty) present() bool {
	fds := []unix.PollFd{{Fd: int32(p.fd)}}
	_, err := uninterrupted(func() (int, error) { return unix.Poll(fds, 0) })
	return err == nil && fds[0].Revents&unix.POLLHUP == 0
}

// speed returns the speed set on the slave, bit/s.
func (p *pty) speed() int { return speed(p.fd) }

func speed(fd int) int {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS2)
	if err != nil {
		return 0
	}
	return int(t.Ospeed)
}

// write sends bytes to the host and returns how many Linux takes of an adapter. The rest is lost, like
// in an overrun.
func (p *pty) write(b []byte) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	b = b[:min(len(b), kept-len(p.unread))]
	p.unread = append(p.unread, b...)
	if !p.push() && !p.waiting {
		p.waiting = true
		go p.flush()
	}
	return len(b)
}

// push moves bytes into the pseudo-terminal, and reports whether it has all. The caller holds the lock.
func (p *pty) push() bool {
	n, _ := uninterrupted(func() (int, error) { return unix.Write(p.fd, p.unread) })
	p.unread = p.unread[max(n, 0):]
	return len(p.unread) == 0
}

// flush pushes until all bytes are there, or the pseudo-terminal is closed.
func (p *pty) flush() {
	raw, err := p.file.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Write(func(uintptr) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.waiting = !p.push()
		return !p.waiting
	})
}

// uninterrupted repeats a system call that a signal interrupted. The Go
// runtime sends itself signals, and poll returns EINTR for them even without
// waiting. Without the repeat it would seem that there is no host, and one packet in
// some thousands would be lost.
func uninterrupted(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); err != unix.EINTR {
			return n, err
		}
	}
}

// close hangs up on the host and returns when the descriptor is closed and
// read has ended.
func (p *pty) close() {
	close(p.gone)
	p.file.Close()
	<-p.done
}
