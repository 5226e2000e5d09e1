package client

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/e2e/must"
)

// Messages that clients in other languages cannot send; the rest is in clients/conformance.
func TestControl(t *testing.T) {
	c, s := dial(t)
	open(t, c, s, "paXw")
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"SetSpeed clips", c.SetSpeed(40000, -40000), "6370 0004 7FFF 8000"},
		{"Command", c.Command('X', []byte("any")), "6358 0003 616E79"},
		{"Command without payload", c.Command('X', nil), "6358 0000"},
		{"Config", c.Config('l', []byte{1, 2}), "786C 0002 01 02"},
	} {
		if tt.err != nil {
			t.Errorf("%s: %v", tt.name, tt.err)
		}
		s.expect(tt.want)
	}
	c.Close()
	s.expectEnd()
}

// A message that the server would drop is an error and is not sent.
func TestControlErrors(t *testing.T) {
	c, s := dial(t)
	if err := c.SetSpeed(1, 1); err == nil {
		t.Error("command before any request")
	}
	open(t, c, s, "prsrXw")
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"read only", c.SetSpeed(1, 1), `no write access to device 'p': Request "pw" first`},
		{"not open", c.SetPTZ(1, 1, 1), `no write access to device 'z': Request "zw" first`},
		{"too large", c.Command('X', make([]byte, 513)), "message for device 'X' has 513 bytes, a server takes 512"},
		{"frequency 0", c.SetFrequency(0), "frequency 0 Hz is not in 1 to 65535"},
		{"frequency -1", c.SetFrequency(-1), "frequency -1 Hz is not in 1 to 65535"},
		{"frequency too high", c.SetFrequency(65536), "frequency 65536 Hz is not in 1 to 65535"},
		{"name too long", c.SetName(strings.Repeat("x", 65)), "a name of 65 bytes, longer than 64"},
		{"name of other bytes", c.SetName("\n"), "a name with byte 0x0a, which is not printable ASCII"},
		{"lifetime too long", c.SetCommandLifetime(time.Hour), "a lifetime of 1h0m0s is not in 1 ms to 1m0s"},
		{"lifetime too short", c.SetCommandLifetime(time.Microsecond), "a lifetime of 1µs is not in 1 ms to 1m0s"},
		{"fresh without y", c.SetFresh(true), errNoServer.Error()},
	} {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, tt.err, tt.want)
		}
	}
	open(t, c, s, "Xc")
	if err := c.Command('X', nil); err == nil || !strings.Contains(err.Error(), "no write access") {
		t.Errorf("closed device: %v", err)
	}
	c.Close()
	s.expectEnd()
}

func TestControlAllocates(t *testing.T) {
	c := New(&recording{})
	c.reply([]byte("pa"))
	if n := testing.AllocsPerRun(100, func() {
		if c.SetSpeed(100, -20) != nil || c.RequestData() != nil {
			t.Error("not sent")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// canceling ends a context while a command is written.
type canceling struct {
	net.Conn
	cancel func()
}

func (c canceling) Write(p []byte) (int, error) {
	c.cancel()
	return c.Conn.Write(p)
}

// The end of a context ends a command that the network does not take, and with it the connection.
func TestCommandContext(t *testing.T) {
	for name, command := range map[string]func(context.Context, *Client) error{
		"wheels": func(ctx context.Context, c *Client) error {
			return (&Wheels{Device[codec.PositionData]{nil, c, codec.Position}}).DriveContext(ctx, 100, 0)
		},
		"output": func(ctx context.Context, c *Client) error {
			return (&IO{Device[codec.IOData]{nil, c, 'X'}}).SetContext(ctx, 1, 1)
		},
		"joint": func(ctx context.Context, c *Client) error {
			return (&Servo{Device[codec.ServoData]{nil, c, 'X'}}).MoveContext(ctx, 1, 1, 1)
		},
		"any":           func(ctx context.Context, c *Client) error { return c.CommandContext(ctx, 'X', nil) },
		"configuration": func(ctx context.Context, c *Client) error { return c.ConfigContext(ctx, 'X', nil) },
	} {
		t.Run(name, func(t *testing.T) {
			near, far := net.Pipe() // which takes nothing until far is read
			defer far.Close()
			ctx, cancel := context.WithCancel(t.Context())
			c := New(canceling{near, cancel})
			defer c.Close()
			c.reply([]byte("paXw"))
			if err := command(ctx, c); !errors.Is(err, context.Canceled) {
				t.Fatalf("%v", err)
			}
			if n, err := far.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("the connection goes on: %d bytes, %v", n, err)
			}
		})
	}
}

// A context that has ended before sends nothing, and the connection goes on.
func TestCommandContextEnded(t *testing.T) {
	c, s := dial(t)
	open(t, c, s, "pa")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.SetSpeedContext(ctx, 100, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	must.Do(t, c.SetSpeed(0, 0))
	s.expect("6370 0004 0000 0000")
	c.Close()
	s.expectEnd()
}
