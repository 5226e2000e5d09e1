package visitors

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// readSize is the most bytes that one read returns, about one request's header.
// More would hold many messages, which would be handled without a pause.
const readSize = 512

// stopSize is how much of the request of an emergency stop is read without waiting, in
// bytes: twice what browsers send.
const stopSize = 2 << 10

// limited is a listener that closes connections without a place, and slows down
// those that cause too much work.
type limited struct {
	net.Listener
	budget *budget
	stop   string // path of an emergency stop; empty: there is none
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
			return &counted{Conn: conn, account: account, stop: l.stop, leave: sync.OnceFunc(account.leave)}, nil
		}
		conn.Close()
		runtime.Gosched() // the loop may run between two refusals
	}
}

// counted is a connection that has a place until it is closed. Reads pay: a
// visitor that waits is not read, so it cannot send more either. Writes do not
// wait, but the next read pays for them. An emergency stop does not wait.
type counted struct {
	net.Conn
	account *account
	leave   func()
	stop    string

	free     int         // bytes of a stop that may be read without waiting
	stopping atomic.Bool // a stop was read whose request is not served yet
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p[:min(len(p), readSize)])
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

func (c *counted) Write(p []byte) (int, error) {
	c.account.owe(writeCost + time.Duration(len(p))*outputCost)
	return c.Conn.Write(p)
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

// connOf returns the connection that sent a request.
func connOf(r *http.Request) *counted { return r.Context().Value(connKey{}).(*counted) }

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
