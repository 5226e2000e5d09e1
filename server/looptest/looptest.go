// Package looptest is for the tests of the server and of its parts: a loop that runs during
// the test, connections to it, and waits for bytes and events.
package looptest

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

// Patience is how long a test waits for an event before it fails.
const Patience = 20 * time.Second

// Loop is a loop that runs until the test ends.
type Loop struct {
	T       testing.TB
	Address string                                // that it listens on
	Post    func(fn func(now time.Duration)) bool // has a function called on it
	Stop    func()                                // ends it and waits
}

// Run runs a loop in a goroutine, and returns when ready is closed. run returns after end
// was called.
func Run(t testing.TB, address string, run func() error, ready <-chan struct{}, end func()) *Loop {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- run() }()
	stop := sync.OnceFunc(func() {
		end()
		if err := Receive(t, ended, "end of the loop"); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	select {
	case <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatalf("the loop ended at once: %v", err)
	case <-time.After(Patience):
		t.Fatal("the loop does not start")
	}
	return &Loop{T: t, Address: address, Stop: stop}
}

// Do runs fn on the loop.
func (l *Loop) Do(fn func(now time.Duration)) {
	l.T.Helper()
	done := make(chan struct{})
	l.Post(func(now time.Duration) { fn(now); close(done) })
	Receive(l.T, done, "answer of the loop")
}

// Await waits until a condition is true on the loop.
func (l *Loop) Await(what string, cond func(now time.Duration) bool) {
	l.T.Helper()
	for deadline := time.Now().Add(Patience); ; time.Sleep(time.Millisecond) {
		done := false
		l.Do(func(now time.Duration) { done = cond(now) })
		switch {
		case done:
			return
		case time.Now().After(deadline):
			l.T.Fatalf("waited in vain: %s", what)
		}
	}
}

// Dial connects to the loop.
func (l *Loop) Dial() net.Conn {
	l.T.Helper()
	return Dial(l.T, net.Dialer{}, l.Address)
}

// Dial connects to an address until the test ends.
func Dial(t testing.TB, d net.Dialer, address string) net.Conn {
	t.Helper()
	d.Timeout = Patience
	c, err := d.Dial("tcp", address)
	Must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// FreeAddress returns an address of this computer on which nothing listens.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	Must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// Receive waits for a value.
func Receive[T any](t testing.TB, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(Patience):
		t.Fatalf("no %s", what)
		panic("unreachable")
	}
}

// Must ends the test if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Send writes to a connection.
func Send(t testing.TB, c io.Writer, b []byte) {
	t.Helper()
	_, err := c.Write(b)
	Must(t, err)
}

// Reader is a source of bytes: a connection or a terminal.
type Reader interface {
	io.Reader
	SetReadDeadline(at time.Time) error
}

// Read waits for n bytes.
func Read(t testing.TB, r Reader, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	Must(t, r.SetReadDeadline(time.Now().Add(Patience)))
	if got, err := io.ReadFull(r, b); err != nil {
		t.Fatalf("%q has come, of %d bytes: %v", b[:got], n, err)
	}
	return b
}

// End waits for the end of a connection, and returns its error, nil for an orderly end.
func End(t testing.TB, r Reader) error {
	t.Helper()
	Must(t, r.SetReadDeadline(time.Now().Add(Patience)))
	_, err := io.Copy(io.Discard, r)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("the connection is not closed")
	}
	return err
}
