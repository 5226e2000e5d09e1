package reactor

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"
	"golang.org/x/sys/unix"

	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/waiting"
	"player/process/descriptors"
)

// recorder is a handler that sends its arguments.
type recorder struct {
	received chan string
	hangups  chan error
	echo     *Descriptor // where to write the input; nil: nowhere
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

// expect checks the next input.
func (r *recorder) expect(t testing.TB, want string) {
	t.Helper()
	if got := waiting.Receive(t, r.received, "input"); got != want {
		t.Fatalf("received %q, want %q", got, want)
	}
}

// echo is a Config.Accept whose connections send their input back.
func echo(_ time.Duration, d *Descriptor, _ int) Handler {
	h := newRecorder()
	h.echo = d
	return h
}

// running is a loop that runs.
type running struct {
	*Loop
	address string
	err     chan error
	stop    func()
}

// accepting is run with a loop that echoes, and calls accepted with each connection.
func accepting(t testing.TB, accepted func(d *Descriptor, listener int)) *running {
	t.Helper()
	return run(t, func(c *Config) {
		c.Accept = func(now time.Duration, d *Descriptor, listener int) Handler {
			accepted(d, listener)
			return echo(now, d, listener)
		}
	})
}

// run starts a loop that echoes, unless change sets another Accept.
func run(t testing.TB, change func(c *Config)) *running {
	t.Helper()
	r := &running{address: freeAddress(t), err: make(chan error, 1)}
	started := make(chan struct{})
	config := Config{
		Addresses:   []string{r.address},
		Accept:      echo,
		Descriptors: descriptors.NewShare(100),
		Log:         zaptest.NewLogger(t),
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
		if err := waiting.Receive(t, r.err, "end of the loop"); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.stop)
	select {
	case <-started:
	case err := <-r.err:
		r.err <- nil
		t.Fatalf("the loop ended at once: %v", err)
	case <-time.After(waiting.Patience):
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
	waiting.Receive(t, done, "the loop")
}

// open is Open in a callback of the loop.
func (r *running) open(t testing.TB, fd int, h Handler) *Descriptor {
	t.Helper()
	d, err := r.Open(fd, h)
	if err != nil {
		t.Error(err)
	}
	return d
}

// until waits until ok reports true on the loop.
func (r *running) until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	waiting.Until(t, what, func() (done bool) {
		r.on(t, func(time.Duration) { done = ok() })
		return done
	})
}

// pipe returns the two ends of a pipe that does not block.
func pipe(t testing.TB) (reader, writer int) {
	t.Helper()
	var ends [2]int
	must.Do(t, unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK))
	return ends[0], ends[1]
}

func freeAddress(t testing.TB) string { return fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1)) }

func dial(t testing.TB, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	must.Do(t, err)
	t.Cleanup(func() { c.Close() })
	must.Do(t, c.SetDeadline(time.Now().Add(waiting.Patience)))
	return c
}

func say(t testing.TB, to io.Writer, text string) {
	t.Helper()
	must.Get(io.WriteString(to, text))(t)
}

// hear checks that text is the next to be read.
func hear(t testing.TB, from io.Reader, text string) {
	t.Helper()
	got := make([]byte, len(text))
	if _, err := io.ReadFull(from, got); err != nil || string(got) != text {
		t.Fatalf("read %.100q, want %.100q: %v", got, text, err)
	}
}

func roundTrip(t testing.TB, c net.Conn, text string) {
	t.Helper()
	say(t, c, text)
	hear(t, c, text)
}
