package reactor

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// served runs a loop and returns one connection to it and its descriptor.
func served(t *testing.T) (r *running, c *net.TCPConn, d *Descriptor, h *recorder) {
	t.Helper()
	h = newRecorder()
	accepted := make(chan *Descriptor, 1)
	first := true
	r = run(t, func(c *Config) {
		echo := c.Accept
		c.Accept = func(now time.Duration, conn *Descriptor, listener int) Handler {
			if !first {
				return echo(now, conn, listener)
			}
			first = false
			accepted <- conn
			return h
		}
	})
	c = dial(t, r.address).(*net.TCPConn)
	return r, c, receive(t, accepted, "connection"), h
}

// unread waits until the kernel holds n bytes of input and the loop has gone round
// after that, and checks that they are not received.
func (r *running) unread(t *testing.T, d *Descriptor, h *recorder, n int) {
	t.Helper()
	for deadline, there := time.Now().Add(patience), 0; there < n; {
		r.on(t, func(time.Duration) {
			if fd, err := d.Fd(); err == nil {
				there, _ = unix.IoctlGetInt(fd, unix.SIOCINQ)
			}
		})
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes wait in the kernel, want %d", there, n)
		}
	}
	roundTrip(t, dial(t, r.address), "others are served")
	if len(h.received) > 0 {
		t.Fatalf("received %q in a pause", <-h.received)
	}
}

func say(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
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
	if got := receive(t, h.received, "input"); got != "hello" {
		t.Fatalf("received %q", got)
	}
	r.on(t, func(time.Duration) { d.Pause() })
	say(t, c, "last")
	c.Close()
	r.unread(t, d, h, 4)
	if len(h.hangups) > 0 {
		t.Fatal("hung up before the last input")
	}
	r.on(t, func(time.Duration) { d.Resume() })
	if got := receive(t, h.received, "input"); got != "last" {
		t.Fatalf("received %q", got)
	}
	if err := receive(t, h.hangups, "hangup"); !errors.Is(err, io.EOF) {
		t.Errorf("hangup: %v", err)
	}
}

func TestResetInAPause(t *testing.T) {
	r, c, d, h := served(t)
	r.on(t, func(time.Duration) { d.Pause() })
	if err := c.SetLinger(0); err != nil {
		t.Fatal(err)
	}
	c.Close()
	receive(t, h.hangups, "hangup")
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
	if _, err := io.CopyN(io.Discard, c, size); err != nil {
		t.Fatal(err)
	}
	say(t, c, "x")
	if got := receive(t, h.received, "input"); got != "x" {
		t.Fatalf("received %q", got)
	}
	say(t, c, "yz")
	r.unread(t, d, h, 2)
	r.on(t, func(time.Duration) { d.Resume() })
	if got := receive(t, h.received, "input"); got != "yz" {
		t.Fatalf("received %q", got)
	}
}

// Without a free descriptor, clients are accepted and closed, and those that are
// connected are served.
func TestAcceptWithoutDescriptors(t *testing.T) {
	r := run(t, nil)
	old := dial(t, r.address)
	roundTrip(t, old, "hello")
	var sockets [3]int
	for i := range sockets {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		timeout := unix.NsecToTimeval(int64(patience))
		if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
			t.Fatal(err)
		}
		sockets[i] = fd
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	free, err := unix.Dup(0) // the lowest one that is free
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(free)
	setLimit := func(n uint64) {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: before.Max}); err != nil {
			t.Fatal(err)
		}
	}
	setLimit(uint64(free))
	defer setLimit(before.Cur)
	to := unix.SockaddrInet4{Port: int(netip.MustParseAddrPort(r.address).Port()), Addr: [4]byte{127, 0, 0, 1}}
	for _, fd := range sockets {
		if err := unix.Connect(fd, &to); err != nil {
			t.Fatal(err)
		}
		if n, err := unix.Read(fd, make([]byte, 1)); n > 0 || err != nil && err != unix.ECONNRESET {
			t.Errorf("a client without a descriptor: %d bytes, %v, want a closed connection", n, err)
		}
		roundTrip(t, old, "still there")
	}
	setLimit(before.Cur)
	roundTrip(t, dial(t, r.address), "hello again")
}

// Where not even the spare descriptor helps, clients wait until the loop accepts
// again.
func TestAcceptAgain(t *testing.T) {
	r := run(t, nil)
	r.on(t, func(time.Duration) {
		r.engine.acceptFailed("a test") // nobody is there to be closed
		if !r.engine.retry.Armed() {
			t.Error("the loop does not stop accepting")
		}
	})
	roundTrip(t, dial(t, r.address), "hello")
}

// A loop that was ordered to keep clients waiting does so when the pause after a failure ends,
// and the other way round.
func TestPausesOfAccepting(t *testing.T) {
	accepted := 0
	r := run(t, func(c *Config) {
		accept := c.Accept
		c.Accept = func(now time.Duration, d *Descriptor, listener int) Handler {
			accepted++
			return accept(now, d, listener)
		}
	})
	fail := func() { r.engine.acceptFailed("a test") }
	again := func() { r.engine.acceptAgain(0); r.Timers.Stop(r.engine.retry) }
	for name, order := range map[string][4]func(){
		"the failure ends first": {func() { r.Accepting(false) }, fail, again, func() { r.Accepting(true) }},
		"the order ends first":   {func() { r.Accepting(false) }, fail, func() { r.Accepting(true) }, again},
	} {
		r.on(t, func(time.Duration) {
			order[0]()
			order[1]()
			r.Timers.Stop(r.engine.retry) // the test ends the pause
			order[2]()
		})
		c := dial(t, r.address)
		for range 3 { // rounds of the loop
			r.on(t, func(time.Duration) {})
		}
		r.on(t, func(time.Duration) {
			if accepted != 0 {
				t.Errorf("%s: a client was accepted", name)
			}
			order[3]()
		})
		roundTrip(t, c, "hello")
		r.on(t, func(time.Duration) { accepted = 0 })
	}
}
