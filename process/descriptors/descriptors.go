// Package descriptors divides the file descriptors that the process may open between clients,
// drivers and pages. It does so once; a reload changes only the clients' Share. Code reserves
// descriptors in its Share before it opens them, and returns them when they are closed. So accept
// never fails for lack of a descriptor.
package descriptors

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	// own is how many descriptors the process opens outside of all Shares. Always: two of the Go
	// runtime, two of gnet, two of the timer, one for the ends of connections, a spare one. For a
	// moment: six while a plugin is started or a descriptor adopted, four to find a host name or
	// to rotate a log, two to accept and close connections, one of the runtime.
	own = 21
	// fewDrivers is the least number for drivers, if that is not more than a half: enough for
	// a plugin and a serial line.
	fewDrivers = 12
	// mostDrivers is the most that drivers get: enough for 50 plugins.
	mostDrivers = 256
	// mostPages is the most that the dashboard and viewers get.
	mostPages = 512
	// mostOpen bounds the budget where the number of files is not limited.
	mostOpen = 1 << 20
)

// ErrNone is the reason why nothing more is opened.
var ErrNone = errors.New("all file descriptors for this purpose are in use: raise the limit of open files (ulimit -n)")

// Share is a part of the budget. It is safe for concurrent use.
type Share struct {
	most int
	used atomic.Int64
}

// NewShare returns a Share of n descriptors.
func NewShare(n int) *Share { return &Share{most: n} }

// Most returns the size of the Share.
func (s *Share) Most() int { return s.most }

// Take reserves n descriptors, all or none. The error is ErrNone.
func (s *Share) Take(n int) error {
	if s.used.Add(int64(n)) > int64(s.most) {
		s.used.Add(-int64(n))
		return ErrNone
	}
	return nil
}

// Return gives n descriptors back.
func (s *Share) Return(n int) { s.used.Add(-int64(n)) }

// Budget is the descriptors of the process.
type Budget struct {
	Clients *Share // connections of clients
	Drivers *Share // serial lines, plugins and other files of drivers
	Pages   *Share // the dashboard, and viewers

	fixed int // descriptors outside of all Shares
}

// New raises the soft limit of descriptors and divides the free ones. fixed is how many
// descriptors will be opened outside of all Shares: listeners, files of drivers. Without
// pages (a dashboard or viewers) clients get the pages' part.
func New(fixed int, withPages bool) Budget {
	b := divide(limit()-open()-own-fixed, withPages)
	b.fixed = fixed
	return b
}

// Fix changes how many descriptors will be opened outside of all Shares. The clients' Share
// becomes smaller or larger by the difference. Connected clients stay.
func (b *Budget) Fix(fixed int) {
	b.Clients.used.Add(int64(fixed - b.fixed))
	b.fixed = fixed
}

// divide divides n descriptors.
func divide(n int, withPages bool) Budget {
	drivers := min(max(n/4, min(fewDrivers, n/2)), mostDrivers)
	pages := 0
	if withPages {
		pages = min(n/4, mostPages)
	}
	return Budget{
		Clients: NewShare(max(n-drivers-pages, 1)),
		Drivers: NewShare(max(drivers, 0)),
		Pages:   NewShare(max(pages, 0)),
	}
}

// limit raises the soft limit and returns it.
func limit() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1024 // the usual one
	}
	if limit.Cur < limit.Max {
		raised := unix.Rlimit{Cur: limit.Max, Max: limit.Max}
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
			limit = raised
		}
	}
	return int(min(limit.Cur, mostOpen))
}

// open returns how many descriptors are open.
func open() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 8 // more than a program has at its start
	}
	return len(entries) - 1 // without the directory's own
}

// Listener returns a listener that reserves a descriptor for each connection, and closes a
// connection if there is none.
func Listener(l net.Listener, share *Share) net.Listener { return &listener{l, share} }

type listener struct {
	net.Listener
	share *Share
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.share.Take(1) == nil {
			return &conn{c, sync.OnceFunc(func() { l.share.Return(1) })}, nil
		}
		_ = c.Close() // nothing was sent
	}
}

// conn returns the descriptor that was taken for it.
type conn struct {
	net.Conn
	release func()
}

func (c *conn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
