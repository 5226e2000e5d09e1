package tlsconn

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// overhead is how many bytes a record of TLS 1.3 adds to its content: a header of 5, the
	// type of the content, and a tag of 16 (RFC 8446, 5.2).
	overhead = 5 + 1 + 16
	// mostInRecord is the largest content of a record, in bytes (RFC 8446, 5.1).
	mostInRecord = 16 << 10
)

// Conn is a connection whose handshake is done. After Detach its methods do not block
// and belong to one goroutine: bytes in, bytes out.
type Conn struct {
	// Name is the common name in the client's certificate, which was verified; empty:
	// the client was not asked for one.
	Name          string
	Local, Remote *net.TCPAddr

	tls     *tls.Conn
	wire    *wire
	broken  error  // crypto/tls has panicked: it is not called any more
	release func() // returns the descriptors of the handshake to the share
}

// Client does the client's side of a handshake on a connection, which it takes over.
// Only the benchmark and the simulation of the server's tests need it.
func Client(tcp net.Conn, config *tls.Config) (*Conn, error) { return shaken(tcp, tls.Client, config) }

// Server does the server's side. Only the simulation of the server's tests needs it: see Handshakes.
func Server(tcp net.Conn, config *tls.Config) (*Conn, error) { return shaken(tcp, tls.Server, config) }

func shaken(tcp net.Conn, side func(net.Conn, *tls.Config) *tls.Conn, config *tls.Config) (*Conn, error) {
	w := &wire{Conn: tcp}
	c := newConn(w, side(w, config), func() {})
	if err := c.shake(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func newConn(w *wire, t *tls.Conn, release func()) *Conn {
	return &Conn{Local: w.LocalAddr().(*net.TCPAddr), Remote: w.RemoteAddr().(*net.TCPAddr), tls: t, wire: w, release: release}
}

// Detach returns the descriptor of the connection, which the caller owns from now
// on. It does not block. If it fails, the connection is closed.
func (c *Conn) Detach() (fd int, err error) {
	raw, err := c.wire.Conn.(syscall.Conn).SyscallConn()
	if err == nil {
		controlErr := raw.Control(func(of uintptr) { fd, err = unix.FcntlInt(of, unix.F_DUPFD_CLOEXEC, 0) })
		err = errors.Join(controlErr, err)
	}
	c.Part() // the connection stays open in fd, or err has the reason
	return fd, err
}

// Part closes the connection under the records, which go through memory from now on.
func (c *Conn) Part() {
	c.wire.detached = true
	_ = c.Close()
}

// Close closes a connection that is not to be detached.
func (c *Conn) Close() error {
	c.release()
	return c.wire.Conn.Close()
}

// Read decrypts records from the client into p. If n is len(p), there may be more content: call Read
// again without records. io.EOF means that the client has closed its side. Afterwards the connection
// may have records of its own to send: see HasOwnRecords.
func (c *Conn) Read(records, p []byte) (n int, err error) {
	if c.broken != nil {
		return 0, c.broken
	}
	defer c.caught(&err)
	if len(c.wire.in) == 0 {
		c.wire.in = records
	} else {
		c.wire.in = append(c.wire.in, records...)
	}
	for n < len(p) && err == nil {
		var more int
		more, err = c.tls.Read(p[n:])
		n += more
	}
	c.wire.in = bytes.Clone(c.wire.in) // records are the caller's
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return n, err
}

// caught makes a panic of crypto/tls an error, because bytes of strangers must not stop the robot. The
// panic may have left state half changed, but only state of this connection.
func (c *Conn) caught(err *error) {
	if r := recover(); r != nil {
		c.broken = fmt.Errorf("panic: %v", r)
		*err = c.broken
	}
}

// HasOwnRecords reports whether the connection has records of its own to send: the answer to a new
// key of the client, or an alert.
func (c *Conn) HasOwnRecords() bool { return c.broken == nil && len(c.wire.out) > 0 }

// Seal appends the connection's own records, and records with p, to dst. After a panic of crypto/tls
// it appends nothing.
func (c *Conn) Seal(dst, p []byte) []byte {
	if c.broken != nil {
		return dst
	}
	c.wire.out = append(dst, c.wire.out...)
	_, _ = c.tls.Write(p) // wire.Write appends to memory and does not fail
	dst, c.wire.out = c.wire.out, nil
	return dst
}

// Bye appends the last record, an alert that ends the connection, to dst.
func (c *Conn) Bye(dst []byte) []byte {
	if c.broken == nil {
		_ = c.tls.CloseWrite() // as Seal
	}
	return c.Seal(dst, nil)
}

// Size returns the size of n bytes in records, in bytes.
func Size(n int) int {
	return n + (n+mostInRecord-1)/mostInRecord*overhead
}

// wire is the connection that crypto/tls reads and writes: TCP until it is detached, then memory.
type wire struct {
	net.Conn
	detached bool
	in, out  []byte
}

// Read implements net.Conn. Without input it fails like a read whose deadline has
// passed. crypto/tls can go on after that error, also in the middle of a record.
func (w *wire) Read(p []byte) (int, error) {
	if !w.detached {
		return w.Conn.Read(p)
	}
	if len(w.in) == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(p, w.in)
	if w.in = w.in[n:]; len(w.in) == 0 {
		w.in = nil
	}
	return n, nil
}

// Write implements net.Conn.
func (w *wire) Write(p []byte) (int, error) {
	if !w.detached {
		return w.Conn.Write(p)
	}
	w.out = append(w.out, p...)
	return len(p), nil
}

// SetWriteDeadline implements net.Conn.
func (w *wire) SetWriteDeadline(t time.Time) error {
	if w.detached {
		return nil
	}
	return w.Conn.SetWriteDeadline(t)
}
