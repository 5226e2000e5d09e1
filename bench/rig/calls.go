package rig

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kinds are the system calls that are counted by name: those of a network
// server written in Go. Calls counts all others together as Other.
var kinds = []string{
	"write", "writev", "sendto", "sendmsg", "read", "readv", "recvfrom", "recvmsg", "accept4", "close",
	"epoll_wait", "epoll_pwait", "epoll_ctl", "ioctl", "getsockopt", "setsockopt", "timerfd_settime",
	"futex", "nanosleep", "sched_yield", "getpid", "tgkill", "rt_sigreturn", "madvise",
}

// Other is the name under which Calls counts system calls of all other kinds.
const Other = "other"

// total counts the system calls of all kinds.
const total = "raw_syscalls/sys_enter"

// Calls counts the system calls of a process by kind. It uses the kernel's
// tracepoints as counters (perf_event_open) and records nothing, so a call
// becomes about 0.1 us slower while it is open.
type Calls struct {
	counters map[string][]int // descriptors, one for each thread; the total under Other
}

// Count starts to count the system calls of a process.
func (t Tracepoints) Count(pid int) (*Calls, error) {
	// A thread that starts while the others are attached would not be counted, or
	// twice. Then the counters are attached anew.
	for {
		before, err := threads(pid)
		if err != nil {
			return nil, fmt.Errorf("count system calls: %w", err)
		}
		c, err := t.attach(before)
		if err != nil {
			return nil, fmt.Errorf("count system calls: %w", err)
		}
		if after, err := threads(pid); err == nil && slices.Equal(before, after) {
			return c, nil
		}
		c.Close()
	}
}

// threads returns the threads of a process.
func threads(pid int) (ids []int, err error) {
	tasks, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
	for _, task := range tasks {
		id, _ := strconv.Atoi(task.Name()) // the kernel's names are numbers
		ids = append(ids, id)
	}
	return ids, err
}

// attach opens the counters of threads.
func (t Tracepoints) attach(threads []int) (*Calls, error) {
	c := &Calls{counters: map[string][]int{}}
	for _, thread := range threads {
		for name, id := range t {
			// Inherit: threads that a thread makes later are counted with it.
			attr := &unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: id, Bits: unix.PerfBitInherit}
			attr.Size = uint32(unsafe.Sizeof(*attr))
			fd, err := unix.PerfEventOpen(attr, thread, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
			if err == unix.ESRCH {
				break // the thread has ended
			}
			if err != nil {
				c.Close()
				return nil, err
			}
			c.counters[name] = append(c.counters[name], fd)
		}
	}
	return c, nil
}

// Read returns how often each kind was called since Count, without kinds
// that were not called.
func (c *Calls) Read() (map[string]uint64, error) {
	counts := map[string]uint64{}
	// The counters are read one after the other while the process runs, the total
	// last: it is never less than the sum of the others.
	for _, name := range append(slices.Clone(kinds), Other) {
		for _, fd := range c.counters[name] {
			var b [8]byte
			if _, err := unix.Read(fd, b[:]); err != nil {
				return nil, fmt.Errorf("count system calls: %w", err)
			}
			counts[name] += binary.NativeEndian.Uint64(b[:])
		}
	}
	named := uint64(0)
	for name, n := range counts {
		if name != Other {
			named += n
		}
		if n == 0 {
			delete(counts, name)
		}
	}
	if counts[Other] -= min(named, counts[Other]); counts[Other] == 0 {
		delete(counts, Other)
	}
	return counts, nil
}

// Close ends the counting.
func (c *Calls) Close() {
	for _, fds := range c.counters {
		for _, fd := range fds {
			unix.Close(fd)
		}
	}
}

// Tracepoints is the kernel's numbers of the events to count, by kind of system
// call.
type Tracepoints map[string]uint64

// FindTracepoints asks the kernel for them. It needs root and a kernel with
// tracepoints of system calls; the error names what is missing. It ends a thread,
// so it has to be called before children are started that get a signal when
// their parent's thread ends (Pdeathsig).
func FindTracepoints() (Tracepoints, error) {
	ids := Tracepoints{}
	err := inTracefs(func(dir string) error {
		for _, name := range append([]string{Other}, kinds...) {
			event := "syscalls/sys_enter_" + name
			if name == Other {
				event = total
			}
			text, err := os.ReadFile(filepath.Join(dir, "events", event, "id"))
			if errors.Is(err, os.ErrNotExist) && name != Other {
				continue // not every architecture has every call
			}
			if err != nil {
				return err
			}
			if ids[name], err = strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err != nil {
				return fmt.Errorf("%s: %w", event, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("tracepoints of system calls: %w", err)
	}
	return ids, nil
}

// inTracefs calls f with a directory where tracefs is mounted, in a private
// mount namespace.
func inTracefs(f func(dir string) error) error {
	dir, err := os.MkdirTemp("", "tracefs-")
	if err != nil {
		return err
	}
	defer os.Remove(dir)
	done := make(chan error, 1)
	go func() {
		// The thread cannot leave its mount namespace, so it stays locked and ends
		// with this goroutine.
		runtime.LockOSThread()
		done <- func() error {
			if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
				return fmt.Errorf("mount namespace: %w", err)
			}
			if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
				return fmt.Errorf("private mounts: %w", err)
			}
			if err := unix.Mount("tracefs", dir, "tracefs", 0, ""); err != nil {
				return fmt.Errorf("mount tracefs: %w", err)
			}
			return f(dir)
		}()
	}()
	return <-done
}
