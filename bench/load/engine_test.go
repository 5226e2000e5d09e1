package load

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"player/bench/baseline"
	"player/codec"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
)

// fake is a frame server with a goroutine for each client.
type fake struct {
	address string
	size    int // of its frames
	// leave closes a client's connection after so many frames, zero for never.
	leave int

	mu       sync.Mutex
	commands int
	drivers  int
}

func startFake(t *testing.T, size, leave int) *fake {
	t.Helper()
	f := &fake{size: size, leave: leave}
	f.address = ports.Serve(t, f.serve)
	return f
}

func (f *fake) serve(conn net.Conn) {
	frame := baseline.NewFrame(f.size)
	var c baseline.Client
	in := make([]byte, 4096)
	streams := false
	for sent := 0; f.leave == 0 || sent < f.leave; {
		n, err := conn.Read(in)
		if err != nil {
			return
		}
		before := c.Commands
		reply, frames := c.Receive(in[:n])
		f.mu.Lock()
		f.commands += c.Commands - before
		if strings.Contains(string(reply), "pa") {
			f.drivers++
		}
		f.mu.Unlock()
		if _, err := conn.Write(reply); err != nil {
			return
		}
		if c.Reads && !c.Asks && !streams {
			streams = true
			go f.stream(conn, time.Second/time.Duration(c.Rate))
		}
		for range frames {
			frame.Stamp(baseline.Now())
			if _, err := conn.Write(frame.Bytes); err != nil {
				return
			}
			sent++
		}
	}
}

func (f *fake) stream(conn net.Conn, period time.Duration) {
	frame := baseline.NewFrame(f.size)
	for sent := 0; f.leave == 0 || sent < f.leave; sent++ {
		time.Sleep(period)
		frame.Stamp(baseline.Now())
		if _, err := conn.Write(frame.Bytes); err != nil {
			return
		}
	}
	conn.Close()
}

func (f *fake) counts() (commands, drivers int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.commands, f.drivers
}

// spec is one group of every task, with so many clients each.
func (f *fake) spec(clients int, tasks ...Task) Spec {
	s := Spec{FrameSize: 807, Stamp: codec.Laser, Warmup: time.Millisecond, Window: 700 * ms}
	for _, task := range tasks {
		g := Group{Name: string(task), Clients: clients, Rate: 50, Task: task, Address: f.address}
		if task == Request {
			g.Rate = 0
		}
		s.Groups = append(s.Groups, g)
	}
	return s
}

// Every task does the work of its name. Only orders of magnitude are checked:
// how many frames fit into the window is the machine's affair.
func TestTasks(t *testing.T) {
	needs.Time(t)
	f := startFake(t, 807, 0)
	tasks := []Task{Stream, Drive, Command, Answer, Slow, Request, Deaf, Flood}
	var edges []string
	edge := func(name string) func() { return func() { edges = append(edges, name) } }
	r := must.Get(Run(f.spec(2, tasks...), edge("begin"), edge("end")))(t)
	if strings.Join(edges, " ") != "begin end" || r.Window < 700*ms || r.CPU <= 0 {
		t.Errorf("edges %v, window %v, CPU %v", edges, r.Window, r.CPU)
	}
	commands := 0
	for i, g := range r.Groups {
		task := tasks[i]
		if g.Name != string(task) || g.Closed != 0 || g.Bad != 0 {
			t.Errorf("%s: %+v", task, g)
		}
		if (g.Frames == 0) != (task == Deaf) {
			t.Errorf("%s: %d frames", task, g.Frames)
		}
		if sends := task == Command || task == Answer || task == Flood; sends != (g.Commands > 0) {
			t.Errorf("%s: %d commands", task, g.Commands)
		}
		if (task == Request) != (g.Round.Mean > 0) {
			t.Errorf("%s: a round of %v", task, g.Round.Mean)
		}
		if task != Deaf && (g.AgeMean <= 0 || g.Latency.Mean <= 0) {
			t.Errorf("%s: age %v, latency %v", task, g.AgeMean, g.Latency.Mean)
		}
		commands += g.Commands
	}
	if slow, quick := r.Groups[4].Latency.Max, slowPeriod/2; slow < quick {
		t.Errorf("a slow reader has all frames within %v", slow)
	}
	// Each client's request is made once more when the engine waits for the server.
	if _, drivers := f.counts(); drivers != 4*2+4 {
		t.Errorf("%d clients may drive, want 12", drivers)
	}
	// The last commands may be under way, or in a socket that is closed.
	if got, _ := f.counts(); got == 0 || got > commands {
		t.Errorf("%d commands arrived, %d were sent", got, commands)
	}
}

// Commands of the clients are spread over the period.
func TestPacer(t *testing.T) {
	var calls []int32
	clients := []*client{{index: 0}, {index: 1}, {index: 2, closed: true}, {index: 3}}
	p := pacer{period: 100 * ms, clients: clients, do: func(c *client) { calls = append(calls, c.index) }}
	for _, step := range []struct {
		now, wait time.Duration
		calls     int
	}{
		{1000 * ms, 25 * ms, 1}, {1010 * ms, 15 * ms, 1}, {1025 * ms, 25 * ms, 2},
		{1060 * ms, 15 * ms, 2}, {1075 * ms, 25 * ms, 3}, {1200 * ms, 25 * ms, 7},
	} {
		if wait := p.run(step.now, time.Second); wait != step.wait || len(calls) != step.calls {
			t.Errorf("at %v: wait %v, %d calls, want %v and %d", step.now, wait, len(calls), step.wait, step.calls)
		}
	}
	if wait := p.run(1200*ms, 5*ms); wait != 5*ms {
		t.Errorf("waits %v, was allowed 5ms", wait)
	}
	if wait := (&pacer{}).run(0, time.Second); wait != time.Second {
		t.Errorf("without clients it waits %v", wait)
	}
}

func TestConnectionsThatEndAreCounted(t *testing.T) {
	needs.Time(t)
	f := startFake(t, 807, 3)
	r := must.Get(Run(f.spec(2, Stream, Deaf, Request), func() {}, func() {}))(t)
	for _, g := range r.Groups {
		if g.Closed != 2 {
			t.Errorf("%s: %d of 2 closed", g.Name, g.Closed)
		}
	}
}

func TestFramesOfAWrongSizeAreBad(t *testing.T) {
	needs.Time(t)
	f := startFake(t, 85, 0)
	r := must.Get(Run(f.spec(1, Stream), func() {}, func() {}))(t)
	if g := r.Groups[0]; g.Bad == 0 || g.Frames != 0 {
		t.Errorf("%d frames, %d bad", g.Frames, g.Bad)
	}
}

func TestMainReadsASpecAndWritesAResult(t *testing.T) {
	f := startFake(t, 807, 0)
	spec := f.spec(1, Stream)
	spec.Window = 100 * ms
	text := must.Get(json.Marshal(spec))(t)
	var out bytes.Buffer
	must.Do(t, Main(bytes.NewReader(text), &out))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var r Result
	if len(lines) != 3 || lines[0] != Begin || lines[1] != End || json.Unmarshal([]byte(lines[2]), &r) != nil {
		t.Fatalf("wrote %q", lines)
	}
	if len(r.Groups) != 1 || r.Groups[0].Frames == 0 {
		t.Errorf("%+v", r)
	}
	for _, in := range []string{"", "{", `{"groups":[{"clients":1,"address":"nowhere"}]}`, `{"groups":[{"clients":100000000,"address":"127.0.0.1:1"}]}`} {
		if err := Main(strings.NewReader(in), io.Discard); err == nil {
			t.Errorf("%q was carried out", in)
		}
	}
}
