package reactor

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/panjf2000/gnet/v2"
	"github.com/panjf2000/gnet/v2/pkg/socket"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/process/lastwords"
)

// Descriptor is an open descriptor in the loop: a connection, a serial line, a
// pipe, anything that can be polled.
type Descriptor struct {
	loop           *Loop
	handler        Handler
	conn           gnet.Conn // nil until the loop polls the descriptor, and after onClose
	pending        []byte    // written before the loop polls the descriptor, or while it is detached
	closed         bool
	paused         bool
	detached       bool
	counted        bool                    // Open took two descriptors for it, and returns one when the loop polls it
	failure        unix.Errno              // the error of a write
	opened         func(now time.Duration) // called once, when the loop polls it; may be nil
	onEnd          func(now time.Duration) // of WatchEnd
	earlyLastWords []byte                  // of words, until the loop polls the descriptor
	lastWords      *lastwords.Words        // nil: none
}

// Open puts a descriptor that does not block into the loop. It takes the descriptor over, also
// when it fails. Bytes may be written at once. The error is descriptors.ErrNone if
// Config.Descriptors has none left.
func (l *Loop) Open(fd int, h Handler) (*Descriptor, error) {
	if err := l.config.Descriptors.Take(2); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	d := &Descriptor{loop: l, handler: h, counted: true}
	if err := l.engine.adopt(fd, d); err != nil {
		l.config.Descriptors.Return(2)
		return nil, err
	}
	return d, nil
}

// Adopt is Open for a descriptor that its owner has already taken from a share. opened is called
// once, when the loop polls the descriptor.
func (l *Loop) Adopt(fd int, h Handler, opened func(now time.Duration)) (*Descriptor, error) {
	d := &Descriptor{loop: l, handler: h, opened: opened}
	return d, l.engine.adopt(fd, d)
}

// Write sends all of p. Bytes that the kernel does not take at once are kept, and sent later. p may be
// reused. After an error Hangup is called, maybe before Write returns.
func (d *Descriptor) Write(p []byte) {
	switch {
	case d.closed:
	case d.conn == nil, d.detached:
		d.pending = append(d.pending, p...)
	default:
		if d.conn.OutboundBuffered() == 0 {
			var n int
			if n, d.failure = writeNow(d.conn.Fd(), p); d.failure != 0 {
				d.close()
				return
			}
			p = p[n:]
		}
		if len(p) > 0 {
			_, _ = d.conn.Write(p) // an error closes the descriptor
		}
	}
}

// LastWords has p written when the process dies, the loop fails, or the peer hangs up. It replaces
// earlier last words. Close forgets them.
func (d *Descriptor) LastWords(p []byte) {
	switch {
	case d.closed:
	case d.conn == nil:
		d.earlyLastWords = bytes.Clone(p)
	default:
		d.forgetLastWords()
		var err error
		if d.lastWords, err = d.loop.config.LastWords.Keep(d.conn.Fd(), p); err != nil {
			d.loop.config.Log.Warn("motors will not be stopped if the server crashes", zap.Error(err))
		}
	}
}

func (d *Descriptor) forgetLastWords() {
	if d.lastWords != nil {
		d.lastWords.Drop()
		d.lastWords = nil
	}
}

// WatchEnd has fn called once, when the peer of a connection has closed it, reset it, or shut down
// its writing half. fn is called before any input that waits is served, of this connection and of
// others. Hangup is called after the input of this one. If the peer has ended the connection
// already, fn is called within WatchEnd. Call it once.
func (d *Descriptor) WatchEnd(now time.Duration, fn func(now time.Duration)) {
	d.onEnd = fn
	if d.conn != nil {
		d.loop.ends.watch(d)
		d.loop.ends.check(now)
	}
}

// Buffered returns how many written bytes the kernel has not taken yet.
func (d *Descriptor) Buffered() int {
	if d.conn == nil {
		return len(d.pending)
	}
	return len(d.pending) + d.conn.OutboundBuffered()
}

// Unacknowledged returns how many bytes the peer of a TCP connection has not
// acknowledged.
func (d *Descriptor) Unacknowledged() int {
	if d.conn == nil {
		return len(d.pending)
	}
	n, err := unix.IoctlGetInt(d.conn.Fd(), unix.SIOCOUTQ)
	if err != nil {
		n = 0 // the next write fails as well
	}
	return n + d.conn.OutboundBuffered()
}

// Queued reports whether bytes of a TCP connection wait in this computer: in a queue of the
// kernel, or in the network adapter.
func (d *Descriptor) Queued() bool { return d.conn != nil && transmitting(d.conn.Fd()) }

// Fd returns the descriptor's number, an error before the loop polls it and after it is closed. The
// number is valid during the callback.
func (d *Descriptor) Fd() (int, error) {
	if d.conn == nil {
		return -1, fmt.Errorf("it is not open: %w", unix.EBADF)
	}
	return d.conn.Fd(), nil
}

// LocalAddr returns the address of this computer to which a peer has connected by TCP. It asks the
// kernel, because gnet has only the address of the listener, which has no IP if it listens on all
// addresses. The result has no IP if the connection is closed.
func (d *Descriptor) LocalAddr() *net.TCPAddr {
	if d.conn != nil {
		if local, err := unix.Getsockname(d.conn.Fd()); err == nil {
			if tcp, ok := socket.SockaddrToTCPOrUnixAddr(local).(*net.TCPAddr); ok {
				return tcp
			}
		}
	}
	return &net.TCPAddr{}
}

// RemoteAddr returns the address of a connection's peer.
func (d *Descriptor) RemoteAddr() net.Addr { return d.conn.RemoteAddr() }

// Close closes the descriptor. Its handler is not called any more.
func (d *Descriptor) Close() {
	if d.closed {
		return
	}
	d.closed = true
	if d.conn != nil {
		d.close()
	}
}

func (d *Descriptor) close() {
	d.loop.engine.close(d.conn) // onClose is called within
}

// onOpen is called when the loop begins to poll the descriptor.
func (d *Descriptor) onOpen(now time.Duration, c gnet.Conn) {
	d.conn = c
	if d.counted {
		d.loop.config.Descriptors.Return(1)
	}
	if d.closed {
		d.close()
		return
	}
	if d.onEnd != nil {
		d.WatchEnd(now, d.onEnd)
	}
	if d.earlyLastWords != nil {
		d.LastWords(d.earlyLastWords)
		d.earlyLastWords = nil
	}
	if pending := d.pending; len(pending) > 0 {
		d.pending = nil
		d.Write(pending)
	}
	if d.paused && d.conn != nil {
		d.setEvents()
	}
	if d.opened != nil {
		d.opened(now)
	}
}

// onClose is called when the descriptor is closed, by us or by its peer.
func (d *Descriptor) onClose(now time.Duration, err error) {
	if d.conn != nil {
		d.loop.ends.forget(d.conn.Fd())
		writesLastWords := d.lastWords != nil && !d.closed
		if writesLastWords || d.detached {
			d.discardOutput()
		}
		if writesLastWords {
			d.lastWords.Say()
		}
	}
	d.conn = nil
	d.forgetLastWords()
	if d.counted {
		d.counted = false
		d.loop.config.Descriptors.Return(1)
	}
	if d.failure != 0 {
		call := "write"
		if d.failure == unix.ECONNREFUSED { // the write has waited until the connection was made
			call = "connect"
		}
		err = os.NewSyscallError(call, d.failure)
	}
	if !d.closed {
		d.closed = true
		d.handler.Hangup(now, err)
	}
}
