package reactor

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// opened puts our end of a socket pair into the loop, and returns it and the far end.
func opened(t *testing.T, r *running, h Handler) (d *Descriptor, far *os.File) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	far = os.NewFile(uintptr(pair[1]), "far end")
	t.Cleanup(func() { far.Close() })
	polled := make(chan struct{})
	r.on(t, func(time.Duration) {
		if d, err = r.Adopt(pair[0], h, func(time.Duration) { close(polled) }); err != nil {
			t.Error(err)
		}
	})
	receive(t, polled, "polling")
	return d, far
}

// A descriptor that is detached is neither read nor written. Attach makes up for it.
func TestDetach(t *testing.T) {
	r, h := run(t, nil), newRecorder()
	d, far := opened(t, r, h)
	r.on(t, func(time.Duration) { d.Detach(); d.Detach() })
	if _, err := far.WriteString("early"); err != nil {
		t.Fatal(err)
	}
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
	receive(t, h.hangups, "hangup")
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
	got := make([]byte, 3)
	if _, err := io.ReadFull(far, got); err != nil || string(got) != "abc" {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := far.WriteString("hello"); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, h.received, "bytes"); got != "hello" {
		t.Errorf("received %q", got)
	}
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
