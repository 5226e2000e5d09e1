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

	"player/process/descriptors"
)

// A pipe is written to before the loop polls it, takes more than the kernel's
// buffer, and hangs up.
func TestPipe(t *testing.T) {
	r := run(t, nil)
	var pair [2]int
	if err := unix.Pipe2(pair[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	var theirs [2]int
	if err := unix.Pipe2(theirs[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	in, out := newRecorder(), newRecorder()
	text := strings.Repeat("0123456789abcdef", 16<<10) // 256 KiB, four times a pipe
	r.on(t, func(time.Duration) {
		reader, err := r.Open(theirs[0], in)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := reader.Fd(); err == nil || reader.Unacknowledged() != 0 || reader.Queued() {
			t.Error("a descriptor that is not polled yet has a number, or bytes")
		}
		writer, err := r.Open(pair[1], out)
		if err != nil {
			t.Error(err)
			return
		}
		writer.Write([]byte(text[:100]))
		writer.Write([]byte(text[100:]))
		if writer.Buffered() != len(text) || writer.Unacknowledged() != len(text) {
			t.Errorf("%d bytes are buffered before the pipe is polled", writer.Buffered())
		}
	})
	if _, err := unix.Write(theirs[1], []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, in.received, "bytes"); got != "hello" {
		t.Errorf("received %q", got)
	}
	unix.Close(theirs[1])
	if err := receive(t, in.hangups, "hangup"); !errors.Is(err, io.EOF) {
		t.Errorf("hangup: %v", err)
	}
	if err := unix.SetNonblock(pair[0], false); err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(pair[0]), "pipe")
	got := make([]byte, len(text))
	if _, err := io.ReadFull(file, got); err != nil || string(got) != text {
		t.Fatalf("the pipe carried something else: %v", err)
	}
	file.Close()
	if err := receive(t, out.hangups, "hangup"); err == nil {
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
		d, err := r.Open(fd, h)
		if err != nil {
			t.Error(err)
			return
		}
		d.Write([]byte("hello"))
	})
	if err := receive(t, h.hangups, "hangup"); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("hangup: %v", err)
	}
}

// A descriptor may be closed before the loop polls it; nobody is told.
func TestCloseAtOnce(t *testing.T) {
	r := run(t, nil)
	var pair [2]int
	if err := unix.Pipe2(pair[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	h := newRecorder()
	r.on(t, func(time.Duration) {
		d, err := r.Open(pair[0], h)
		if err != nil {
			t.Error(err)
			return
		}
		d.Close()
		d.Close()
		d.Write([]byte("nobody reads this"))
	})
	// The other end sees that ours is closed.
	fds := []unix.PollFd{{Fd: int32(pair[1])}}
	if n, err := unix.Poll(fds, int(patience/time.Millisecond)); n != 1 || err != nil {
		t.Errorf("the pipe is not closed: %v", err)
	}
	unix.Close(pair[1])
	r.on(t, func(time.Duration) {})
	if len(h.hangups)+len(h.received) > 0 {
		t.Error("the handler was called")
	}
}

func TestOpenErrors(t *testing.T) {
	r := run(t, nil)
	r.on(t, func(time.Duration) {
		file, err := os.Open(os.DevNull)
		if err != nil {
			t.Error(err)
			return
		}
		defer file.Close()
		fd, err := unix.Dup(int(file.Fd()))
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
	r := run(t, func(c *Config) {
		accept := c.Accept
		c.Accept = func(now time.Duration, d *Descriptor, listener int) Handler {
			served = d
			return accept(now, d, listener)
		}
	})
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
	if _, err := io.CopyN(io.Discard, c, size); err != nil {
		t.Fatal(err)
	}
	roundTrip(t, c, "y")
	for deadline := time.Now().Add(patience); ; {
		left := -1
		r.on(t, func(time.Duration) {
			left = served.Unacknowledged()
			if served.Queued() {
				left++
			}
		})
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes stay unacknowledged", left)
		}
	}
}

// Each open descriptor is taken from its share until it is closed; one more is an
// error.
func TestOpenTakesDescriptors(t *testing.T) {
	r := run(t, func(c *Config) { c.Descriptors = descriptors.NewShare(3) })
	pipe := func() (ours, theirs int) {
		var pair [2]int
		if err := unix.Pipe2(pair[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
			t.Fatal(err)
		}
		return pair[0], pair[1]
	}
	h := newRecorder()
	var all []int
	for range 2 {
		ours, theirs := pipe()
		all = append(all, theirs)
		if _, err := unix.Write(theirs, []byte("x")); err != nil {
			t.Fatal(err)
		}
		r.on(t, func(time.Duration) {
			if _, err := r.Open(ours, h); err != nil {
				t.Error(err)
			}
		})
		receive(t, h.received, "byte")
	}
	r.on(t, func(time.Duration) {
		ours, theirs := pipe()
		defer unix.Close(theirs)
		if _, err := r.Open(ours, h); !errors.Is(err, descriptors.ErrNone) {
			t.Errorf("one more: %v", err)
		}
	})
	for _, theirs := range all {
		unix.Close(theirs)
		receive(t, h.hangups, "hangup")
	}
	r.on(t, func(time.Duration) {
		if r.config.Descriptors.Take(3) != nil {
			t.Error("closed descriptors are not given back")
		}
	})
}
