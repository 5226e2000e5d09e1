package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"player/bench/load"
	"player/bench/rig"
)

const (
	// warmup is what passes before the window opens: connections grow their
	// windows, the server finds the one of a congested link.
	warmup = 2 * time.Second
	// idleSettle is how long a server that has just started may be busy with
	// itself before it has to be idle.
	idleSettle = 3 * time.Second
	// idleWindow is how long it then has to be, without a wake.
	idleWindow = 10 * time.Second
)

// run is one measurement of one server in one cell. Which fields have meaning
// depends on the kind of the cell.
type run struct {
	Server  server        `json:"server"`
	Load    *load.Result  `json:"load,omitempty"`
	Usage   rig.Usage     `json:"usage"`            // of the server in the window
	Traffic rig.Traffic   `json:"traffic"`          // of its end of the link
	Stolen  float64       `json:"stolen,omitempty"` // share of all processors that other guests of the host took
	Start   time.Duration `json:"start_ns,omitempty"`
	Bytes   int64         `json:"bytes,omitempty"` // of the stripped binary
	Error   string        `json:"error,omitempty"`
}

// measure runs a server in a cell. What is in the way of the measurement is
// an error; what is wrong with the server is in the run.
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
	for limit := time.Now().Add(stopLimit); ; time.Sleep(100 * time.Microsecond) {
		if err := p.ask(); err == nil {
			return time.Since(p.since), nil
		} else if time.Now().After(limit) || ctx.Err() != nil {
			return 0, fmt.Errorf("no reply: %w: %s", err, last(p.said.Bytes()))
		}
	}
}

// ask opens position and waits for the reply.
func (p *process) ask() error {
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)))
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("dr\x00\x02pr")); err != nil {
		return err
	}
	if err := conn.SetReadDeadline(time.Now().Add(stopLimit)); err != nil {
		return err
	}
	reply := make([]byte, 5)
	if _, err := io.ReadFull(conn, reply); err != nil {
		return err
	}
	if want := "r\x00\x02pr"; string(reply) != want {
		return fmt.Errorf("the reply is %q, want %q", reply, want)
	}
	return nil
}

// measureIdle counts what a server does when nobody is there.
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

// measureFrames has the clients of a cell served for a window.
func (w *workshop) measureFrames(ctx context.Context, r *run, c cell, window time.Duration) error {
	var wire *rig.Wire
	if c.Link.Rate > 0 {
		var err error
		if wire, err = rig.NewWire(c.Link.Rate); err != nil {
			return err
		}
		defer wire.Close()
	}
	p, err := w.start(ctx, r.Server, c, wire)
	if err != nil {
		return err
	}
	err = p.serve(ctx, r, wire, p.spec(r.Server, c, wire, w.warmup, window))
	if stop := p.stop(); stop != nil && ctx.Err() == nil {
		r.Error = stop.Error()
	}
	return err
}

// serve runs the clients beside the server and reads the meters at the edges
// of their window.
func (p *process) serve(ctx context.Context, r *run, wire *rig.Wire, spec load.Spec) error {
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
	launch := clients.Start
	if wire != nil {
		far, err := wire.ClientFile()
		if err != nil {
			return err
		}
		defer far.Close()
		clients.ExtraFiles = []*os.File{far}
		launch = func() error { return wire.Start(clients) }
	}
	if err := launch(); err != nil {
		return err
	}
	readErr := r.read(bufio.NewReader(out), p.cmd.Process.Pid, wire)
	if err := clients.Wait(); err != nil {
		return fmt.Errorf("clients: %w: %s; server: %s", err, last(said.Bytes()), last(p.said.Bytes()))
	}
	return readErr
}

// namespaceFile is the descriptor by which the clients' process finds their
// namespace: the first of its ExtraFiles.
const namespaceFile = 3

func (p *process) spec(s server, c cell, wire *rig.Wire, warmup, window time.Duration) load.Spec {
	spec := load.Spec{FrameSize: c.Size, Warmup: warmup, Window: window}
	if s == player {
		spec.Stamp = c.stamped()
	}
	for _, g := range c.Groups {
		lg := load.Group{Name: g.Name, Clients: g.Clients, Rate: g.Rate, Task: g.Task, Silent: s != player}
		lg.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port))
		if wire != nil && !g.Local {
			lg.Address = net.JoinHostPort(rig.ServerAddress, strconv.Itoa(p.port))
			lg.Namespace = namespaceFile
		}
		spec.Groups = append(spec.Groups, lg)
	}
	return spec
}

// read follows what the clients say.
func (r *run) read(out *bufio.Reader, pid int, wire *rig.Wire) error {
	var usage rig.Usage
	var traffic rig.Traffic
	var stolen time.Duration
	var since time.Time
	meter := func() (err error) {
		since = time.Now()
		if stolen, err = rig.Stolen(); err != nil {
			return err
		}
		if usage, err = rig.UsageOf(pid); err == nil && wire != nil {
			traffic, err = wire.Traffic()
		}
		return err
	}
	for {
		line, err := out.ReadString('\n')
		if err != nil {
			return fmt.Errorf("clients: %w", err)
		}
		switch line = strings.TrimSpace(line); line {
		case load.Begin:
			if err := meter(); err != nil {
				return err
			}
		case load.End:
			u, t, s, began := usage, traffic, stolen, since
			if err := meter(); err != nil {
				return err
			}
			r.Stolen = (stolen - s).Seconds() / since.Sub(began).Seconds() / float64(runtime.NumCPU())
			r.Usage, r.Traffic = usage.Sub(u), traffic.Sub(t)
		default:
			return json.Unmarshal([]byte(line), &r.Load)
		}
	}
}
