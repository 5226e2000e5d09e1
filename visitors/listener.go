package visitors

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// readSize is the most bytes that one read returns, about one request's header.
// More would contain many messages, which would be handled without a pause.
const readSize = 512

// stopSize is how many bytes of an emergency stop's request are read without waiting: twice
// the size that browsers send.
const stopSize = 2 << 10

// handshake is the first byte of a connection by TLS: the type of a record
// with a handshake (RFC 8446, 5.1). No request of HTTP begins with it.
const handshake = 22

// limited is a listener that closes connections without a place, and slows down
// those that cause too much work.
type limited struct {
	net.Listener
	budget *budget
	stop   string // path of an emergency stop; empty: there is none
	tls    func() *tls.Config
}

// Accept waits for a connection that has a place.
func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if account := l.budget.enter(AddressOf(conn.RemoteAddr().String())); account != nil {
			account.owe(connectionCost)
			return &counted{Conn: conn, account: account, stop: l.stop, tls: l.tls, leave: sync.OnceFunc(account.leave)}, nil
		}
		conn.Close()
		runtime.Gosched() // the loop may run between two refusals
	}
}

// counted is a connection that has a place until it is closed. Reads pay: while a visitor
// waits, its data is not read, so it cannot send more either. Writes do not wait, but the
// next read pays for them. An emergency stop does not wait.
//
// It uses TLS if its first byte begins a TLS handshake. The bytes that count are the bytes
// inside TLS.
type counted struct {
	net.Conn
	tls   func() *tls.Config // nil: it was called
	byTLS *tls.Conn          // nil: without TLS

	account *account
	leave   func()
	stop    string

	free     int         // bytes of a stop that may be read without waiting
	stopping atomic.Bool // an emergency stop was read, and its request is not served yet
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.read(p[:min(len(p), readSize)])
	if n > 0 {
		if c.stop != "" && bytes.HasPrefix(p[:n], []byte("POST "+c.stop+"?")) && c.account.stop() {
			c.free = stopSize
			c.stopping.Store(true)
		}
		if work := readCost + time.Duration(n)*inputCost; n <= c.free {
			c.free -= n
			c.account.owe(work)
		} else {
			c.free = 0
			c.account.pay(work)
		}
	}
	return n, err
}

func (c *counted) read(p []byte) (int, error) {
	if c.byTLS != nil {
		return c.byTLS.Read(p)
	}
	n, err := c.Conn.Read(p)
	if c.tls == nil || n == 0 {
		return n, err
	}
	config := c.tls()
	c.tls = nil
	if config == nil || p[0] != handshake {
		return n, err
	}
	c.account.pay(handshakeCost)
	c.byTLS = tls.Server(&begun{c.Conn, bytes.Clone(p[:n])}, config)
	return c.byTLS.Read(p) // after the handshake
}

// name returns the common name in the visitor's certificate, empty if there is none.
func (c *counted) name() string {
	if c.byTLS == nil {
		return ""
	}
	certs := c.byTLS.ConnectionState().PeerCertificates
	if len(certs) == 0 {
		return ""
	}
	return certs[0].Subject.CommonName
}

// begun is a connection after its first bytes have been read.
type begun struct {
	net.Conn
	first []byte
}

func (b *begun) Read(p []byte) (int, error) {
	if len(b.first) == 0 {
		return b.Conn.Read(p)
	}
	n := copy(p, b.first)
	b.first = b.first[n:]
	return n, nil
}

func (c *counted) Write(p []byte) (int, error) {
	c.account.owe(writeCost + time.Duration(len(p))*outputCost)
	if c.byTLS != nil {
		return c.byTLS.Write(p)
	}
	return c.Conn.Write(p)
}

// writeAll writes parts as one.
func (c *counted) writeAll(parts [][]byte) error {
	if c.byTLS != nil {
		_, err := c.Write(bytes.Join(parts, nil))
		return err
	}
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	c.account.owe(writeCost + time.Duration(size)*outputCost)
	buffers := net.Buffers(parts)
	_, err := buffers.WriteTo(c.Conn)
	return err
}

func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// connKey is the key of the connection in the context of a request.
type connKey struct{}

func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// connOf returns the connection that sent a request, nil without withConn.
func connOf(r *http.Request) *counted {
	c, _ := r.Context().Value(connKey{}).(*counted)
	return c
}

// throttle calls next for each request that the account allows. The next request
// of the connection is read when next has returned.
func throttle(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := connOf(r); c.stopping.Swap(false) && r.URL.Path == c.stop {
			c.account.owe(requestCost)
		} else {
			c.account.pay(requestCost)
		}
		next.ServeHTTP(w, r)
	})
}
