// Package app is the program: subcommands, or the server with its configuration,
// its pages and viewers, signals and reloads.
package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"go.uber.org/zap"

	"player/codec/peertext"
	"player/config"
	"player/devices"
	"player/devices/detect"
	"player/process/descriptors"
	"player/process/lastwords"
	"player/process/logging"
	"player/reactor"
	"player/server"
	"player/tools"
)

// exitFailure and exitUsage are the exit codes besides 0. With exitUsage, the
// user has to change something: a flag, a file, a port.
const (
	exitFailure = 1
	exitUsage   = 2
)

// errFailed wraps errors of a server that was running.
var errFailed = errors.New("the server failed")

// printLimit is how long the program waits for the reader of its last error. A
// program that nobody reads must end, too.
const printLimit = time.Second

// Main is the program: args are its name, as which it may be the guard of a server, and its
// arguments. It returns the exit code.
func Main(args []string, stdout io.Writer, stderr *os.File) int {
	if isGuard(args[0]) {
		guard(stderr)
		return 0
	}
	args = args[1:]
	if o, err := parseOptions(args); err == nil && (len(args) == 0 || !isCommand(args[0])) && !o.computesBeside() {
		takeSlack()
	}
	err := run(context.Background(), args, stdout, stderr)
	code := make(chan int, 1)
	go func() { code <- exitCode(err, stderr) }()
	select {
	case code := <-code:
		return code
	case <-time.After(printLimit):
		return exitFailure
	}
}

// exitCode prints an error, and returns the exit code for it.
func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "player:", peertext.Lines(err.Error()))
	if _, failed := errors.AsType[tools.Failure](err); failed || errors.Is(err, errFailed) {
		return exitFailure
	}
	return exitUsage
}

// run is the program: a subcommand, or the server.
func run(ctx context.Context, args []string, stdout io.Writer, stderr *os.File) error {
	if len(args) > 0 && args[0] == "help" {
		return printHelp(args[1:], stdout)
	}
	if len(args) > 0 {
		if c, ok := commandNamed(args[0]); ok {
			return runCommand(ctx, c, args[1:], stdout, stderr)
		}
		if err := checkName(args[0]); err != nil {
			return err
		}
	}
	o, err := parseOptions(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return printHelp(nil, stdout)
	case err != nil:
		return fmt.Errorf("%w (player -h shows all flags)", err)
	}
	return serve(ctx, o, stdout, stderr)
}

// serve is the server: configuration, then the loop, until a signal comes or ctx
// ends. It returns nil when the server has ended as asked.
func serve(ctx context.Context, o options, stdout io.Writer, stderr *os.File) error {
	started := time.Now()
	switch {
	case o.version:
		_, err := fmt.Fprintln(stdout, version())
		return err
	case o.stage == listWorlds:
		return writeWorlds(stdout)
	}

	procs := &processors{}
	procs.tuneRuntime()
	log := logging.New(stderr, logging.Format(o.log), o.debug)
	defer func() { _ = log.Sync() }() // it can fail only because nobody reads the log
	conf, err := o.configure(log)
	if err != nil {
		return err
	}
	sim, err := openSimulation(o, conf, procs, log)
	if err != nil {
		return err
	}
	seen := &cameras{log: log, processors: procs}
	defer seen.close()
	dash, frontends, err := openFrontends(o, conf, sim, seen, log)
	if err != nil {
		return errors.Join(err, sim.close())
	}
	if dash != nil {
		o.http = dash.address // for a configuration that is read again
	}

	var last lastwords.Book
	defer last.OnPanic()
	var reloads chan struct{} // nil: SIGHUP ends the server
	if o.file != "" && !hasTerminal() {
		reloads = make(chan struct{}, 1)
	}
	ctx, quit, stop := untilSignal(ctx, last.Say, reloads)
	defer stop()
	budget := descriptors.New(fixedDescriptors(conf), frontends != nil)
	encrypted, err := openTLS(conf, budget.Clients, log)
	if err != nil {
		return errors.Join(err, sim.close())
	}
	err = server.Run(ctx, server.Config{
		Robots:        o.robots(conf, sim.robots),
		Access:        conf.Access,
		MaxRate:       o.maxRate,
		MaxClients:    o.maxClients,
		MaxPerAddress: o.maxPerAddress,
		Descriptors:   budget,
		LastWords:     &last,
		Identify: func(ctx context.Context, path string) devices.Finding {
			f, err := detect.Identify(ctx, path, catalogue())
			if err != nil {
				log.Debug("port probed", zap.String("port", path), zap.Error(err))
			}
			return f
		},
		Guard: "/proc/self/exe", // also if its file was replaced
		Log:   log,
		Ready: func(s *server.Server) {
			logging.Greet(log, greeting(dash.url(encrypted.handshakes.Current), o, conf))
			for _, robot := range conf.Robots {
				log.Info("serving", zap.String("address", o.address(robot.Port)), zap.String("version", version()), zap.Duration("after", time.Since(started)))
			}
			encrypted.serve(ctx, s, last.Go)
			o.warnOfAccess(conf, log)
			manager := newSupervisor(os.Getenv, log)
			manager.ready(ctx, s.Start, statusLine(conf))
			seen.post = s.Post
			for _, f := range frontends {
				where := zap.Stringer("address", f.listener.Addr())
				if f == dash {
					where = zap.String("url", dash.url(encrypted.handshakes.Current))
				}
				log.Info(f.what, where)
				f.serve(ctx, budget.Pages, encrypted.handshakes.Current, s, s.Post, last.Go)
			}
			sim.start(s.Start, quit)
			last.Go(func() { showPosition(ctx, conf, s.Post, stderr, log) })
			r := &reloader{options: o, conf: conf, sim: sim, frontends: frontends, tls: encrypted, notify: manager, log: log, server: s, budget: &budget, quit: quit}
			last.Go(func() { r.run(ctx, reloads) })
		},
	})
	err = errors.Join(err, sim.close())
	if _, ok := errors.AsType[*reactor.AddressError](err); err != nil && !ok {
		return fmt.Errorf("%w: %w", errFailed, err)
	}
	return err
}

// fixedDescriptors returns how many descriptors are opened beside the budget: the
// listeners, and a file of each driver, as a log.
func fixedDescriptors(conf *config.Server) int {
	n := 2 * len(conf.Robots) // for TLS, too
	for _, robot := range conf.Robots {
		n += len(robot.Drivers)
	}
	return n
}

// robots returns the robots with the addresses that clients connect to.
func (o options) robots(conf *config.Server, simulated simulatedRobots) []server.Robot {
	robots := make([]server.Robot, len(conf.Robots))
	for i, robot := range conf.Robots {
		robots[i] = server.Robot{Address: o.address(robot.Port), Table: robot.Table, Name: simulated.nameOf(robot.Port), Port: robot.Port, KeepControl: robot.KeepControl,
			CommandLifetime: time.Duration(o.deadman) * time.Millisecond}
		for _, d := range robot.Drivers {
			robots[i].Links = append(robots[i].Links, d.Link)
		}
	}
	return robots
}

// warnOfAccess warns if anybody can drive a real robot.
func (o options) warnOfAccess(conf *config.Server, log *zap.Logger) {
	if conf.HasMotors() && conf.Access == nil && o.isOpen(conf.TLS) {
		log.Warn("every computer on the network can drive this robot: restrict it by access ( ... ) in a configuration file, or by -bind 127.0.0.1")
	}
}
