package reactor

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/waiting"
)

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

// dialer connects from another address than the server's: with the same address a socket may be
// connected to itself when no program listens.
var dialer = net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: waiting.Patience}

func TestProbeAcceptsNothing(t *testing.T) {
	needs.Time(t)
	address := freeAddress(t)
	var tries, in atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for ; ctx.Err() == nil; tries.Add(1) {
				if c, err := dialer.Dial("tcp", address); err == nil {
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
		l := New(Config{Addresses: []string{address}, Accept: echo, Log: zap.NewNop()})
		ended := make(chan error, 1)
		go func() { ended <- l.Run() }()
		var c net.Conn
		for deadline := time.Now().Add(waiting.Patience); c == nil; {
			var err error
			if c, err = dialer.Dial("tcp", address); err != nil && time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
		must.Do(t, c.SetDeadline(time.Now().Add(waiting.Patience)))
		roundTrip(t, c, "hello")
		c.Close()
		l.Post(func(time.Duration) { l.Stop() })
		must.Do(t, waiting.Receive(t, ended, "end of the loop"))
	}
}

// A connection knows the address that it came in on, also where the listener takes all.
func TestLocalAddr(t *testing.T) {
	for _, listen := range []string{"127.0.0.1", "0.0.0.0", ""} {
		locals := make(chan *net.TCPAddr, 1)
		r := run(t, func(c *Config) {
			_, port, _ := net.SplitHostPort(c.Addresses[0])
			c.Addresses[0] = net.JoinHostPort(listen, port)
			c.Accept = func(_ time.Duration, d *Descriptor, _ int) Handler {
				locals <- d.LocalAddr()
				return newRecorder()
			}
		})
		want := dial(t, r.address).RemoteAddr().(*net.TCPAddr)
		if got := waiting.Receive(t, locals, "connection"); !got.IP.Equal(want.IP) || got.Port != want.Port {
			t.Errorf("listening on %q: the local address is %v, want %v", listen, got, want)
		}
	}
}

// Listeners come and go while the loop runs. A connection outlives its listener.
func TestListenWhileRunning(t *testing.T) {
	listeners := make(chan int, 10)
	r := accepting(t, func(_ *Descriptor, listener int) { listeners <- listener })
	listen := func(address string) (listener int) {
		r.on(t, func(time.Duration) {
			var err error
			if listener, err = r.Listen(address); err != nil {
				t.Error(err)
			}
		})
		return listener
	}
	refused := func(address string) {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			t.Errorf("%s is listened on", address)
		}
	}
	first := dial(t, r.address)
	roundTrip(t, first, "one")
	if got := waiting.Receive(t, listeners, "first connection"); got != 0 {
		t.Errorf("listener %d", got)
	}
	address := freeAddress(t)
	for round := range 3 {
		listener := listen(address)
		second := dial(t, address)
		roundTrip(t, second, "two")
		if got := waiting.Receive(t, listeners, "second connection"); got != listener || got != round+1 {
			t.Errorf("listener %d, want %d", got, round+1)
		}
		r.on(t, func(time.Duration) {
			if _, err := r.Listen(address); err == nil || !strings.Contains(err.Error(), "already in use") {
				t.Errorf("a second listener: %v", err)
			}
			r.Unlisten(listener)
		})
		refused(address)
		roundTrip(t, second, "three")
		second.Close()
	}
	r.on(t, func(time.Duration) { r.Unlisten(0) }) // one of gnet's
	refused(r.address)
	roundTrip(t, first, "four")
	again := listen(r.address)
	roundTrip(t, dial(t, r.address), "five")
	if got := waiting.Receive(t, listeners, "connection to the reopened port"); got != again {
		t.Errorf("listener %d, want %d", got, again)
	}
}

// The end of the loop closes only its own listeners, and not a file that has the number of a listener that was
// closed before.
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
