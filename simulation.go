package main

import (
	"errors"
	"fmt"
	"os"

	"go.uber.org/zap"

	"player/config"
	"player/devices/stage"
	"player/timers"
)

// simulation is the simulated world of a configuration, and what the flags
// -truth and -run ask of it.
type simulation struct {
	world  *stage.World         // nil: nothing is simulated
	robots map[int]*stage.Robot // of the world, by TCP port
	truth  *os.File             // nil: -truth is not given
	run    bool
	log    *zap.Logger
}

// openSimulation looks for a simulated world, the first one if there are
// several, and creates the file of -truth. The error names the flag.
func openSimulation(o options, conf *config.Server, log *zap.Logger) (*simulation, error) {
	s := &simulation{robots: map[int]*stage.Robot{}, run: o.run || o.truth != "", log: log}
	for _, robot := range conf.Robots {
		for _, d := range robot.Drivers {
			driver, ok := d.Driver.(*stage.Driver)
			if ok && (s.world == nil || s.world == driver.World()) {
				s.world, s.robots[robot.Port] = driver.World(), driver.Robot()
			}
		}
	}
	if s.world == nil && s.run {
		return nil, errors.New("-run and -truth need a simulated world: add -stage FILE")
	}
	if o.truth != "" {
		var err error
		if s.truth, err = os.Create(o.truth); err != nil {
			return nil, fmt.Errorf("-truth: %w", err)
		}
		s.world.LogTruth(s.truth)
	}
	return s, nil
}

// start is called on the loop when the server is ready. run starts a timer; quit
// ends the server, when the world's quit_time comes.
func (s *simulation) start(run func(timers.Func), quit func()) {
	if s.world == nil {
		return
	}
	s.world.OnQuit(func() {
		s.log.Info("the simulation has reached its quit_time", zap.Duration("simulated", s.world.Time()))
		quit()
	})
	if s.run {
		run(s.world.Run)
	}
}

// close writes the rest of the truth. The error names its file.
func (s *simulation) close() error {
	if s.truth == nil {
		return nil
	}
	if err := errors.Join(s.world.FlushTruth(), s.truth.Close()); err != nil {
		return fmt.Errorf("truth file %s: %w", s.truth.Name(), err)
	}
	return nil
}
