package web

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"sync"
	"time"
)

// readSize is the most bytes that one read returns, about one request's header.
// More would hold many messages, which would be handled without a pause.
const readSize = 512

// limited is a listener that closes connections without a place, and slows down
// those that cause too much work.
type limited struct {
	net.Listener
	budget *budget
}

// Accept waits for a connection that has a place.
func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if account := l.budget.enter(addressOf(conn.RemoteAddr().String())); account != nil {
			account.owe(connectionCost)
			return &counted{conn, account, sync.OnceFunc(account.leave)}, nil
		}
		conn.Close()
		runtime.Gosched() // the loop may run between two refusals
	}
}

// counted is a connection that has a place until it is closed. Reads pay: a
// visitor that waits is not read, so it cannot send more either. Writes do not
// wait, but the next read pays for them.
type counted struct {
	net.Conn
	account *account
	leave   func()
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p[:min(len(p), readSize)])
	if n > 0 {
		c.account.pay(readCost + time.Duration(n)*inputCost)
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

// accountKey is the key of the connection's account in the context of a request.
type accountKey struct{}

func withAccount(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, accountKey{}, conn.(*counted).account)
}

// accountOf returns the account of the connection that sent a request.
func accountOf(r *http.Request) *account { return r.Context().Value(accountKey{}).(*account) }

// throttle calls next for each request that the account allows. The next request
// of the connection is read when next has returned.
func throttle(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accountOf(r).pay(requestCost)
		next.ServeHTTP(w, r)
	})
}

// addressOf returns the IP address of HOST:PORT, or one that is not valid.
func addressOf(hostPort string) netip.Addr {
	a, _ := netip.ParseAddrPort(hostPort) // fails for addresses of tests only
	return a.Addr().Unmap()
}
