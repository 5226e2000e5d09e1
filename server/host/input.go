package host

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"player/devices"
)

var errNoInput = errors.New("it is neither a device nor a FIFO")

// OpenInput implements devices.Host.
func (h *Host) OpenInput(path string, handler devices.PortHandler, opened func(now time.Duration, p devices.Port, err error)) {
	h.openFile(path, handler, func() (*file, error) { return openInput(path) }, func(now time.Duration, l *line, err error) {
		if err != nil {
			opened(now, nil, inputError(path, err))
			return
		}
		opened(now, l, nil)
	})
}

func openInput(path string) (*file, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	var stat unix.Stat_t
	err = unix.Fstat(fd, &stat)
	if kind := stat.Mode & unix.S_IFMT; err == nil && kind != unix.S_IFCHR && kind != unix.S_IFIFO {
		err = errNoInput
	}
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return &file{fd, func() { _ = unix.Close(fd) }}, nil // nothing was written that could be lost
}

// inputError adds the remedy to an error.
func inputError(path string, err error) error {
	remedy := ""
	switch {
	case errors.Is(err, syscall.EACCES):
		remedy = ": add the user to the group that owns the device: sudo usermod -aG input $USER, then log in again"
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENODEV):
		remedy = ": is it plugged in?"
	}
	return fmt.Errorf("input %s: %w%s", path, err, remedy)
}
