package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/formats/telemetry"
	"player/process/descriptors"
	"player/visitors"
	"player/visitors/dashboard"
	"player/visitors/foxglove"
	"player/visitors/rosbridge"
)

// The servers for programs in the simulation (rosbridge, Foxglove and the dashboard), and their connections to the
// simulated server. They are the real ones and consist of goroutines, so a simulation runs in a bubble of package synctest, whose time follows the virtual time
// while programs are connected. Goroutines wake the simulation when they want something of it. It serves their tasks
// when all of them wait, so that their order depends on the seed alone.

// simSite is the servers for programs.
type simSite struct {
	sim      *sim
	ctx      context.Context
	cancel   context.CancelFunc
	pipes    chan net.Conn // of programs, for the listener
	epoch    time.Time     // when the virtual time was zero
	programs []*simProgram
	names    int
	closed   bool
	sockets  []*simSocket

	mu    sync.Mutex
	tasks []siteTask
	woken chan struct{} // buffers one
}

// siteTask is a goroutine's task for the simulation. The tasks of one moment are ordered.
type siteTask struct {
	of interface{ order() int }
	do func()
}

// order is in front of those of connections.
func (*simSite) order() int { return 0 }

// openSite opens the servers for programs.
func (s *sim) openSite() {
	v := &simSite{sim: s, pipes: make(chan net.Conn), epoch: time.Now().Add(-s.now), woken: make(chan struct{}, 1)}
	v.ctx, v.cancel = context.WithCancel(context.Background())
	s.site = v
	post := func(fn func(now time.Duration)) bool {
		v.want(v, func() { s.onLoop(func(now time.Duration) { v.act(func() { fn(now) }) }) })
		return true
	}
	common := visitors.Common{
		Server: visitors.Confine(post, visitors.Server(s.server)), Post: post, Connect: v.connect,
		Descriptors: descriptors.NewShare(1000), Log: zap.NewNop(),
	}
	ros, viewers, pages := rosbridge.Config{Common: common}, foxglove.Config{Common: common}, dashboard.Config{Common: common}
	for _, r := range s.robots {
		robot := visitors.Robot{Name: r.name(), Address: net.JoinHostPort("127.0.0.1", r.name()), Port: 6665 + r.index}
		robot.Devices = []visitors.Device{
			{Code: codec.Position, Device: telemetry.Device{Interface: "position"}},
			{Code: codec.Sonar, Device: telemetry.Device{Interface: "sonar"}},
			{Code: codec.Misc, Device: telemetry.Device{Interface: "misc"}},
		}
		ros.Robots = append(ros.Robots, robot)
		viewers.Robots = append(viewers.Robots, foxglove.Robot{Robot: robot})
		pages.Robots = append(pages.Robots, dashboard.Robot{Name: robot.Name, Address: robot.Address, Port: robot.Port})
	}
	all := http.NewServeMux()
	all.Handle("/", rosbridge.Handler(v.ctx, ros))
	all.Handle("/viewers", foxglove.Handler(v.ctx, viewers))
	all.Handle("/pages/", http.StripPrefix("/pages", dashboard.Handler(v.ctx, pages)))
	// Not by a visitors.Site: its budget sleeps while package websocket has a mutex, and the time of a bubble stands
	// still while a goroutine waits for a mutex.
	sv := http.Server{Handler: all}
	go func() { _ = sv.Serve(v) }() // until Accept fails
	for range 1 + s.random.IntN(3) {
		s.after(s.wait(5*time.Second), v.newProgram)
	}
}

// name returns the name of the robot, which programs use.
func (r *simRobot) name() string { return "sim" + string(rune('0'+r.index)) }

// close has all programs leave.
func (v *simSite) close() {
	if v == nil {
		return
	}
	v.closed = true
	for _, p := range slices.Clone(v.programs) {
		p.drop()
	}
}

// end ends all goroutines.
func (v *simSite) end() {
	v.cancel()
	for _, p := range v.programs {
		p.pipe.Close()
	}
	for _, c := range v.sockets {
		c.ends(net.ErrClosed)
	}
}

// Accept implements net.Listener.
func (v *simSite) Accept() (net.Conn, error) {
	select {
	case pipe := <-v.pipes:
		return pipe, nil
	case <-v.ctx.Done():
		return nil, net.ErrClosed
	}
}

// brings brings the server's end of a connection of a program.
func (v *simSite) brings(theirs net.Conn) error {
	select {
	case v.pipes <- theirs:
		return nil
	case <-v.ctx.Done():
		return v.ctx.Err()
	}
}

// Close implements net.Listener.
func (v *simSite) Close() error { return nil }

// Addr implements net.Listener.
func (v *simSite) Addr() net.Addr { return tcpAddr("127.0.0.1", 9090) }

// clock returns the virtual time as the goroutines see it.
func (v *simSite) clock() time.Duration { return time.Since(v.epoch) }

// want has the simulation do something.
func (v *simSite) want(of interface{ order() int }, do func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tasks = append(v.tasks, siteTask{of, do})
	select {
	case v.woken <- struct{}{}:
	default:
	}
}

// slowness is how much later than due the goroutines may run: the simulation does not wait for them before each
// of its events.
const slowness = 5 * time.Millisecond

// passes lets the goroutines run until the given time, or until one wants something. It reports whether it has
// carried tasks out.
func (v *simSite) passes(until time.Duration) bool {
	if v == nil || len(v.programs) == 0 && len(v.sockets) == 0 {
		return false
	}
	if left := until - v.clock(); left >= slowness {
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-v.woken:
		}
		timer.Stop()
		synctest.Wait()
	}
	return v.serve()
}

// serve carries out the tasks of the goroutines.
func (v *simSite) serve() bool {
	v.mu.Lock()
	tasks := v.tasks
	v.tasks = nil
	v.mu.Unlock()
	if len(tasks) == 0 {
		return false
	}
	s := v.sim
	s.now = max(s.now, v.clock())
	slices.SortStableFunc(tasks, func(a, b siteTask) int { return cmp.Compare(a.of.order(), b.of.order()) })
	for _, t := range tasks {
		t.do()
	}
	return true
}

// act has the goroutines see the effects of fn. fn may not call the simulation.
func (v *simSite) act(fn func()) {
	time.Sleep(v.sim.now - v.clock())
	fn()
	synctest.Wait()
}

// connect implements visitors.Common.Connect.
func (v *simSite) connect(_ context.Context, address string) (net.Conn, error) {
	c := &simSocket{site: v, changed: make(chan struct{}, 1)}
	v.want(v, func() { c.connect(address) })
	return c, nil
}

// simSocket is a connection of the server for programs to the simulated server, as goroutines use it.
type simSocket struct {
	site     *simSite
	client   *simClient // nil: the simulation has not connected it yet
	accepted bool
	early    []func() // what was done before

	mu      sync.Mutex
	in      []byte
	err     error         // behind in
	past    bool          // the deadline for reading
	changed chan struct{} // buffers one
}

func (c *simSocket) order() int {
	if c.client == nil {
		return 0
	}
	return c.client.name
}

func (c *simSocket) connect(address string) {
	v := c.site
	s := v.sim
	if v.ctx.Err() != nil {
		return
	}
	v.sockets = append(v.sockets, c)
	_, name, _ := net.SplitHostPort(address)
	r := s.robots[slices.IndexFunc(s.robots, func(r *simRobot) bool { return r.name() == name })]
	c.client = s.client(r, s.wires[0])
	c.client.socket, c.client.conn.local, c.client.conn.remote.IP = c, "127.0.0.1", net.IPv4(127, 0, 0, 1)
	c.client.connect(func() {
		c.accepted = true
		for _, do := range c.early {
			do()
		}
	})
}

// do has the simulation do something when the connection stands.
func (c *simSocket) do(what func()) {
	c.site.want(c, func() {
		if c.accepted {
			what()
		} else {
			c.early = append(c.early, what)
		}
	})
}

// brings brings bytes of the server.
func (c *simSocket) brings(p []byte) {
	c.site.act(func() { c.change(func() { c.in = append(c.in, p...) }) })
}

// ended is called when the server has closed the connection: its output comes before its end.
func (c *simSocket) ended() {
	s := c.site.sim
	s.after(time.Millisecond, func() { c.site.act(func() { c.ends(io.EOF) }) })
	c.site.sockets = slices.DeleteFunc(c.site.sockets, func(o *simSocket) bool { return o == c })
}

func (c *simSocket) ends(err error) { c.change(func() { c.err = err }) }

// change changes something that Read waits for.
func (c *simSocket) change(fn func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fn()
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// Read implements net.Conn.
func (c *simSocket) Read(p []byte) (int, error) {
	for {
		if n, err := c.take(p); n > 0 || err != nil {
			return n, err
		}
		<-c.changed
	}
}

func (c *simSocket) take(p []byte) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.past:
		return 0, os.ErrDeadlineExceeded
	case len(c.in) > 0:
		n = copy(p, c.in)
		c.in = c.in[n:]
		return n, nil
	}
	return 0, c.err
}

// Write implements net.Conn.
func (c *simSocket) Write(p []byte) (int, error) {
	c.mu.Lock()
	err := c.err
	c.mu.Unlock()
	if err != nil {
		return 0, errors.New("broken pipe")
	}
	p = slices.Clone(p)
	c.do(func() { c.client.says(p) })
	return len(p), nil
}

// Close implements net.Conn.
func (c *simSocket) Close() error {
	c.ends(net.ErrClosed)
	c.do(func() { c.client.leave() })
	return nil
}

// SetReadDeadline implements net.Conn, for deadlines that have passed, and none.
func (c *simSocket) SetReadDeadline(t time.Time) error {
	c.change(func() { c.past = !t.IsZero() })
	return nil
}

func (c *simSocket) SetDeadline(t time.Time) error    { return c.SetReadDeadline(t) }
func (c *simSocket) SetWriteDeadline(time.Time) error { return nil }
func (c *simSocket) LocalAddr() net.Addr              { return tcpAddr("127.0.0.1", 0) }
func (c *simSocket) RemoteAddr() net.Addr             { return tcpAddr("127.0.0.1", 0) }
