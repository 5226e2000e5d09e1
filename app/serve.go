package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"go.uber.org/zap"

	"player/config"
	"player/devices"
	"player/devices/detect"
	"player/process/descriptors"
	"player/process/lastwords"
	"player/process/logging"
	"player/reactor"
	"player/server"
)

// program is the server with everything around it. prepare makes its parts, describe gives them
// to the server, and ready starts the parts that need a server.
type program struct {
	started    time.Time
	options    options
	stderr     *os.File
	log        *zap.Logger
	processors processors

	conf      *config.Server // as it was at the start
	sim       *simulation
	cameras   *cameras
	dashboard *frontend // nil: there is none
	frontends []*frontend
	budget    descriptors.Budget
	tls       *tlsPorts
	last      lastwords.Book
	reloads   chan struct{} // nil: SIGHUP ends the server
}

// serve is the server, until a signal comes or ctx ends. It returns nil when the server has
// ended as asked.
func serve(ctx context.Context, o options, stdout io.Writer, stderr *os.File) error {
	switch {
	case o.version:
		_, err := fmt.Fprintln(stdout, version())
		return err
	case o.stage == listWorlds:
		return writeWorlds(stdout)
	}

	p := &program{started: time.Now(), options: o, stderr: stderr}
	p.processors.tuneRuntime()
	p.log = logging.New(stderr, logging.Format(o.log), o.debug)
	defer func() { _ = p.log.Sync() }() // it can fail only because nothing reads the log
	p.cameras = &cameras{log: p.log, processors: &p.processors}
	defer p.cameras.close()
	if err := p.prepare(); err != nil {
		return errors.Join(err, p.sim.close())
	}
	defer p.last.OnPanic()
	ctx, quit, stop := untilSignal(ctx, p.last.Say, p.reloads)
	defer stop()
	conf := p.describe()
	conf.Ready = func(s *server.Server) { p.ready(ctx, s, quit) }
	err := errors.Join(server.Run(ctx, conf), p.sim.close())
	if _, ok := errors.AsType[*reactor.AddressError](err); err != nil && !ok {
		return fmt.Errorf("%w: %w", errFailed, err)
	}
	return err
}

// prepare reads the configuration and opens everything that can refuse to open, so that mistakes
// are reported before the first client connects.
func (p *program) prepare() (err error) {
	if p.conf, err = p.options.configure(p.log); err != nil {
		return err
	}
	if p.sim, err = openSimulation(p.options, p.conf, &p.processors, p.log); err != nil {
		return err
	}
	if p.dashboard, p.frontends, err = openFrontends(p.options, p.conf, p.sim, p.cameras, p.log); err != nil {
		return err
	}
	if p.dashboard != nil {
		p.options.http = p.dashboard.address // for a configuration that is read again
	}
	p.budget = descriptors.New(fixedDescriptors(p.conf), p.frontends != nil)
	if p.options.file != "" && !hasTerminal() {
		p.reloads = make(chan struct{}, 1)
	}
	p.tls, err = openTLS(p.conf, p.budget.Clients, p.log)
	return err
}

// describe returns the configuration of the server: its robots, and the parts of the process that it uses.
func (p *program) describe() server.Config {
	return server.Config{
		Robots:        p.options.robots(p.conf, p.sim.robots),
		Access:        p.conf.Access,
		MaxRate:       p.options.maxRate,
		MaxClients:    p.options.maxClients,
		MaxPerAddress: p.options.maxPerAddress,
		Descriptors:   p.budget,
		LastWords:     &p.last,
		Identify: func(ctx context.Context, path string) devices.Finding {
			f, err := detect.Identify(ctx, path, catalogue())
			if err != nil {
				p.log.Debug("port probed", zap.String("port", path), zap.Error(err))
			}
			return f
		},
		Guard: "/proc/self/exe", // also if its file was replaced
		Log:   p.log,
	}
}

// ready is called on the loop when robots accept clients. It starts everything that is a client of the
// robots, or changes them, until ctx ends; quit ends the server.
func (p *program) ready(ctx context.Context, s *server.Server, quit func()) {
	url := p.dashboard.url(p.tls.handshakes.Current)
	logging.Greet(p.log, greeting(url, p.options, p.conf))
	for _, robot := range p.conf.Robots {
		p.log.Info(server.LogServing, zap.String("address", p.options.address(robot.Port)), zap.String("version", version()),
			zap.Duration("after", time.Since(p.started)))
	}
	p.tls.serve(ctx, s, p.last.Go)
	p.options.warnOfAccess(p.conf, p.log)
	manager := newSupervisor(os.Getenv, p.log)
	manager.ready(ctx, s.Start, statusLine(p.conf))
	p.cameras.post = s.Post // before a frontend asks for a picture
	for _, f := range p.frontends {
		where := zap.Stringer("address", f.listener.Addr())
		if f == p.dashboard {
			where = zap.String("url", url)
		}
		p.log.Info(f.what, where)
		f.serve(ctx, p.budget.Pages, p.tls.handshakes.Current, s, s.Post, p.last.Go)
	}
	p.sim.start(s.Start, quit)
	p.last.Go(func() { showPosition(ctx, p.conf, s.Post, p.stderr, p.log) })
	r := &reloader{options: p.options, conf: p.conf, sim: p.sim, frontends: p.frontends, tls: p.tls, notify: manager, log: p.log,
		server: s, budget: &p.budget, quit: quit}
	p.last.Go(func() { r.run(ctx, p.reloads) })
}

// fixedDescriptors returns how many descriptors are open that the budget does not share out: the
// listeners, and a file of each driver, for example a log.
func fixedDescriptors(conf *config.Server) int {
	n := 2 * len(conf.Robots) // one of them for TLS
	for _, robot := range conf.Robots {
		n += len(robot.Drivers)
	}
	return n
}

// robots returns the robots with the addresses that clients connect to.
func (o options) robots(conf *config.Server, simulated simulatedRobots) []server.Robot {
	robots := make([]server.Robot, len(conf.Robots))
	for i, robot := range conf.Robots {
		robots[i] = server.Robot{
			Address: o.address(robot.Port), Table: robot.Table, Name: simulated.nameOf(robot.Port), Port: robot.Port,
			KeepControl: robot.KeepControl, CommandLifetime: time.Duration(o.deadman) * time.Millisecond,
		}
		for _, d := range robot.Drivers {
			robots[i].Links = append(robots[i].Links, d.Link)
		}
	}
	return robots
}

// warnOfAccess warns if any computer of the network can drive a real robot.
func (o options) warnOfAccess(conf *config.Server, log *zap.Logger) {
	if conf.HasMotors() && conf.Access == nil && o.isOpen(conf.TLS) {
		log.Warn("every computer on the network can drive this robot: restrict it by access ( ... ) in a configuration file, or by -bind 127.0.0.1")
	}
}
