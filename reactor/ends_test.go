package reactor

import (
	"bytes"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/timers"
)

// events are what handlers are told, in order.
type events struct {
	mu   sync.Mutex
	list []string
}

func (e *events) add(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, what)
}

// all returns those so far. The loop may add more meanwhile.
func (e *events) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.list)
}

// named is a handler that adds to events.
type named struct {
	name string
	to   *events
}

func (n named) Receive(_ time.Duration, p []byte) { n.to.add(n.name + " says " + string(p)) }
func (n named) Hangup(time.Duration, error)       { n.to.add(n.name + " hangs up") }

// held holds the loop up while something happens outside, as a pause of the process
// does, and waits until the loop has served it all.
func (r *running) held(t *testing.T, happens func(), done func() bool) {
	t.Helper()
	there, goOn := make(chan struct{}), make(chan struct{})
	r.Post(func(time.Duration) { close(there); <-goOn })
	receive(t, there, "the loop")
	happens()
	close(goOn)
	for ok, deadline := false, time.Now().Add(patience); !ok; {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
		r.on(t, func(time.Duration) { ok = done() })
	}
}

// come waits until a descriptor has input or an end.
func come(t *testing.T, fd int, events int16) {
	t.Helper()
	polled := []unix.PollFd{{Fd: int32(fd), Events: events}}
	if n, err := unix.Poll(polled, int(patience/time.Millisecond)); n != 1 || err != nil {
		t.Fatalf("nothing has come: %v", err)
	}
}

// crowd runs a loop with clients named a, b, c...
func crowd(t *testing.T, n int) (r *running, clients []*net.TCPConn, served []*Descriptor, told *events) {
	t.Helper()
	told = &events{}
	accepted := make(chan *Descriptor, 1)
	next := 'a' // on the loop
	r = run(t, func(c *Config) {
		c.Accept = func(_ time.Duration, d *Descriptor, _ int) Handler {
			name := string(next)
			next++
			accepted <- d
			return named{name, told}
		}
	})
	for range n {
		clients = append(clients, dial(t, r.address).(*net.TCPConn))
		d := receive(t, accepted, "connection")
		served = append(served, d)
	}
	return r, clients, served, told
}

func numbers(t *testing.T, r *running, all []*Descriptor) (fds []int) {
	t.Helper()
	r.on(t, func(time.Duration) {
		for _, d := range all {
			fd, err := d.Fd()
			if err != nil {
				t.Error(err)
			}
			fds = append(fds, fd)
		}
	})
	return fds
}

// The end of a connection is known before what others have sent, and before the input
// in front of it, however it ends and even if that input is not read.
func TestEndComesFirst(t *testing.T) {
	for name, end := range map[string]func(c *net.TCPConn){
		"it closes":              func(c *net.TCPConn) { c.Close() },
		"it shuts down its half": func(c *net.TCPConn) { _ = c.CloseWrite() },
		"it resets":              func(c *net.TCPConn) { _ = c.SetLinger(0); c.Close() },
	} {
		for _, paused := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				r, clients, served, told := crowd(t, 2)
				r.on(t, func(now time.Duration) {
					served[1].WatchEnd(now, func(time.Duration) { told.add("b has ended") })
					if paused {
						served[1].Pause()
					}
				})
				fds := numbers(t, r, served)
				r.held(t, func() {
					say(t, clients[0], "go")
					come(t, fds[0], unix.POLLIN)
					say(t, clients[1], "drive")
					come(t, fds[1], unix.POLLIN)
					end(clients[1])
					come(t, fds[1], unix.POLLRDHUP)
					time.Sleep(2 * lookPeriod)
				}, func() bool { return slices.Contains(told.all(), "a says go") })
				if told.all()[0] != "b has ended" {
					t.Errorf("told %q", told.all())
				}
				r.on(t, func(time.Duration) { served[1].Resume() })
				r.held(t, func() {}, func() bool { return slices.Contains(told.all(), "b hangs up") })
				if n := len(told.all()); n > 4 || name != "it resets" && n != 4 {
					t.Errorf("told %q", told.all())
				}
			})
		}
	}
}

// Who begins to watch a connection that has ended is told at once.
func TestEndThatWasThere(t *testing.T) {
	r, clients, served, told := crowd(t, 1)
	fd := numbers(t, r, served)[0]
	r.on(t, func(time.Duration) { served[0].Pause() })
	clients[0].Close()
	come(t, fd, unix.POLLRDHUP)
	r.on(t, func(now time.Duration) {
		served[0].WatchEnd(now, func(time.Duration) { told.add("ended") })
		if !slices.Equal(told.all(), []string{"ended"}) {
			t.Errorf("told %q", told.all())
		}
		served[0].Close()
		if len(r.ends.watched) > 0 {
			t.Error("a closed connection is watched")
		}
	})
}

// After a pause all that has come is read before a timer is believed, though it came
// later than the timer was due.
func TestInputComesBeforeTimers(t *testing.T) {
	const each = 3*readSize + 1
	r, clients, served, told := crowd(t, 3)
	fds := numbers(t, r, served)
	due := make(chan struct{})
	r.on(t, func(now time.Duration) {
		r.Timers.Set(timers.NewTimer(func(time.Duration) time.Duration {
			told.add("timer")
			close(due)
			return 0
		}), now+time.Millisecond)
	})
	r.held(t, func() {
		time.Sleep(20 * time.Millisecond)
		for i, c := range clients {
			say(t, c, string(bytes.Repeat([]byte("."), each)))
			come(t, fds[i], unix.POLLIN)
		}
	}, func() bool { return slices.Contains(told.all(), "timer") })
	receive(t, due, "timer")
	read := 0
	for _, e := range told.all() {
		if e == "timer" {
			break
		}
		read += len(e) - len("a says ")
	}
	if read != each*len(clients) {
		t.Errorf("the timer ran when %d bytes were read of %d", read, each*len(clients))
	}
}

// Input without end does not keep late timers from running.
func TestTimersRunDuringAFlood(t *testing.T) {
	r, clients, _, _ := crowd(t, 1)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for flood := make([]byte, 1<<16); ; {
			select {
			case <-stop:
				return
			default:
				if _, err := clients[0].Write(flood); err != nil {
					return
				}
			}
		}
	}()
	fired := make(chan struct{}, 1000)
	r.on(t, func(now time.Duration) {
		r.Timers.Set(timers.NewTimer(func(now time.Duration) time.Duration {
			time.Sleep(5 * time.Millisecond) // the next one is late
			fired <- struct{}{}
			return now + time.Millisecond
		}), now)
	})
	for range 20 {
		receive(t, fired, "timer")
	}
}
