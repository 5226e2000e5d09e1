// Package server serves robots to clients. It connects the reactor's descriptors and timers, the
// sessions of the clients, the pacing of their frames, and the drivers of the robots with their
// host. Everything happens on the reactor's loop. The numbers in comments are clauses of
// docs/PROTOCOL.md.
package server

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/config/rights"
	"player/devices"
	"player/process/descriptors"
	"player/process/lastwords"
	"player/reactor"
	"player/server/fair"
	"player/server/host"
	"player/server/session"
	"player/timers"
	"player/timers/limited"
)

// Messages of the log, by which tests find lines.
const (
	LogServing   = "serving"
	LogNotServed = "robot is not served"
	LogShutdown  = "shutting down"
)

const (
	// shutdownLimit ends the wait for devices that do not stop, so that the
	// process ends within two seconds of the signal.
	shutdownLimit = 1700 * time.Millisecond
	// scratchSize is the frame buffer's first size in bytes: all seven devices
	// with a full vision packet.
	scratchSize = 8 << 10
)

// Robot is one Player: an address and the devices behind it.
type Robot struct {
	Address string // host:port to listen on; empty host: all interfaces
	Table   *devices.Table
	Name    string // for people
	Port    int    // of Address
	// KeepControl lets a client keep control of position until it has not commanded
	// for a second.
	KeepControl bool
	// CommandLifetime is the longest time for which a command to position is good (PROTOCOL
	// 5.5). Zero: until there is another one.
	CommandLifetime time.Duration
	// Links are the links that Table has after a Reload.
	Links []*devices.Link
}

// Config is the configuration of Run.
type Config struct {
	Robots     []Robot
	MaxRate    int // Hz, the highest frame rate served
	MaxClients int // zero: as many as descriptors allow
	// MaxPerAddress is how many clients of one computer may be connected at a time; zero:
	// half of MaxClients.
	MaxPerAddress int
	Descriptors   descriptors.Budget
	Access        rights.Rules
	LastWords     *lastwords.Book // last words of the devices, which the process writes when it dies; may be nil
	Log           *zap.Logger
	// Identify finds out which hardware answers on a serial line that is not open, until
	// the end of ctx. It may block: a goroutine calls it. It may be nil.
	Identify func(ctx context.Context, path string) devices.Finding
	// Guard is this program, which is a guard if lastwords.GuardName is its name
	// (lastwords.Guard). Empty: the server has no guard.
	Guard string
	// Ready is called on the loop once clients are served. It may be nil.
	Ready func(*Server)
}

// loop has the methods of *reactor.Loop that the server uses. The simulation of the tests has a
// loop with a virtual clock.
type loop interface {
	host.Loop
	Run() error
	Stop()
	Wakes() uint64

	Listen(address string) (listener int, err error)
	Unlisten(listener int)
	Accepting(on bool)
}

// Server is the state of a running server. Its methods may be called on the
// loop only, except Post.
type Server struct {
	config Config
	log    *zap.Logger
	loop   loop
	timers *timers.Queue // of the loop
	host   *host.Host

	robots    []*robotState
	clients   map[*client]struct{}
	unsettled []*client // their sessions have something for settle
	networks  networks
	ticks     *timers.Ticks[*client]
	scratch   []byte                // the frame that is being made
	sealed    []byte                // the records of TLS that are being made
	plain     [fair.SliceBytes]byte // the content of records that were just read

	movers        []*client     // clients that could leave motors running
	moversTimer   *timers.Timer // checks the movers
	moversChecked time.Duration // when they were checked last

	addresses  map[netip.Addr]*address
	strangers  int // clients for whom no place is kept
	inputQueue fair.Queue[*client]
	inputTimer *timers.Timer // serves inputQueue
	floods     limited.Line

	refusals limited.Line

	reload        *reload       // under way; nil: none
	cutOffAt      time.Duration // when the devices are cut off, zero while serving
	shutdownTimer *timers.Timer
}

// Run serves until ctx ends, then stops motors and devices, closes the clients
// and returns nil. A *reactor.AddressError names an address that cannot be
// listened on.
func Run(ctx context.Context, config Config) error {
	addresses := make([]string, len(config.Robots))
	for i, robot := range config.Robots {
		addresses[i] = robot.Address
	}
	if config.LastWords == nil {
		config.LastWords = &lastwords.Book{}
	}
	var s *Server
	l := reactor.New(reactor.Config{
		Addresses: addresses,
		Accept: func(now time.Duration, d *reactor.Descriptor, listener int) reactor.Handler {
			return s.accept(now, socket{d}, listener)
		},
		Started:     func(now time.Duration) { s.start(now) },
		Settle:      func(now time.Duration) { s.settle(now) },
		LastWords:   config.LastWords,
		Descriptors: config.Descriptors.Drivers,
		Log:         config.Log,
	})
	s = newServer(config, l, &l.Timers)
	unregister := context.AfterFunc(ctx, func() { s.loop.Post(s.shutDown) })
	defer unregister()
	return s.loop.Run()
}

// newServer returns the server on a loop with the given timers. The loop calls start once, accept
// for each connection, and settle when the outermost callback returns.
func newServer(config Config, loop loop, queue *timers.Queue) *Server {
	s := &Server{
		config: config,
		log:    config.Log,
		loop:   loop,
		timers: queue,
		host: host.New(loop, queue, host.Config{
			LastWords: config.LastWords, Log: config.Log, Identify: config.Identify, Guard: config.Guard,
		}),
		clients:   map[*client]struct{}{},
		scratch:   make([]byte, 0, scratchSize),
		addresses: map[netip.Addr]*address{},
	}
	if most := config.Descriptors.Clients.Most(); config.MaxClients <= 0 || config.MaxClients > most {
		s.config.MaxClients = most
	}
	if config.MaxPerAddress <= 0 {
		s.config.MaxPerAddress = max(s.config.MaxClients/2, 1)
	}
	for i, robot := range config.Robots {
		robot.Table.Connect(s.host)
		s.robots = append(s.robots, &robotState{Robot: robot, listener: i, control: session.Control{First: robot.KeepControl}})
	}
	s.networks = newNetworks(s.serveNetwork)
	s.ticks = timers.NewTicks(queue, s.frameDue)
	s.moversTimer = timers.NewTimer(s.checkMovers)
	s.inputTimer = timers.NewTimer(s.serveInputs)
	s.shutdownTimer = timers.NewTimer(s.endLoop)
	return s
}

// start is called when the loop has started.
func (s *Server) start(now time.Duration) {
	for _, robot := range s.robots {
		robot.Table.Start(now)
	}
	if s.config.Ready != nil {
		s.config.Ready(s)
	}
}

// Post has fn called on the loop. It is the one entrance for other goroutines.
// It reports false when the server has ended.
func (s *Server) Post(fn func(now time.Duration)) bool { return s.loop.Post(fn) }

// Start has fn called on the loop now, and then at the deadlines that it
// returns.
func (s *Server) Start(fn timers.Func) { s.timers.Set(timers.NewTimer(fn), s.loop.Now()) }

// shutDown stops the motors of the clients, then the devices. endLoop closes the clients.
func (s *Server) shutDown(now time.Duration) {
	if s.cutOffAt != 0 {
		return
	}
	s.cutOffAt = now + shutdownLimit
	s.log.Info(LogShutdown)
	for _, c := range s.inOrder() {
		c.session.Halt(now)
	}
	for _, robot := range s.robots {
		robot.Table.Shutdown(now)
	}
	s.host.EndSearches()
	if s.reload != nil {
		s.endReload(now) // refuses them
	}
	s.timers.Set(s.shutdownTimer, s.cutOffAt)
}

// endLoop ends the loop when the devices are off, at the latest at cutOffAt.
func (s *Server) endLoop(time.Duration) time.Duration {
	s.loop.Stop()
	return 0
}

// continueShutdown ends a shutdown, or the first half of a reload, when the devices that it waits for
// are off. They become off in callbacks, so settle calls it after each.
func (s *Server) continueShutdown(now time.Duration) {
	switch {
	case s.cutOffAt != 0 && s.off():
		s.endLoop(now)
	case s.reload != nil && !slices.ContainsFunc(s.reload.stopping, func(l *devices.Link) bool { return !l.Off() }):
		s.finishReload(now)
	}
}

// off reports whether all devices are off and their files are closed.
func (s *Server) off() bool {
	for _, robot := range s.robots {
		if !robot.Table.Done() {
			return false
		}
	}
	return s.host.Idle()
}
