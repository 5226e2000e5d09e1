package main

import (
	"errors"
	"fmt"
	"os"

	"go.uber.org/zap"

	"player/config"
	"player/devices/stage"
	"player/server"
)

// simulation is what the command line asks of a simulated world; nil if there
// is none.
type simulation struct {
	world *stage.World
	truth *os.File // nil: not wanted
	run   bool
	log   *zap.Logger
}

// openSimulation finds the world among the drivers and opens the file for the
// truth.
func openSimulation(o options, built *config.Server, log *zap.Logger) (*simulation, error) {
	s := &simulation{run: o.run || o.truth != "", log: log}
	for _, robot := range built.Robots {
		for _, d := range robot.Drivers {
			if simulated, is := d.Driver.(*stage.Driver); is {
				s.world = simulated.World()
			}
		}
	}
	if s.world == nil {
		if s.run {
			return nil, errors.New("-run and -truth want a simulated world: add -stage FILE")
		}
		return nil, nil
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

// begin is called on the loop when it serves. quit ends the server: at the
// world's quit_time.
func (s *simulation) begin(r *server.Server, quit func()) {
	if s == nil {
		return
	}
	s.world.OnQuit(func() {
		s.log.Info("the simulation has reached its quit_time", zap.Duration("simulated", s.world.Time()))
		quit()
	})
	if s.run {
		r.Start(s.world.Run)
	}
}

// end writes out the truth. The error names its file.
func (s *simulation) end() error {
	if s == nil || s.truth == nil {
		return nil
	}
	if err := errors.Join(s.world.FlushTruth(), s.truth.Close()); err != nil {
		return fmt.Errorf("truth file %s: %w", s.truth.Name(), err)
	}
	return nil
}
