// Package rawhost is a host for tests of emulators: a serial port with input
// and output in hex. It implements no protocol.
package rawhost

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
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
	file *os.File
}

// Open opens the port as a host does: raw (the port already is), at a speed in
// bit/s, with nothing pending. It is closed at the end of the test.
func Open(t testing.TB, port string, baud int) *Host {
	t.Helper()
	file, err := os.OpenFile(port, os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{t, file}
	t.Cleanup(h.Close)
	h.Speed(baud)
	return h
}

// Fd returns the port's descriptor, for tests with special needs.
func (h *Host) Fd() int {
	raw, err := h.file.SyscallConn()
	if err != nil {
		h.t.Fatal(err)
	}
	var fd int
	if err := raw.Control(func(f uintptr) { fd = int(f) }); err != nil {
		h.t.Fatal(err)
	}
	return fd
}

// Link returns a name for the port of a device.
func Link(t testing.TB) string { return filepath.Join(t.TempDir(), "port") }

// A Device is an emulator at the end of a cable.
type Device interface {
	Wait(ctx context.Context, cond func() bool) error
	Transcript() string
	Close()
}

// Plugged returns a device that the test has started, and closes it at the end. If the test
// fails, it logs the bytes that passed the cable.
func Plugged[D Device](t testing.TB, d D, err error) D {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("\n" + d.Transcript())
		}
	})
	return d
}

// Until waits for a condition of a device.
func Until(t testing.TB, d Device, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if err := d.Wait(ctx, cond); err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

// Close closes the port. It may be called more than once.
func (h *Host) Close() { h.file.Close() }

// Speed sets the speed of the port, any number of bit/s.
func (h *Host) Speed(baud int) {
	h.t.Helper()
	tio, err := unix.IoctlGetTermios(h.Fd(), unix.TCGETS2)
	if err == nil {
		tio.Cflag = tio.Cflag&^unix.CBAUD | unix.BOTHER
		tio.Ispeed, tio.Ospeed = uint32(baud), uint32(baud)
		err = unix.IoctlSetTermios(h.Fd(), unix.TCSETS2, tio)
	}
	if err != nil {
		h.t.Fatalf("%s: set speed %d: %v", h.file.Name(), baud, err)
	}
}

// Say writes bytes given in hex, spaces allowed, in one write.
func (h *Host) Say(hexBytes string) {
	h.t.Helper()
	if _, err := h.file.Write(Bytes(h.t, hexBytes)); err != nil {
		h.t.Fatal(err)
	}
}

// Read returns the next n bytes.
func (h *Host) Read(n int) []byte {
	h.t.Helper()
	buf := make([]byte, n)
	h.file.SetReadDeadline(time.Now().Add(limit))
	if have, err := io.ReadFull(h.file, buf); err != nil {
		h.t.Fatalf("want %d bytes, got % X: %v", n, buf[:have], err)
	}
	return buf
}

// Expect reads as many bytes as it is given in hex and compares them.
func (h *Host) Expect(hexBytes string) {
	h.t.Helper()
	want := Bytes(h.t, hexBytes)
	if got := h.Read(len(want)); !bytes.Equal(got, want) {
		h.t.Fatalf("%s:\n got % X\nwant % X", h.file.Name(), got, want)
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
	h.file.SetReadDeadline(time.Now().Add(limit))
	if _, err := io.Copy(io.Discard, h.file); err != nil && !errors.Is(err, unix.EIO) { // first the bytes sent earlier
		h.t.Fatalf("read after hang-up: %v, want end of file or EIO", err)
	}
	if _, err := h.file.Write([]byte{0}); !errors.Is(err, unix.EIO) {
		h.t.Errorf("write after hang-up: %v, want EIO", err)
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
