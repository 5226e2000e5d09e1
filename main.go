// Player is a robot device server: every sensor and actuator of a robot is a
// device that any program can read and command over TCP. docs/ARCHITECTURE.md
// is the map of the house.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"go.uber.org/zap"

	"player/config"
	"player/reactor"
	serving "player/server"
)

// exitUsage is the exit code when it is up to the user to change something: a
// flag, a file, a port.
const exitUsage = 2

// gcPercent is how much the heap may grow before it is collected, in per cent
// of what is in use. The loop makes no garbage, so collections are rare even
// so, and a tenth of a small robot's memory is not kept for nothing: with Go's
// 100 a client would take up to twice what it needs.
const gcPercent = 25

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	started := time.Now()
	o, err := parseOptions(args, os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "player: %v (player -h shows all flags)\n", err)
		return exitUsage
	case o.version:
		fmt.Println(version())
		return 0
	case o.list:
		return printed(config.WriteList(os.Stdout, catalogue()))
	case o.export != "":
		return exportLog(o.export, o.file)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		// One thread runs Go code. The loop is the program; a second thread
		// only spins beside it (docs/BENCHMARKS.md).
		runtime.GOMAXPROCS(1)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	log := newLogger(o.debug)
	defer func() { _ = log.Sync() }() // fails on terminals, harmlessly

	server, err := build(o, log)
	if err != nil {
		fmt.Fprintln(os.Stderr, "player:", err)
		return exitUsage
	}
	if o.check {
		return printed(server.WriteTable(os.Stdout))
	}
	robots := make([]serving.Robot, len(server.Robots))
	for i, robot := range server.Robots {
		robots[i] = serving.Robot{Address: o.address(robot.Port), Table: robot.Table}
	}
	window, err := openWindow(o, server, log)
	if err != nil {
		fmt.Fprintln(os.Stderr, "player:", err)
		return exitUsage
	}
	simulation, err := openSimulation(o, server, log)
	if err != nil {
		fmt.Fprintln(os.Stderr, "player:", err)
		return exitUsage
	}
	// The first signal shuts down in order; then the default comes back, so
	// that a second one ends the process at once. A terminal that is gone is as
	// good a reason, unless it was said not to be (nohup).
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, restore := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, restore)
	// A log that nobody reads any more is no reason to leave the motors running.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	err = serving.Run(ctx, serving.Config{
		Robots:     robots,
		Access:     server.Access,
		MaxRate:    o.maxRate,
		MaxClients: o.maxClients,
		Reserve:    window.descriptors(),
		Log:        log,
		Ready: func(r *serving.Server) {
			for _, robot := range robots {
				log.Info("serving", zap.String("address", robot.Address), zap.String("version", version()), zap.Duration("after", time.Since(started)))
			}
			if server.Access == nil && server.HasMotors() && !o.private() {
				log.Warn("every computer on the network can drive this robot: restrict it by access ( ... ) in a configuration file, or by -bind 127.0.0.1")
			}
			window.serve(ctx, r.Post)
			simulation.begin(r, restore)
		},
	})
	err = errors.Join(err, simulation.end())
	var address *reactor.AddressError
	switch {
	case errors.As(err, &address):
		fmt.Fprintln(os.Stderr, "player:", err)
		return exitUsage
	case err != nil:
		log.Error("server failed", zap.Error(err))
		return 1
	}
	return 0
}

// printed is the exit code after printing.
func printed(err error) int {
	if err != nil {
		return 1
	}
	return 0
}

// build makes what the configuration file describes, or what stands in for one.
func build(o options, log *zap.Logger) (*config.Server, error) {
	file, err := o.parseConfig()
	if err != nil {
		return nil, err
	}
	server, err := config.Build(file, config.Options{Kinds: catalogue(), Port: o.port, Overrides: o.overrides, Log: log})
	if err == nil && o.reflex {
		err = protect(server)
	}
	return server, err
}
