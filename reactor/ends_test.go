package reactor

import (
	"bytes"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/e2e/waiting"
	"player/timers"
)

// events are the calls of handlers, in sequence.
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

// blocked blocks the loop while something happens outside, like a pause of the process, and then
// waits until there is an event.
func (r *running) blocked(t *testing.T, happens func(), all *events, event string) {
	t.Helper()
	there, goOn := make(chan struct{}), make(chan struct{})
	r.Post(func(time.Duration) { close(there); <-goOn })
	waiting.Receive(t, there, "the loop")
	happens()
	close(goOn)
	r.until(t, event, func() bool { return slices.Contains(all.all(), event) })
}

// come waits until a descriptor has input or an end.
func come(t *testing.T, fd int, events int16) {
	t.Helper()
	polled := []unix.PollFd{{Fd: int32(fd), Events: events}}
	if n, err := unix.Poll(polled, int(waiting.Patience/time.Millisecond)); n != 1 || err != nil {
		t.Fatalf("nothing has come: %v", err)
	}
}

// crowd runs a loop with clients named a, b, c...
func crowd(t *testing.T, n int) (r *running, clients []*net.TCPConn, served []*Descriptor, seen *events) {
	t.Helper()
	seen = &events{}
	accepted := make(chan *Descriptor, 1)
	next := 'a' // on the loop
	r = run(t, func(c *Config) {
		c.Accept = func(_ time.Duration, d *Descriptor, _ int) Handler {
			name := string(next)
			next++
			accepted <- d
			return named{name, seen}
		}
	})
	for range n {
		clients = append(clients, dial(t, r.address).(*net.TCPConn))
		served = append(served, waiting.Receive(t, accepted, "connection"))
	}
	return r, clients, served, seen
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

// The loop notices the end of a connection before it serves input of others, and before the connection's
// own input, however it ends and even if that input is not read.
func TestEndComesFirst(t *testing.T) {
	for name, end := range map[string]func(c *net.TCPConn){
		"it closes":              func(c *net.TCPConn) { c.Close() },
		"it shuts down its half": func(c *net.TCPConn) { _ = c.CloseWrite() },
		"it resets":              func(c *net.TCPConn) { _ = c.SetLinger(0); c.Close() },
	} {
		for _, paused := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				r, clients, served, seen := crowd(t, 2)
				r.on(t, func(now time.Duration) {
					served[1].WatchEnd(now, func(time.Duration) { seen.add("b has ended") })
					if paused {
						served[1].Pause()
					}
				})
				fds := numbers(t, r, served)
				r.blocked(t, func() {
					say(t, clients[0], "go")
					come(t, fds[0], unix.POLLIN)
					say(t, clients[1], "drive")
					come(t, fds[1], unix.POLLIN)
					end(clients[1])
					come(t, fds[1], unix.POLLRDHUP)
					time.Sleep(2 * checkPeriod)
				}, seen, "a says go")
				if seen.all()[0] != "b has ended" {
					t.Errorf("seen: %q", seen.all())
				}
				r.blocked(t, func() { r.Post(func(time.Duration) { served[1].Resume() }) }, seen, "b hangs up")
				if n := len(seen.all()); n > 4 || name != "it resets" && n != 4 {
					t.Errorf("seen: %q", seen.all())
				}
			})
		}
	}
}

// WatchEnd of a connection that has ended calls its function at once.
func TestEndThatWasThere(t *testing.T) {
	r, clients, served, seen := crowd(t, 1)
	fd := numbers(t, r, served)[0]
	r.on(t, func(time.Duration) { served[0].Pause() })
	clients[0].Close()
	come(t, fd, unix.POLLRDHUP)
	r.on(t, func(now time.Duration) {
		served[0].WatchEnd(now, func(time.Duration) { seen.add("ended") })
		if !slices.Equal(seen.all(), []string{"ended"}) {
			t.Errorf("seen: %q", seen.all())
		}
		served[0].Close()
		if len(r.ends.watched) > 0 {
			t.Error("a closed connection is watched")
		}
	})
}

// After a pause all input is read before a timer is served, although it came later than the timer was due.
func TestInputComesBeforeTimers(t *testing.T) {
	const each = 3*readSize + 1
	r, clients, served, seen := crowd(t, 3)
	fds := numbers(t, r, served)
	r.on(t, func(now time.Duration) {
		r.Timers.Set(timers.NewTimer(func(time.Duration) time.Duration {
			seen.add("timer")
			return 0
		}), now+time.Millisecond)
	})
	r.blocked(t, func() {
		time.Sleep(20 * time.Millisecond)
		for i, c := range clients {
			say(t, c, string(bytes.Repeat([]byte("."), each)))
			come(t, fds[i], unix.POLLIN)
		}
	}, seen, "timer")
	read := 0
	for _, e := range seen.all() {
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
		waiting.Receive(t, fired, "timer")
	}
}
