// Package rawhost is a host for tests of emulators: a serial port with input
// and output in hex. It implements no protocol.
package rawhost

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// limit is how long a test waits for bytes that must arrive. It expires only
// in a failed test.
const limit = 20 * time.Second

// A Host is an open serial port. Every failure ends the test.
type Host struct {
	t    testing.TB
	fd   int
	name string
}

// Open opens the port as a host does: raw (the port already is), at a speed in
// bit/s, with nothing pending. It is closed at the end of the test.
func Open(t testing.TB, port string, baud int) *Host {
	t.Helper()
	fd, err := unix.Open(port, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatalf("open %s: %v", port, err)
	}
	h := &Host{t, fd, port}
	t.Cleanup(h.Close)
	h.Speed(baud)
	return h
}

// Fd returns the port's descriptor, for tests with special needs.
func (h *Host) Fd() int { return h.fd }

// Close closes the port. It may be called more than once.
func (h *Host) Close() {
	if h.fd >= 0 {
		unix.Close(h.fd)
		h.fd = -1
	}
}

// Speed sets the speed of the port, any number of bit/s.
func (h *Host) Speed(baud int) {
	h.t.Helper()
	tio, err := unix.IoctlGetTermios(h.fd, unix.TCGETS2)
	if err == nil {
		tio.Cflag = tio.Cflag&^unix.CBAUD | unix.BOTHER
		tio.Ispeed, tio.Ospeed = uint32(baud), uint32(baud)
		err = unix.IoctlSetTermios(h.fd, unix.TCSETS2, tio)
	}
	if err != nil {
		h.t.Fatalf("%s: set speed %d: %v", h.name, baud, err)
	}
}

// Say writes bytes given in hex, spaces allowed, in one write.
func (h *Host) Say(hexBytes string) {
	h.t.Helper()
	if _, err := unix.Write(h.fd, Bytes(h.t, hexBytes)); err != nil {
		h.t.Fatalf("%s: write: %v", h.name, err)
	}
}

// Read returns the next n bytes.
func (h *Host) Read(n int) []byte {
	h.t.Helper()
	buf := make([]byte, n)
	deadline := time.Now().Add(limit)
	for have := 0; have < n; {
		fds := []unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}
		unix.Poll(fds, int(time.Until(deadline).Milliseconds())+1)
		k, err := unix.Read(h.fd, buf[have:])
		switch {
		case k > 0:
			have += k
		case err != unix.EAGAIN && err != unix.EINTR:
			h.t.Fatalf("%s: read gives %d, %v after % X", h.name, k, err, buf[:have])
		case time.Now().After(deadline):
			h.t.Fatalf("%s: want %d bytes, got %d: % X", h.name, n, have, buf[:have])
		}
	}
	return buf
}

// Expect reads as many bytes as it is given in hex and compares them.
func (h *Host) Expect(hexBytes string) {
	h.t.Helper()
	want := Bytes(h.t, hexBytes)
	if got := h.Read(len(want)); !bytes.Equal(got, want) {
		h.t.Fatalf("%s:\n got % X\nwant % X", h.name, got, want)
	}
}

// Ask combines Say and Expect.
func (h *Host) Ask(say, expect string) {
	h.t.Helper()
	h.Say(say)
	h.Expect(expect)
}

// HungUp waits for the port to hang up, and checks that read returns no byte
// and write returns EIO.
func (h *Host) HungUp() {
	h.t.Helper()
	fds := []unix.PollFd{{Fd: int32(h.fd)}} // POLLHUP is always reported
	for deadline := time.Now().Add(limit); fds[0].Revents == 0 && time.Now().Before(deadline); {
		unix.Poll(fds, int(time.Until(deadline).Milliseconds())) // EINTR ends it, too
	}
	if fds[0].Revents&unix.POLLHUP == 0 {
		h.t.Fatalf("%s: no hang-up", h.name)
	}
	for {
		n, err := unix.Read(h.fd, make([]byte, 1024))
		if n > 0 {
			continue // sent before the hang-up
		}
		if err != nil && err != unix.EIO {
			h.t.Errorf("%s: read after hang-up: %v, want end of file or EIO", h.name, err)
		}
		break
	}
	if _, err := unix.Write(h.fd, []byte{0}); err != unix.EIO {
		h.t.Errorf("%s: write after hang-up: %v, want EIO", h.name, err)
	}
}

// Bytes decodes hex with spaces.
func Bytes(t testing.TB, hexBytes string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(hexBytes), ""))
	if err != nil {
		t.Fatalf("hex in the test: %v", err)
	}
	return b
}
