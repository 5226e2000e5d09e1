package reactor

import (
	"bytes"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"player/e2e/needs"
	"player/e2e/waiting"
	"player/timers"
)

func TestAccept(t *testing.T) {
	refuse := false
	r := run(t, func(c *Config) {
		c.Accept = func(now time.Duration, d *Descriptor, listener int) Handler {
			if refuse || listener != 0 || d.LocalAddr().String() != c.Addresses[0] || d.RemoteAddr() == nil {
				return nil
			}
			return echo(now, d, listener)
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
	r := run(t, func(c *Config) { c.Settle = func(time.Duration) { seen[goroutineID()]++ } })
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

// A write of a handler may close another descriptor, whose Hangup is a callback within the first
// one. The decisions of both are settled when the outermost callback returns.
func TestSettlesWhenTheOutermostCallbackReturns(t *testing.T) {
	settled, depth, before := 0, 0, 0
	r := run(t, nil)
	r.on(t, func(time.Duration) {
		r.config.Settle = func(time.Duration) { settled, depth = settled+1, max(depth, r.depth) }
	})
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
	if at := waiting.Receive(t, fired, "timer"); at < deadline-coalesce {
		t.Errorf("fired at %v, %v too early", at, deadline-at)
	}
}

func TestPostAfterTheEnd(t *testing.T) {
	r := run(t, nil)
	r.stop()
	if r.Post(func(time.Duration) { t.Error("called") }) {
		t.Error("Post reports true")
	}
}

// The loop closes its connections when it ends.
func TestEndHangsUp(t *testing.T) {
	h := newRecorder()
	r := run(t, func(c *Config) { c.Accept = func(time.Duration, *Descriptor, int) Handler { return h } })
	c := dial(t, r.address)
	say(t, c, "x")
	waiting.Receive(t, h.received, "byte")
	r.stop()
	waiting.Receive(t, h.hangups, "hangup")
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection stays open")
	}
}

// While the loop always has something to do, another goroutine gets the thread again and again,
// and earlier than Go's scheduler takes it away, which is after ten milliseconds.
func TestBusyLoopYields(t *testing.T) {
	needs.Time(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := run(t, nil)
	var runs atomic.Int64
	var over atomic.Bool
	go func() {
		for !over.Load() {
			runs.Add(1)
			runtime.Gosched()
		}
	}()
	const callbacks = 400 // of a millisecond each, or more on a busy computer
	done := make(chan struct{})
	left := callbacks
	var work func(now time.Duration)
	work = func(now time.Duration) {
		for r.Now() < now+time.Millisecond { // work
		}
		if left--; left == 0 {
			close(done)
			return
		}
		r.Post(work)
	}
	r.Post(work)
	waiting.Receive(t, done, "end of the work")
	over.Store(true)
	if got, want := runs.Load(), int64(callbacks*time.Millisecond/(3*yieldPeriod)); got < want {
		t.Errorf("in %d callbacks the other goroutine ran %d times, want %d", callbacks, got, want)
	}
}
