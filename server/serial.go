package server

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	serial "github.com/daedaluz/goserial"
	"golang.org/x/sys/unix"

	"player/devices"
)

// OpenSerial implements devices.Host.
func (h *host) OpenSerial(path string, baud int, handler devices.PortHandler) (devices.Port, error) {
	// goserial's own default mode holds a wrong flag. Non-blocking also keeps
	// open from waiting for a modem's carrier.
	tty, err := serial.Open(path, &serial.Options{ReadTimeout: -1, OpenMode: unix.O_RDWR | unix.O_NOCTTY | unix.O_NONBLOCK | unix.O_CLOEXEC})
	if err != nil {
		return nil, h.serialError(path, err)
	}
	// Exclusive: of two programs on one line, each would get half of the bytes.
	if err := cmp.Or(tty.EnableExclusiveMode(), makeRaw(tty, baud), tty.Flush(serial.TCIOFLUSH)); err != nil {
		_ = tty.Close()
		return nil, h.serialError(path, err)
	}
	return h.open(tty.Fd(), handler)
}

// makeRaw sets a line to raw 8N1 at the given speed, no flow control.
func makeRaw(tty *serial.Port, baud int) error {
	attrs, err := tty.GetAttr2()
	if err != nil {
		return err
	}
	attrs.MakeRaw()
	attrs.Cflag &^= serial.CSTOPB | serial.CRTSCTS
	attrs.Cflag |= serial.CLOCAL | serial.CREAD
	attrs.Cc[serial.VMIN], attrs.Cc[serial.VTIME] = 1, 0
	attrs.SetCustomSpeed(uint32(baud))
	return tty.SetAttr2(serial.TCSANOW, attrs)
}

// SetSpeed implements devices.Port.
func (p port) SetSpeed(baud int) error {
	tty, err := p.tty()
	if err != nil {
		return err
	}
	attrs, err := tty.GetAttr2()
	if err != nil {
		return err
	}
	attrs.SetCustomSpeed(uint32(baud))
	if err := tty.SetAttr2(serial.TCSANOW, attrs); err != nil {
		return err
	}
	// A line that cannot do a speed takes the nearest one without an error.
	if attrs, err = tty.GetAttr2(); err != nil {
		return err
	}
	if got := int(attrs.OSpeed); !sameSpeed(got, baud) {
		return fmt.Errorf("the line does %d baud instead", got)
	}
	return nil
}

// sameSpeed reports whether the ends of a line understand each other at these speeds:
// up to 3 % of difference, by which the last bit of ten is still sampled within itself.
func sameSpeed(a, b int) bool { return 100*max(a, b) <= 103*min(a, b) }

// SetModemLines implements devices.ModemPort.
func (p port) SetModemLines(dtr, rts bool) error {
	tty, err := p.tty()
	if err != nil {
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

// Discard implements devices.Port.
func (p port) Discard() {
	if tty, err := p.tty(); err == nil {
		_ = tty.Flush(serial.TCIFLUSH) // at worst the parser drops the bytes
	}
}

// tty returns the serial line that the loop polls.
func (p port) tty() (*serial.Port, error) {
	fd, err := p.Fd()
	if err != nil {
		return nil, err
	}
	return serial.NewPort(fd, nil) // the loop keeps the descriptor
}

// holderAge is how long the server remembers who has a serial line open. A line
// is tried once a second, and the search reads every descriptor of the computer
// while the loop waits. A program that takes the line over is named that much
// later.
const holderAge = 10 * time.Second

// holders remembers who has which files open, by path.
type holders map[string]finding

type finding struct {
	text string
	at   time.Duration
}

// of returns holder(path), or an answer that is younger than holderAge.
func (h holders) of(path string, now time.Duration) string {
	f, ok := h[path]
	if !ok || now-f.at >= holderAge {
		f = finding{holder(path), now}
		h[path] = f
	}
	return f.text
}

// serialError adds to an error what to do about it.
func (h *host) serialError(path string, err error) error {
	remedy := ""
	switch {
	case errors.Is(err, syscall.EACCES):
		remedy = ": add the user to the group that owns the port: sudo usermod -aG dialout $USER, then log in again"
	case errors.Is(err, syscall.EBUSY):
		remedy = ": another program has it open" + h.holders.of(path, h.loop.Now())
	case errors.Is(err, syscall.ENOENT):
		remedy = ": is the adapter plugged in? ls /dev/serial/by-id shows the ones that are"
	case errors.Is(err, syscall.ENOTTY), errors.Is(err, syscall.EISDIR):
		remedy = ": it is not a serial line"
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.ENXIO):
		remedy = ": there is no hardware behind it"
	}
	return fmt.Errorf("serial port %s: %w%s", path, err, remedy)
}

// holder names a process that has path open, if we may see it.
func holder(path string) string {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is well formed
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == target {
			dir := filepath.Dir(filepath.Dir(link))
			name, _ := os.ReadFile(filepath.Join(dir, "comm")) // gone again: no name
			if pid := filepath.Base(dir); pid != fmt.Sprint(os.Getpid()) {
				return fmt.Sprintf(": process %s (%.20s)", pid, trimLine(name))
			}
		}
	}
	return ""
}

func trimLine(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == '\n' {
		b = b[:len(b)-1]
	}
	return b
}
