package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"player/bench/load"
	"player/bench/rig"
	"player/codec"
)

const (
	// warmup passes before the window begins: connections grow their TCP windows,
	// the server finds out how much a congested network carries.
	warmup = 2 * time.Second
	// idleSettle is how long a server may work after its start before it has to
	// be idle.
	idleSettle = 3 * time.Second
	// idleWindow is how long an idle server is observed.
	idleWindow = 10 * time.Second
)

// run is one measurement of one server in one cell. Which fields have meaning
// depends on the kind of the cell.
type run struct {
	Server  server        `json:"server"`
	Load    *load.Result  `json:"load,omitempty"`
	Usage   rig.Usage     `json:"usage,omitzero"`   // of the server in the window
	Bridge  *rig.Usage    `json:"bridge,omitempty"` // of the fleet's bridge
	NATS    *rig.Usage    `json:"nats,omitempty"`   // of the NATS server
	Traffic rig.Traffic   `json:"traffic,omitzero"` // of its end of the network
	Stolen  float64       `json:"stolen,omitempty"` // share of all processors that other guests of the host took
	Start   time.Duration `json:"start_ns,omitempty"`
	Inside  *load.Dist    `json:"inside,omitempty"` // the age of data
	Bytes   int64         `json:"bytes,omitempty"`  // of the stripped binary
	Reader  *reader       `json:"reader,omitempty"` // a client in some language; Usage is its own
	Parsed  float64       `json:"parsed,omitempty"` // frames a second
	Error   string        `json:"error,omitempty"`
	// Calls is the system calls of the server in the window by kind; NotCounted
	// is why they could not be counted.
	Calls      map[string]uint64 `json:"calls,omitempty"`
	NotCounted string            `json:"not_counted,omitempty"`
}

// measure runs a server in a cell. A failure of the measurement is an error; a
// failure of the server is in the run.
func (w *workshop) measure(ctx context.Context, s server, c cell, window time.Duration) (run, error) {
	r := run{Server: s}
	var err error
	switch c.Kind {
	case binary:
		var info os.FileInfo
		if info, err = os.Stat(w.path(s)); err == nil {
			r.Bytes = info.Size()
		}
	case start:
		r.Start, err = w.measureStart(ctx, s, c)
	case idle:
		r.Usage, err = w.measureIdle(ctx, s, c)
	case inside:
		r.Inside, err = w.measureInside(ctx, s, c, window)
	case library:
		err = w.measureLibrary(ctx, &r, c, window)
	case parser:
		r.Parsed, err = w.measureParser(ctx)
	default:
		err = w.measureFrames(ctx, &r, c, window)
	}
	return r, err
}

// measureStart takes the time from exec to the first reply.
func (w *workshop) measureStart(ctx context.Context, s server, c cell) (took time.Duration, err error) {
	p, err := w.start(ctx, s, c, nil)
	if err != nil {
		return 0, err
	}
	defer p.stop()
	ask := func() error { return load.Answered(loopbackAddress(p.port), codec.AppendRequest(nil, []byte("pr"))) }
	if err := again(ctx, 100*time.Microsecond, ask); err != nil {
		return 0, fmt.Errorf("no reply: %w: %s", err, last(p.said.Bytes()))
	}
	return time.Since(p.since), nil
}

// again tries something until it succeeds, for at most patience, and returns the last
// error.
func again(ctx context.Context, pause time.Duration, try func() error) error {
	for limit := time.Now().Add(patience); ; time.Sleep(pause) {
		if err := try(); err == nil || time.Now().After(limit) || ctx.Err() != nil {
			return err
		}
	}
}

// measureIdle measures a server without clients.
func (w *workshop) measureIdle(ctx context.Context, s server, c cell) (u rig.Usage, err error) {
	p, err := w.start(ctx, s, c, nil)
	if err != nil {
		return u, err
	}
	defer p.stop()
	if err := wait(ctx, idleSettle); err != nil {
		return u, err
	}
	before, err := rig.UsageOf(p.cmd.Process.Pid)
	if err != nil {
		return u, err
	}
	if err := wait(ctx, idleWindow); err != nil {
		return u, err
	}
	after, err := rig.UsageOf(p.cmd.Process.Pid)
	return after.Sub(before), err
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// measureFrames serves the clients of a cell for a window.
func (w *workshop) measureFrames(ctx context.Context, r *run, c cell, window time.Duration) (err error) {
	var wire *rig.Wire
	if c.Network.Rate > 0 {
		if wire, err = rig.NewWire(c.Network.Rate); err != nil {
			return err
		}
		defer wire.Close()
	}
	var p *process
	if c.Robots > 0 {
		p, err = w.startRobots(ctx, c.Robots, fmt.Sprintf("rate %d stamp true", c.Device))
	} else {
		p, err = w.start(ctx, r.Server, c, wire)
	}
	if err != nil {
		return err
	}
	defer func() {
		switch stop := p.stop(); {
		case err != nil:
			err = errors.Join(err, stop)
		case stop != nil && ctx.Err() == nil:
			r.Error = stop.Error()
		}
	}()
	front := p // the clients connect to it
	if c.Relay {
		// A relay that finds no server refuses its first clients the devices.
		if err := wire.AtServer(func() error { return p.awaitListening(ctx) }); err != nil {
			return err
		}
		if front, err = w.startRelay(ctx, p, wire); err != nil {
			return err
		}
		defer front.stop()
	}
	if c.Strangers != "" {
		if err := p.awaitListening(ctx); err != nil {
			return err
		}
		end, err := p.admit(ctx, c.Strangers, c.Camera == "")
		if err != nil {
			return err
		}
		defer end()
	}
	m := meters{pids: []int{p.cmd.Process.Pid}, wire: wire}
	spec := p.spec(c, wire, w.warmup, window)
	if c.Monitors > 0 {
		f, err := w.startFleet(ctx, c, p, wire)
		if err != nil {
			return err
		}
		defer f.stop()
		m.pids = append(m.pids, f.pids()...)
		f.subscribe(c, &spec)
	}
	if c.Calls {
		var missing error
		if m.calls, missing = w.countCalls(ctx, p); missing != nil {
			r.NotCounted = missing.Error()
		} else {
			defer m.calls.Close()
		}
	}
	return front.serve(ctx, r, m, c.Hold, spec)
}

// countCalls starts to count the system calls of a server. It waits until the
// server accepts connections, so that its threads exist.
func (w *workshop) countCalls(ctx context.Context, p *process) (*rig.Calls, error) {
	if w.noPoints != nil {
		return nil, w.noPoints
	}
	if err := p.awaitListening(ctx); err != nil {
		return nil, err
	}
	return w.points.Count(p.cmd.Process.Pid)
}

// awaitListening waits until the server accepts connections.
func (p *process) awaitListening(ctx context.Context) error {
	return again(ctx, time.Millisecond, func() error {
		conn, err := net.Dial("tcp", loopbackAddress(p.port))
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// serve runs the clients next to the server and reads the meters at the edges
// of their window.
func (p *process) serve(ctx context.Context, r *run, m meters, hold time.Duration, spec load.Spec) error {
	text, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	clients := exec.CommandContext(ctx, "/proc/self/exe", loadVerb)
	clients.Stdin = bytes.NewReader(text)
	var said bytes.Buffer
	clients.Stderr = &said
	clients.SysProcAttr = apart()
	out, err := clients.StdoutPipe()
	if err != nil {
		return err
	}
	if m.wire != nil {
		far, err := m.wire.ClientFile()
		if err != nil {
			return err
		}
		defer far.Close()
		clients.ExtraFiles = []*os.File{far}
	}
	if err := m.wire.AtServer(clients.Start); err != nil {
		return err
	}
	_, readErr := r.follow(out, m, &r.Load, func(edge string) {
		if edge == load.Begin && hold > 0 {
			go holdProcess(ctx, clients.Process, spec.Window/2, hold)
		}
	})
	if err := clients.Wait(); err != nil {
		return fmt.Errorf("clients: %w: %s; server: %s", err, last(said.Bytes()), last(p.said.Bytes()))
	}
	return readErr
}

// holdProcess stops a process after some time and lets it go on later.
func holdProcess(ctx context.Context, p *os.Process, after, length time.Duration) {
	if wait(ctx, after) != nil || p.Signal(syscall.SIGSTOP) != nil {
		return
	}
	_ = wait(ctx, length)
	_ = p.Signal(syscall.SIGCONT) // it may have been killed
}

// namespaceFile is the descriptor by which the clients' process finds their
// namespace: the first of its ExtraFiles.
const namespaceFile = 3

func (p *process) spec(c cell, wire *rig.Wire, warmup, window time.Duration) load.Spec {
	spec := load.Spec{FrameSize: c.Size, Stamp: c.stamped(), Warmup: warmup, Window: window}
	for i, g := range c.Groups {
		lg := load.Group{Name: g.Name, Clients: g.Clients, Rate: g.Rate, Task: g.Task, Form: g.Form, Devices: g.Devices, Further: g.Further, Ports: c.Robots}
		lg.Topic = p.topic
		port := p.port + c.portOf(i)
		if p.topic != "" && p.rosbridge > 0 {
			port = p.rosbridge
		}
		lg.Address = loopbackAddress(port)
		if g.TLS {
			lg.TLS = loopbackAddress(p.tls)
		}
		if wire != nil && !g.Local {
			lg.Namespace = namespaceFile
			switch {
			case g.Wired:
				lg.Address = net.JoinHostPort(rig.FastServerAddress, strconv.Itoa(p.port))
			case !c.Relay:
				lg.Address = net.JoinHostPort(rig.ServerAddress, strconv.Itoa(port))
			}
		}
		spec.Groups = append(spec.Groups, lg)
	}
	return spec
}

// meters are read at both edges of the window.
type meters struct {
	pids  []int      // the server; in a fleet also the bridge and NATS
	wire  *rig.Wire  // nil on loopback
	calls *rig.Calls // nil if they are not counted
}

// reading is the meters at one moment.
type reading struct {
	at      time.Time
	usage   []rig.Usage // by process
	traffic rig.Traffic
	stolen  time.Duration
	calls   map[string]uint64
}

func (m meters) read() (r reading, err error) {
	r.at = time.Now()
	if r.stolen, err = rig.Stolen(); err != nil {
		return r, err
	}
	for _, pid := range m.pids {
		u, err := rig.UsageOf(pid)
		if err != nil {
			return r, err
		}
		r.usage = append(r.usage, u)
	}
	if m.wire != nil {
		if r.traffic, err = m.wire.Traffic(); err != nil {
			return r, err
		}
	}
	if m.calls != nil {
		r.calls, err = m.calls.Read()
	}
	return r, err
}

// between fills in the differences of the meters from one reading to another.
func (r *run) between(from, to reading) {
	r.Stolen = (to.stolen - from.stolen).Seconds() / to.at.Sub(from.at).Seconds() / float64(runtime.NumCPU())
	r.Traffic = to.traffic.Sub(from.traffic)
	for i := range to.usage {
		to.usage[i] = to.usage[i].Sub(from.usage[i])
	}
	if r.Usage = to.usage[0]; len(to.usage) > 1 {
		r.Bridge, r.NATS = &to.usage[1], &to.usage[2]
		for _, more := range to.usage[3:] { // of a cluster
			r.NATS.CPU += more.CPU
			r.NATS.RSS += more.RSS
		}
	}
	if to.calls == nil {
		return
	}
	r.Calls = map[string]uint64{}
	for name, n := range to.calls {
		if n -= min(n, from.calls[name]); n > 0 {
			r.Calls[name] = n
		}
	}
}

// follow reads the clients' output: the edges of the window, load.Begin and load.End, and
// the result, which is JSON. At the edges it reads the meters, then calls at. It returns
// the length of the window.
func (r *run) follow(out io.Reader, m meters, result any, at func(edge string)) (window time.Duration, err error) {
	var from, to reading
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return 0, fmt.Errorf("clients: %w", err)
		}
		switch line = strings.TrimSpace(line); line {
		case load.Begin:
			from, err = m.read()
		case load.End:
			to, err = m.read()
			r.between(from, to)
		default:
			return to.at.Sub(from.at), json.Unmarshal([]byte(line), result)
		}
		if err != nil {
			return 0, err
		}
		at(line)
	}
}
