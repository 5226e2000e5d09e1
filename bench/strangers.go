package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/coder/websocket"
	"golang.org/x/sys/unix"

	"player/bench/load"
)

// The cells of strangers are two well clients, one that reads 50 frames a second and
// one that has a request outstanding, while others do to the server what they should
// not, or watch the robot. In the cells of viewers there is one client, which reads. The
// server has a processor of its own. Strangers and well clients share the rest; there
// the strangers have the lowest priority, so that it is the server who delays the well.

const (
	// strangersVerb is the argument by which this program becomes the strangers. The
	// name of what they do follows, and the server's addresses.
	strangersVerb = "strangers"
	// strangersAddress is where they come from: not the computer of the well.
	strangersAddress = "127.0.0.9"
	// leastPriority is the priority of the strangers.
	leastPriority = 19
)

// pastime is what strangers do.
type pastime struct {
	name  string
	count int // how many do it at a time
	do    func(ctx context.Context, dial dialer, at addresses)
}

// addresses are those of a server: of the robot, the dashboard and Foxglove.
type addresses struct{ robot, page, foxglove string }

type dialer func(address string) (net.Conn, error)

func (d dialer) browser() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(_ context.Context, _, address string) (net.Conn, error) { return d(address) }}}
}

// abuses are what strangers should not do.
func abuses() []pastime {
	const (
		requestMode = "xy\x00\x02r\x01"
		noFrames    = "xy\x00\x02n\x00"
	)
	sending := func(first, rest string) func(context.Context, dialer, addresses) {
		return func(ctx context.Context, dial dialer, at addresses) { send(ctx, dial, at.robot, first, rest) }
	}
	return []pastime{
		{"malformed", 12, sending(noFrames, strings.Repeat("??\x00\x00", 90)+noFrames)},
		{"commands", 12, sending("dr\x00\x02pa", "cp\x00\x04\x00\x00\x00\x00")},
		{"asked-frames", 12, sending(requestMode+"dr\x00\x02pr", "xy\x00\x01d")},
		{"open-close", 12, sending("", "dr\x00\x02prdr\x00\x02pc")},
		{"connections", 500, func(_ context.Context, dial dialer, at addresses) {
			if c, err := dial(at.robot); err == nil {
				_ = c.(*net.TCPConn).SetLinger(0) // leaves no connection that waits
				c.Close()
			}
		}},
		{"pages", 60, func(ctx context.Context, dial dialer, at addresses) {
			send(ctx, dial, at.page, "", "GET /robots HTTP/1.1\r\nHost: "+at.page+"\r\n\r\n")
		}},
		{"half-requests", 128, func(ctx context.Context, dial dialer, at addresses) {
			c, err := dial(at.page)
			if err != nil {
				return
			}
			defer c.Close()
			defer context.AfterFunc(ctx, func() { c.Close() })()
			if _, err := io.WriteString(c, "GET /robots HTTP/1.1\r\nHost: "); err == nil {
				_, _ = io.Copy(io.Discard, c) // until the server closes it
			}
		}},
	}
}

// crowds are people who watch the robot, twenty at a time.
func crowds() []pastime {
	return []pastime{{"browsers", 20, browse}, {"viewers", 20, view}}
}

// pastimes are all that strangers do.
func pastimes() []pastime {
	return slices.Concat(abuses(), crowds(), []pastime{{"browser", 1, browse}, {"viewer", 1, view}})
}

// view is a Foxglove viewer that has subscribed to all topics of the robot.
func view(ctx context.Context, dial dialer, at addresses) {
	ws, _, err := websocket.Dial(ctx, "ws://"+at.foxglove, &websocket.DialOptions{HTTPClient: dial.browser(), Subprotocols: []string{"foxglove.sdk.v1"}})
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(-1)
	for err == nil {
		var kind websocket.MessageType
		var message []byte
		if kind, message, err = ws.Read(ctx); err != nil || kind != websocket.MessageText {
			continue
		}
		var advertised struct {
			Op       string                `json:"op"`
			Channels []struct{ ID uint32 } `json:"channels"`
		}
		if err = json.Unmarshal(message, &advertised); err != nil || advertised.Op != "advertise" {
			continue
		}
		type subscription struct {
			ID        uint32 `json:"id"`
			ChannelID uint32 `json:"channelId"`
		}
		var all []subscription
		for _, c := range advertised.Channels {
			all = append(all, subscription{c.ID, c.ID})
		}
		subscribe, _ := json.Marshal(map[string]any{"op": "subscribe", "subscriptions": all}) // these types cannot fail
		err = ws.Write(ctx, websocket.MessageText, subscribe)
	}
}

// browse is a browser that shows the robot's page, for as long as the server lets it.
// Both sockets of the page run; the messages of one are read, those of the other are
// acknowledged.
func browse(ctx context.Context, dial dialer, at addresses) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	browser := dial.browser()
	open := func(path string) (*websocket.Conn, error) {
		ws, _, err := websocket.Dial(ctx, "ws://"+at.page+path, &websocket.DialOptions{HTTPClient: browser})
		return ws, err
	}
	presence, err := open("/presence")
	if err != nil {
		return
	}
	defer presence.CloseNow()
	go func() {
		defer cancel()
		for {
			if _, _, err := presence.Read(ctx); err != nil {
				return
			}
		}
	}()
	stream, err := open("/stream?robot=" + at.robot)
	if err != nil {
		return
	}
	defer stream.CloseNow()
	err = stream.Write(ctx, websocket.MessageText, []byte(`{"rate":20,"request":"prlrsrmrgrzrvr"}`))
	for err == nil {
		var kind websocket.MessageType
		var message []byte
		if kind, message, err = stream.Read(ctx); err == nil && kind == websocket.MessageBinary {
			const number = 4 // bytes at the beginning, which acknowledge the message
			err = stream.Write(ctx, kind, message[:number])
		}
	}
}

// send connects, sends first once, and pours rest.
func send(ctx context.Context, dial dialer, address, first, rest string) {
	c, err := dial(address)
	if err != nil {
		return
	}
	defer c.Close()
	if _, err := io.WriteString(c, first); err == nil {
		pour(ctx, c, rest)
	}
}

// pour sends a message again and again, as fast as the server takes it, and reads what
// comes back, until the connection or ctx ends.
func pour(ctx context.Context, c net.Conn, message string) {
	defer context.AfterFunc(ctx, func() { c.Close() })()
	go func() { _, _ = io.Copy(io.Discard, c) }()
	all := []byte(strings.Repeat(message, 64<<10/len(message)))
	for {
		if _, err := c.Write(all); err != nil {
			return
		}
	}
}

// beset is two well clients, one that reads and one that asks, beside strangers.
func beset() []cell {
	one := func(strangers string) cell {
		return cell{
			Name: "strangers/" + strangers, Strangers: strangers, Link: loopback, Size: large, Device: ageRate,
			Groups: []group{
				{Name: "reads", Clients: 1, Rate: 50, Task: load.Stream},
				{Name: "asks", Clients: 1, Task: load.Request},
			},
		}
	}
	all := []cell{one(nobody)}
	for _, p := range append(abuses(), crowds()...) {
		all = append(all, one(p.name))
	}
	return all
}

// viewed is one client that reads, beside viewers: what a viewer costs.
func viewed() []cell {
	var all []cell
	for _, viewers := range []string{nobody, "browser", "browsers", "viewer", "viewers"} {
		all = append(all, cell{
			Name: viewersPrefix + viewers, Strangers: viewers, Link: loopback, Size: large, Device: costRate,
			Groups: []group{{Name: "reads", Clients: 1, Rate: 50, Task: load.Stream}},
		})
	}
	return all
}

// beStrangers does what the arguments say until standard input ends.
func beStrangers(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("%s needs a name and three addresses", strangersVerb)
	}
	all := pastimes()
	i := slices.IndexFunc(all, func(p pastime) bool { return p.name == args[0] })
	if i < 0 {
		return fmt.Errorf("there are no strangers %q", args[0])
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, leastPriority); err != nil {
		return err
	}
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(strangersAddress)}, Timeout: stopLimit}
	dial := func(address string) (net.Conn, error) { return from.Dial("tcp", address) }
	ctx, cancel := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	for range all[i].count {
		workers.Go(func() {
			for ctx.Err() == nil {
				all[i].do(ctx, dial, addresses{args[1], args[2], args[3]})
			}
		})
	}
	_, err := io.Copy(io.Discard, os.Stdin)
	cancel()
	workers.Wait()
	return err
}

// nobody is the strangers of the cell that the others are compared with.
const nobody = "nobody"

// admit gives the server the first processor and this process and its children the
// others, and starts the strangers of the cell.
func (p *process) admit(ctx context.Context, strangers string) (end func(), err error) {
	all := processors(0, runtime.NumCPU())
	others := processors(min(1, runtime.NumCPU()-1), runtime.NumCPU())
	if err := errors.Join(setThreads(p.cmd.Process.Pid, processors(0, 1)), setThreads(os.Getpid(), others)); err != nil {
		return nil, err
	}
	restore := func() { _ = setThreads(os.Getpid(), all) }
	if strangers == nobody {
		return restore, nil
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", strangersVerb, strangers, loopbackAddress(p.port), loopbackAddress(p.page), loopbackAddress(p.foxglove))
	cmd.SysProcAttr = apart()
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		restore()
		return nil, err
	}
	return func() {
		stdin.Close()
		_ = cmd.Wait()
		restore()
	}, nil
}

// processors is the set of those from one number up to another.
func processors(from, to int) *unix.CPUSet {
	var set unix.CPUSet
	for i := from; i < to; i++ {
		set.Set(i)
	}
	return &set
}

// setThreads lets all threads of a process run on some processors only.
func setThreads(pid int, on *unix.CPUSet) error {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return err
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetaffinity(id, on); err != nil && err != unix.ESRCH {
			return fmt.Errorf("processors of thread %d: %w", id, err)
		}
	}
	return nil
}

// strangers shows what two well clients notice of others.
func (p *page) strangers(r *results) {
	p.section(`
## Strangers

Two well clients, one that reads 50 frames a second and one that always has a request outstanding, while others
flood the server (docs/SECURITY.md, "Input"). The server has one core; the clients and the others share the rest.
12 send malformed messages, commands, requests for frames, or requests that open and close a device; 500 connect
and leave; 60 connections to the dashboard send GET after GET; 128 send half a request and wait. 20 browsers show
the robot, or 20 Foxglove viewers.
`)
	p.table("others", ">reads: p99 error", ">max", ">asks: round", ">p99", ">max", ">server's CPU")
	for name, c := range r.measured("strangers/") {
		of := func(f func(run) float64) string { return show(c, player, f, duration) }
		p.row(name, of(intervalP99), of(intervalMax),
			of(func(r run) float64 { return float64(r.Load.Groups[1].Round.P50) }), of(askedP99),
			of(func(r run) float64 { return float64(r.Load.Groups[1].Round.Max) }), show(c, player, cpuShare, percent))
	}
}

// viewers shows what those who watch a robot cost its server.
func (p *page) viewers(r *results) {
	p.section(`
## Viewers

What a viewer costs the server: beside one client that reads 50 frames a second, the pages of browsers that show a
robot at 20 Hz, and Foxglove viewers that have subscribed to all topics (-foxglove). The devices have news 10 times a
second. The server has one core.
`)
	p.table("viewers", ">server's CPU", ">for each viewer", ">RSS", ">the client's p99 error")
	base, known := r.find(viewersPrefix+nobody).median(player, cpuShare)
	for name, c := range r.measured(viewersPrefix) {
		each := ""
		if cpu, ok := c.median(player, cpuShare); ok && known && name != nobody {
			who := slices.IndexFunc(pastimes(), func(p pastime) bool { return p.name == name })
			each = percent((cpu - base) / float64(pastimes()[who].count))
		}
		p.row(name, show(c, player, cpuShare, percent), each, show(c, player, rss, memory), show(c, player, intervalP99, duration))
	}
}
