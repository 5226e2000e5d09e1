package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"player/client"
	"player/devices"
	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/programs"
	"player/e2e/waiting"
	"player/fleet/bridge"
)

// machine is a robot whose movement is recorded, and the programs that want to drive it.
type machine struct {
	robot
	server  *programs.Program
	program []string // of the server
	drivers []*wheelman

	mu      sync.Mutex
	changes []change
}

// change is the moment at which a robot began to move, or stood.
type change struct {
	at    time.Time
	moves bool
}

// startMachine starts a robot whose position reports the command that it obeys.
func startMachine(b *testing.B, name string) *machine {
	b.Helper()
	port := ports.Free(b, 1)
	m := &machine{robot: robot{name: name, address: "127.0.0.1:" + strconv.Itoa(port)}}
	config := filepath.Join(b.TempDir(), "robot.cfg")
	must.Do(b, os.WriteFile(config, []byte("driver ( name \"testpattern\" rate 100 )\n"), 0o644))
	m.program = []string{"-bind", "127.0.0.1", "-gp", strconv.Itoa(port), config}
	m.server = start(b, player, m.program...)
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { m.record(ctx) })
	b.Cleanup(func() {
		stop()
		all.Wait()
	})
	return m
}

// record notes the movement of the robot, asked for 100 times a second. One whose server does
// not answer stands.
func (m *machine) record(ctx context.Context) {
	for ctx.Err() == nil {
		m.note(false)
		c, err := client.Dial(ctx, m.address)
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		err = errors.Join(c.SetFrequency(100), c.Request(ctx, "pr"))
		for err == nil {
			limit, cancel := context.WithTimeout(ctx, 250*time.Millisecond)
			err = c.Read(limit)
			cancel()
			if err == nil {
				m.note(c.Position.Speed != 0)
			}
		}
		c.Close()
	}
}

func (m *machine) note(moves bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.changes); n == 0 || m.changes[n-1].moves != moves {
		m.changes = append(m.changes, change{time.Now(), moves})
	}
}

func (m *machine) moves() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changes[len(m.changes)-1].moves
}

// after returns when the robot first stood after a moment, and when it moved after that; 0: it
// did not.
func (m *machine) after(begin time.Time) (stood, moved time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.changes {
		switch {
		case c.at.Before(begin):
		case !c.moves && stood == 0:
			stood = c.at.Sub(begin)
		case c.moves && stood != 0:
			moved = c.at.Sub(begin) // the last time: a robot that moves for a moment is not well yet
		}
	}
	return stood, moved
}

// wheelman is a program that drives a robot, and takes the lease again when it has lost it.
type wheelman struct {
	name  string
	robot string
	conn  *nats.Conn
	pause atomic.Bool  // it hangs
	heard atomic.Int64 // when its last command was obeyed, in ns since 1970
}

func (w *wheelman) run(ctx context.Context) {
	token, heard := "", time.Time{}
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if w.pause.Load() {
			continue
		}
		now := time.Now()
		if token == "" {
			if r, ok := w.ask(ctx, bridge.Lease, "", []byte(w.name), 2*bridge.TTL); ok {
				token, heard = r.Token, now
			}
			continue
		}
		r, ok := w.ask(ctx, bridge.Command, token, speed(100), bridge.TTL/4)
		switch {
		case ok && r.OK:
			heard = now
			w.heard.Store(now.UnixNano())
		case ok && (r.Error == bridge.ErrNoLease.Error() || r.Error == bridge.ErrNotToken.Error()), now.Sub(heard) > 2*bridge.TTL:
			token = ""
		}
	}
}

func (w *wheelman) ask(ctx context.Context, last, token string, body []byte, limit time.Duration) (r reply, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	m := nats.NewMsg(bridge.Subject("lab", w.robot, "position", last))
	m.Data = body
	if token != "" {
		m.Header.Set(bridge.HeaderLease, token)
	}
	answer, err := w.conn.RequestMsgWithContext(ctx, m)
	if err != nil {
		return r, false
	}
	return r, json.Unmarshal(answer.Data, &r) == nil
}

// holder returns the program that drives the robot.
func (m *machine) holder() *wheelman {
	return slices.MaxFunc(m.drivers, func(a, b *wheelman) int { return cmp.Compare(a.heard.Load(), b.heard.Load()) })
}

// stage is the target of a fault.
type stage struct {
	network  *network
	nodes    []*clusterNode
	bridges  []*programs.Program
	machines []*machine
	links    map[string]string // address of a robot as bridges see it
	extra    []string          // arguments of bridges
	drive    func(w *wheelman, m *machine)
	led      *machine // of the group that the node leads to which a fault happens; nil: it happens to no node
}

// startStage starts robots, nodes and bridges, and a program that drives each robot. Of the
// drivers of each robot, the first one gets the lease, and the others wait for it.
func startStage(b *testing.B, nodes []*clusterNode, n *network, robots []string, bridges, drivers int) *stage {
	b.Helper()
	s := &stage{network: n, nodes: nodes, links: map[string]string{}}
	if len(nodes) > 1 {
		s.extra = []string{"-replicas", strconv.Itoa(len(nodes))}
	}
	for _, name := range robots {
		m := startMachine(b, name)
		s.machines = append(s.machines, m)
		s.links[name] = n.proxy(b, "robot "+name, "", m.address)
	}
	for range bridges {
		s.addBridge(b)
	}
	ctx, stop := context.WithCancel(b.Context())
	var all sync.WaitGroup
	b.Cleanup(func() {
		stop()
		all.Wait()
	})
	s.drive = func(w *wheelman, m *machine) {
		m.drivers = append(m.drivers, w)
		all.Go(func() { w.run(ctx) })
	}
	for _, m := range s.machines {
		for i := range drivers {
			s.addDriver(b, m, i)
		}
	}
	return s
}

func (s *stage) addDriver(b *testing.B, m *machine, i int) {
	b.Helper()
	w := &wheelman{name: fmt.Sprintf("driver%d of %s", i, m.name), robot: m.name}
	w.conn = patient(b, urls(b, s.network, w.name, s.nodes), 200*time.Millisecond)
	s.drive(w, m)
	waiting.Until(b, m.name+" that moves", m.moves)
}

func (s *stage) addBridge(b *testing.B) {
	b.Helper()
	name := fmt.Sprint("bridge", len(s.bridges))
	args := append([]string{"-fleet", "lab", "-nats", urls(b, s.network, name, s.nodes)}, s.extra...)
	for _, m := range s.machines {
		args = append(args, "-robot", m.name+"="+s.links[m.name])
	}
	s.bridges = append(s.bridges, start(b, program, args...))
}

// serving returns the number of the bridge that serves the first robot.
func (s *stage) serving(b *testing.B) (number int) {
	b.Helper()
	status := subscribe(b, s.machines[0].drivers[len(s.machines[0].drivers)-1].conn, "player.lab."+s.machines[0].name+".status")
	defer status.Unsubscribe()
	waiting.Until(b, "bridge that serves", func() bool {
		m, err := status.NextMsg(time.Second)
		if err != nil {
			return false
		}
		var b struct{ Bridge string }
		if json.Unmarshal(m.Data, &b) != nil || b.Bridge == "" {
			return false
		}
		number = slices.IndexFunc(s.bridges, func(p *programs.Program) bool { return p.Printed(b.Bridge) })
		return number >= 0
	})
	return number
}

// measure causes a fault, ends it after a while and waits until all robots move: as often as the benchmark is to
// (-benchtime 3x). The work of before is over when the time begins. It reports for each robot when it stood and when it
// drove again, after the fault, in ms: the least, the median and the most. 0: it never stood, or drove before the fault
// ended.
func (s *stage) measure(b *testing.B, name string, lasts time.Duration, do func() (undo func()), before ...func()) {
	b.Run(name, func(b *testing.B) {
		moving := func() bool {
			return !slices.ContainsFunc(s.machines, func(m *machine) bool { return !m.moves() })
		}
		figures := map[string][]float64{}
		for b.Loop() {
			waiting.Until(b, "robots that move before "+name, moving)
			time.Sleep(2 * bridge.TTL) // so that nothing of the fault before is left
			waiting.Until(b, "robots that move before "+name, moving)
			for _, prepare := range before {
				prepare()
			}
			began := time.Now()
			undo := do()
			time.Sleep(lasts)
			if undo != nil {
				undo()
			}
			waiting.Until(b, "robots that move after "+name, moving)
			time.Sleep(bridge.TTL) // one that moves for a moment stands again
			waiting.Until(b, "robots that move after "+name, moving)
			for _, m := range s.machines {
				stood, moved := m.after(began)
				figures[m.name+"-stands-ms"] = append(figures[m.name+"-stands-ms"], float64(stood.Microseconds())/1000)
				figures[m.name+"-moves-ms"] = append(figures[m.name+"-moves-ms"], float64(moved.Microseconds())/1000)
				if s.led != nil && m != s.led && stood != 0 && stood < lasts {
					b.Errorf("%s stood, which is of another group than the node leads", m.name)
				}
			}
		}
		for unit, values := range figures {
			slices.Sort(values)
			b.ReportMetric(values[len(values)/2], unit)
			b.Logf("%s: %v", unit, values)
		}
		b.ReportMetric(0, "ns/op") // it means nothing
	})
}

// ends are the ways in which a process ends.
var ends = []struct {
	name string
	how  os.Signal
}{{"is killed", syscall.SIGKILL}, {"ends", syscall.SIGTERM}}

// restart measures both ends of a process that starts at once.
func (s *stage) restart(b *testing.B, what string, do func(how os.Signal)) {
	b.Helper()
	for _, e := range ends {
		s.measure(b, what+" "+e.name+", and starts at once", 0, func() func() {
			do(e.how)
			return nil
		})
	}
}

// startNode starts one NATS server as a process.
func startNode(b testing.TB, natsServer string) *clusterNode {
	b.Helper()
	dir := b.TempDir()
	n := &clusterNode{name: "only", address: "127.0.0.1:" + strconv.Itoa(ports.Free(b, 1)), store: filepath.Join(dir, "store")}
	file := filepath.Join(dir, "node.conf")
	must.Do(b, os.WriteFile(file, fmt.Appendf(nil, "server_name: only\nlisten: %q\njetstream { store_dir: %q }\n", n.address, n.store), 0o644))
	n.args = []string{natsServer, "-c", file}
	n.run(b)
	return n
}

// onSmallDisks makes nodes run with their stores on disks of 32 MiB, which only they see: in a
// namespace of mounts that lives as long as the test.
func onSmallDisks(b *testing.B, nodes []*clusterNode) {
	b.Helper()
	for _, n := range nodes {
		n.End(b, syscall.SIGTERM)
		keeper := exec.Command("unshare", "--mount", "sh", "-c", `mount -t tmpfs -o size=32m none "$1" && echo mounted && exec sleep 3600`, "sh", n.store)
		said, err := keeper.StdoutPipe()
		if err == nil {
			err = keeper.Start()
		}
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			_ = keeper.Process.Kill()
			_ = keeper.Wait()
		})
		if line, err := bufio.NewReader(said).ReadString('\n'); err != nil {
			b.Fatalf("a small disk (needs root): %q, %v", line, err)
		}
		n.args = slices.Concat([]string{"nsenter", "--target", strconv.Itoa(keeper.Process.Pid), "--mount"}, n.args)
		n.run(b)
	}
}

// fill fills the disk of a node until undo is called, which makes room and starts the node
// again: JetStream has stopped for good.
func (c *clusterNode) fill(b *testing.B) (undo func()) {
	b.Helper()
	path := filepath.Join("/proc", strconv.Itoa(c.Cmd.Process.Pid), "root", c.store, "full")
	f, err := os.Create(path)
	for block := make([]byte, 4<<10); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		b.Fatal(err)
	}
	f.Close()
	return func() {
		must.Do(b, os.Remove(path))
		c.End(b, syscall.SIGTERM)
		c.run(b)
	}
}

// inGroups returns one name of a robot for each group.
func inGroups() (robots []string) {
	robots = make([]string, bridge.Groups)
	for i, left := 0, bridge.Groups; left > 0; i++ {
		name := fmt.Sprint("r", i)
		if g := bridge.GroupOf(name); robots[g] == "" {
			robots[g] = name
			left--
		}
	}
	return robots
}

// leaderOf returns the node that leads the leases of a group, when each node leads one group.
func (s *stage) leaderOf(b *testing.B, group int) (node *clusterNode) {
	b.Helper()
	l := &testbed{nodes: s.nodes, inside: s.machines[group].drivers[0].conn}
	waiting.Until(b, "leaders on all nodes", func() bool {
		led := map[string]bool{}
		for g := range bridge.Groups {
			n := l.leader(b, g)
			led[n.name] = true
			if g == group {
				node = n
			}
		}
		return len(led) == bridge.Groups
	})
	return node
}

// metaGroup returns the group whose leases the leader of JetStream itself leads, when each node
// leads one.
func (s *stage) metaGroup(b *testing.B) (group int) {
	b.Helper()
	waiting.Until(b, "leader of JetStream that leads a group", func() bool {
		answer, err := http.Get("http://" + s.nodes[0].monitor + "/jsz")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		var js struct {
			Meta struct{ Leader string } `json:"meta_cluster"`
		}
		if err := json.NewDecoder(answer.Body).Decode(&js); err != nil {
			return false
		}
		for group = range bridge.Groups {
			if s.leaderOf(b, group).name == js.Meta.Leader {
				return true
			}
		}
		return false
	})
	return group
}

// Each fault that docs/fleet/failures.md has a row for is caused, and the robots' reactions are recorded:
//
//	go test . -run '^$' -bench Faults -benchtime 3x
func BenchmarkFaults(b *testing.B) {
	natsServer := filepath.Join(programsDir, "nats-server")
	const shortly, longer = 3 * time.Second, 12 * time.Second // an election takes up to 9 s
	b.Run("one bridge", func(b *testing.B) {
		nodes := []*clusterNode{startNode(b, natsServer)}
		onSmallDisks(b, nodes)
		s := startStage(b, nodes, newNetwork(), []string{"a"}, 1, 2)
		m := s.machines[0]
		last := func() *programs.Program { return s.bridges[len(s.bridges)-1] }
		s.measure(b, "holder hangs", shortly, func() func() {
			w := m.holder()
			w.pause.Store(true)
			return func() { w.pause.Store(false) }
		})
		s.measure(b, "holder is cut off", shortly, func() func() { return s.network.cut(m.holder().name) })
		s.measure(b, "robot is cut off", shortly, func() func() { return s.network.cut("robot a") })
		s.restart(b, "robot's server", func(how os.Signal) {
			m.server.End(b, how)
			m.server = start(b, player, m.program...)
		})
		s.measure(b, "robot's server hangs for 3 s", shortly, func() func() { return m.server.Pause(b) })
		s.measure(b, "the only bridge hangs for 3 s", shortly, func() func() { return last().Pause(b) })
		s.restart(b, "the only bridge", func(how os.Signal) {
			last().End(b, how)
			s.addBridge(b)
		})
		s.measure(b, "the only bridge is cut off from NATS for 3 s", shortly, func() func() {
			return s.network.cut(fmt.Sprint("bridge", len(s.bridges)-1))
		})
		s.restart(b, "the only NATS", func(how os.Signal) {
			s.nodes[0].End(b, how)
			s.nodes[0].run(b)
		})
		s.measure(b, "the only NATS hangs for 3 s", shortly, func() func() { return s.nodes[0].Program.Pause(b) })
		s.measure(b, "the disk of the only NATS is full for 12 s", longer, func() func() { return s.nodes[0].fill(b) })
		s.measure(b, "holder is killed", shortly, func() func() {
			w := m.holder()
			w.pause.Store(true)
			w.conn.Close()
			return func() { s.addDriver(b, m, len(m.drivers)) }
		})
	})
	b.Run("listener", func(b *testing.B) {
		s := startStage(b, []*clusterNode{startNode(b, natsServer)}, newNetwork(), []string{"a"}, 1, 1)
		s.measure(b, "a listener of everything at 100 Hz hangs for 20 s", 20*time.Second, func() func() {
			listener, err := net.Dial("tcp", s.nodes[0].address)
			if err == nil {
				said := "CONNECT {\"verbose\":false,\"headers\":true}\r\nSUB player.> 1\r\n"
				for _, spec := range devices.Lettered() { // the kernel's buffers are full after seconds
					said += fmt.Sprintf("PUB %s 3\r\n100\r\n", bridge.Subject("lab", "a", spec.Name, bridge.Rate))
				}
				_, err = listener.Write([]byte(said))
			}
			if err == nil {
				err = listener.SetReadDeadline(time.Now().Add(patience))
			}
			if err != nil {
				b.Fatal(err)
			}
			return func() {
				defer listener.Close()
				if _, err := io.Copy(io.Discard, listener); errors.Is(err, os.ErrDeadlineExceeded) {
					b.Error("NATS has not disconnected a listener that has read nothing: the kernel has taken all")
				}
			}
		})
	})
	b.Run("two bridges", func(b *testing.B) {
		s := startStage(b, []*clusterNode{startNode(b, natsServer)}, newNetwork(), []string{"a"}, 1, 1)
		number := 0 // of the bridge that serves
		lose := func(name string, do func(number int) (undo func())) {
			s.measure(b, name, shortly, func() func() { return do(number) }, func() { number = s.serving(b) })
		}
		second := func() {
			s.addBridge(b)
			time.Sleep(2 * bridge.TTL) // it may take the robot, which stands for a moment then
		}
		for _, e := range ends {
			s.measure(b, "the bridge of two that serves "+e.name, shortly, func() func() {
				s.bridges[number].End(b, e.how)
				return nil
			}, second, func() { number = s.serving(b) })
		}
		second()
		lose("the bridge of two that serves hangs for 3 s", func(number int) func() { return s.bridges[number].Pause(b) })
		lose("the bridge of two that serves is cut off from NATS for 3 s", func(number int) func() {
			return s.network.cut(fmt.Sprint("bridge", number))
		})
	})
	b.Run("three nodes", func(b *testing.B) {
		n := newNetwork()
		nodes := startNodes(b, n, natsServer)
		onSmallDisks(b, nodes)
		s := startStage(b, nodes, n, inGroups(), 1, 1)
		// While the node is away the robots of one group may stand; each robot is in a group
		// of its own. A node that returns may have the others elect again.
		lose := func(name string, group func() int, do func(node *clusterNode) (undo func())) {
			var node *clusterNode
			s.measure(b, name, longer, func() func() { return do(node) }, func() {
				led := group()
				node, s.led = s.leaderOf(b, led), s.machines[led]
			})
		}
		of := func(group int) func() int { return func() int { return group } }
		meta := func() int { return s.metaGroup(b) }
		for group, e := range ends {
			lose("the node that leads "+e.name, of(group), func(node *clusterNode) func() {
				node.End(b, e.how)
				return func() { node.run(b) }
			})
		}
		lose("the node that leads hangs for 12 s", of(2), func(node *clusterNode) func() { return node.Program.Pause(b) })
		lose("the node that leads is cut off for 12 s", of(0), func(node *clusterNode) func() {
			all, routes := s.network.cut(node.name), s.network.cut(routes(node.name))
			return func() { all(); routes() }
		})
		lose("the disk of the node that leads is full for 12 s", of(1), func(node *clusterNode) func() { return node.fill(b) })
		lose("the node that leads JetStream is killed", meta, func(node *clusterNode) func() {
			node.End(b, syscall.SIGKILL)
			return func() { node.run(b) }
		})
		lose("the node that leads JetStream hangs for 12 s", meta, func(node *clusterNode) func() { return node.Program.Pause(b) })
	})
}
