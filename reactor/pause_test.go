package reactor

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/e2e/must"
	"player/e2e/waiting"
)

// served runs a loop and returns one connection to it and its descriptor.
func served(t *testing.T) (r *running, c *net.TCPConn, d *Descriptor, h *recorder) {
	t.Helper()
	h = newRecorder()
	r = run(t, func(c *Config) {
		c.Accept = func(now time.Duration, conn *Descriptor, listener int) Handler {
			if d == nil {
				d = conn
				return h
			}
			return echo(now, conn, listener)
		}
	})
	c = dial(t, r.address).(*net.TCPConn)
	r.until(t, "connection", func() bool { return d != nil })
	return r, c, d, h
}

// unread waits until the kernel has n bytes of input and the loop has run after that, and checks that they
// are not received.
func (r *running) unread(t *testing.T, d *Descriptor, h *recorder, n int) {
	t.Helper()
	r.until(t, "input in the kernel", func() bool {
		fd, err := d.Fd()
		there, _ := unix.IoctlGetInt(fd, unix.SIOCINQ)
		return err == nil && there >= n
	})
	roundTrip(t, dial(t, r.address), "others are served")
	if len(h.received) > 0 {
		t.Fatalf("received %q in a pause", <-h.received)
	}
}

// Input waits for the end of a pause, and the end of the connection waits behind
// the input.
func TestPause(t *testing.T) {
	r, c, d, h := served(t)
	r.on(t, func(time.Duration) { d.Pause(); d.Pause() })
	say(t, c, "hello")
	r.unread(t, d, h, 5)
	r.on(t, func(time.Duration) { d.Resume() })
	h.expect(t, "hello")
	r.on(t, func(time.Duration) { d.Pause() })
	say(t, c, "last")
	c.Close()
	r.unread(t, d, h, 4)
	if len(h.hangups) > 0 {
		t.Fatal("hung up before the last input")
	}
	r.on(t, func(time.Duration) { d.Resume() })
	h.expect(t, "last")
	if err := waiting.Receive(t, h.hangups, "hangup"); !errors.Is(err, io.EOF) {
		t.Errorf("hangup: %v", err)
	}
}

func TestResetInAPause(t *testing.T) {
	r, c, d, h := served(t)
	r.on(t, func(time.Duration) { d.Pause() })
	must.Do(t, c.SetLinger(0))
	c.Close()
	waiting.Receive(t, h.hangups, "hangup")
	r.on(t, func(time.Duration) { d.Resume(); d.Pause() })
}

// Output that waits is sent in a pause. gnet polls for input again then, which
// ends with the first bytes.
func TestOutputInAPause(t *testing.T) {
	r, c, d, h := served(t)
	const size = 32 << 20 // more than the two kernels take
	r.on(t, func(time.Duration) {
		d.Pause()
		d.Write(make([]byte, size))
	})
	must.Get(io.CopyN(io.Discard, c, size))(t)
	say(t, c, "x")
	h.expect(t, "x")
	say(t, c, "yz")
	r.unread(t, d, h, 2)
	r.on(t, func(time.Duration) { d.Resume() })
	h.expect(t, "yz")
}

// opened puts our end of a socket pair into the loop, and returns it and the far end.
func opened(t *testing.T, r *running, h Handler) (d *Descriptor, far *os.File) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	must.Do(t, err)
	far = os.NewFile(uintptr(pair[1]), "far end")
	t.Cleanup(func() { far.Close() })
	polled := make(chan struct{})
	r.on(t, func(time.Duration) {
		if d, err = r.Adopt(pair[0], h, func(time.Duration) { close(polled) }); err != nil {
			t.Error(err)
		}
	})
	waiting.Receive(t, polled, "polling")
	return d, far
}

// A descriptor that is detached is neither read nor written. Both happen after Attach.
func TestDetach(t *testing.T) {
	r, h := run(t, nil), newRecorder()
	d, far := opened(t, r, h)
	r.on(t, func(time.Duration) { d.Detach(); d.Detach() })
	say(t, far, "early")
	far.Close() // it is a hangup later
	for range 3 {
		r.on(t, func(time.Duration) { d.Write([]byte("x")) })
	}
	r.on(t, func(time.Duration) {
		if len(h.received)+len(h.hangups) != 0 || d.Buffered() != 3 {
			t.Errorf("received %d times, %d hangups, %d bytes wait", len(h.received), len(h.hangups), d.Buffered())
		}
	})
	r.on(t, func(time.Duration) { d.Attach(); d.Attach() })
	waiting.Receive(t, h.hangups, "hangup")
}

// Bytes that are written while a descriptor is detached leave in order.
func TestWritesWhileDetached(t *testing.T) {
	r, h := run(t, nil), newRecorder()
	d, far := opened(t, r, h)
	r.on(t, func(time.Duration) {
		d.Write([]byte("a"))
		d.Detach()
		d.Write([]byte("b"))
		d.Attach()
		d.Write([]byte("c"))
	})
	hear(t, far, "abc")
	say(t, far, "hello")
	h.expect(t, "hello")
}

// Bytes that still wait when a descriptor ends are not written behind its last words, and not at
// all to a descriptor that is detached.
func TestNothingIsWrittenAtTheEnd(t *testing.T) {
	for name, end := range map[string]func(r *running, d *Descriptor){
		"last words": func(r *running, d *Descriptor) {
			d.LastWords([]byte(lastWords))
			r.engine.close(d.conn)
		},
		"detached": func(_ *running, d *Descriptor) {
			d.Detach()
			d.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, nil)
			d, far := opened(t, r, newRecorder())
			var heard []byte
			taken := 0                    // by the kernel
			r.on(t, func(time.Duration) { // in one callback, in which gnet does not write
				d.Write([]byte(strings.Repeat("x", 1<<20)))
				taken = 1<<20 - d.Buffered()
				buf := make([]byte, 64<<10) // now there is room
				n, err := far.Read(buf)
				if err != nil {
					t.Error(err)
				}
				heard = append(heard, buf[:n]...)
				end(r, d)
			})
			rest, err := io.ReadAll(far)
			if heard = append(heard, rest...); err != nil {
				t.Fatal(err)
			}
			want := ""
			if name == "last words" {
				want = lastWords
			}
			if after := strings.TrimLeft(string(heard), "x"); after != want || len(heard) > taken+len(want) {
				t.Errorf("heard %d bytes, then %.20q", len(heard)-len(after), after)
			}
		})
	}
}
