// Package serialport opens serial lines: raw, at a given speed, and for one program only.
// Explain adds advice for the user to its errors.
package serialport

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	serial "github.com/daedaluz/goserial"
	"golang.org/x/sys/unix"

	"player/process/lastwords"
)

// errNotSerial is the error for a path that is no serial line.
var errNotSerial = errors.New("it is not a serial line")

// Open opens a serial line without waiting, raw 8N1, no flow control, and locks
// it: opening it again fails with EBUSY, also for root and in this process. It drops
// the bytes that were received before. Call Unlock before the line is closed.
func Open(path string, baud int) (*serial.Port, error) {
	if err := inspect(path); err != nil {
		return nil, err
	}
	// goserial's own default mode has a wrong flag. With O_NONBLOCK open does not wait for a
	// modem's carrier.
	const mode = unix.O_RDWR | unix.O_NOCTTY | unix.O_NONBLOCK | unix.O_CLOEXEC
	tty, err := serial.Open(path, &serial.Options{ReadTimeout: -1, OpenMode: mode})
	if errno := unix.Errno(0); errors.As(err, &errno) {
		return nil, errno // without goserial's prefix "Open: "
	} else if err != nil {
		return nil, err
	}
	if err := setUp(tty, baud); err != nil {
		_ = tty.Close()
		return nil, err
	}
	return tty, nil
}

func setUp(tty *serial.Port, baud int) error {
	attrs, err := tty.GetAttr2()
	if errors.Is(err, unix.ENOTTY) {
		return errNotSerial
	}
	if err != nil {
		return err
	}
	if err := lock(tty); err != nil {
		return err
	}
	attrs.MakeRaw()
	attrs.Cflag &^= serial.CSTOPB | serial.CRTSCTS
	attrs.Cflag |= serial.CLOCAL | serial.CREAD
	attrs.Cc[serial.VMIN], attrs.Cc[serial.VTIME] = 1, 0
	attrs.SetCustomSpeed(uint32(baud))
	err = tty.SetAttr2(serial.TCSANOW, attrs)
	if err == nil {
		err = tty.Flush(serial.TCIOFLUSH)
	}
	if err != nil {
		Unlock(tty)
		return err
	}
	answerAtOnce(tty)
	return nil
}

// answerAtOnce has an FTDI adapter pass on each byte within 1 ms, by a flag that users may set.
// Otherwise it waits up to 16 ms for more bytes, and a driver that waits for each answer gets a
// quarter of the data. Errors are ignored: the line works without the flag.
func answerAtOnce(tty *serial.Port) {
	var stat unix.Stat_t
	if unix.Fstat(tty.Fd(), &stat) != nil || !isFTDI(sysfs(stat)) {
		return
	}
	if line, err := tty.GetSerial(); err == nil && line.Flags&serial.AsyncLowLatency == 0 {
		line.Flags |= serial.AsyncLowLatency
		_ = tty.SetSerial(line)
	}
}

// isFTDI reports whether the driver of a terminal, given by its directory in sysfs, is the
// one for FTDI's adapters.
func isFTDI(dir string) bool {
	driver, err := os.Readlink(filepath.Join(dir, "device", "driver"))
	return err == nil && filepath.Base(driver) == "ftdi_sio"
}

// lock keeps other programs from opening the line: of two, each would get half of the bytes. The
// kernel's exclusive mode keeps out all but root. The lock of flock(2) keeps out all programs that
// ask for it.
func lock(tty *serial.Port) error {
	if err := unix.Flock(tty.Fd(), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return unix.EBUSY
	} else if err != nil {
		return err
	}
	exclusive, err := unix.IoctlGetInt(tty.Fd(), unix.TIOCGEXCL) // goserial's own request is wrong
	if err == nil && exclusive != 0 && !keepsMode(tty) {         // we are root
		return unix.EBUSY
	}
	return tty.EnableExclusiveMode()
}

// Unlock ends the exclusive mode. The mode belongs to the line and not to the descriptor, so
// while another program still has the line open it would keep us out. Unlock also ends the lock,
// which would last as long as the guard's duplicate of the descriptor.
func Unlock(tty *serial.Port) {
	_ = tty.DisableExclusiveMode() // at worst the line is gone
	_ = unix.Flock(tty.Fd(), unix.LOCK_UN)
}

// keepsMode reports whether the line is a pseudo-terminal. It stays in exclusive mode when the last
// program has closed it. Any other line does not.
func keepsMode(tty *serial.Port) bool {
	var stat unix.Stat_t
	err := unix.Fstat(tty.Fd(), &stat)
	major := unix.Major(uint64(stat.Rdev))
	return err == nil && major >= firstPTY && major <= lastPTY
}

// firstPTY to lastPTY are the major numbers of the pseudo-terminals in /dev/pts
// (Linux, admin-guide/devices).
const firstPTY, lastPTY = 136, 143

// SetSpeed changes the speed of an open line at once, also for bytes still in its buffers.
func SetSpeed(tty *serial.Port, baud int) error {
	attrs, err := tty.GetAttr2()
	if err != nil {
		return err
	}
	attrs.SetCustomSpeed(uint32(baud))
	if err := tty.SetAttr2(serial.TCSANOW, attrs); err != nil {
		return err
	}
	// A line without this speed selects the nearest one, and returns no error.
	if attrs, err = tty.GetAttr2(); err != nil {
		return err
	}
	if got := int(attrs.OSpeed); !sameSpeed(got, baud) {
		return fmt.Errorf("the line does %d baud instead", got)
	}
	return nil
}

// SetModemLines asserts or releases DTR and RTS. The kernel does not release them any more when the
// line is closed (termios, HUPCL): that would start the motor of an RPLIDAR A1 again.
func SetModemLines(tty *serial.Port, dtr, rts bool) error {
	attrs, err := tty.GetAttr2()
	if err != nil {
		return err
	}
	attrs.Cflag &^= unix.HUPCL
	if err := tty.SetAttr2(serial.TCSANOW, attrs); err != nil {
		return err
	}
	for line, on := range map[serial.ModemLine]bool{serial.TIOCM_DTR: dtr, serial.TIOCM_RTS: rts} {
		set := tty.DisableModemLines
		if on {
			set = tty.EnableModemLines
		}
		if err := set(line); err != nil {
			return err
		}
	}
	return nil
}

// sameSpeed reports whether the two sides of a line understand each other at these speeds. They may
// differ by 3 %: then the last of ten bits is still sampled within the bit.
func sameSpeed(a, b int) bool { return 100*max(a, b) <= 103*min(a, b) }

// inspect returns an error for a path that cannot be a serial line, without
// opening it.
func inspect(path string) error {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFCHR || uint64(stat.Rdev) == unix.Mkdev(5, 2) { // ptmx, which makes terminals
		return errNotSerial
	}
	if isPlaceholder(sysfs(stat)) {
		return unix.ENXIO
	}
	return nil
}

// Check returns an error unless a serial line exists and this user may open it. It does
// not open the line: that can reset the hardware.
func Check(path string) error {
	err := inspect(path)
	if err == nil {
		err = unix.Access(path, unix.R_OK|unix.W_OK)
	}
	if err == nil {
		return nil
	}
	return Explain(path, err, OpenBy)
}

// Identity returns the same text for two paths if they name the same line.
func Identity(path string) string {
	var stat unix.Stat_t
	if unix.Stat(path, &stat) == nil && stat.Mode&unix.S_IFMT == unix.S_IFCHR {
		return fmt.Sprintf("device %d:%d", unix.Major(uint64(stat.Rdev)), unix.Minor(uint64(stat.Rdev)))
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return filepath.Clean(path)
}

// Explain adds the path and the remedy to an error of Open. For a busy line the remedy is the
// result of who: see OpenBy.
func Explain(path string, err error, who func(path string) string) error {
	remedy := ""
	switch {
	case errors.Is(err, unix.EACCES):
		remedy = ": add the user to the group that owns the port: sudo usermod -aG dialout $USER, then log in again"
	case errors.Is(err, unix.EBUSY):
		remedy = ": " + who(path)
	case errors.Is(err, unix.ENOENT):
		remedy = ": is the adapter plugged in? ls /dev/serial/by-id shows the ones that are"
	case errors.Is(err, unix.EIO), errors.Is(err, unix.ENXIO):
		remedy = ": there is no hardware behind it"
	}
	return fmt.Errorf("serial port %s: %w%s", path, err, remedy)
}

// OpenBy returns which process has the line open: "process 123 (player) has it open". It reads
// every descriptor of the computer. That may take a second; it yields the thread again and again.
func OpenBy(path string) string {
	switch pid := openBy(path); pid {
	case 0:
		return Unknown
	case os.Getpid():
		return "another driver of this server has it open"
	default:
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)) // gone again: no name
		return fmt.Sprintf("process %d (%.20s) has it open", pid, strings.TrimSpace(string(name)))
	}
}

// Unknown is the text of OpenBy for a process with descriptors that this user may not read.
const Unknown = "another program has it open"

// IsOpen reports whether another process has the line open. It finds only processes with
// descriptors that this user may read.
func IsOpen(path string) bool {
	pid := openBy(path)
	return pid != 0 && pid != os.Getpid()
}

// openBy returns a process that has path open, and this one only if there is no other. It returns
// zero if it finds none.
func openBy(path string) (found int) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return 0
	}
	entries, _ := os.ReadDir("/proc") // at worst no process is found
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && hasOpen(pid, target) && !isGuard(pid) {
			if found = pid; pid != os.Getpid() {
				break
			}
		}
	}
	return found
}

// isGuard reports whether a process is a server's guard, which has the server's lines open.
func isGuard(pid int) bool {
	args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // gone again: no
	return string(args) == lastwords.GuardName+"\x00"
}

// hasOpen reports whether a process has a file open. It is false if this user may not read the
// process's descriptors.
func hasOpen(pid int, target string) bool {
	dir, err := os.Open(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return false
	}
	defer dir.Close()
	for link := make([]byte, len(target)+1); ; { // a longer target is another one
		names, err := dir.Readdirnames(100)
		for _, name := range names {
			if n, err := unix.Readlinkat(int(dir.Fd()), name, link); err == nil && string(link[:n]) == target {
				return true
			}
		}
		if err != nil {
			return false
		}
		runtime.Gosched()
	}
}
