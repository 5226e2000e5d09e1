package client

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"player/e2e/must"
)

func TestAddress(t *testing.T) {
	for _, tt := range []struct{ addr, want string }{
		{"", "localhost:6665"},
		{"tanis", "tanis:6665"},
		{"tanis:7000", "tanis:7000"},
		{"tanis:", "tanis:6665"},
		{":7000", "localhost:7000"},
		{"127.0.0.1", "127.0.0.1:6665"},
		{"::1", "[::1]:6665"},
		{"[::1]", "[::1]:6665"},
		{"[::1]:7000", "[::1]:7000"},
	} {
		if got := withPort(tt.addr); got != tt.want {
			t.Errorf("%q is %q, want %q", tt.addr, got, tt.want)
		}
	}
}

func TestDialErrors(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	l.Close()
	if _, err := Dial(t.Context(), l.Addr().String()); err == nil {
		t.Error("no error from a port without a server")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Dial(ctx, "127.0.0.1"); !errors.Is(err, context.Canceled) && err == nil {
		t.Errorf("cancelled: %v", err)
	}
}

// impatient is a connection that calls cancel when its reader waits for more
// than the given number of bytes.
type impatient struct {
	net.Conn
	bytes  int
	cancel func()
}

func (i *impatient) Read(p []byte) (int, error) {
	if i.bytes <= 0 {
		i.cancel()
	}
	n, err := i.Conn.Read(p)
	i.bytes -= n
	return n, err
}

// cancelAfter returns a context that ends when the client waits for more than
// the given number of bytes.
func cancelAfter(t *testing.T, c *Client, bytes int) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	c.conn = &impatient{c.conn, bytes, cancel}
	return ctx
}

func TestCancelledRead(t *testing.T) {
	block := string(unhex(sonarBlock))
	for cut := range block {
		c, s := dial(t)
		open(t, c, s, "prsr")
		s.send(positionBlock)
		s.conn.Write([]byte(block[:cut]))
		ctx := cancelAfter(t, c, len(unhex(positionBlock))+cut)
		if err := c.Read(ctx); err != context.Canceled {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if err := c.Read(ctx); err != context.Canceled {
			t.Fatalf("cut at %d, the same context again: %v", cut, err)
		}
		s.conn.Write([]byte(block[cut:]))
		read(t, c)
		if c.Sonar[15] != 2500 || c.Position.X != 1111 || !c.New('p') || !c.New('s') {
			t.Fatalf("cut at %d: the round is not complete", cut)
		}
		c.Close()
	}
}

// A context that ends between two reads interrupts neither the next read nor
// the one after it.
func TestCancelledBetweenReads(t *testing.T) {
	c, s := dial(t)
	open(t, c, s, "mr")
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		s.send(miscBlock)
		must.Do(t, c.Read(ctx))
		cancel()
		s.send(miscBlock)
		must.Do(t, c.Read(t.Context()))
		if err := c.Read(ctx); err != context.Canceled {
			t.Fatal(err)
		}
	}
}

// After a cancelled wait commands are still sent: a robot must be stopped.
func TestStopAfterCancel(t *testing.T) {
	c, s := dial(t)
	open(t, c, s, "srpw")
	if err := c.Read(cancelAfter(t, c, 0)); err != context.Canceled {
		t.Fatal(err)
	}
	must.Do(t, c.SetSpeed(0, 0))
	must.Do(t, c.Close())
	s.expect("6370 0004 0000 0000")
	s.expectEnd()
}

func TestServerCloses(t *testing.T) {
	for _, tt := range []struct {
		sent string
		want error
		text string
	}{
		{"", io.EOF, "server closed the connection: EOF"},
		{miscBlock, io.EOF, "server closed the connection: EOF"}, // a round that ends between two blocks
		{"73", io.ErrUnexpectedEOF, "server closed the connection in the middle of a message: unexpected EOF"},
		{sonarBlock[:36], io.ErrUnexpectedEOF, "server closed the connection in the middle of a message: unexpected EOF"},
	} {
		c, s := dial(t)
		open(t, c, s, "mrsr")
		s.send(tt.sent)
		s.conn.Close()
		for range 2 {
			if err := c.Read(within(t)); !errors.Is(err, tt.want) || err.Error() != tt.text {
				t.Errorf("after %s: %v, want %s", tt.sent, err, tt.text)
			}
		}
	}
}

func TestReadAfterClose(t *testing.T) {
	c, s := dial(t)
	open(t, c, s, "mrpw")
	c.Close()
	if err := c.Read(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if err := c.SetSpeed(0, 0); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if err := c.Request(t.Context(), "sr"); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// A client of New was given its connection, and has no way to another.
func TestReconnectOfNew(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	if err := New(near).Reconnect(t.Context()); err == nil || !strings.Contains(err.Error(), "DialBy") {
		t.Error(err)
	}
}

// The end of a context is one error, whichever of two timers notices it.
func TestDialDeadline(t *testing.T) {
	_, err := DialBy(t.Context(), func(context.Context) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
	})
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v is not the end of the context", err)
	}
}

// The error of Reconnect says why the server was not reached, although the time is over in the middle of
// an attempt.
func TestReconnectSaysWhy(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	attempts := 0
	c := must.Get(DialBy(ctx, func(ctx context.Context) (net.Conn, error) {
		switch attempts++; attempts {
		case 1:
			near, far := net.Pipe()
			t.Cleanup(func() { far.Close() })
			return near, nil
		case 2:
			return nil, errors.New("nothing listens")
		}
		cancel()
		return nil, ctx.Err()
	}))(t)
	if err := c.Reconnect(ctx); err == nil || !strings.Contains(err.Error(), "nothing listens") {
		t.Error(err)
	}
}
