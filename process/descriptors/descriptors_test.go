package descriptors

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/e2e/must"
)

func TestShare(t *testing.T) {
	s := NewShare(3)
	if s.Take(2) != nil || !errors.Is(s.Take(2), ErrNone) || s.Take(1) != nil || s.Take(1) == nil {
		t.Error("a share of 3 is not 2 and 1")
	}
	s.Return(1)
	if s.Take(1) != nil || s.Most() != 3 {
		t.Error("what was returned is not free")
	}
}

// The sum of the Shares is never more than the limit.
func TestDivide(t *testing.T) {
	for _, tt := range []struct {
		n                       int
		dashboard               bool
		clients, drivers, pages int
	}{
		{-5, true, 1, 0, 0},
		{20, false, 10, 10, 0},
		{20, true, 5, 10, 5},
		{100, true, 50, 25, 25},
		{1000, true, 500, 250, 250},
		{1000, false, 750, 250, 0},
		{1 << 20, true, 1<<20 - 768, 256, 512},
	} {
		b := divide(tt.n, tt.dashboard)
		if b.Clients.Most() != tt.clients || b.Drivers.Most() != tt.drivers || b.Pages.Most() != tt.pages {
			t.Errorf("%d descriptors, dashboard %v: %d for clients, %d for drivers, %d for pages, want %d, %d, %d",
				tt.n, tt.dashboard, b.Clients.Most(), b.Drivers.Most(), b.Pages.Most(), tt.clients, tt.drivers, tt.pages)
		}
	}
}

func TestNew(t *testing.T) {
	all := New(0, false)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur != limit.Max {
		t.Errorf("the soft limit is %d, the hard one %d: %v", limit.Cur, limit.Max, err)
	}
	if sum := all.Clients.Most() + all.Drivers.Most() + all.Pages.Most(); sum >= int(limit.Cur)-own || sum < int(min(limit.Cur, mostOpen))-100 {
		t.Errorf("%d of %d descriptors are in shares", sum, limit.Cur)
	}
	if less := New(100, false); less.Clients.Most() >= all.Clients.Most() {
		t.Error("100 fixed descriptors cost nothing")
	}
}

func TestListener(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	share := NewShare(1)
	l := Listener(inner, share)
	defer l.Close()
	accepted := make(chan net.Conn, 2)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", inner.Addr().String())
		must.Do(t, err)
		t.Cleanup(func() { c.Close() })
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		return c
	}
	dial()
	first := <-accepted
	if _, err := dial().Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a connection without descriptors: %v, want the end", err)
	}
	first.Close()
	first.Close()
	dial()
	(<-accepted).Close()
	if share.Take(1) != nil {
		t.Error("a closed connection keeps its descriptor")
	}
}

// The descriptors of a reload are taken from the clients' Share, and given back.
func TestFix(t *testing.T) {
	b := New(10, false)
	most := b.Clients.Most()
	must.Do(t, b.Clients.Take(most))
	b.Fix(13)
	b.Clients.Return(3)
	if err := b.Clients.Take(1); err != ErrNone {
		t.Errorf("a descriptor more than there are: %v", err)
	}
	b.Fix(11)
	if err := b.Clients.Take(2); err != nil {
		t.Errorf("those that are free again: %v", err)
	}
	if err := b.Clients.Take(1); err != ErrNone {
		t.Errorf("a descriptor more than there are: %v", err)
	}
}
