// Package client connects a program to a Player server: the functions of the manual's
// appendix A, which is for C++, in Go.
//
//	robot, err := client.Dial(ctx, "localhost") // port 6665
//	...
//	defer robot.Close()
//	err = robot.SetCommandLifetime(500 * time.Millisecond) // if this program hangs, the wheels stop
//	sonar, err := robot.OpenSonar(ctx, 0)
//	wheels, err := robot.OpenWheels(ctx)
//	...
//	for robot.Read(ctx) == nil { // ten times a second
//		if sonar.Data[3] < 500 {
//			wheels.Drive(0, 20) // mm/s, deg/s
//		} else {
//			wheels.Drive(100, 0)
//		}
//	}
//
// A command of a client with a lifetime is good for that long: the server stops the wheels
// unless it is repeated in time. Request opens several devices at once by the letters of the
// protocol, robot.Request(ctx, "srpw"), and their data are in the fields: robot.Sonar[3].
//
// A Client is used by one goroutine. A wait ends when its context does, and
// the connection stays usable: the next Read completes a round that arrived in
// part. Commands have no answer to wait for, so they can be sent after the context has ended:
// stop the robot, then Close. A network that takes nothing for five seconds is lost.
// A program that cannot wait so long has the methods whose names end in Context: when the
// context ends before the network has taken the command, they close the connection, of which
// a part of the command may have been sent, and return the context's error.
//
// It needs nothing of one system. Its tests run on Linux; for macOS and Windows it is only
// compiled and vetted.
package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"player/codec"
	"player/codec/compact"
)

const (
	// defaultHost is the computer in an address without one (manual A.2, 3.2).
	defaultHost = "localhost"

	// bufferSize is the initial size of the receive buffer in bytes. A round
	// of all devices with some 300 blobs fits. For larger blocks, whose size
	// is a u16, the buffer grows, to at most 128 KiB.
	bufferSize = 4096

	// sendLimit bounds a write. A network that accepts nothing for so long is lost; the
	// server stops the wheels after 2 s (PROTOCOL 9.1).
	sendLimit = 5 * time.Second

	// maxExcerpt is the most bytes of another server's text in an error: a line.
	maxExcerpt = 40
)

// ErrForeign is wrapped by the error of Request and Read if the server's first message is
// not a reply to a request: it is no server of Player.
var ErrForeign = errors.New("no server of Player")

// Client is one connection to a server. Its fields hold the newest data of the
// devices that were read; Has reports whether a device has data. Read and
// Request overwrite them.
type Client struct {
	Position codec.PositionData
	Sonar    codec.SonarData
	Laser    codec.LaserData
	Misc     codec.MiscData
	Gripper  codec.GripperData
	PTZ      codec.PTZData
	Vision   codec.VisionData
	Joystick codec.JoystickData // not in the manual (PROTOCOL 7.8)

	conn    net.Conn
	dial    func(context.Context) (net.Conn, error) // nil: Reconnect has no way
	buf, in []byte                                  // receive buffer, and its unused bytes
	items   compact.Reader                          // of the latest compact block
	auto    bool                                    // the first Request selects the form of rounds
	out     []byte                                  // send buffer
	payload []byte                                  // of the message being built

	first     []byte // head of the reply to the first request, nil before it
	answered  bool   // the server has sent that head
	devices   map[byte]*device
	answer    []byte              // the latest answer to a question, of all its messages
	listed    []codec.Entry       // the robot's devices, once Devices has asked for them
	seen      map[byte]string     // names of the bytes that were listed, also before the server was started anew
	freshness codec.FreshnessData // the latest block of device y
	readers   int                 // devices open for reading
	awaited   int                 // replies still to come
	round     uint64              // number of the current round, or of the last one
	left      int                 // blocks missing from this round
	fresh     bool                // freshness mode

	wanted   []byte                // Reconnect requests these granted pairs of devices that are still open
	settings map[byte]codec.Config // of this connection, by code: Reconnect restores them

	done    <-chan struct{} // of the context that can interrupt the connection
	release func()          // detaches that context from the connection
}

// device is the client's state of one device letter.
type device struct {
	field  interface{ Decode([]byte) error } // nil for a device that has only Raw
	raw    []byte                            // payload of the latest block
	access byte                              // from the server's last reply, 0 before
	has    bool                              // the latest block had valid data
	round  uint64                            // round of the latest block
	aged   bool                              // taken is valid
	taken  uint64                            // us since the server started
}

func (d *device) readable() bool {
	return d != nil && (d.access == codec.AccessRead || d.access == codec.AccessAll)
}

func (d *device) writable() bool {
	return d != nil && (d.access == codec.AccessWrite || d.access == codec.AccessAll)
}

// Dial connects to the server at addr: "host", "host:port", or "" for
// localhost. The default port is 6665. The server sends nothing until Request.
func Dial(ctx context.Context, addr string) (*Client, error) {
	c, err := DialBy(ctx, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer // TCP_NODELAY, Go's default, sends commands at once
		return d.DialContext(ctx, "tcp", withPort(addr))
	})
	if err != nil {
		return nil, err
	}
	c.auto = true
	return c, nil
}

// DialBy connects by dial, for example with TLS, and again in Reconnect. Like a client of
// New it does not ask for compact rounds by itself.
func DialBy(ctx context.Context, dial func(context.Context) (net.Conn, error)) (*Client, error) {
	connect := func(ctx context.Context) (net.Conn, error) {
		conn, err := dial(ctx)
		if errors.Is(err, os.ErrDeadlineExceeded) { // the timer of package net fired before the timer of ctx
			err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
		}
		return conn, err
	}
	conn, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	c := New(conn)
	c.dial = connect
	return c, nil
}

// DialAs is Dial within a limit, under a name (SetName).
func DialAs(ctx context.Context, addr, name string, limit time.Duration) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c, err := Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	if err := c.SetName(name); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func withPort(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil { // no port
		host, port = strings.Trim(addr, "[]"), ""
	}
	if host == "" {
		host = defaultHost
	}
	if port == "" {
		port = strconv.Itoa(codec.UsualPort)
	}
	return net.JoinHostPort(host, port)
}

// New returns a client on conn, which must support read deadlines. Close closes conn. Unlike
// a client of Dial it does not ask for compact rounds by itself.
func New(conn net.Conn) *Client {
	c := &Client{conn: conn, buf: make([]byte, bufferSize), release: func() {}, settings: map[byte]codec.Config{}}
	c.devices, c.items.Interface = c.unknown(), c.interfaceOf
	return c
}

// unknown returns the devices before the server's first message.
func (c *Client) unknown() map[byte]*device {
	return map[byte]*device{
		codec.Position: {field: &c.Position},
		codec.Sonar:    {field: &c.Sonar},
		codec.Laser:    {field: &c.Laser},
		codec.Misc:     {field: &c.Misc},
		codec.Gripper:  {field: &c.Gripper},
		codec.PTZ:      {field: &c.PTZ},
		codec.Vision:   {field: &c.Vision},
		codec.Joystick: {field: &c.Joystick},
	}
}

// Close closes the connection. The server then stops the wheels if their newest command is this
// client's (PROTOCOL 5.4).
func (c *Client) Close() error {
	c.release()
	c.release = func() {}
	return c.conn.Close()
}

// receive returns the next server message. It keeps answers and returns the messages after
// them. payload is valid until the next call. An interrupted call loses nothing.
func (c *Client) receive(ctx context.Context) (letter byte, payload []byte, err error) {
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	c.watch(ctx)
	for {
		if letter, payload, ok, err := c.items.Next(); ok || err != nil {
			return letter, payload, err
		}
		if err := c.checkFirst(); err != nil {
			return 0, nil, err
		}
		letter, payload, rest, ok := codec.Block(c.in)
		if ok {
			c.in = rest
			switch letter {
			case codec.KindCompact:
				c.items.Reset(payload)
				continue
			case codec.KindAnswer:
				if len(c.answer) > 0 && len(payload) > 0 && c.answer[0] == payload[0] { // it goes on
					payload = payload[1:]
				} else {
					c.answer = c.answer[:0]
				}
				c.answer = append(c.answer, payload...)
				continue
			}
			return letter, payload, nil
		}
		if err := c.fill(); err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return 0, nil, err
		}
	}
}

// checkFirst returns an error unless the first bytes begin a reply to the first request.
// Otherwise another server's text, parsed as a block, would be a block that never ends.
// Before a request the server sends nothing.
func (c *Client) checkFirst() error {
	if c.answered || c.first == nil {
		return nil
	}
	n := min(len(c.in), len(c.first))
	if !bytes.Equal(c.in[:n], c.first[:n]) {
		return fmt.Errorf("%w: it sent %q", ErrForeign, c.in[:min(len(c.in), maxExcerpt)])
	}
	c.answered = n == len(c.first)
	return nil
}

// fill waits for more bytes after c.in.
func (c *Client) fill() error {
	n := copy(c.buf, c.in)
	if n == len(c.buf) {
		c.buf = append(c.buf, make([]byte, n)...)
	}
	more, err := c.conn.Read(c.buf[n:])
	c.in = c.buf[:n+more]
	switch {
	case more > 0:
		return nil // the next read returns the error
	case errors.Is(err, io.EOF) && n > 0:
		return fmt.Errorf("server closed the connection in the middle of a message: %w", io.ErrUnexpectedEOF)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("server closed the connection: %w", err)
	}
	return err
}

// watch makes the end of ctx interrupt the connection. It stays attached until
// another context comes: attaching allocates, and a loop around Read must not.
func (c *Client) watch(ctx context.Context) {
	if c.done == ctx.Done() {
		return
	}
	c.release()
	c.done, c.release = ctx.Done(), func() {}
	if c.done == nil {
		return
	}
	conn, interrupted := c.conn, make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		conn.SetReadDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	c.release = func() {
		if !stop() {
			<-interrupted // otherwise the deadline could be set after it was reset
			conn.SetReadDeadline(time.Time{})
		}
	}
}

// send sends one message. See flush for the end of ctx.
func (c *Client) send(ctx context.Context, kind, letter byte, payload []byte) error {
	if err := c.queue(kind, letter, payload); err != nil {
		return err
	}
	return c.flush(ctx)
}

// queue adds a message to those that flush sends.
func (c *Client) queue(kind, letter byte, payload []byte) error {
	if len(payload) > codec.MaxPayload {
		return fmt.Errorf("message for device %q has %d bytes, a server takes %d", letter, len(payload), codec.MaxPayload)
	}
	c.out = codec.AppendMessage(c.out, kind, letter, payload)
	return nil
}

// flush sends the messages of queue in one write. If the network does not accept all of it within sendLimit, or until
// ctx ends, the connection is closed: part of a message may have been sent.
func (c *Client) flush(ctx context.Context) error {
	out := c.out
	c.out = c.out[:0]
	if err := ctx.Err(); err != nil {
		return err
	}
	conn := c.conn
	_ = conn.SetWriteDeadline(time.Now().Add(sendLimit)) // of a closed connection; Write reports it
	if ctx.Done() != nil {
		interrupted := make(chan struct{})
		stop := context.AfterFunc(ctx, func() {
			_ = conn.SetWriteDeadline(time.Unix(1, 0))
			close(interrupted)
		})
		defer func() {
			if !stop() {
				<-interrupted // otherwise it could interrupt the next write
			}
		}()
	}
	_, err := conn.Write(out)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	_ = conn.Close()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: the network took nothing for %v", net.ErrClosed, sendLimit)
}
