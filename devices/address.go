package devices

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
)

// SerialPort is the default of an option that names a serial port: the path of a serial line, or
// HOST:PORT of a program or adapter that forwards its bytes over TCP. No two drivers may have the
// same port, and player check reports whether a path exists.
type SerialPort string

// OverNetwork reports whether the port is an address, valid or not, and not a path. A relative path
// with a colon begins with "./".
func (p SerialPort) OverNetwork() bool {
	_, err := netip.ParseAddr(string(p)) // an address without a TCP port, which Resolve refuses
	return err == nil || strings.Contains(string(p), ":") && !strings.HasPrefix(string(p), "/") && !strings.HasPrefix(string(p), ".")
}

// Locate returns the path, or the numeric address, IP:PORT. It looks up a name, which
// blocks.
func (p SerialPort) Locate() (string, error) {
	if !p.OverNetwork() {
		return string(p), nil
	}
	address, err := Resolve(string(p))
	if err != nil {
		return "", fmt.Errorf("serial port %q: %w", p, err)
	}
	return address, nil
}

// ErrNoAnswer is the error of a port whose adapter blocks every operation of the server.
var ErrNoAnswer = errors.New("the adapter does not answer: unplug it, and plug it in again")

// Unreachable returns an error with the remedy if err is the failure of a TCP connection: it could not
// be made, or the network has ended it. Otherwise it returns nil. Connections are made in the background:
// Host.Dial succeeds, and PortHandler.Hangup has the error.
func Unreachable(err error) error {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: is the device on, or ser2net running, and the port right?", syscall.ECONNREFUSED)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.ETIMEDOUT):
		var why syscall.Errno
		errors.As(err, &why)
		return fmt.Errorf("%w: check the address, the network and its power", why)
	}
	return nil
}

// Resolve returns the numeric address, IP:PORT, of HOST:PORT, for Host.Dial. It looks up
// a name, which blocks. Of several addresses it takes the first of IPv4, if there is one:
// a server on 127.0.0.1 does not hear ::1.
func Resolve(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	n, wrong := strconv.ParseUint(port, 10, 16)
	if err != nil || wrong != nil || n == 0 || host == "" {
		return "", errors.New(`write HOST:PORT, with a port from 1 to 65535, or "/dev/..."`)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		if ip, err = lookUp(host); err != nil {
			return "", fmt.Errorf("%w: write the numeric address, or name it in /etc/hosts", err)
		}
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)).String(), nil
}

func lookUp(host string) (best netip.Addr, err error) {
	found, err := net.LookupHost(host)
	for _, text := range found {
		if ip, err := netip.ParseAddr(text); err == nil && (!best.IsValid() || ip.Is4() && !best.Is4()) {
			best = ip
		}
	}
	if err == nil && !best.IsValid() {
		err = fmt.Errorf("%s has no address", host)
	}
	return best, err
}
