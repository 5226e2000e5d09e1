package server

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/config/rights"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/server/status"
	"player/simulation/emulator/line"
	"player/timers"
)

// The simulation runs the server with its sessions, pacing, timers and drivers
// on a virtual clock. A life of all of it is in simulation_life_test.go. Everything around the server is simulated: the
// network and the kernel's connections (simulation_network and _wireless_test.go), the clients' acts, messages and
// judgements (simulation_client, _message and _judge_test.go), the serial lines and their drivers
// (simulation_line and _rig_test.go), robots (simulation_robot and _pioneer_test.go), a scanner
// (simulation_scanner_test.go), emulated hardware (simulation_hardware, _base and _laser_test.go), and programs of ROS, of
// Foxglove and pages of the dashboard with the servers for them (simulation_program, _ros, _viewer, _page, _visit and
// _site_test.go). All chance comes from one seed, so a seed that fails
// can be replayed, and reduced to few events (simulation_story_test.go):
//
//	go test ./server -run '^TestSimulation$' -seed 123
//
// Clients and robots judge the server by docs/PROTOCOL.md, with parsers
// of their own.

var (
	simSeed  = flag.Uint64("seed", 0, "run only this seed of the simulation, and print its events")
	simSeeds = flag.Int("seeds", 0, "how many seeds the simulation runs; 0: 8, with -short 2, with -race 4, with ACCEPTANCE=1 30")
	simFirst = flag.Uint64("firstseed", 1, "the first seed of the simulation")
	simStory = flag.String("story", "", "with -seed: only these events happen, as a seed that fails prints them")
)

func TestSimulation(t *testing.T) {
	first, seeds := *simFirst, *simSeeds
	switch {
	case *simSeed != 0:
		first, seeds = *simSeed, 1
	case seeds == 0 && acceptance.Wanted():
		seeds = 30
	case seeds == 0 && testing.Short():
		seeds = 2
	case seeds == 0 && acceptance.Detector:
		seeds = 4 // the detector makes each ten times slower
	case seeds == 0:
		seeds = 8
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1500)) // a simulation keeps little: it needs 200 MB with this
	var total summary
	keys := newKeys(t)
	var found findings
	for seed := first; seed < first+uint64(seeds); seed++ {
		s := newSim(seed)
		s.keys = keys
		if *simStory != "" {
			s.given = must.Get(storyOf(*simStory))(t)
		}
		if err := s.live(t); err != nil {
			if *simFound != "" {
				total.Time += s.now
				if found = append(found, finding{seed, total.Time, s.judged, s.failure.Error()}); found.isComplete() {
					break
				}
				continue
			}
			lines, part := keptLines, ""
			if *simSeed == 0 {
				lines = 300
			}
			if *simSeed == 0 {
				end := time.Now().Add(20 * time.Second)
				h := shrink(t, s, func() bool { return time.Now().Before(end) })
				t.Logf("seed %d, after %v: %v\nReduced in %d runs from %d clients, other events and actions to %d.",
					seed, s.now, err, h.runs, s.story.size(), h.best.story.size())
				s = h.best
			}
			if st := s.replayed(); st != nil {
				part = fmt.Sprintf(" -story '%v'", st)
			}
			t.Fatalf("seed %d, after %v: %v\nThe last events:\n%s\nReplay it with: go test ./server -run '^TestSimulation$' -seed %d%s",
				seed, s.now, s.failure, s.trace.tail(lines), seed, part)
		}
		if *simSeed != 0 && testing.Verbose() {
			t.Logf("seed %d:\n%s", seed, s.trace.tail(keptLines))
		}
		total.add(&s.summary)
	}
	t.Logf("%d seeds: %+v", seeds, total)
	if *simFound != "" {
		must.Do(t, found.save(*simFound))
		return
	}
	for field, value := range reflect.ValueOf(total).Fields() {
		few := field.Name == "Off" || field.Name == "Lapses" || field.Name == "Halts"
		if seeds >= 20 && value.IsZero() && !few {
			t.Errorf("the simulation has no %s", field.Name)
		}
	}
}

// noLease is a seed whose first robot has no lease, and nothing in front of its wheels.
const noLease = 1

// simulateOne returns the only client of a simulation, which has just connected from the
// server's computer.
func simulateOne(seed uint64, rcvbuf int) *simClient { return simulateWith(nil, seed, rcvbuf) }

// simulateWith is simulateOne of a client by TLS, if there are keys.
func simulateWith(keys *simKeys, seed uint64, rcvbuf int) *simClient {
	s := newSim(seed)
	s.plain, s.keys = true, keys
	s.build()
	s.call(s.server.start)
	c := s.client(s.robots[0], s.wires[0])
	c.rcvbuf, c.encrypts = rcvbuf, keys != nil
	c.connect(func() {})
	s.run(s.now + time.Second)
	return c
}

// drive commands 300 mm/s.
func (c *simClient) drive() {
	c.remember(c.robot.history.write(c.sim.now, c, 300, 0, false))
	c.transmit(message('c', 'p', []byte{1, 44, 0, 0}), true)
}

// Clients that vanish while pacing would not check them in time (9.1).
func TestVanishedClientsAreClosed(t *testing.T) {
	for name, session := range map[string]func(c *simClient){
		"a reply is under way": func(c *simClient) { c.request("") },
		"slow frames": func(c *simClient) {
			c.request("prsr")
			c.send(message('x', 'y', []byte{'f', 0, 1}))
		},
		"small frames": func(c *simClient) {
			c.request("gr")
			c.send(message('x', 'y', []byte{'f', 0, 4}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := simulateOne(1, 256<<10)
			s := c.sim
			session(c)
			if len(c.requests[0].pairs) > 0 {
				s.run(s.now + 20*time.Second)
			}
			for len(c.conn.flight) == 0 {
				s.run(s.now + 10*time.Microsecond)
			}
			c.vanish()
			s.closing = true
			if s.run(s.now + 15*time.Second); !c.over {
				t.Errorf("the connection is kept: %v", c.conn)
			}
		})
	}
}

// A client that drives has stopped reading, replies have filled its receive window, and then
// its computer vanishes: the kernel asks for room up to two minutes apart, and
// nothing else shows that it is gone (9.1).
func TestClientThatHasStoppedReadingVanishes(t *testing.T) {
	for _, paused := range []time.Duration{time.Second, 10 * time.Second, time.Minute} {
		c := simulateOne(noLease, 4<<10)
		s, r := c.sim, c.robot
		c.request("pa")
		s.run(s.now + 10*time.Second)
		c.paused = true
		for range 2000 {
			c.request("")
		}
		s.run(s.now + paused)
		if !c.conn.stuck() {
			t.Fatalf("its window is open: %v", c.conn)
		}
		c.drive()
		s.run(s.now + 500*time.Millisecond)
		turned := r.turns()
		c.vanish()
		s.run(s.now + stopTime)
		if !turned || r.turns() {
			t.Errorf("the wheels turned: %v; %v after it has vanished: %v", turned, stopTime, r.turns())
		}
	}
}

// summary is how much was simulated and checked.
type summary struct {
	Time                   time.Duration
	Clients                int
	Requests, Replies      int
	Frames, Ages           int
	Commands, Observations int
	Stops                  int // losses of the last writer after which the motors were seen at rest
	Losses                 int // of hardware
	Panics, Off            int // of drivers; drivers that were switched off
	Refusals               int // of clients
	Waits                  int // of clients in the queue
	Histories              int // of commands
	Pauses, Reloads        int
	Motions                int // packets that move a robot
	Near                   int // frames on networks that carry everything whose time was judged
	EmergencyStops, Held   int // and moments at which one must hold
	Answers                int
	Obeyed                 int // commands whose effect was judged
	Dropped                int // commands of silent clients
	Young                  int // frames whose age was judged
	States                 int // of devices in the status
	Outages, Roamed        int // of networks; clients that have come to another one
	Queued                 int // frames for networks with a transmit queue
	Commanders             int // motions of which the status must name the commander
	Takeovers              int // of robots whose commander keeps control
	Emulated, Lasers       int // robots and scanners
	Poses, Scans           int // that were compared with where emulated hardware was, and what it measured
	InTime                 int // robots that were commanded to stop in time when all who drove had gone
	Halts                  int // and when all who drove were silent at the end of a pause
	Programs, Messages     int // and what they got of topics
	Viewers, Pages         int // of the programs: of Foxglove, and of the dashboard
	Viewed, Paged          int // commands to the wheels by these
	Shown, Posted          int // messages of topics to viewers, and answers to requests of pages
	Takes, Stands          int // judged stops of another driver by a page, and of a program that has given up its topic
	Lapses                 int // lifetimes of commands that have passed
	Rights, Moves          int // changes of rights, and robots that went or came
	Encrypted, Byes        int // clients by TLS, and connections that the server has closed as TLS wants it
}

func (s *summary) add(o *summary) {
	sum, more := reflect.ValueOf(s).Elem(), reflect.ValueOf(o).Elem()
	for i := range sum.NumField() {
		sum.Field(i).SetInt(sum.Field(i).Int() + more.Field(i).Int())
	}
}

// keptLines is how many events are kept and printed with -seed: some minutes.
const keptLines = 50_000

// trace keeps the last events and a checksum of all.
type trace struct {
	lines []string
	hash  uint64
}

func (t *trace) sum() uint64 { return t.hash }

func (t *trace) add(line string) {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(line) {
		h = (h ^ uint64(line[i])) * 1099511628211
	}
	t.hash = t.hash*31 + h
	if t.lines = append(t.lines, line); len(t.lines) > 2*keptLines {
		t.lines = slices.Delete(t.lines, 0, keptLines)
	}
}

func (t *trace) tail(n int) string { return strings.Join(t.lines[max(0, len(t.lines)-n):], "\n") }

// broken is the value of a panic that ends a simulation: an invariant does not
// hold.
type broken struct{ error }

// sim is one simulation: a server and its world.
type sim struct {
	seed    uint64
	random  *rand.Rand    // of the event that happens
	noise   *rand.Rand    // of what no event has begun
	fate    *rand.Rand    // makes a story
	given   *story        // nil: it is made by chance
	story   story         // the events so far
	events  int           // made by chance
	prepare func(*sim)    // of a test: sets judge; nil: none
	judge   func() bool   // once a second: reports whether an invariant of a test is broken; nil: none
	broken  string        // the invariant that does not hold
	judged  string        // the function that has found this, as judge names it
	longest time.Duration // the simulation ends then; zero: at the end of its life
	trace   trace
	text    []byte // scratch of note
	summary summary

	now        time.Duration
	timers     timers.Queue  // of the server
	outside    timers.Queue  // of the world: what is moved or stopped before it is due
	due        dueQueue      // other events in the world
	emulated   *line.Virtual // the clock of emulated hardware
	busy       time.Duration
	delayed    time.Duration           // how long the loop was delayed so far
	delayedAt  time.Duration           // delayed when the clients were checked last
	pauses     bool                    // the server is paused now and then
	plain      bool                    // all robots are simulated Pioneers
	crowded    bool                    // clients far away want more than a radio carries, while others are near
	woke       time.Duration           // when the newest pause ends
	runOutside func()                  // what is due in it
	runTimers  func(now time.Duration) // a callback of the loop
	depth      int                     // of the server's callbacks
	looking    []*simClient            // scratch of call
	shown      []status.Robot          // the status, while judges look at it and nothing happens
	server     *Server
	host       *simHost
	ended      bool // the server has called Stop

	wires         []*wire
	robots        []*simRobot
	clients       []*simClient
	names         int
	most          int // clients that the server takes
	mostOfAddress int
	closing       bool
	accepting     bool
	log           *zap.Logger
	stopped       time.Duration // when the server was asked to stop, zero: it runs
	failure       error         // the first invariant that did not hold
	lines, causes int           // of the log in this second, and of what is logged
	lag           time.Duration // how long the current callback has taken, for those who ask
	site          *simSite      // for programs; nil: there is none
	keys          *simKeys      // of clients by TLS; nil: there are none
	access        rights.Rules
	changed       time.Duration // when access has changed
}

func newSim(seed uint64) *sim {
	s := &sim{
		seed: seed, random: rand.New(rand.NewPCG(seed, 6665)), fate: rand.New(rand.NewPCG(seed, 6666)),
		now: time.Second,
	}
	s.emulated = s.newClock()
	noTime := func() (time.Duration, bool) { return s.now, false }
	s.runOutside = func() { s.outside.RunWhile(s.now, 0, noTime) }
	someTime := func() (time.Duration, bool) { return s.now, !s.chance(8) }
	s.runTimers = func(now time.Duration) { s.timers.RunWhile(now, 50*time.Microsecond, someTime) }
	return s
}

// chance is true once in n.
func (s *sim) chance(n int) bool { return s.random.IntN(n) == 0 }

// between returns a random time.
func (s *sim) between(least, most time.Duration) time.Duration {
	return least + time.Duration(s.random.Int64N(int64(most-least)+1))
}

// wait returns a random time with the given mean.
func (s *sim) wait(mean time.Duration) time.Duration {
	return time.Duration(s.random.ExpFloat64()*float64(mean)) + 1
}

func (s *sim) note(format string, args ...any) {
	s.text = fmt.Appendf(s.text[:0], "%14.6f ", s.now.Seconds())
	s.text = fmt.Appendf(s.text, format, args...)
	s.trace.add(string(s.text))
}

// fail ends the simulation. The panic may be caught as one of a driver, so the
// failure is kept.
func (s *sim) fail(format string, args ...any) {
	if s.failure == nil {
		s.failure, s.broken, s.judged = fmt.Errorf(format, args...), format, judge()
	}
	panic(broken{s.failure})
}

// at has fn called at a time, after earlier calls for the same time, with the same chance.
func (s *sim) at(at time.Duration, fn func()) { s.due.add(dueCall{max(at, s.now), 0, s.random, fn}) }

func (s *sim) after(d time.Duration, fn func()) { s.at(s.now+d, fn) }

// call is a callback of the loop.
func (s *sim) call(fn func(now time.Duration)) {
	if s.ended && s.depth == 0 {
		return
	}
	s.depth++
	before := s.random
	s.random = s.noise
	if s.depth == 1 {
		s.looking = append(s.looking[:0], s.clients...) // an end removes its client
		for _, c := range s.looking {
			c.conn.lookForEnd(s.now)
		}
	}
	fn(s.now)
	if s.depth == 1 {
		s.server.settle(s.now)
		s.random = s.noise // a driver may have panicked
		s.delay(s.lag)
		s.lag = 0
		if s.chance(100) && !s.story.quiet { // the loop may be delayed
			s.delay(s.between(0, 5*time.Millisecond))
		}
		switch { // for longer
		case s.pauses && s.byChance(5000):
			s.later(aPause, 0, 0)
		case s.byChance(3000):
			s.later(aDelay, 0, 0)
		}
	}
	s.random = before
	s.depth--
}

// delay keeps the loop from serving anything for some time from now on.
func (s *sim) delay(d time.Duration) {
	if until := s.now + d; until > s.busy {
		s.delayed += until - max(s.busy, s.now)
		s.busy = until
	}
}

// onLoop has the loop call fn as soon as it can.
func (s *sim) onLoop(fn func(now time.Duration)) {
	if s.depth == 0 && s.now >= s.busy {
		s.call(fn)
		return
	}
	s.at(max(s.busy, s.now+1), func() { s.onLoop(fn) })
}

// run lets the virtual time pass until the given time.
func (s *sim) run(until time.Duration) {
	random := s.random
	defer func() { s.random = random }()
	for still := 0; ; still++ {
		s.random = s.noise
		switch {
		case s.failure != nil: // in a driver
			panic(broken{s.failure})
		case s.longest != 0 && s.now > s.longest:
			panic(broken{errLong})
		}
		before := s.now
		at, armed := s.timers.Next()
		armed = armed && !s.ended
		at = max(at, s.busy, s.now)
		out, any := s.outside.Next()
		first, called := s.due.next()
		if called = called && (!any || first <= out); called {
			out, any = first, true
		}
		switch next := earliest(until, at, armed, out, any); {
		case s.site.passes(next):
		case any && (!armed || out <= at):
			if out > until {
				s.now = until
				return
			}
			if s.now = max(s.now, out); called {
				c := s.due.take()
				s.random = c.random
				c.fn()
			} else {
				s.runOutside()
			}
		case !armed || at > until:
			s.now = until
			return
		default:
			s.now = at
			s.call(s.runTimers)
		}
		if s.now != before {
			still = 0
		} else if still > 100_000 {
			s.fail("time stands still: the loop is always busy")
		}
	}
}

// earliest returns when something happens next.
func earliest(until, at time.Duration, armed bool, out time.Duration, any bool) time.Duration {
	if armed {
		until = min(until, at)
	}
	if any {
		until = min(until, out)
	}
	return until
}
