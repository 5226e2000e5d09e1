package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/strangers"
	"player/e2e/waiting"
	"player/process/descriptors"
	product "player/server"
	robot "player/simulation/emulator/p2os"
	laser "player/simulation/emulator/sick"
	"player/visitors"
	"player/visitors/dashboard"
)

// answered reports whether the server serves a connection: it answers an empty
// request. A refused connection is closed.
func answered(c net.Conn) bool {
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write([]byte("dr\x00\x00")); err != nil {
		return false
	}
	n, _ := io.ReadFull(c, make([]byte, 3))
	return n == 3
}

// dialFrom connects from an address of this computer, nil if the server does not
// accept.
func dialFrom(from, to string) net.Conn {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: patience}
	c, err := d.Dial("tcp", to)
	if err != nil {
		return nil
	}
	return c
}

// flood calls a function in n goroutines again and again until the test ends.
func flood(t *testing.T, n int, fn func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				fn(ctx)
			}
		})
	}
	t.Cleanup(func() { cancel(); all.Wait() })
}

// Clients that flood the server wait for their turns, and the log names them. Others
// are served.
func TestInputFloods(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	const setRequestMode, ask = "xy\x00\x02r\x01", "xy\x00\x01d"
	const floods = product.LogFloods
	logged := map[string]string{"malformed": floods, "commands": floods, "asked-frames": floods, "open-close": floods, "connections": product.LogConnected}
	for _, p := range strangers.Abuses() {
		if logged[p.Name] == "" {
			continue // at the dashboard
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "-stage", room)
			asks, stream := s.dial(t), s.dial(t)
			asks.send([]byte(setRequestMode)...)
			asks.mustOpen("sr", "sr")
			stream.mustOpen("sr", "sr")
			dial := func(address string) (net.Conn, error) { return net.Dial("tcp", address) }
			flood(t, min(p.Count, 100), func(ctx context.Context) { p.Do(ctx, dial, strangers.Addresses{Robot: s.address}) })
			s.Await(t, logged[p.Name])
			for range 300 {
				asks.send([]byte(ask)...)
				asks.block()
			}
			for range 20 {
				stream.block()
			}
		})
	}
}

// Strangers cannot take all places from this computer.
func TestPlacesAreKept(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.start(t, "-stage", room, "-max-clients", "8", "-max-per-address", "8")
	served := 0
	for range 8 {
		if answered(n.far(t, &net.Dialer{}).conn) {
			served++
		}
	}
	if served != 7 {
		t.Errorf("%d of 8 places are taken by strangers, want 7", served)
	}
	if !answered(n.near(t).conn) {
		t.Error("a client of this computer has no place")
	}
}

// For any number of connections and few descriptors the server lives, and
// its clients are served.
func TestDescriptorFloods(t *testing.T) {
	t.Parallel()
	plugin := must.Get(filepath.Abs("../examples/plugins/hdaps.sh"))(t)
	for _, limit := range []int{48, 128, 256, 1024} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			t.Parallel()
			if limit != 128 {
				acceptance.Only(t)
			}
			r := startRobot(t, robot.Options{})
			dir := t.TempDir()
			write(t, dir, "calibrate", "(409,528)\n")
			write(t, dir, "position", "(409,528)\n")
			file := write(t, dir, "robot.cfg", fmt.Sprintf("driver ( name %q port %q )\ndriver ( name %q plugin %q args [%q] provides [%q] )\n",
				"p2os", r.Port(), "hdaps", plugin, dir, "joystick:0"))
			page := fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1))
			// A descriptor that the test was started with, as the lock of flock(1), would be one of few.
			via := []string{"sh", "-c", fmt.Sprintf(`exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n %d; exec "$0" "$@"`, limit)}
			s := launch{via: via}.start(t, "-http", page, file)
			driver := s.dial(t)
			driver.mustOpen("pa", "pa")
			driver.send(motors(1)...)
			driver.drives("motion", 200, 0, func() bool { return r.State().Left > 50 })

			// Pages first, then clients of many addresses, more than fit of each.
			var all []net.Conn
			defer func() {
				for _, c := range all {
					c.Close()
				}
			}()
			for i := range limit + 100 {
				to := s.address
				if i < limit/2 {
					to = page
				}
				c := dialFrom(fmt.Sprintf("127.0.1.%d", i%200+1), to)
				if c == nil {
					t.Fatalf("connection %d is not accepted", i)
				}
				all = append(all, c)
				if to == page {
					_, _ = io.WriteString(c, "GET / HTTP/1.1\r\n") // may be refused
				}
			}
			s.Await(t, product.LogRefused)
			driver.drives("the other direction", -200, 0, func() bool { return r.State().Left < -50 })
			if reply := driver.request("jr"); reply != "jr" { // the plugin starts, or the log says why it cannot
				if limit > 48 {
					t.Fatalf("request for the plugin answered %q", reply)
				}
				s.Await(t, descriptors.ErrNone.Error())
			}
			driver.drives("motion", 200, 0, func() bool { return r.State().Left > 50 })
			if !s.Alive() {
				t.Fatal("the server ended")
			}

			for _, c := range all {
				c.Close()
			}
			waiting.Until(t, "a place for a new client", func() bool {
				c := dialFrom("127.0.0.1", s.address)
				if c == nil {
					return false
				}
				defer c.Close()
				return answered(c)
			})
			s.stop(t)
			checkFarewell(t, r)
		})
	}
}

// An emergency stop passes every flood: by the dashboard, from an address that itself
// floods it, and by the protocol, on a connection of its own and behind a request whose
// hardware does not answer.
func TestStopPassesFloods(t *testing.T) {
	// atMost tells a stop that passes from one that waits for its turn, which took more
	// than half a minute. On a quiet machine it takes less than a second, as the log of the
	// test shows.
	const atMost = 20 * time.Second
	silent, other := startLaser(t, laser.Options{}), ports.Free(t, 1)
	silent.Silence()
	s := start(t, "-http", "127.0.0.1:0", write(t, t.TempDir(), "robot.cfg", fmt.Sprintf(`
		driver ( name "stage" world %q )
		driver ( name "sicklms200" port %q provides ["%d:laser:0"] )`, absolute(t, room), silent.Port(), other)))
	page := s.dashboard(t)
	at := strangers.Addresses{Robot: s.address, Page: strings.Trim(page, "htp:/")}
	// Lines that come once a minute: in a full flood a slow reader of the log may miss them.
	lines := map[string]string{"malformed": product.LogFloods, "half-requests": visitors.LogHalf}
	start := func(i int, p strangers.Workload) {
		from, count := net.IPv4(127, 0, 0, byte(2+i)), p.Count
		switch p.Name {
		case "edits":
			from = nil // the address of whoever stops the robot
		case "pages":
			count = 20 // all these addresses are of this computer, for which places are kept
		}
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
		flood(t, count, func(ctx context.Context) {
			p.Do(ctx, func(address string) (net.Conn, error) { return d.Dial("tcp", address) }, at)
		})
	}
	abuses := strangers.Abuses()
	for i, p := range abuses {
		if lines[p.Name] != "" {
			start(i, p)
			s.Await(t, lines[p.Name])
		}
	}
	for i, p := range abuses {
		if lines[p.Name] == "" {
			start(i, p)
		}
	}
	s.Await(t, dashboard.LogConnected)
	dial := func(address string) *peer {
		conn := must.Get(net.Dial("tcp", address))(t)
		t.Cleanup(func() { conn.Close() })
		return &peer{t, conn}
	}
	const stop, release, laserRequest = "xy\x00\x02e\x01", "xy\x00\x02e\x00", "dr\x00\x02lr"
	owner := newVisitor(page, "127.0.0.1")
	for _, tt := range []struct {
		name, address string
		do            func(p *peer)
	}{
		{"dashboard", s.address, func(*peer) {
			reply := must.Get(owner.client.Post(page+"stop?robot=all", "", nil))(t)
			reply.Body.Close()
			if reply.StatusCode != http.StatusNoContent {
				t.Errorf("status %d", reply.StatusCode)
			}
		}},
		{"protocol", s.address, func(p *peer) { p.send([]byte(stop)...) }},
		{"behind a setup", fmt.Sprintf("127.0.0.1:%d", other), func(p *peer) { p.send([]byte(laserRequest + stop)...) }},
	} {
		watch := dial(tt.address)
		stopped := func() bool { return len(watch.ask('s')) > 0 }
		for range 3 {
			begin := time.Now()
			tt.do(dial(tt.address))
			waiting.Until(t, "the stop", stopped)
			took := time.Since(begin)
			if t.Logf("%s: stopped after %v", tt.name, took); took > atMost {
				t.Errorf("%s: stopped after %v, want at most %v", tt.name, took, atMost)
			}
			watch.send([]byte(release)...)
			waiting.Until(t, "the release", func() bool { return !stopped() })
		}
	}
}
