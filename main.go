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
	"syscall"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/sys/unix"

	"player/devices"
	"player/devices/stage"
	"player/reactor"
)

// exitUsage is the exit code when it is up to the user to change something: a
// flag, a file, a port.
const exitUsage = 2

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
	}
	if os.Getenv("GOMAXPROCS") == "" {
		// One thread runs Go code. The loop is the program; a second thread
		// only spins beside it (docs/BENCHMARKS.md).
		runtime.GOMAXPROCS(1)
	}
	log := newLogger(o.debug)
	defer func() { _ = log.Sync() }() // fails on terminals, harmlessly

	robots, err := build(o, log)
	if err != nil {
		fmt.Fprintln(os.Stderr, "player:", err)
		return exitUsage
	}
	// The first signal shuts down in order; then the default comes back, so
	// that a second one ends the process at once.
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, restore)

	err = reactor.Run(ctx, reactor.Config{
		Robots:     robots,
		MaxRate:    o.maxRate,
		MaxClients: o.maxClients,
		Log:        log,
		Ready: func(*reactor.Reactor) {
			for _, robot := range robots {
				log.Info("serving", zap.String("address", robot.Address), zap.String("version", version()), zap.Duration("after", time.Since(started)))
			}
		},
	})
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

// build makes the robots: the simulated ones of a world, or the one that the
// hardware flags describe. A new driver is one line here.
func build(o options, log *zap.Logger) ([]reactor.Robot, error) {
	if o.stage != "" {
		return stageRobots(o, log)
	}
	table := devices.NewTable(log)
	err := errors.Join(
		table.Attach(devices.NewAbsent("p2os", o.p2osPort, devices.Position(), devices.Sonar(), devices.Gripper(), devices.Misc())),
		table.Attach(devices.NewAbsent("sicklms200", o.laserPort, devices.Laser())),
		table.Attach(devices.NewAbsent("evid30", o.ptzPort, devices.PTZ())),
		table.Attach(devices.NewAbsent("acts", fmt.Sprint(o.visionPort), devices.Vision())),
	)
	return []reactor.Robot{{Address: o.address(o.port), Table: table}}, err
}

// stageRobots makes a Player for every robot of a world, on ports of their own.
func stageRobots(o options, log *zap.Logger) ([]reactor.Robot, error) {
	world, err := stage.Load(o.stage)
	if err != nil {
		return nil, err
	}
	for _, warning := range world.Warnings() {
		log.Warn(warning)
	}
	var robots []reactor.Robot
	for i, robot := range world.Robots() {
		port := robot.Port
		if port == 0 {
			port = o.port + i
		}
		table := devices.NewTable(log.With(zap.String("robot", robot.Name)))
		if err := table.Attach(stage.NewDriver(world, robot)); err != nil {
			return nil, err
		}
		robots = append(robots, reactor.Robot{Address: o.address(port), Table: table})
	}
	if len(robots) == 0 {
		return nil, fmt.Errorf("%s: there is no robot in this world: add a position model", o.stage)
	}
	return robots, nil
}

// newLogger logs to standard error: lines for a person on a terminal, JSON for
// a program elsewhere.
func newLogger(debug bool) *zap.Logger {
	config := zap.NewProductionConfig()
	config.Sampling = nil // complaints are rate-limited where they arise
	config.DisableStacktrace = true
	config.DisableCaller = true
	config.EncoderConfig.EncodeTime = zapcore.ISO8601TimeEncoder
	config.EncoderConfig.EncodeDuration = zapcore.StringDurationEncoder
	if _, err := unix.IoctlGetTermios(int(os.Stderr.Fd()), unix.TCGETS); err == nil {
		config.Encoding = "console"
		config.EncoderConfig.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
		config.EncoderConfig.EncodeLevel = zapcore.CapitalColorLevelEncoder
	}
	if debug {
		config.Level.SetLevel(zap.DebugLevel)
	}
	log, err := config.Build()
	if err != nil { // only a config that we wrote wrongly
		panic(err)
	}
	return log
}
