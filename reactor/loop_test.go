package reactor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"
	"golang.org/x/sys/unix"

	"player/descriptors"
	"player/timers"
)

// patience is how long a test waits for an event before it fails.
const patience = 20 * time.Second

// recorder is a handler that sends on what it is told.
type recorder struct {
	received chan string
	hangups  chan error
	echo     *Descriptor // where to write what came; nil: nowhere
}

func newRecorder() *recorder {
	return &recorder{received: make(chan string, 1000), hangups: make(chan error, 10)}
}

func (r *recorder) Receive(_ time.Duration, p []byte) {
	if r.echo != nil {
		r.echo.Write(p)
	}
	r.received <- string(p)
}

func (r *recorder) Hangup(_ time.Duration, err error) { r.hangups <- err }

// running is a loop that runs.
type running struct {
	*Loop
	address string
	err     chan error
	stop    func()
}

// run starts a loop that echoes, unless change sets another Accept.
func run(t testing.TB, change func(c *Config)) *running {
	t.Helper()
	r := &running{address: freeAddress(t), err: make(chan error, 1)}
	started := make(chan struct{})
	config := Config{
		Addresses: []string{r.address},
		Accept: func(_ time.Duration, d *Descriptor, _ int) Handler {
			h := newRecorder()
			h.echo = d
			return h
		},
		Ports: descriptors.NewShare(100),
		Log:   zaptest.NewLogger(t),
	}
	if change != nil {
		change(&config)
	}
	user := config.Started
	config.Started = func(now time.Duration) {
		if user != nil {
			user(now)
		}
		close(started)
	}
	r.Loop = New(config)
	go func() { r.err <- r.Run() }()
	r.stop = sync.OnceFunc(func() {
		r.Post(func(time.Duration) { r.Stop() })
		if err := receive(t, r.err, "end of the loop"); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.stop)
	select {
	case <-started:
	case err := <-r.err:
		r.err <- nil
		t.Fatalf("the loop ended at once: %v", err)
	case <-time.After(patience):
		t.Fatal("the loop does not start")
	}
	return r
}

// on runs fn on the loop and waits for it.
func (r *running) on(t testing.TB, fn func(now time.Duration)) {
	t.Helper()
	done := make(chan struct{})
	if !r.Post(func(now time.Duration) { fn(now); close(done) }) {
		t.Fatal("the loop has ended")
	}
	receive(t, done, "the loop")
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func receive[T any](t testing.TB, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatalf("no %s", what)
		panic("unreachable")
	}
}

func dial(t testing.TB, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return c
}

func roundTrip(t testing.TB, c net.Conn, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != text {
		t.Fatalf("%q came back, want %q: %v", got, text, err)
	}
}

func TestAccept(t *testing.T) {
	refuse := false
	r := run(t, func(c *Config) {
		accept := c.Accept
		c.Accept = func(now time.Duration, d *Descriptor, listener int) Handler {
			if refuse || listener != 0 || d.LocalAddr().String() != c.Addresses[0] || d.RemoteAddr() == nil {
				return nil
			}
			return accept(now, d, listener)
		}
	})
	c := dial(t, r.address)
	roundTrip(t, c, "hello")
	r.on(t, func(time.Duration) { refuse = true })
	other := dial(t, r.address)
	if _, err := other.Read(make([]byte, 1)); err == nil {
		t.Error("a refused connection stays open")
	}
	roundTrip(t, c, "still there")
}

// Every callback runs on one goroutine.
func TestOneGoroutine(t *testing.T) {
	seen := map[string]int{}
	r := run(t, nil)
	r.on(t, func(time.Duration) { r.onEnter = func() { seen[goroutineID()]++ } })
	for range 10 {
		c := dial(t, r.address)
		roundTrip(t, c, "hello")
		c.Close()
		r.on(t, func(time.Duration) {})
	}
	r.stop()
	if len(seen) != 1 {
		t.Fatalf("callbacks ran on goroutines %v", seen)
	}
	for _, n := range seen {
		if n < 30 {
			t.Fatalf("only %d callbacks seen", n)
		}
	}
}

func goroutineID() string {
	buf := make([]byte, 64)
	buf = buf[:runtime.Stack(buf, false)]
	return string(bytes.Fields(buf)[1])
}

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

// What a handler writes in a callback may close another descriptor; what was
// decided meanwhile is settled when the outermost callback returns.
func TestSettlesWhenTheOutermostCallbackReturns(t *testing.T) {
	settled, depth := 0, 0
	r := run(t, nil)
	r.on(t, func(time.Duration) {
		r.config.Settle = func(time.Duration) {
			settled++
			depth = max(depth, r.depth)
		}
	})
	before := 0
	r.on(t, func(now time.Duration) {
		before = settled
		inner := r.enter() // as gnet does when a write fails
		r.leave(inner)
		if settled != before {
			t.Error("settled within a callback")
		}
	})
	r.on(t, func(time.Duration) {
		if settled != before+1 || depth != 1 {
			t.Errorf("settled %d times, in depth %d", settled-before, depth)
		}
	})
}

func TestTimers(t *testing.T) {
	r := run(t, nil)
	fired := make(chan time.Duration, 1)
	var deadline time.Duration
	r.on(t, func(now time.Duration) {
		deadline = now + 20*time.Millisecond
		r.Timers.Set(timers.NewTimer(func(now time.Duration) time.Duration { fired <- now; return 0 }), deadline)
	})
	if at := receive(t, fired, "timer"); at < deadline-coalesce {
		t.Errorf("fired at %v, %v too early", at, deadline-at)
	}
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

func TestAddressErrors(t *testing.T) {
	r := run(t, nil)
	for _, tt := range []struct {
		addresses []string
		want      string
	}{
		{[]string{r.address}, "address already in use: another server runs there"},
		{[]string{"127.0.0.1:17655", "127.0.0.1:17655"}, "two robots are to be served on this port"},
		{[]string{"192.0.2.1:17655"}, "cannot listen on 192.0.2.1:17655"},
		{[]string{"no port"}, "cannot listen on no port"},
	} {
		err := New(Config{Addresses: tt.addresses, Log: zap.NewNop()}).Run()
		var address *AddressError
		if !errors.As(err, &address) || !strings.Contains(err.Error(), tt.want) || errors.Unwrap(err) == nil {
			t.Errorf("%v: %v", tt.addresses, err)
		}
	}
	if text := (&AddressError{"[::]:1", unix.EAFNOSUPPORT}).Error(); !strings.Contains(text, "no IPv6") {
		t.Error(text)
	}
}

func TestPostAfterTheEnd(t *testing.T) {
	r := run(t, nil)
	r.stop()
	if r.Post(func(time.Duration) { t.Error("called") }) {
		t.Error("Post reports true")
	}
}

// The loop hangs up on what is open when it ends.
func TestEndHangsUp(t *testing.T) {
	h := newRecorder()
	r := run(t, func(c *Config) { c.Accept = func(time.Duration, *Descriptor, int) Handler { return h } })
	c := dial(t, r.address)
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	receive(t, h.received, "byte")
	r.stop()
	receive(t, h.hangups, "hangup")
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection stays open")
	}
}

// knocker connects from another address than the server's: on one and the same,
// a socket may be connected to itself when nobody listens.
var knocker = net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: patience}

func TestProbeAcceptsNobody(t *testing.T) {
	address := freeAddress(t)
	var tries, in atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for ; ctx.Err() == nil; tries.Add(1) {
				if c, err := knocker.Dial("tcp", address); err == nil {
					in.Add(1)
					c.Close()
				}
			}
		})
	}
	for tries.Load() < 2000 && in.Load() == 0 {
		if _, err := probe(address); err != nil {
			t.Error(err)
			break
		}
	}
	cancel()
	wg.Wait()
	if in.Load() > 0 {
		t.Fatal("a client was accepted before the server listened")
	}
}

// A client that waits for a server to come back connects before the loop has its
// clock, or even before the engine's own connection.
func TestClientThatWaits(t *testing.T) {
	for range 10 {
		address := freeAddress(t)
		l := New(Config{
			Addresses: []string{address},
			Accept: func(_ time.Duration, d *Descriptor, _ int) Handler {
				h := newRecorder()
				h.echo = d
				return h
			},
			Log: zap.NewNop(),
		})
		ended := make(chan error, 1)
		go func() { ended <- l.Run() }()
		var c net.Conn
		for deadline := time.Now().Add(patience); c == nil; {
			var err error
			if c, err = knocker.Dial("tcp", address); err != nil && time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		roundTrip(t, c, "hello")
		c.Close()
		l.Post(func(time.Duration) { l.Stop() })
		if err := receive(t, ended, "end of the loop"); err != nil {
			t.Fatal(err)
		}
	}
}

// Each open descriptor is taken from its share until it is closed; one more is an
// error.
func TestOpenTakesDescriptors(t *testing.T) {
	r := run(t, func(c *Config) { c.Ports = descriptors.NewShare(3) })
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
		if r.config.Ports.Take(3) != nil {
			t.Error("closed descriptors are not given back")
		}
	})
}

// A process that was started with a large timer slack has the kernel's on its
// loop.
func TestSlackIsTakenBack(t *testing.T) {
	runtime.LockOSThread() // never unlocked: the thread ends with the test
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 77_000_000, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	takeBackSlack()
	if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || slack != DefaultSlack {
		t.Errorf("slack %d ns: %v", slack, err)
	}
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	takeBackSlack()
	if slack, _ := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); slack != 1000 {
		t.Errorf("a smaller slack became %d ns", slack)
	}
}

// Listeners come and go while the loop runs. A connection outlives its listener.
func TestListenWhileRunning(t *testing.T) {
	listeners := make(chan int, 10)
	r := run(t, func(c *Config) {
		c.Accept = func(_ time.Duration, d *Descriptor, listener int) Handler {
			listeners <- listener
			h := newRecorder()
			h.echo = d
			return h
		}
	})
	first := dial(t, r.address)
	roundTrip(t, first, "one")
	if got := receive(t, listeners, "first connection"); got != 0 {
		t.Errorf("listener %d", got)
	}
	address := freeAddress(t)
	for round := range 3 {
		var listener int
		r.on(t, func(time.Duration) {
			var err error
			if listener, err = r.Listen(address); err != nil {
				t.Error(err)
			}
		})
		second := dial(t, address)
		roundTrip(t, second, "two")
		if got := receive(t, listeners, "second connection"); got != listener || got != round+1 {
			t.Errorf("listener %d, want %d", got, round+1)
		}
		r.on(t, func(time.Duration) {
			if _, err := r.Listen(address); err == nil || !strings.Contains(err.Error(), "already in use") {
				t.Errorf("a second listener: %v", err)
			}
			r.Unlisten(listener)
		})
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			t.Error("somebody listens on a closed port")
		}
		roundTrip(t, second, "three")
		second.Close()
	}
	r.on(t, func(time.Duration) { r.Unlisten(0) }) // one of gnet's
	if c, err := net.Dial("tcp", r.address); err == nil {
		c.Close()
		t.Error("somebody listens on the first port")
	}
	roundTrip(t, first, "four")
	var again int
	r.on(t, func(time.Duration) {
		var err error
		if again, err = r.Listen(r.address); err != nil {
			t.Error(err)
		}
	})
	roundTrip(t, dial(t, r.address), "five")
	if got := receive(t, listeners, "connection to the reopened port"); got != again {
		t.Errorf("listener %d, want %d", got, again)
	}
}

// Connections wait while none are accepted.
func TestAcceptingPauses(t *testing.T) {
	accepted := make(chan struct{}, 10)
	r := run(t, func(c *Config) {
		c.Accept = func(_ time.Duration, d *Descriptor, _ int) Handler {
			accepted <- struct{}{}
			h := newRecorder()
			h.echo = d
			return h
		}
	})
	known := dial(t, r.address)
	roundTrip(t, known, "one")
	receive(t, accepted, "connection")
	r.on(t, func(time.Duration) { r.Accepting(false) })
	waiting := dial(t, r.address)
	for range 10 { // each would have accepted it
		roundTrip(t, known, "two")
	}
	select {
	case <-accepted:
		t.Error("accepted during the pause")
	default:
	}
	r.on(t, func(time.Duration) { r.Accepting(true) })
	roundTrip(t, waiting, "three")
}

// The end of the loop closes its own listeners only, and not what has got the number of
// one that was closed before.
func TestEndAfterUnlisten(t *testing.T) {
	r := run(t, nil)
	address := freeAddress(t)
	var files []*os.File
	r.on(t, func(time.Duration) {
		listener, err := r.Listen(address)
		if err != nil {
			t.Error(err)
		}
		r.Unlisten(listener)
		r.Unlisten(0)
		for range 10 {
			file, err := os.Open(os.DevNull)
			if err != nil {
				t.Error(err)
			}
			files = append(files, file)
		}
	})
	r.stop()
	for _, file := range files {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
}
