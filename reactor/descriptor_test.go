package reactor

import (
	"errors"
	"io"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/e2e/must"
	"player/e2e/waiting"
	"player/process/descriptors"
)

// A pipe is written to before the loop polls it, takes more than the kernel's
// buffer, and hangs up.
func TestPipe(t *testing.T) {
	r := run(t, nil)
	theirs, ours := pipe(t)
	reading, writing := pipe(t)
	in, out := newRecorder(), newRecorder()
	text := strings.Repeat("0123456789abcdef", 16<<10) // 256 KiB, four times a pipe
	r.on(t, func(time.Duration) {
		reader, writer := r.open(t, reading, in), r.open(t, ours, out)
		if _, err := reader.Fd(); err == nil || reader.Unacknowledged() != 0 || reader.Queued() {
			t.Error("a descriptor that is not polled yet has a number, or bytes")
		}
		writer.Write([]byte(text[:100]))
		writer.Write([]byte(text[100:]))
		if writer.Buffered() != len(text) || writer.Unacknowledged() != len(text) {
			t.Errorf("%d bytes are buffered before the pipe is polled", writer.Buffered())
		}
	})
	far := os.NewFile(uintptr(writing), "pipe")
	say(t, far, "hello")
	in.expect(t, "hello")
	far.Close()
	if err := waiting.Receive(t, in.hangups, "hangup"); !errors.Is(err, io.EOF) {
		t.Errorf("hangup: %v", err)
	}
	file := os.NewFile(uintptr(theirs), "pipe")
	hear(t, file, text)
	file.Close()
	if err := waiting.Receive(t, out.hangups, "hangup"); err == nil {
		t.Error("no error")
	}
}

// The reason that a connection failed reaches its handler, also when bytes were
// written at once.
func TestRefusedConnection(t *testing.T) {
	r := run(t, nil)
	h := newRecorder()
	r.on(t, func(time.Duration) {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Error(err)
			return
		}
		port := netip.MustParseAddrPort(freeAddress(t)).Port()
		if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}); err != unix.EINPROGRESS && err != unix.ECONNREFUSED {
			t.Error(err)
		}
		r.open(t, fd, h).Write([]byte("hello"))
	})
	if err := waiting.Receive(t, h.hangups, "hangup"); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("hangup: %v", err)
	}
}

// A descriptor may be closed before the loop polls it. Its handler is not called.
func TestCloseAtOnce(t *testing.T) {
	r := run(t, nil)
	reader, writer := pipe(t)
	h := newRecorder()
	r.on(t, func(time.Duration) {
		d := r.open(t, reader, h)
		d.Close()
		d.Close()
		d.Write([]byte("is not read"))
	})
	come(t, writer, 0) // an error: our end is closed
	unix.Close(writer)
	r.on(t, func(time.Duration) {})
	if len(h.hangups)+len(h.received) > 0 {
		t.Error("the handler was called")
	}
}

func TestOpenErrors(t *testing.T) {
	r := run(t, nil)
	r.on(t, func(time.Duration) {
		fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := r.Open(fd, nil); err == nil || !strings.Contains(err.Error(), "it cannot be polled") {
			t.Errorf("/dev/null was opened: %v", err)
		}
	})
}

func TestUnacknowledged(t *testing.T) {
	var served *Descriptor
	r := accepting(t, func(d *Descriptor, _ int) { served = d })
	c := dial(t, r.address)
	roundTrip(t, c, "x")
	// More than the two kernels take, to a client that does not read.
	const size = 32 << 20
	r.on(t, func(time.Duration) {
		served.Write(make([]byte, size))
		if served.Buffered() == 0 || served.Unacknowledged() < served.Buffered() {
			t.Errorf("%d bytes buffered, %d unacknowledged", served.Buffered(), served.Unacknowledged())
		}
	})
	must.Get(io.CopyN(io.Discard, c, size))(t)
	roundTrip(t, c, "y")
	r.until(t, "acknowledgement of all bytes", func() bool { return served.Unacknowledged() == 0 && !served.Queued() })
}

// Each open descriptor is taken from its share until it is closed; one more is an
// error.
func TestOpenTakesDescriptors(t *testing.T) {
	r := run(t, func(c *Config) { c.Descriptors = descriptors.NewShare(3) })
	h := newRecorder()
	var all []*os.File
	for range 2 {
		reader, writer := pipe(t)
		far := os.NewFile(uintptr(writer), "pipe")
		all = append(all, far)
		say(t, far, "x")
		r.on(t, func(time.Duration) { r.open(t, reader, h) })
		waiting.Receive(t, h.received, "byte")
	}
	reader, writer := pipe(t)
	defer unix.Close(writer)
	r.on(t, func(time.Duration) {
		if _, err := r.Open(reader, h); !errors.Is(err, descriptors.ErrNone) {
			t.Errorf("one more: %v", err)
		}
	})
	for _, far := range all {
		far.Close()
		waiting.Receive(t, h.hangups, "hangup")
	}
	r.on(t, func(time.Duration) {
		if r.config.Descriptors.Take(3) != nil {
			t.Error("closed descriptors are not given back")
		}
	})
}
