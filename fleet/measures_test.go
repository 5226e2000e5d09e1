package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"player/client"
	"player/devices"
	"player/e2e/acceptance"
	"player/fleet/bridge"
)

// The table "What happens when" of docs/FLEET.md is measured by
//
//	ACCEPTANCE=1 go test . -run TestMeasureFaults -times 3 -raw ../bench/results/faults.jsonl -v
var (
	times   = flag.Int("times", 0, "how often TestMeasureFaults measures each fault")
	faults  = flag.String("faults", "", "a regular expression of the faults that TestMeasureFaults measures; all without it")
	rawFile = flag.String("raw", "", "the file to which TestMeasureFaults appends its raw numbers")
)

// machine is a robot whose movement is recorded, and the programs that want to drive it.
type machine struct {
	robot
	server  *process
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
func startMachine(t *testing.T, name string) *machine {
	t.Helper()
	port := freePort(t)
	m := &machine{robot: robot{name: name, address: "127.0.0.1:" + strconv.Itoa(port)}}
	config := filepath.Join(t.TempDir(), "robot.cfg")
	if err := os.WriteFile(config, []byte("driver ( name \"testpattern\" rate 100 )\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	m.program = []string{"-bind", "127.0.0.1", "-gp", strconv.Itoa(port), config}
	m.server = start(t, player, m.program...)
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { m.record(ctx) })
	t.Cleanup(func() {
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

// stage is what a fault happens to.
type stage struct {
	network  *network
	nodes    []*clusterNode
	bridges  []*process
	machines []*machine
	links    map[string]string // address of a robot as bridges see it
	extra    []string          // arguments of bridges
	drive    func(w *wheelman, m *machine)
	led      *machine // of the group that the node leads to which a fault happens; nil: it happens to no node
}

// startStage starts robots, nodes and bridges, and a program that drives each robot. Of the
// drivers of each robot, the first one gets the lease, and the others wait for it.
func startStage(t *testing.T, nodes []*clusterNode, n *network, robots []string, bridges, drivers int) *stage {
	t.Helper()
	s := &stage{network: n, nodes: nodes, links: map[string]string{}}
	if len(nodes) > 1 {
		s.extra = []string{"-replicas", strconv.Itoa(len(nodes))}
	}
	for _, name := range robots {
		m := startMachine(t, name)
		s.machines = append(s.machines, m)
		s.links[name] = n.proxy(t, "robot "+name, "", m.address)
	}
	for range bridges {
		s.addBridge(t)
	}
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	t.Cleanup(func() {
		stop()
		all.Wait()
	})
	s.drive = func(w *wheelman, m *machine) {
		m.drivers = append(m.drivers, w)
		all.Go(func() { w.run(ctx) })
	}
	for _, m := range s.machines {
		for i := range drivers {
			s.addDriver(t, m, i)
		}
	}
	return s
}

func (s *stage) addDriver(t *testing.T, m *machine, i int) {
	t.Helper()
	w := &wheelman{name: fmt.Sprintf("driver%d of %s", i, m.name), robot: m.name}
	w.conn = patient(t, urls(t, s.network, w.name, s.nodes), 200*time.Millisecond)
	s.drive(w, m)
	wait(t, m.name+" that moves", m.moves)
}

func (s *stage) addBridge(t *testing.T) {
	t.Helper()
	name := fmt.Sprint("bridge", len(s.bridges))
	args := append([]string{"-fleet", "lab", "-nats", urls(t, s.network, name, s.nodes)}, s.extra...)
	for _, m := range s.machines {
		args = append(args, "-robot", m.name+"="+s.links[m.name])
	}
	s.bridges = append(s.bridges, start(t, program, args...))
}

// serving returns the number of the bridge that serves the first robot.
func (s *stage) serving(t *testing.T) (number int) {
	t.Helper()
	status := subscribe(t, s.machines[0].drivers[len(s.machines[0].drivers)-1].conn, "player.lab."+s.machines[0].name+".status")
	defer status.Unsubscribe()
	wait(t, "bridge that serves", func() bool {
		m, err := status.NextMsg(time.Second)
		if err != nil {
			return false
		}
		var b struct{ Bridge string }
		if json.Unmarshal(m.Data, &b) != nil || b.Bridge == "" {
			return false
		}
		number = slices.IndexFunc(s.bridges, func(p *process) bool { return strings.Contains(p.lines(), b.Bridge) })
		return number >= 0
	})
	return number
}

// outcome is a raw number.
type outcome struct {
	Fault string  `json:"fault"`
	Robot string  `json:"robot"`
	Stood float64 `json:"stands_ms"`             // after the fault; 0: it never stood
	Moved float64 `json:"moves_ms"`              // after the fault, again; 0: not before the fault ended
	Other bool    `json:"other_group,omitempty"` // the fault is a node's, which does not lead this robot's group
}

// measure causes a fault, ends it after a while, waits until all robots move, and reports.
func (s *stage) measure(t *testing.T, name string, lasts time.Duration, do func() (undo func())) []outcome {
	t.Helper()
	if !regexp.MustCompile(*faults).MatchString(name) {
		return nil
	}
	moving := func() bool {
		return !slices.ContainsFunc(s.machines, func(m *machine) bool { return !m.moves() })
	}
	wait(t, "robots that move before "+name, moving)
	time.Sleep(2 * bridge.TTL) // so that nothing of the fault before is left
	wait(t, "robots that move before "+name, moving)
	began := time.Now()
	undo := do()
	time.Sleep(lasts)
	if undo != nil {
		undo()
	}
	wait(t, "robots that move after "+name, moving)
	time.Sleep(bridge.TTL) // one that moves for a moment stands again
	wait(t, "robots that move after "+name, moving)
	var all []outcome
	for _, m := range s.machines {
		stood, moved := m.after(began)
		all = append(all, outcome{name, m.name, float64(stood.Microseconds()) / 1000, float64(moved.Microseconds()) / 1000, s.led != nil && m != s.led})
	}
	t.Logf("%s: %+v", name, all)
	if *rawFile != "" {
		f, err := os.OpenFile(*rawFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		raw := json.NewEncoder(f)
		for _, o := range all {
			if err := raw.Encode(o); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// ends are the ways in which a process ends.
var ends = []struct {
	name string
	how  os.Signal
}{{"is killed", syscall.SIGKILL}, {"ends", syscall.SIGTERM}}

// restart measures both ends of a process that starts at once.
func (s *stage) restart(t *testing.T, what string, do func(how os.Signal)) {
	t.Helper()
	for _, e := range ends {
		s.measure(t, what+" "+e.name+", and starts at once", 0, func() func() {
			do(e.how)
			return nil
		})
	}
}

// buildNATS builds the server of the version in go.mod.
func buildNATS(t *testing.T) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(program), "nats-server")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		t.Fatalf("go build nats-server: %v\n%s", err, out)
	}
	return path
}

// suspend stops a process until undo is called. A busy machine needs time to stop its threads.
func suspend(p *process) (undo func()) {
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	for end := time.Now().Add(patience); !stopped(p) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return func() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }
}

// stopped reports whether all threads of a process have been stopped by a signal.
func stopped(p *process) bool {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
	return err == nil && !slices.ContainsFunc(files, func(file string) bool {
		stat, err := os.ReadFile(file)
		return err == nil && !strings.Contains(string(stat), ") T ")
	})
}

// startNode starts one NATS server as a process.
func startNode(t *testing.T, natsServer string) *clusterNode {
	t.Helper()
	dir := t.TempDir()
	n := &clusterNode{name: "only", address: "127.0.0.1:" + strconv.Itoa(freePort(t)), store: filepath.Join(dir, "store")}
	file := filepath.Join(dir, "node.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, "server_name: only\nlisten: %q\njetstream { store_dir: %q }\n", n.address, n.store), 0o644); err != nil {
		t.Fatal(err)
	}
	n.args = []string{natsServer, "-c", file}
	n.run(t)
	return n
}

// onSmallDisks makes nodes run with their stores on disks of 32 MiB, which only they see: in a
// namespace of mounts that lives as long as the test.
func onSmallDisks(t *testing.T, nodes []*clusterNode) {
	t.Helper()
	for _, n := range nodes {
		n.end(t, syscall.SIGTERM)
		keeper := exec.Command("unshare", "--mount", "sh", "-c", `mount -t tmpfs -o size=32m none "$1" && echo mounted && exec sleep 3600`, "sh", n.store)
		said, err := keeper.StdoutPipe()
		if err == nil {
			err = keeper.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = keeper.Process.Kill()
			_ = keeper.Wait()
		})
		if line, err := bufio.NewReader(said).ReadString('\n'); err != nil {
			t.Fatalf("a small disk (needs root): %q, %v", line, err)
		}
		n.args = slices.Concat([]string{"nsenter", "--target", strconv.Itoa(keeper.Process.Pid), "--mount"}, n.args)
		n.run(t)
	}
}

// fill fills the disk of a node until undo is called, which makes room and starts the node
// again: JetStream has stopped for good.
func (c *clusterNode) fill(t *testing.T) (undo func()) {
	t.Helper()
	path := filepath.Join("/proc", strconv.Itoa(c.cmd.Process.Pid), "root", c.store, "full")
	f, err := os.Create(path)
	for block := make([]byte, 4<<10); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	f.Close()
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		c.end(t, syscall.SIGTERM)
		c.run(t)
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
func (s *stage) leaderOf(t *testing.T, group int) (node *clusterNode) {
	t.Helper()
	l := &laboratory{nodes: s.nodes, inside: s.machines[group].drivers[0].conn}
	wait(t, "leaders on all nodes", func() bool {
		led := map[string]bool{}
		for g := range bridge.Groups {
			n := l.leader(t, g)
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
func (s *stage) metaGroup(t *testing.T) (group int) {
	t.Helper()
	wait(t, "leader of JetStream that leads a group", func() bool {
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
			if s.leaderOf(t, group).name == js.Meta.Leader {
				return true
			}
		}
		return false
	})
	return group
}

// Each fault that docs/FLEET.md has a row for is caused, and what the robots do is recorded.
// Nothing is judged: it measures when it is asked to (-times).
func TestMeasureFaults(t *testing.T) {
	acceptance.Only(t)
	if *times == 0 {
		return
	}
	natsServer := buildNATS(t)
	const shortly, longer = 3 * time.Second, 12 * time.Second // an election takes up to 9 s
	t.Run("one bridge", func(t *testing.T) {
		for range *times {
			nodes := []*clusterNode{startNode(t, natsServer)}
			onSmallDisks(t, nodes)
			s := startStage(t, nodes, newNetwork(), []string{"a"}, 1, 2)
			m := s.machines[0]
			s.measure(t, "holder hangs", shortly, func() func() {
				w := m.holder()
				w.pause.Store(true)
				return func() { w.pause.Store(false) }
			})
			s.measure(t, "holder is cut off", shortly, func() func() { return s.network.cut(m.holder().name) })
			s.measure(t, "robot is cut off", shortly, func() func() { return s.network.cut("robot a") })
			s.restart(t, "robot's server", func(how os.Signal) {
				m.server.end(t, how)
				m.server = start(t, player, m.program...)
			})
			s.measure(t, "robot's server hangs for 3 s", shortly, func() func() { return suspend(m.server) })
			s.measure(t, "the only bridge hangs for 3 s", shortly, func() func() { return suspend(s.bridges[len(s.bridges)-1]) })
			s.restart(t, "the only bridge", func(how os.Signal) {
				s.bridges[len(s.bridges)-1].end(t, how)
				s.addBridge(t)
			})
			s.measure(t, "the only bridge is cut off from NATS for 3 s", shortly, func() func() {
				return s.network.cut(fmt.Sprint("bridge", len(s.bridges)-1))
			})
			s.restart(t, "the only NATS", func(how os.Signal) {
				s.nodes[0].end(t, how)
				s.nodes[0].run(t)
			})
			s.measure(t, "the only NATS hangs for 3 s", shortly, func() func() { return suspend(s.nodes[0].process) })
			s.measure(t, "the disk of the only NATS is full for 12 s", longer, func() func() { return s.nodes[0].fill(t) })
			s.measure(t, "holder is killed", shortly, func() func() {
				w := m.holder()
				w.pause.Store(true)
				w.conn.Close()
				return nil
			})
		}
	})
	t.Run("listener", func(t *testing.T) {
		for range *times {
			s := startStage(t, []*clusterNode{startNode(t, natsServer)}, newNetwork(), []string{"a"}, 1, 1)
			s.measure(t, "a listener of everything at 100 Hz hangs for 20 s", 20*time.Second, func() func() {
				listener, err := net.Dial("tcp", s.nodes[0].address)
				if err == nil {
					said := "CONNECT {\"verbose\":false,\"headers\":true}\r\nSUB player.> 1\r\n"
					for _, spec := range devices.Interfaces() { // the kernel's buffers are full after seconds
						said += fmt.Sprintf("PUB %s 3\r\n100\r\n", bridge.Subject("lab", "a", spec.Name, bridge.Rate))
					}
					_, err = listener.Write([]byte(said))
				}
				if err == nil {
					err = listener.SetReadDeadline(time.Now().Add(patience))
				}
				if err != nil {
					t.Fatal(err)
				}
				return func() {
					defer listener.Close()
					if _, err := io.Copy(io.Discard, listener); errors.Is(err, os.ErrDeadlineExceeded) {
						t.Error("NATS has not disconnected a listener that has read nothing: the kernel has taken all")
					}
				}
			})
		}
	})
	t.Run("two bridges", func(t *testing.T) {
		for range *times {
			s := startStage(t, []*clusterNode{startNode(t, natsServer)}, newNetwork(), []string{"a"}, 2, 1)
			lose := func(name string, do func(number int) (undo func())) {
				number := s.serving(t)
				s.measure(t, name, shortly, func() func() { return do(number) })
			}
			for _, e := range ends {
				lose("the bridge of two that serves "+e.name, func(number int) func() {
					s.bridges[number].end(t, e.how)
					return nil
				})
				s.addBridge(t)
			}
			lose("the bridge of two that serves hangs for 3 s", func(number int) func() { return suspend(s.bridges[number]) })
			lose("the bridge of two that serves is cut off from NATS for 3 s", func(number int) func() { return s.network.cut(fmt.Sprint("bridge", number)) })
		}
	})
	t.Run("three nodes", func(t *testing.T) {
		for range *times {
			n := newNetwork()
			nodes := startNodes(t, n, natsServer)
			onSmallDisks(t, nodes)
			s := startStage(t, nodes, n, inGroups(), 1, 1)
			// While the node is away the robots of one group may stand; each robot is in a group
			// of its own. A node that returns may have the others elect again.
			lose := func(name string, group int, do func(node *clusterNode) (undo func())) {
				t.Helper()
				node := s.leaderOf(t, group)
				s.led = s.machines[group]
				for _, o := range s.measure(t, name, longer, func() func() { return do(node) }) {
					if away := float64(longer.Milliseconds()); o.Stood != 0 && o.Stood < away && o.Other {
						t.Errorf("%s: %s stood, which is of another group", name, o.Robot)
					}
				}
			}
			for group, e := range ends {
				lose("the node that leads "+e.name, group, func(node *clusterNode) func() {
					node.end(t, e.how)
					return func() { node.run(t) }
				})
			}
			lose("the node that leads hangs for 12 s", 2, func(node *clusterNode) func() { return suspend(node.process) })
			lose("the node that leads is cut off for 12 s", 0, func(node *clusterNode) func() {
				all, routes := s.network.cut(node.name), s.network.cut(routes(node.name))
				return func() { all(); routes() }
			})
			lose("the disk of the node that leads is full for 12 s", 1, func(node *clusterNode) func() { return node.fill(t) })
			lose("the node that leads JetStream is killed", s.metaGroup(t), func(node *clusterNode) func() {
				node.end(t, syscall.SIGKILL)
				return func() { node.run(t) }
			})
			lose("the node that leads JetStream hangs for 12 s", s.metaGroup(t), func(node *clusterNode) func() { return suspend(node.process) })
		}
	})
}
