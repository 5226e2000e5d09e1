package visitors

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"player/config/rights"
)

// Messages of the log, by which tests find lines.
const (
	LogQuota = "visitor: a visitor causes more work than its quota and has to wait"
	LogHalf  = logNoPlace + "its address has half of all places"

	logNoPlace = "visitor: connection refused: "
)

// Visitors are served on the thread of the loop, which drives the robot. These are
// estimates of the time that they take there, on a robot's computer: a desktop
// needs a quarter. An estimate that is too low lets visitors delay the loop, one
// that is too high slows down pages.
const (
	connectionCost = 100 * time.Microsecond
	handshakeCost  = 10 * time.Millisecond // of TLS, with a key on P-256
	requestCost    = 100 * time.Microsecond
	socketCost     = 500 * time.Microsecond // with the connection to the robot
	messageCost    = 50 * time.Microsecond
	readCost       = 20 * time.Microsecond
	writeCost      = 50 * time.Microsecond
	inputCost      = 250 * time.Nanosecond // of a byte read: the smallest frame of a WebSocket has six
	outputCost     = time.Nanosecond       // of a byte written
	replyCost      = 20 * time.Nanosecond  // of a byte of JSON that a reply is made of: a desktop needs 3 to 7 ns
)

const (
	// totalPart is the part of the thread that all visitors may use together: a
	// quarter. The loop gets the thread after each piece of work, so it hardly
	// waits, and a dozen pages that each watch a robot at 20 Hz stay below it.
	totalPart = 4
	// addressPart is the part that one address may use: an eighth.
	addressPart = 8
	// addressBurst is how much work an address may cause at once: loading the page
	// takes 10 ms of work, and a user reloads it a few times.
	addressBurst = 50 * time.Millisecond
	// maxDebt bounds how long work that was done before it was paid for makes its
	// address wait, beyond the burst, and maxOwed how much of it all visitors pay for.
	// More would shut an address out for long after a flood, and others with it.
	maxDebt = time.Second
	maxOwed = addressBurst
	// stopPeriod is the time after which an address may send another emergency stop
	// without waiting.
	stopPeriod = 250 * time.Millisecond
	// warnPeriod is the least time between two warnings about one address.
	warnPeriod = time.Minute
)

const (
	// places is how many connections of browsers are served at a time. A connection
	// may cause Player connections, both ends of which are in this process if it
	// serves the robot. The limit leaves descriptors for the robot's other clients.
	// A page that watches ten robots has about fifteen.
	places = 128
	// perAddress is how many of the places one address may have.
	perAddress = places / 2
	// keptPlaces are reserved for visitors on this computer: they can always open the
	// dashboard, however many remote visitors there are.
	keptPlaces = places / 8
)

// budget bounds the connections of visitors and the work that they cause. The goroutine
// of a visitor that has used more than its part sleeps, so that only a few goroutines
// wait for the thread.
type budget struct {
	log      *zap.Logger
	mu       sync.Mutex
	paid     time.Time // when all work so far is within totalPart
	open     int       // connections
	others   int       // places of visitors on other computers
	accounts map[netip.Addr]*account
	idle     []*counted // connections without a request, the longest idle first
}

// account counts one visitor's use. The mutex of the budget protects it. Nil: no listener has accepted the
// connection, and nothing is counted.
type account struct {
	budget  *budget
	address netip.Addr
	open    int           // connections
	paid    time.Time     // when its work so far is within addressPart
	owed    time.Duration // work that the part of all visitors does not have yet
	stopped time.Time     // when it last passed with an emergency stop
	warned  time.Time
}

func newBudget(log *zap.Logger) *budget {
	return &budget{log: log, accounts: map[netip.Addr]*account{}}
}

// enter reserves a place for a connection. If all places are taken, it closes an idle connection and takes that
// connection's place. It returns nil if the address can have no place.
func (b *budget) enter(address netip.Addr) *account {
	for {
		a, idle := b.take(address)
		if idle == nil {
			return a
		}
		idle.Close() // its browser connects again
	}
}

// take takes a place for a connection. If there is none, it returns an idle connection whose
// place the address could have, or nil.
func (b *budget) take(address netip.Addr) (*account, *counted) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	a := b.account(rights.Computer(address), now)
	var full string
	var helps func(*account) bool // its place would help
	switch {
	case a.open == perAddress:
		full, helps = LogHalf, func(other *account) bool { return other == a }
	case b.open == places:
		full, helps = logNoPlace+"all places are taken", func(*account) bool { return true }
	case !a.local() && b.others == places-keptPlaces:
		full, helps = logNoPlace+"all places are taken", func(other *account) bool { return !other.local() }
	default:
		a.open++
		b.open++
		if !a.local() {
			b.others++
		}
		return a, nil
	}
	if i := slices.IndexFunc(b.idle, func(c *counted) bool { return helps(c.account) }); i >= 0 {
		idle := b.idle[i]
		b.idle = slices.Delete(b.idle, i, i+1)
		return nil, idle
	}
	a.warn(now, full)
	return nil, nil
}

// follow updates the list of idle connections when http.Server reports a connection's state.
func (b *budget) follow(conn net.Conn, state http.ConnState) {
	c, ours := conn.(*counted)
	if !ours {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle = slices.DeleteFunc(b.idle, func(other *counted) bool { return other == c })
	if state == http.StateIdle {
		b.idle = append(b.idle, c)
	}
}

func (a *account) leave() {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	a.open--
	b.open--
	if !a.local() {
		b.others--
	}
}

// local reports whether the visitor is at this computer.
func (a *account) local() bool { return a.address.IsLoopback() }

// account returns the account of a visitor. The caller has the mutex.
func (b *budget) account(address netip.Addr, now time.Time) *account {
	if a := b.accounts[address]; a != nil {
		return a
	}
	for _, a := range b.accounts { // a few: those with connections, and those just seen
		if a.open == 0 && now.After(a.paid) && now.Sub(a.warned) > warnPeriod {
			delete(b.accounts, a.address)
		}
	}
	a := &account{budget: b, address: address}
	b.accounts[address] = a
	return a
}

// owe adds work that has been done. The next call of pay waits for it, within limits.
func (a *account) owe(work time.Duration) {
	if a == nil {
		return
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if latest := now.Add(maxDebt + addressBurst*addressPart); a.paid.Before(latest) {
		a.paid = earlier(later(a.paid, now).Add(work*addressPart), latest)
	}
	a.owed = min(a.owed+work, maxOwed)
}

// pay adds work that is about to be done, and sleeps until the parts of the
// address and of all visitors allow it. An address that waits for its own part
// takes nothing of the others'.
func (a *account) pay(work time.Duration) {
	if a == nil {
		return
	}
	b := a.budget
	b.mu.Lock()
	now := time.Now()
	a.paid = later(a.paid, now).Add(work * addressPart)
	wait := a.paid.Sub(now) - addressBurst*addressPart
	if wait > 0 {
		a.warn(now, LogQuota)
	}
	b.mu.Unlock()
	time.Sleep(wait)

	b.mu.Lock()
	now = time.Now()
	begin := later(b.paid, now).Add(a.owed * totalPart)
	b.paid, a.owed = begin.Add(work*totalPart), 0
	b.mu.Unlock()
	time.Sleep(begin.Sub(now))
}

// stop reports whether the address may send an emergency stop without waiting. It owes
// the work.
func (a *account) stop() bool {
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	now := time.Now()
	if now.Sub(a.stopped) < stopPeriod {
		return false
	}
	a.stopped = now
	return true
}

// warn logs a line about the address, at most one a warnPeriod. The caller has
// the mutex.
func (a *account) warn(now time.Time, line string) {
	if now.Sub(a.warned) > warnPeriod {
		a.warned = now
		a.budget.log.Warn(line, zap.Stringer("browser", a.address), zap.Int("connections", a.open))
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
