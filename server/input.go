package server

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"player/devices"
)

// OpenInput implements devices.Host.
func (h *host) OpenInput(path string, handler devices.PortHandler) (devices.Port, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, inputError(path, err)
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		unix.Close(fd)
		return nil, inputError(path, err)
	}
	if kind := stat.Mode & unix.S_IFMT; kind != unix.S_IFCHR && kind != unix.S_IFIFO {
		unix.Close(fd)
		return nil, fmt.Errorf("input %s: it is neither a device nor a FIFO", path)
	}
	port, err := h.open(fd, handler)
	if err != nil {
		return nil, fmt.Errorf("input %s: %w", path, err)
	}
	return port, nil
}

// inputError adds to an error what to do about it.
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
