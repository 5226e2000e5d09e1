package host

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"player/devices"
	"player/process/descriptors"
	"player/process/lastwords"
	"player/reactor"
)

// patience is how long a test waits for an event before it fails.
const patience = 20 * time.Second

// running is a host on a running loop.
type running struct {
	host    *Host
	loop    *reactor.Loop
	address string // what is sent there comes back, as long as the loop serves it
	stop    func() // ends the loop and waits
}

// setup is what tests change of it.
type setup struct {
	descriptors *descriptors.Share
	identify    func(ctx context.Context, path string) devices.Finding
	started     func(h *Host) // on the loop; nil: nothing
}

func serve(t *testing.T, change func(*setup)) *running {
	t.Helper()
	with := setup{descriptors: descriptors.New(1, false).Drivers}
	if change != nil {
		change(&with)
	}
	log := zaptest.NewLogger(t)
	book := &lastwords.Book{}
	s := &running{address: freeAddress(t)}
	ready := make(chan struct{})
	s.loop = reactor.New(reactor.Config{
		Addresses: []string{s.address},
		Accept:    func(_ time.Duration, d *reactor.Descriptor, _ int) reactor.Handler { return echo{d} },
		Started: func(time.Duration) {
			if with.started != nil {
				with.started(s.host)
			}
			close(ready)
		},
		LastWords:   book,
		Descriptors: with.descriptors,
		Log:         log,
	})
	s.host = New(s.loop, &s.loop.Timers, Config{LastWords: book, Log: log, Identify: with.identify})
	ended := make(chan error, 1)
	go func() { ended <- s.loop.Run() }()
	s.stop = sync.OnceFunc(func() {
		s.loop.Post(func(time.Duration) {
			s.host.EndSearches()
			s.loop.Stop()
		})
		if err := receive(t, ended, "end of the loop"); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	receive(t, ready, "start of the loop")
	return s
}

// echo sends back what a connection sends.
type echo struct{ *reactor.Descriptor }

func (e echo) Receive(_ time.Duration, p []byte) { e.Write(p) }
func (e echo) Hangup(_ time.Duration, _ error)   {}

// expectEcho checks that the loop serves a connection.
func expectEcho(t *testing.T, c net.Conn, text string) {
	t.Helper()
	send(t, c, []byte(text))
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != text {
		t.Fatalf("%q came back as %q, %v", text, got, err)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func dial(t *testing.T, s *running) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func send(t *testing.T, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

func receive[T any](t *testing.T, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatalf("no %s", what)
		panic("unreachable")
	}
}

// onLoop runs fn on the loop.
func onLoop(t *testing.T, s *running, fn func(now time.Duration)) {
	t.Helper()
	done := make(chan struct{})
	s.loop.Post(func(now time.Duration) { fn(now); close(done) })
	receive(t, done, "answer of the loop")
}

// await waits until a condition is true on the loop.
func await(t *testing.T, s *running, what string, cond func(now time.Duration) bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		done := false
		onLoop(t, s, func(now time.Duration) { done = cond(now) })
		switch {
		case done:
			return
		case time.Now().After(deadline):
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
