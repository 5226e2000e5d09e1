package app

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"

	"player/config"
	"player/devices/stage"
	"player/timers"
	"player/tools"
)

// simulation is the simulated world of a configuration, with the flags -truth and -run.
type simulation struct {
	world      *stage.World // nil: nothing is simulated
	robots     simulatedRobots
	truth      *os.File // nil: -truth is not given
	run        bool
	log        *zap.Logger
	processors *processors
}

// simulatedRobots are the robots and overhead cameras of a world by TCP port.
type simulatedRobots map[int]simulatedRobot

type simulatedRobot struct {
	name  string
	robot *stage.Robot // nil: it is a camera
}

// errNoWorld refuses a configuration.
var errNoWorld = errors.New("-run and -truth need a simulated world: add -stage WORLD")

// openSimulation finds the simulated world and creates the file of -truth. The error
// names the flag.
func openSimulation(o options, conf *config.Server, p *processors, log *zap.Logger) (*simulation, error) {
	s := &simulation{processors: p, run: o.run || o.truth != "", log: log}
	s.world, s.robots = worldOf(conf)
	if s.world == nil && s.run {
		return nil, errNoWorld
	}
	if o.truth != "" {
		var err error
		if s.truth, err = tools.Create(o.truth, o.replace); err != nil {
			return nil, fmt.Errorf("-truth: %w", err)
		}
		s.world.LogTruth(truthFile{s.truth, log})
	}
	return s, nil
}

// truthFile logs the first error of a write at once: the world stops writing, and the run may
// go on for hours.
type truthFile struct {
	file *os.File
	log  *zap.Logger
}

// Write implements io.Writer.
func (t truthFile) Write(p []byte) (n int, err error) {
	if n, err = t.file.Write(p); err != nil {
		t.log.Error("the truth has ended: its file cannot be written", zap.Error(err))
	}
	return n, err
}

// worldOf returns the simulated world of a configuration, the first one if there are
// several, nil if there is none.
func worldOf(conf *config.Server) (world *stage.World, robots simulatedRobots) {
	robots = simulatedRobots{}
	for _, robot := range conf.Robots {
		for _, d := range robot.Drivers {
			switch driver := d.Driver.(type) {
			case *stage.Driver:
				if world == nil || world == driver.World() {
					world, robots[robot.Port] = driver.World(), simulatedRobot{driver.Robot().Name, driver.Robot()}
				}
			case *stage.Tracking:
				robots[robot.Port] = simulatedRobot{name: driver.Name()}
			}
		}
	}
	return world, robots
}

// nameOf returns the name of the robot or overhead camera on a port: its name in the
// world, or "robot".
func (s simulatedRobots) nameOf(port int) string { return cmp.Or(s[port].name, "robot") }

// start is called on the loop when the server is ready. run starts a timer; quit
// ends the server, when the world's quit_time comes.
func (s *simulation) start(run func(timers.Func), quit func()) {
	if s.world == nil {
		return
	}
	world := s.world
	world.OnQuit(func() {
		s.log.Info("the simulation has reached its quit_time", zap.Duration("simulated", world.Time()))
		quit()
	})
	world.OnFast(s.processors.simulate)
	if s.run {
		run(func(now time.Duration) time.Duration {
			if s.world != world { // since a reload
				return 0
			}
			return world.Run(now)
		})
	}
}

// change is called on the loop after a reload. Another world starts as the first one
// did; it continues the file of -truth, with another header.
func (s *simulation) change(world *stage.World, robots simulatedRobots, run func(timers.Func), quit func()) {
	before := s.world
	s.world, s.robots = world, robots
	if world == before {
		return
	}
	if before != nil { // pages may have it for a moment
		before.OnQuit(nil)
		before.OnFast(func(bool) {})
		s.processors.simulate(false)
	}
	if s.truth != nil {
		_ = before.FlushTruth() // world's writer meets the same error
		world.LogTruth(truthFile{s.truth, s.log})
	}
	s.start(run, quit)
}

// close writes the rest of the truth. The error names its file. A nil simulation was never open.
func (s *simulation) close() error {
	if s == nil || s.truth == nil {
		return nil
	}
	if err := errors.Join(s.world.FlushTruth(), s.truth.Close()); err != nil {
		return fmt.Errorf("truth file %s: %w", s.truth.Name(), err)
	}
	return nil
}
