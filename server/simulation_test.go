package server

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/config/rights"
	"player/devices"
	"player/devices/reflex"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/process/descriptors"
	"player/simulation/emulator/line"
	"player/timers"
)

// The simulation runs the server with its sessions, pacing, timers and drivers
// on a virtual clock. Everything around it is simulated: the network and the
// kernel's connections (simulation_network and _wireless_test.go), what clients do and send and how they judge what
// they get (simulation_client, _message and _judge_test.go), the serial lines and their drivers (simulation_line and
// _rig_test.go), robots (simulation_robot and _pioneer_test.go), a scanner (simulation_scanner_test.go), emulated
// hardware (simulation_hardware and _laser_test.go), and programs of ROS and the server for them (simulation_program
// and _site_test.go). All chance comes from one seed, so a seed that fails can be replayed, and reduced to few events
// (simulation_story_test.go):
//
//	go test ./server -run '^TestSimulation$' -seed 123
//
// Clients and robots judge what the server does by docs/PROTOCOL.md, with parsers
// of their own.

var (
	simSeed  = flag.Uint64("seed", 0, "run only this seed of the simulation, and print its events")
	simSeeds = flag.Int("seeds", 0, "how many seeds the simulation runs; 0: 8, with -short 4, with ACCEPTANCE=1 30")
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
		seeds = 4
	case seeds == 0:
		seeds = 8
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // a simulation keeps little
	var total summary
	keys := newKeys(t)
	for seed := first; seed < first+uint64(seeds); seed++ {
		s := newSim(seed)
		s.keys = keys
		if *simStory != "" {
			s.given = must.Get(storyOf(*simStory))(t)
		}
		if err := s.live(t); err != nil {
			lines, part := keptLines, ""
			if *simSeed == 0 {
				lines = 300
			}
			if *simSeed == 0 && s.site == nil {
				end := time.Now().Add(20 * time.Second)
				h := shrink(t, s, func() bool { return time.Now().Before(end) })
				t.Logf("seed %d, after %v: %v\nReduced in %d runs from %d clients, other events and actions to %d.",
					seed, s.now, err, h.runs, s.story.size(), h.best.story.size())
				s = h.best
			}
			if s.site == nil {
				part = fmt.Sprintf(" -story '%v'", s.story)
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
	for field, value := range reflect.ValueOf(total).Fields() {
		few := field.Name == "Off" || field.Name == "Lapses"
		if seeds >= 20 && value.IsZero() && !few {
			t.Errorf("the simulation has no %s", field.Name)
		}
	}
}

// noLease is a seed whose first robot has no lease, and nothing in front of its wheels.
const noLease = 1

// simulateOne returns the only client of a simulation, which has just connected from the
// server's computer.
func simulateOne(seed uint64, rcvbuf int) *simClient {
	s := newSim(seed)
	s.plain = true
	s.build()
	s.call(s.server.start)
	c := s.client(s.robots[0], s.wires[0])
	c.rcvbuf = rcvbuf
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
	Programs, Messages     int // of ROS, and what they got of topics
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
	h := fnv.New64a()
	h.Write([]byte(line))
	t.hash = t.hash*31 + h.Sum64()
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
	story   story         // what has happened
	events  int           // made by chance
	prepare func(*sim)    // of a test: sets judge; nil: none
	judge   func() bool   // once a second: reports whether an invariant of a test is broken; nil: none
	broken  string        // the invariant that does not hold
	longest time.Duration // the simulation ends then; zero: at the end of its life
	trace   trace
	summary summary

	now       time.Duration
	timers    timers.Queue               // of the server
	outside   timers.Queue               // events of the world
	emulated  *line.Virtual              // the clock of emulated hardware
	due       map[time.Duration][]func() // of outside, by their times
	busy      time.Duration
	delayed   time.Duration // how long the loop was delayed so far
	delayedAt time.Duration // delayed when the clients were checked last
	pauses    bool          // the server is paused now and then
	plain     bool          // all robots are simulated Pioneers
	crowded   bool          // clients far away want more than a radio carries, while others are near
	woke      time.Duration // when the newest pause ends
	depth     int           // of the server's callbacks
	server    *Server
	host      *simHost
	ended     bool // the server has called Stop

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
	site          *simSite      // for programs of ROS; nil: there is none
	keys          *simKeys      // of clients by TLS; nil: there are none
	access        rights.Rules
	changed       time.Duration // when access has changed
}

func newSim(seed uint64) *sim {
	s := &sim{
		seed: seed, random: rand.New(rand.NewPCG(seed, 6665)), fate: rand.New(rand.NewPCG(seed, 6666)),
		now: time.Second, due: map[time.Duration][]func(){},
	}
	s.emulated = s.newClock()
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
	s.trace.add(fmt.Sprintf("%14.6f ", s.now.Seconds()) + fmt.Sprintf(format, args...))
}

// fail ends the simulation. The panic may be caught as one of a driver, so the
// failure is kept.
func (s *sim) fail(format string, args ...any) {
	if s.failure == nil {
		s.failure, s.broken = fmt.Errorf(format, args...), format
	}
	panic(broken{s.failure})
}

// at has fn called at a time, behind what is to be called at the same time already, with the same chance.
func (s *sim) at(at time.Duration, fn func()) {
	at = max(at, s.now)
	random, before := s.random, s.due[at]
	s.due[at] = append(before, func() {
		s.random = random
		fn()
	})
	if len(before) == 0 {
		s.outside.Set(timers.NewTimer(s.nextDue), at)
	}
}

// nextDue calls the first function that is due.
func (s *sim) nextDue(at time.Duration) time.Duration {
	first := s.due[at][0]
	if rest := s.due[at][1:]; len(rest) > 0 {
		s.due[at] = rest
		s.outside.Set(timers.NewTimer(s.nextDue), at)
	} else {
		delete(s.due, at)
	}
	first()
	return 0
}

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
		for _, c := range slices.Clone(s.clients) {
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
		switch next := earliest(until, at, armed, out, any); {
		case s.site.passes(next):
		case any && (!armed || out <= at):
			if out > until {
				s.now = until
				return
			}
			s.now = max(s.now, out)
			s.outside.RunWhile(s.now, 0, func() (time.Duration, bool) { return s.now, false })
		case !armed || at > until:
			s.now = until
			return
		default:
			s.now = at
			s.call(func(now time.Duration) {
				s.timers.RunWhile(now, 50*time.Microsecond, func() (time.Duration, bool) { return now, !s.chance(8) })
			})
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

// live is life in a bubble, for the goroutines of visitors.
func (s *sim) live(t *testing.T) (err error) {
	synctest.Test(t, func(*testing.T) { err = s.life() })
	return err
}

// life is a whole simulation. It returns why it has failed.
func (s *sim) life() (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case broken:
			err = p
		default:
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			s.failure, s.broken = err, fmt.Sprint(p)
		}
	}()
	s.build()
	if s.prepare != nil {
		s.prepare(s)
	}
	s.depth++
	s.server.start(s.now)
	s.depth--
	for _, r := range s.robots {
		s.later(aVisitor, r.index, 20*time.Second)
	}
	for _, r := range s.rigs() {
		if !r.calm {
			r.nextFault()
		}
	}
	population := 1 + s.random.IntN(6)
	if s.crowded {
		population += 4
	}
	for range population {
		s.later(aClient, s.fate.IntN(len(s.robots)), time.Second)
	}
	s.after(time.Second, s.watch)
	if s.pauses = s.chance(2); s.pauses {
		s.pauseLater()
	}
	s.later(anOutage, 0, 40*time.Second)
	if s.chance(3) {
		s.later(aReload, s.fate.IntN(len(s.robots)), 40*time.Second)
	}
	if s.chance(3) {
		s.openSite()
		defer s.site.end()
	}
	s.run(s.now + s.story.life)

	// All clients leave: nothing may be left.
	s.closing, s.pauses = true, false
	s.note("everybody leaves")
	s.site.close()
	for _, c := range slices.Clone(s.clients) {
		if c.socket == nil {
			c.leave()
		}
	}
	s.run(s.now + 200*time.Second) // some vanish with a closed window, or in a pause
	s.idle()
	if s.chance(2) {
		s.closing = false
		for range population {
			s.later(aClient, s.fate.IntN(len(s.robots)), 100*time.Millisecond)
		}
		s.run(s.now + s.between(time.Second, 20*time.Second))
		s.closing = true
	}
	for _, r := range s.robots {
		r.history.end(s, s.now)
		r.history.closed = true
	}
	s.note("the server is shut down")
	s.stopped = s.now
	s.onLoop(s.server.shutDown)
	s.run(s.now + 2*time.Second)
	if !s.ended {
		s.fail("the server has not ended after %v", s.now-s.stopped)
	}
	for _, r := range s.robots {
		r.checkAtRest()
	}
	s.summary.Time = s.now
	return nil
}

// build makes robots and the server.
func (s *sim) build() {
	life := s.between(time.Minute, 8*time.Minute)
	if s.given != nil {
		s.story.quiet, s.story.salt = s.given.quiet, s.given.salt
		life = cmp.Or(s.given.life, life)
		for _, e := range s.given.events {
			s.bring(*e)
		}
	}
	s.story.life = life
	s.noise = s.stream('n', int(s.story.salt), 0)
	log := zap.New(simLog{sim: s})
	s.log, s.accepting = log, true
	s.crowded = s.chance(3)
	radio := func(name string, addresses ...string) *wire {
		w := &wire{name: name, addresses: addresses, trip: s.between(100*time.Microsecond, 40*time.Millisecond)}
		w.rate, w.loss = 10_000+s.random.Float64()*1e6, []int{0, 0, 20, 100}[s.random.IntN(4)]
		if s.crowded {
			w.rate = 10_000 + s.random.Float64()*30_000
		}
		return w
	}
	s.wires = []*wire{
		{name: "lo", addresses: []string{"127.0.0.1", "10.0.0.1", "192.0.2.1"}, trip: 20 * time.Microsecond},
		{name: "eth0", addresses: []string{"192.0.2.1"}, trip: 200 * time.Microsecond, rate: 12.5e6},
		radio("wlan0", "10.0.0.1", "2001:db8::1"),
		radio("wlan1", "10.9.0.1"),
	}
	config := Config{MaxRate: 1000, MaxClients: 2 + s.random.IntN(8), Log: log}
	config.MaxPerAddress = 1 + s.random.IntN(config.MaxClients)
	if s.crowded {
		config.MaxClients, config.MaxPerAddress = 12, 12
	}
	s.most, s.mostOfAddress = config.MaxClients, config.MaxPerAddress
	for i := range 1 + s.random.IntN(3) {
		r := s.newRobot(i)
		s.robots = append(s.robots, r)
		table, adopt := r.table(log) // which decides whether there is a lease
		adopt()
		config.Robots = append(config.Robots, Robot{
			Address: fmt.Sprintf(":%d", 6665+i), Port: 6665 + i, Table: table, KeepControl: r.keeps, CommandLifetime: r.lease,
		})
	}
	config.Descriptors.Clients = descriptors.NewShare(math.MaxInt32)
	s.server = newServer(config, simLoop{s}, &s.timers)
	s.server.networks.list = s.interfaces
	s.host = &simHost{Host: s.server.host, sim: s}
	for _, r := range config.Robots {
		r.Table.Connect(s.host)
	}
}

// interfaces returns the interface of each address of the server's computer.
func (s *sim) interfaces() map[netip.Addr]string {
	all := map[netip.Addr]string{}
	for _, w := range s.wires { // lo carries what programs on this computer send to any of them
		for _, address := range w.addresses {
			all[netip.MustParseAddr(address)] = w.name
		}
	}
	return all
}

// table builds the robot's drivers, with or without a virtual device in front of
// the wheels. adopt has the robot have them.
func (r *simRobot) table(log *zap.Logger) (t *devices.Table, adopt func()) {
	t = devices.NewTable(log)
	attach := func(kind devices.Kind, d devices.Driver, err error) *devices.Link {
		l, attachErr := t.Attach(kind.Instance(d))
		if err := errors.Join(err, attachErr); err != nil {
			panic(err)
		}
		return l
	}
	if r.front == unknown {
		r.front = r.sim.random.IntN(5)
		if r.front == 1 && !strings.Contains(r.letters(), "s") { // the reflexes need sonars
			r.front = 3
		}
	}
	kind, d := r.base.driver()
	link := attach(kind, r.fragile(d), nil)
	kind, d, adoptScanner := r.scanner.driver()
	scanner := attach(kind, d, nil)
	switch r.front {
	case 0:
		r.lease = 300 * time.Millisecond
	case 1:
		r.reflexes = true
		d, err := reflex.New(t.Hide(codec.Position), []*devices.Device{t.Device(codec.Sonar)}, 400)
		attach(reflex.Kind(), d, err)
	case 2:
		kind, d := r.attachPilot(t)
		attach(kind, d, nil)
	}
	return t, func() {
		r.renew(link)
		adoptScanner(scanner)
	}
}

// rigs returns all drivers with serial lines, of robots that are served.
func (s *sim) rigs() (all []*rig) {
	for _, r := range s.robots {
		if r.gone {
			continue
		}
		all = append(all, &r.rig)
		if l, ok := r.scanner.(*laser); ok {
			all = append(all, &l.rig)
		}
	}
	return all
}

// watch checks once a second what must always hold.
func (s *sim) watch() {
	if s.ended {
		return
	}
	if s.judge != nil && s.judge() {
		s.fail("a test has broken this")
	}
	open := 0
	for _, c := range s.clients {
		if c.conn != nil && c.conn.handler != nil && !c.conn.closed {
			open++
		}
		c.check()
	}
	s.delayedAt = s.delayed
	s.watchGrowth()
	sv := s.server
	if len(sv.clients) != open {
		s.fail("the server has %d clients, %d are connected", len(sv.clients), open)
	}
	if len(sv.movers) > open || len(sv.unsettled) > 0 || len(sv.networks.all) > len(s.wires) {
		s.fail("%d clients, but %d that drive, %d changed, %d networks",
			open, len(sv.movers), len(sv.unsettled), len(sv.networks.all))
	}
	for c := range sv.clients {
		conn := simConnOf(c.conn)
		if waits := c.fair.Waits(); waits != conn.paused || !waits && len(c.input) > 0 {
			s.fail("%v: it is in the queue: %v, its connection is paused: %v; %d bytes wait", conn.client, waits, conn.paused, len(c.input))
		}
		if c.session.More() && !c.fair.Waits() {
			s.fail("%v: input waits for nothing, and is not in the queue", conn.client)
		}
		if len(c.input) > mostRead+1<<14 {
			s.fail("%v: %d bytes of input wait", conn.client, len(c.input))
		}
	}
	if !sv.inputQueue.Empty() && !sv.inputTimer.Armed() {
		s.fail("clients are in the queue, which is not served")
	}
	for _, r := range s.robots {
		r.watch()
	}
	if cap(sv.scratch) > 1<<16 {
		s.fail("the scratch buffer has grown to %d bytes", cap(sv.scratch))
	}
	if !s.closing || open > 0 {
		s.after(time.Second, s.watch)
	}
}

// idle checks that nothing is left when no client is connected.
func (s *sim) idle() {
	sv := s.server
	if len(sv.clients)+len(sv.movers) != 0 || !sv.inputQueue.Empty() {
		s.fail("no client is connected, and %d clients, %d that drive are left; the queue is empty: %v", len(sv.clients), len(sv.movers), sv.inputQueue.Empty())
	}
	for _, r := range s.robots {
		r.checkAtRest()
	}
	for _, r := range s.rigs() {
		if r.link.State() != devices.Idle || r.port != nil {
			s.fail("no client is connected, and %s is %v", r.path, r.link.State())
		}
	}
	if at, armed := s.timers.Next(); armed {
		s.fail("no client is connected, and a timer is armed for %v", at)
	}
}
