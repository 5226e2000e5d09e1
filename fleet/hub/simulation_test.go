package hub

import (
	"container/heap"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"player/fleet/bridge"
)

// The simulation runs bridges that share a robot, with their hubs, controllers and leases, in virtual time.
// Around them are simulated: the clock and the process of each bridge, which is paused, killed and ended, NATS
// (simulation_nats_test.go), the robot (simulation_robot_test.go), and the programs that drive it
// (simulation_driver_test.go). All chance comes from one seed, so a seed that fails can be replayed:
//
//	cd fleet; go test ./hub -run '^TestSimulation$' -seed 123
//
// The goroutines of the bridges are real. One event happens at a time, and the next one when all of them wait.

var (
	simSeed  = flag.Uint64("seed", 0, "run only this seed of the simulation, and print its events")
	simSeeds = flag.Int("seeds", 40, "how many seeds the simulation runs")
	simFirst = flag.Uint64("firstseed", 1, "the first seed of the simulation")
)

func TestSimulation(t *testing.T) {
	first, seeds := *simFirst, *simSeeds
	if *simSeed != 0 {
		first, seeds = *simSeed, 1
	}
	var total summary
	failed := 0
	for seed := first; seed < first+uint64(seeds); seed++ {
		s := simulate(t, seed)
		if s.broken != nil {
			failed++
			lines := 60
			if *simSeed != 0 {
				lines = len(s.trace)
			}
			t.Errorf("seed %d, after %v: %v\n%s\nReplay it with: cd fleet; go test ./hub -run '^TestSimulation$' -seed %d",
				seed, s.end, s.broken, strings.Join(s.trace[max(0, len(s.trace)-lines):], "\n"), seed)
		}
		if *simSeed != 0 && testing.Verbose() {
			t.Log(strings.Join(s.trace, "\n"))
		}
		total.add(&s.summary)
	}
	t.Logf("%d seeds, %d failed: %+v", seeds, failed, total)
	for field, value := range reflect.ValueOf(total).Fields() {
		if seeds >= 20 && value.IsZero() {
			t.Errorf("the simulation has no %s", field.Name)
		}
	}
}

// A seed determines everything.
func TestSimulationIsRepeatable(t *testing.T) {
	for seed := *simFirst; seed < *simFirst+4; seed++ {
		a, b := simulate(t, seed), simulate(t, seed)
		for i := range min(len(a.trace), len(b.trace)) {
			if a.trace[i] != b.trace[i] {
				t.Errorf("seed %d: event %d differs:\n%s\n\n%s", seed, i,
					strings.Join(a.trace[max(0, i-6):i+2], "\n"), strings.Join(b.trace[i:i+2], "\n"))
				break
			}
		}
		if len(a.trace) != len(b.trace) || a.summary != b.summary {
			t.Errorf("seed %d: two runs differ: %+v, %+v", seed, a.summary, b.summary)
		}
	}
}

// summary is how much was simulated and checked.
type summary struct {
	Time                                 time.Duration
	Grants, Refusals, Renewals, Releases int // answers to programs
	Commands, Obeyed, Confirmed          int // written to the robot; obeyed by it; answered with ok
	Adoptions, Hangs, Expiries, Late     int // Late: messages that came to NATS after their connection
	Stops                                int // of the robot
	Pauses, Kills, Ends, Cuts            int // of bridges
	Restarts, Outages                    int // of NATS; of JetStream alone
	Healed                               int // stories at whose end the robot was driven again
}

func (s *summary) add(o *summary) {
	sum, more := reflect.ValueOf(s).Elem(), reflect.ValueOf(o).Elem()
	for i := range sum.NumField() {
		sum.Field(i).SetInt(sum.Field(i).Int() + more.Field(i).Int())
	}
}

// event is an event at a time. An event of a bridge waits while the bridge is paused, and when it is dead until
// the simulation ends its goroutines.
type event struct {
	at    time.Duration
	order uint64
	owner *process
	do    func()
}

// sim is one simulation. Its mutex is held while an event happens, and by the methods that bridges call.
type sim struct {
	seed    uint64
	random  *rand.Rand // of events
	trace   []string
	summary summary
	broken  error
	end     time.Duration // of what is judged

	mu     sync.Mutex
	now    time.Duration
	order  uint64
	events events
	calm   bool // faults have ended
	closed bool // nothing is judged any more

	nats      *simNATS
	robot     *simRobot
	processes []*process // all, also those that have ended
	drivers   []*driver
	judge     judge
}

// The phases of a story.
const (
	stormTime = 40 * time.Second
	healLimit = 6 * time.Second // from the end of the last fault until the robot is driven
	calmTime  = 5 * time.Second // for which it is driven then
)

// newSim returns a simulation without anything in it.
func newSim(seed uint64) *sim {
	s := &sim{seed: seed, random: rand.New(rand.NewPCG(seed, 1))}
	s.nats, s.robot, s.judge = newSimNATS(s), newSimRobot(s), newJudge(s)
	return s
}

// simulate tells one story.
func simulate(t *testing.T, seed uint64) (s *sim) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		s = newSim(seed)
		s.lock(func() {
			for range 2 + s.random.IntN(2) {
				s.start()
			}
			for range 3 {
				s.drive()
			}
			s.after(time.Second, nil, s.fault)
		})
		s.run(stormTime, nil)
		s.lock(func() {
			s.calm = true
			s.say("all faults are healed")
		})
		s.run(stormTime+healLimit+calmTime, nil)
		s.lock(s.judge.healed)
		s.end, s.summary.Time = s.now, s.now
		s.finish()
	})
	return s
}

// finish ends all bridges, and the goroutines of those that were killed.
func (s *sim) finish() {
	s.lock(func() {
		for _, d := range s.drivers {
			d.ended = true
		}
		for _, p := range s.living() {
			p.cancel()
		}
	})
	s.run(s.now+3*time.Second, nil)
	s.lock(func() {
		s.closed = true
		for _, p := range s.processes {
			p.zombie = p.dead
			p.dead, p.paused = false, false
			for _, e := range p.held {
				s.after(0, p, e.do)
			}
			p.held = nil
			p.cancel()
		}
	})
	s.run(s.now+time.Minute, func() bool {
		return !slices.ContainsFunc(s.processes, func(p *process) bool { return !p.ended })
	})
	s.run(s.now+5*time.Second, nil) // what bridges have left to do
}

func (s *sim) lock(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// run lets events happen until a time, until done, or until something is broken.
func (s *sim) run(until time.Duration, done func() bool) {
	for {
		synctest.Wait()
		s.mu.Lock()
		if done != nil && done() || s.broken != nil && !s.closed {
			s.mu.Unlock()
			return
		}
		if len(s.events) == 0 || s.events[0].at > until {
			s.now = max(s.now, until)
			s.mu.Unlock()
			return
		}
		e := heap.Pop(&s.events).(event)
		s.now = max(s.now, e.at)
		switch p := e.owner; {
		case p != nil && (p.paused || p.dead):
			p.held = append(p.held, e)
		default:
			e.do()
			if !s.closed {
				s.judge.always()
			}
		}
		s.mu.Unlock()
	}
}

// after has something happen later.
func (s *sim) after(d time.Duration, owner *process, do func()) { s.at(s.now+d, owner, do) }

func (s *sim) at(at time.Duration, owner *process, do func()) {
	s.order++
	heap.Push(&s.events, event{at, s.order, owner, do})
}

// events are a heap. Of those at one time, the first that was planned happens first.
type events []event

func (h events) Len() int { return len(h) }

func (h events) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].order < h[j].order
}

func (h events) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *events) Push(e any) { *h = append(*h, e.(event)) }

func (h *events) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = event{}
	*h = (*h)[:last]
	return e
}

// chance returns a number from 0 to 1 that depends on the seed, the time and a name only: goroutines that run
// at one time get the same in any order.
func (s *sim) chance(name string) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, s.seed, name, int64(s.now))
	return rand.New(rand.NewPCG(h.Sum64(), 1)).Float64()
}

// delay is a time between two, mostly short.
func (s *sim) delay(name string, least, most time.Duration) time.Duration {
	c := s.chance(name)
	return least + time.Duration(c*c*c*float64(most-least))
}

func (s *sim) say(format string, a ...any) {
	s.trace = append(s.trace, fmt.Sprintf("%12.6f ", s.now.Seconds())+fmt.Sprintf(format, a...))
}

// breaks notes the first thing that must not happen.
func (s *sim) breaks(format string, a ...any) {
	if s.broken == nil && !s.closed {
		s.broken = fmt.Errorf(format, a...)
		s.say("BROKEN: %v", s.broken)
	}
}

// between returns a time by chance.
func (s *sim) between(least, most time.Duration) time.Duration {
	return least + time.Duration(s.random.Int64N(int64(most-least)))
}

// process is one life of a bridge.
type process struct {
	sim    *sim
	name   string
	offset time.Duration // of its clock
	rate   float64       // of its clock

	paused, dead bool
	disturbed    time.Duration // when it was paused last, until its robot's connection was cut last
	held         []event
	zombie       bool // its goroutines end, and reach nothing
	ended        bool

	conn   *simConn
	hub    *hub
	ending bool
	cancel context.CancelFunc
	heard  map[uint64]time.Duration // lease: when a message with its token came last, or was carried out
	took   map[int]time.Duration    // command: when it came
}

// robotName is the only robot.
const robotName = "a"

func processName(n int) string { return fmt.Sprint("bridge", n) }

// start starts a bridge.
func (s *sim) start() {
	if s.closed {
		return
	}
	n := len(s.processes)
	// Clocks differ by any time, and run at rates of quartz.
	p := &process{sim: s, name: processName(n), offset: time.Duration(s.random.Int64N(int64(time.Hour))),
		rate: 1 + (s.random.Float64()-0.5)*200e-6, heard: map[uint64]time.Duration{}, took: map[int]time.Duration{}}
	s.processes = append(s.processes, p)
	p.conn = s.nats.connect(p.name, p)
	robot := Robot{Name: robotName, Address: "robot:6665"}
	c := Config{Bridge: p.name, Fleet: "lab", Robots: []Robot{robot}, Log: zap.NewNop()}
	p.hub = newHub(c, world{clock: p, bus: p.conn, drive: p.drive})
	for group := range p.hub.leases {
		p.hub.leases[group] = leases{clock: p, self: p.name, store: simStore{p}}
	}
	p.hub.parts = func(r Robot, state *state) []part {
		spec, _ := bridge.Named("position")
		return []part{{spec.Name, newController(p.hub, r, spec, state).run}}
	}
	p.hub.stoppers[robotName] = &stopper{}
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.Background())
	s.say("%s starts", p.name)
	go func() {
		err := p.hub.share(ctx, nil, func() {})
		p.hub.stopping.Wait()
		s.lock(func() {
			if err != nil {
				s.breaks("%s: %v", p.name, err)
			}
			s.summary.Hangs += int(p.hub.hangs)
			if p.ended = true; !s.closed {
				p.die()
			}
		})
	}()
}

func (p *process) Now() (now time.Time) {
	p.sim.lock(func() { now = p.time() })
	return now
}

func (p *process) time() time.Time {
	return time.Unix(1e9, 0).Add(p.offset + time.Duration(float64(p.sim.now)*p.rate))
}

func (p *process) After(d time.Duration) <-chan time.Time {
	fire := make(chan time.Time, 1)
	if d < time.Hour {
		p.sim.lock(func() { p.later("timer", d, func() { fire <- p.time() }) })
	}
	return fire
}

// later has something happen when a time has passed on the clock of this bridge, and a little later.
func (p *process) later(what string, d time.Duration, do func()) {
	d = time.Duration(float64(max(0, d))/p.rate) +
		p.sim.delay(p.name+what+d.String(), time.Microsecond, time.Millisecond)
	p.sim.after(d, p, do)
}

func (p *process) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	p.sim.lock(func() { p.later("limit", d, func() { cancel(context.DeadlineExceeded) }) })
	return ctx, func() { cancel(nil) }
}

// await returns the result of something that begin starts, which it may never call, or of ctx.
func (p *process) await(ctx context.Context, what string, begin func(end func(error)) error) error {
	result := make(chan error, 1)
	end := func(err error) {
		select {
		case result <- err:
		default: // the other has come first
		}
	}
	p.sim.mu.Lock()
	err := errZombie
	if !p.zombie {
		err = begin(end)
	}
	p.sim.mu.Unlock()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() {
		p.sim.lock(func() { p.later("end of "+what, 0, func() { end(context.Cause(ctx)) }) })
	})()
	return <-result
}

var errZombie = errors.New("the process is dead")

// pause stops the process for a while. Its events then happen in any order, except on one
// connection.
func (p *process) pause(d time.Duration) {
	s := p.sim
	s.summary.Pauses++
	s.say("%s is paused for %v", p.name, d)
	p.paused = true
	s.after(d, nil, func() {
		s.say("%s goes on", p.name)
		if p.dead {
			return
		}
		p.paused, p.disturbed = false, s.now
		held := p.held
		p.held = nil
		connection := held[:0:0]
		var rest []event
		for _, e := range held {
			if e.at == 0 { // of a connection
				connection = append(connection, e)
			} else {
				rest = append(rest, e)
			}
		}
		s.random.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		for len(connection)+len(rest) > 0 {
			from := &rest
			if len(rest) == 0 || len(connection) > 0 && s.random.IntN(2) == 0 {
				from = &connection
			}
			s.after(0, p, (*from)[0].do)
			*from = (*from)[1:]
		}
	})
}

// die closes the connections of a process that has ended.
func (p *process) die() {
	p.dead = true
	p.conn.close()
	p.sim.robot.leave(p)
}

// living returns the bridges that run.
func (s *sim) living() (all []*process) {
	for _, p := range s.processes {
		if !p.dead {
			all = append(all, p)
		}
	}
	return all
}

// fault makes something fail, and the next thing later.
func (s *sim) fault() {
	if s.calm {
		return
	}
	s.after(s.between(100*time.Millisecond, 4*time.Second), nil, s.fault)
	length := s.between(20*time.Millisecond, 500*time.Millisecond)
	switch s.random.IntN(5) {
	case 0, 1: // another bridge takes over, and the leases of this one have not ended
		length = s.between(500*time.Millisecond, time.Second)
	case 2, 3:
		length = s.between(time.Second, 5*time.Second)
	}
	length = min(length, stormTime-s.now)
	if length <= 0 {
		return
	}
	var p *process
	if all := s.living(); len(all) > 0 {
		p = all[s.random.IntN(len(all))]
	}
	d := s.drivers[s.random.IntN(len(s.drivers))]
	switch fault := s.random.IntN(12); {
	case fault < 3 && p != nil && !p.paused:
		p.pause(length)
	case fault == 3 && p != nil:
		s.summary.Kills++
		s.say("%s is killed", p.name)
		p.die()
		s.after(length, nil, s.start)
	case fault == 4 && p != nil && !p.paused && !p.ending:
		s.summary.Ends++
		s.say("%s is to end", p.name)
		p.ending = true
		p.cancel()
		s.after(length, nil, s.start)
	case fault < 7 && p != nil:
		s.summary.Cuts++
		p.conn.cut(length)
	case fault == 7:
		d.conn.cut(length)
	case fault == 8:
		s.nats.restart(length)
	case fault == 9:
		s.nats.outage(length)
	case fault == 10 && p != nil:
		s.robot.cutOff(p, length)
	case fault == 11:
		s.robot.restart(length / 4)
	}
}
