package reactor

import (
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/e2e/must"
	"player/e2e/waiting"
)

// Without a free descriptor, clients are accepted and closed, and those that are
// connected are served.
func TestAcceptWithoutDescriptors(t *testing.T) {
	r := run(t, nil)
	old := dial(t, r.address)
	roundTrip(t, old, "hello")
	var sockets [3]int
	for i := range sockets {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		must.Do(t, err)
		defer unix.Close(fd)
		timeout := unix.NsecToTimeval(int64(waiting.Patience))
		must.Do(t, unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout))
		sockets[i] = fd
	}
	var before unix.Rlimit
	must.Do(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
	free, err := unix.Dup(0) // the lowest one that is free
	must.Do(t, err)
	unix.Close(free)
	setLimit := func(n uint64) {
		must.Do(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: before.Max}))
	}
	setLimit(uint64(free))
	defer setLimit(before.Cur)
	to := unix.SockaddrInet4{Port: int(netip.MustParseAddrPort(r.address).Port()), Addr: [4]byte{127, 0, 0, 1}}
	for _, fd := range sockets {
		must.Do(t, unix.Connect(fd, &to))
		if n, err := unix.Read(fd, make([]byte, 1)); n > 0 || err != nil && err != unix.ECONNRESET {
			t.Errorf("a client without a descriptor: %d bytes, %v, want a closed connection", n, err)
		}
		roundTrip(t, old, "still there")
	}
	setLimit(before.Cur)
	roundTrip(t, dial(t, r.address), "hello again")
}

// Where not even the spare descriptor helps, clients wait until the loop accepts
// again.
func TestAcceptAgain(t *testing.T) {
	r := run(t, nil)
	r.on(t, func(time.Duration) {
		r.engine.acceptFailed("a test") // no connection waits that could be closed
		if !r.engine.acceptTimer.Armed() {
			t.Error("the loop does not stop accepting")
		}
	})
	roundTrip(t, dial(t, r.address), "hello")
}

// A loop that was commanded to keep clients waiting still does so when the pause after a failure
// ends, and the other way round.
func TestPausesOfAccepting(t *testing.T) {
	accepted := 0
	r := accepting(t, func(*Descriptor, int) { accepted++ })
	known := dial(t, r.address)
	roundTrip(t, known, "hello")
	r.on(t, func(time.Duration) { accepted = 0 })
	fail := func() { r.engine.acceptFailed("a test") }
	again := func() { r.engine.acceptAgain(0); r.Timers.Stop(r.engine.acceptTimer) }
	for name, step := range map[string][4]func(){
		"the failure ends first": {func() { r.Accepting(false) }, fail, again, func() { r.Accepting(true) }},
		"the command ends first": {func() { r.Accepting(false) }, fail, func() { r.Accepting(true) }, again},
	} {
		r.on(t, func(time.Duration) {
			step[0]()
			step[1]()
			r.Timers.Stop(r.engine.acceptTimer) // the test ends the pause
			step[2]()
		})
		c := dial(t, r.address)
		for range 3 { // each round trip is a round of the loop, which would have accepted c
			roundTrip(t, known, "still there")
		}
		r.on(t, func(time.Duration) {
			if accepted != 0 {
				t.Errorf("%s: a client was accepted", name)
			}
			step[3]()
		})
		roundTrip(t, c, "hello")
		r.on(t, func(time.Duration) { accepted = 0 })
	}
}
