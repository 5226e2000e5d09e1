package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"player/client"
	"player/codec"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/programs"
	"player/e2e/waiting"
	"player/fleet/bridge"
	"player/fleet/hub"
)

// network is TCP proxies between programs. Each can hold its bytes, like
// a network that loses all packets: connections stay, and the bytes arrive
// late.
type network struct {
	mu    sync.Mutex
	holds map[string]chan struct{} // by names of both ends: closed when it goes on
}

func newNetwork() *network { return &network{holds: map[string]chan struct{}{}} }

// proxy returns an address that leads from one program to the address of another.
func (n *network) proxy(t testing.TB, from, to, address string) string {
	t.Helper()
	return ports.Serve(t, func(near net.Conn) {
		n.pass(t.Context(), from, to)
		far, err := net.Dial("tcp", address)
		if err != nil {
			return // as if nobody listened
		}
		defer far.Close()
		defer context.AfterFunc(t.Context(), func() { near.Close(); far.Close() })()
		go n.copy(t.Context(), far, near, from, to)
		n.copy(t.Context(), near, far, from, to)
	})
}

// copy passes bytes until one of the connections ends, and then ends the other.
func (n *network) copy(ctx context.Context, to io.WriteCloser, from io.Reader, a, b string) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		got, err := from.Read(buffer)
		n.pass(ctx, a, b)
		if got > 0 {
			if _, err := to.Write(buffer[:got]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass waits while the way between two programs is cut.
func (n *network) pass(ctx context.Context, from, to string) {
	for _, name := range []string{from, to} {
		n.mu.Lock()
		hold := n.holds[name]
		n.mu.Unlock()
		if hold != nil {
			select {
			case <-hold:
			case <-ctx.Done():
			}
		}
	}
}

// cut cuts all ways through the network to and from a program until heal is called.
func (n *network) cut(name string) (heal func()) {
	hold := make(chan struct{})
	n.mu.Lock()
	defer n.mu.Unlock()
	n.holds[name] = hold
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.holds, name)
		close(hold)
	}
}

// clusterNode is one NATS server of three.
type clusterNode struct {
	name    string
	address string // for clients
	monitor string // for questions by HTTP
	store   string // of JetStream
	args    []string
	*programs.Program
}

const nodes = 3

func nodeName(i int) string { return fmt.Sprint("node", i) }

// routes is the name in the network of the proxy between a node and the other nodes. If it is
// cut, clients still reach the node.
func routes(node string) string { return "routes of " + node }

// startNodes starts three NATS servers as processes, whose routes pass the network.
func startNodes(t testing.TB, n *network, program string) (all []*clusterNode) {
	t.Helper()
	var at [nodes]int
	for i := range at {
		at[i] = ports.Free(t, 1)
	}
	for i := range nodes {
		var others []string
		for j := range nodes {
			if j != i {
				others = append(others, fmt.Sprintf("%q", "nats://"+n.proxy(t, routes(nodeName(i)), routes(nodeName(j)), "127.0.0.1:"+strconv.Itoa(at[j]))))
			}
		}
		node := &clusterNode{name: nodeName(i), address: "127.0.0.1:" + strconv.Itoa(ports.Free(t, 1)), monitor: "127.0.0.1:" + strconv.Itoa(ports.Free(t, 1))}
		dir := t.TempDir()
		node.store = filepath.Join(dir, "store")
		// The nodes and their clients learn no way around the network. One route for
		// each pair is enough.
		config := fmt.Sprintf("server_name: %s\nlisten: %q\nhttp: %q\njetstream { store_dir: %q }\n"+
			"cluster { name: lab, listen: \"127.0.0.1:%d\", advertise: \"127.0.0.1:1\", no_advertise: true, pool_size: -1, routes: [ %s ] }\n",
			node.name, node.address, node.monitor, node.store, at[i], strings.Join(others, ", "))
		file := filepath.Join(dir, "node.conf")
		must.Do(t, os.WriteFile(file, []byte(config), 0o644))
		node.args = []string{program, "-c", file}
		node.run(t)
		all = append(all, node)
	}
	return all
}

// run starts the node, for the first time or again.
func (c *clusterNode) run(t testing.TB) {
	t.Helper()
	c.Program = programs.Start(t, exec.Command(c.args[0], c.args[1:]...))
	c.Until(t, "start of "+c.name, func() bool {
		conn, err := net.Dial("tcp", c.address)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
}

// urls are the ways of a program to all nodes.
func urls(t testing.TB, n *network, from string, all []*clusterNode) string {
	t.Helper()
	var ways []string
	for _, node := range all {
		ways = append(ways, "nats://"+n.proxy(t, from, node.name, node.address))
	}
	return strings.Join(ways, ",")
}

// testbed is a robot, bridges, commanders and nodes, and the history of them.
type testbed struct {
	network    *network
	nodes      []*clusterNode
	address    string                       // of the robot
	bridges    map[string]*programs.Program // by name in the network
	started    []*programs.Program          // all bridges so far
	inside     *nats.Conn                   // of the test itself, which is never cut off
	status     *nats.Subscription
	history    *history
	commanders []*commander
	end        func() *history // stops the commanders and returns the whole history
}

const (
	bridgeCount    = 3
	commanderCount = 4
)

func startTestbed(t *testing.T, natsServer string) *testbed {
	t.Helper()
	l := &testbed{network: newNetwork(), bridges: map[string]*programs.Program{}, history: &history{began: time.Now()}}
	l.nodes = startNodes(t, l.network, natsServer)
	port := strconv.Itoa(ports.Free(t, 1))
	l.address = "127.0.0.1:" + port
	config := filepath.Join(t.TempDir(), "robot.cfg")
	// Its position reports the command that it obeys.
	must.Do(t, os.WriteFile(config, []byte("driver ( name \"testpattern\" rate 100 )\n"), 0o644))
	start(t, player, "-bind", "127.0.0.1", "-gp", port, config)
	for range bridgeCount {
		l.addBridge(t)
	}
	var direct []string
	for _, node := range l.nodes {
		direct = append(direct, "nats://"+node.address)
	}
	l.inside = patient(t, strings.Join(direct, ","), 500*time.Millisecond)
	l.status = subscribe(t, l.inside, "player.lab.a.status")

	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { l.observe(ctx, t) })
	for i := range commanderCount {
		c := &commander{name: fmt.Sprint("commander", i), history: l.history, random: rand.New(rand.NewPCG(1, uint64(i)))}
		c.conn = patient(t, urls(t, l.network, c.name, l.nodes), 500*time.Millisecond)
		l.commanders = append(l.commanders, c)
		all.Go(func() { c.run(ctx) })
	}
	l.end = func() *history {
		stop()
		all.Wait()
		return l.history
	}
	t.Cleanup(func() { l.end() })
	return l
}

// patient connects to NATS, and again whenever the connection is lost, which is when the server
// has not answered for two or three pings.
func patient(t testing.TB, urls string, ping time.Duration) *nats.Conn {
	t.Helper()
	conn := must.Get(nats.Connect(urls, nats.MaxReconnects(-1), nats.ReconnectWait(200*time.Millisecond), nats.ReconnectBufSize(-1),
		nats.PingInterval(ping), nats.MaxPingsOutstanding(2),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})))(t) // a lost connection is a part of the test
	t.Cleanup(conn.Close)
	return conn
}

// addBridge starts a bridge.
func (l *testbed) addBridge(t *testing.T) {
	t.Helper()
	name := fmt.Sprint("bridge", len(l.started))
	b := start(t, program, "-fleet", "lab", "-robot", "a="+l.address, "-replicas", strconv.Itoa(nodes), "-nats", urls(t, l.network, name, l.nodes))
	l.bridges[name], l.started = b, append(l.started, b)
}

// serving returns the bridge that serves the robot, by its next status.
func (l *testbed) serving(t *testing.T) (name string) {
	t.Helper()
	waiting.Until(t, "status of a bridge that lives", func() bool {
		m := must.Get(l.status.NextMsg(patience))(t)
		var s struct{ Bridge string }
		must.Do(t, json.Unmarshal(m.Data, &s))
		for n, b := range l.bridges {
			if b.Printed(s.Bridge) {
				name = n
			}
		}
		return name != ""
	})
	return name
}

// giving returns the bridge that serves the robot, right after it has written a new
// lease to the bucket: its holder has hardly been answered.
func (l *testbed) giving(t *testing.T) (name string) {
	t.Helper()
	entries := subscribe(t, l.inside, "$KV."+bridge.Bucket("lab", bridge.GroupOf("a"))+".a.position.0")
	defer entries.Unsubscribe()
	name = l.serving(t)
	waiting.Until(t, "new lease", func() bool {
		m := must.Get(entries.NextMsg(patience))(t)
		var e struct{ Holder, First any } // a renewal has the number of the first entry
		return json.Unmarshal(m.Data, &e) == nil && e.Holder != nil && e.First == nil
	})
	return name
}

// releasing returns the bridge that serves the robot, right after a request
// to release the lease.
func (l *testbed) releasing(t *testing.T) (name string) {
	t.Helper()
	requests := subscribe(t, l.inside, lease)
	defer requests.Unsubscribe()
	name = l.serving(t)
	waiting.Until(t, "release", func() bool {
		m := must.Get(requests.NextMsg(patience))(t)
		return string(m.Data) == "release"
	})
	return name
}

// leader returns the node that leads the leases of a group.
func (l *testbed) leader(t testing.TB, group int) (node *clusterNode) {
	t.Helper()
	js := must.Get(jetstream.New(l.inside))(t)
	waiting.Until(t, "leader", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s, err := js.Stream(ctx, hub.Leases("lab", group))
		if err != nil {
			return false
		}
		i := slices.IndexFunc(l.nodes, func(n *clusterNode) bool { return n.name == s.CachedInfo().Cluster.Leader })
		if i < 0 {
			return false
		}
		node = l.nodes[i]
		return true
	})
	return node
}

// progress waits until new leases were given and commands obeyed.
func (l *testbed) progress(t *testing.T, after string) {
	t.Helper()
	leases, commands := l.history.count(acquired), l.history.count(commanded)
	waiting.Until(t, "lease and command after "+after, func() bool {
		return l.history.count(acquired) >= leases+2 && l.history.count(commanded) >= commands+5
	})
}

// adoptions returns the leases that went on with another bridge, from the logs.
func (l *testbed) adoptions(t *testing.T) (all []operation) {
	t.Helper()
	for _, b := range l.started {
		for line := range strings.Lines(b.Output.String()) {
			var entry struct {
				At      time.Time `json:"ts"`
				Message string    `json:"msg"`
				Number  uint64
				Holder  string
				Renewed time.Time // in the bucket, or later
			}
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				t.Fatalf("line %q of a log: %v", line, err)
			}
			if entry.Message == hub.LogGoesOn {
				since := func(at time.Time) time.Duration { return at.Sub(l.history.began.Round(0)) }
				const precision = time.Millisecond // of the log
				all = append(all, operation{action: adopted, token: entry.Number, name: entry.Holder, sure: true, call: since(entry.Renewed) - precision, ret: since(entry.At) + precision})
			}
		}
	}
	return all
}

// observe records the commands that the robot obeys, from its own odometry.
func (l *testbed) observe(ctx context.Context, t *testing.T) {
	c, err := client.Dial(ctx, l.address)
	if err == nil {
		defer c.Close()
		err = errors.Join(c.SetDataMode(client.RequestReply), c.Request(ctx, "yrpr"))
	}
	const pause = 20 * time.Millisecond
	for ; err == nil; time.Sleep(pause) {
		o := operation{action: observed, sure: true, call: l.history.now()}
		if err = c.RequestData(); err != nil {
			break
		}
		if err = c.Read(ctx); err != nil {
			break
		}
		age, ok := c.Age(codec.Position)
		if !ok {
			continue
		}
		o.call, o.ret, o.value = o.call-age, l.history.now(), int(c.Position.Speed)
		l.history.add(o)
	}
	if ctx.Err() == nil {
		t.Errorf("the robot's record: %v", err)
	}
}

// commander takes the lease, commands for a while, and releases it or falls silent.
// Then it sends a command with its earlier token.
type commander struct {
	name    string
	conn    *nats.Conn
	history *history
	random  *rand.Rand
}

const (
	// answerLimit is how long a commander waits for an answer.
	answerLimit = 1500 * time.Millisecond
	// commandPause is the time between its commands, acquirePause that between its
	// requests for the lease.
	commandPause, acquirePause = 50 * time.Millisecond, 100 * time.Millisecond
)

func (c *commander) run(ctx context.Context) {
	for ctx.Err() == nil {
		token := c.acquire()
		if token == "" {
			time.Sleep(acquirePause)
			continue
		}
		alive := true
		for n := 5 + c.random.IntN(20); n > 0 && alive && ctx.Err() == nil; n-- {
			alive = c.command(token)
			time.Sleep(commandPause)
		}
		if alive && c.random.IntN(2) == 0 {
			c.do(operation{action: released}, lease, token, []byte("release"))
		}
		time.Sleep(time.Duration(c.random.IntN(1500)) * time.Millisecond)
		c.command(token)
	}
}

func (c *commander) command(token string) (ok bool) {
	v := c.history.next()
	_, ok = c.do(operation{action: commanded, value: v}, command, token, speed(int16(v)))
	return ok
}

func (c *commander) acquire() (token string) {
	r, _ := c.do(operation{action: acquired, name: c.name}, lease, "", []byte(c.name))
	return r.Token
}

// do sends a request and records it.
func (c *commander) do(o operation, subject, token string, body []byte) (r reply, ok bool) {
	m := nats.NewMsg(subject)
	m.Data = body
	if token != "" {
		m.Header.Set(bridge.HeaderLease, token)
	}
	o.call = c.history.now()
	answer, err := c.conn.RequestMsg(m, answerLimit)
	o.ret = c.history.now()
	if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrReconnectBufExceeded) {
		return r, false // it was not sent to anybody
	}
	if err == nil {
		err = json.Unmarshal(answer.Data, &r)
	}
	if o.action == acquired {
		token = r.Token
	}
	o.sure = err == nil && r.Error == ""
	if token == "" {
		o.sure = false
		c.history.add(o)
		return r, false
	}
	number, _, _ := strings.Cut(token, "-")
	if o.token, err = strconv.ParseUint(number, 10, 64); err != nil {
		o.token = 0 // which the check does not accept
	}
	c.history.add(o)
	return r, o.sure
}

// While nodes and bridges are killed, paused and cut off, at most one commander at a
// time is obeyed, by the newest lease, and the robot stops when no holder renews it.
func TestFaults(t *testing.T) {
	acceptance.Only(t)
	natsServer := filepath.Join(programsDir, "nats-server")
	type fault struct {
		name string
		do   func(t *testing.T, l *testbed)
	}
	pause := func(t *testing.T, p *programs.Program, length time.Duration) {
		defer p.Pause(t)()
		time.Sleep(length)
	}
	cut := func(l *testbed, name string, length time.Duration) {
		heal := l.network.cut(name)
		time.Sleep(length)
		heal()
	}
	const briefly = 900 * time.Millisecond // another bridge takes over, and the leases of this one have not ended
	// A node that is paused or cut off is left for longer than its peers wait before they elect.
	const shortly, longer = 2500 * time.Millisecond, 6 * time.Second
	for name, faults := range map[string][]fault{
		"bridges": {
			{"a pause of the bridge", func(t *testing.T, l *testbed) { pause(t, l.bridges[l.serving(t)], shortly) }},
			{"a short pause of the bridge that gives a lease", func(t *testing.T, l *testbed) { pause(t, l.bridges[l.giving(t)], briefly) }},
			{"a short pause of the bridge that releases a lease", func(t *testing.T, l *testbed) { pause(t, l.bridges[l.releasing(t)], briefly) }},
			{"the end of the bridge", func(t *testing.T, l *testbed) {
				name := l.serving(t)
				l.bridges[name].End(t, syscall.SIGKILL)
				delete(l.bridges, name)
				l.addBridge(t)
			}},
			{"a bridge without NATS", func(t *testing.T, l *testbed) { cut(l, l.serving(t), shortly) }},
			{"commanders without NATS", func(t *testing.T, l *testbed) {
				for _, c := range l.commanders[1:] {
					cut(l, c.name, shortly/2)
				}
			}},
		},
		"nodes": {
			{"the end of the leader", func(t *testing.T, l *testbed) {
				node := l.leader(t, bridge.GroupOf("a"))
				node.End(t, syscall.SIGKILL)
				l.progress(t, "the end of the leader, with two nodes")
				node.run(t)
			}},
			{"a pause of the leader", func(t *testing.T, l *testbed) { pause(t, l.leader(t, bridge.GroupOf("a")).Program, longer) }},
			{"a leader without the other nodes", func(t *testing.T, l *testbed) { cut(l, routes(l.leader(t, bridge.GroupOf("a")).name), longer) }},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := startTestbed(t, natsServer)
			l.progress(t, "the start")
			for _, f := range faults {
				f.do(t, l)
				l.progress(t, f.name)
				t.Logf("%v: progress after %s", l.history.now().Round(time.Millisecond), f.name)
			}
			all := append(l.end().all, l.adoptions(t)...)
			if err := check(all); err != nil {
				t.Error(err)
			}
			t.Logf("%d operations", len(all))
		})
	}
}
