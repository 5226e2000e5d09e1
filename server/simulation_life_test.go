package server

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/reflex"
	"player/process/descriptors"
)

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
			s.failure, s.broken, s.judged = err, fmt.Sprint(p), "sim.life"
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
		r.nextVisitor()
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
			if e.kind != aProgram {
				s.bring(*e)
			}
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

// watch checks once a second the conditions that must always hold.
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
	s.shown = sv.Status(s.now).Robots
	for _, r := range s.robots {
		r.watch()
	}
	s.shown = nil
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
