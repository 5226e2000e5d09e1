package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
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
	names  map[int]string       // of the robots and the overhead cameras, by TCP port
	truth  *os.File             // nil: -truth is not given
	run    bool
	log    *zap.Logger
}

// openSimulation looks for a simulated world, the first one if there are
// several, and creates the file of -truth. The error names the flag.
func openSimulation(o options, conf *config.Server, log *zap.Logger) (*simulation, error) {
	s := &simulation{robots: map[int]*stage.Robot{}, names: map[int]string{}, run: o.run || o.truth != "", log: log}
	for _, robot := range conf.Robots {
		for _, d := range robot.Drivers {
			switch driver := d.Driver.(type) {
			case *stage.Driver:
				if s.world == nil || s.world == driver.World() {
					s.world, s.robots[robot.Port], s.names[robot.Port] = driver.World(), driver.Robot(), driver.Robot().Name
				}
			case *stage.Tracking:
				s.names[robot.Port] = driver.Name()
			}
		}
	}
	if s.world == nil && s.run {
		return nil, errors.New("-run and -truth need a simulated world: add -stage WORLD")
	}
	if o.truth != "" {
		var err error
		if s.truth, err = createTruth(o.truth); err != nil {
			return nil, fmt.Errorf("-truth: %w", err)
		}
		s.world.LogTruth(s.truth)
	}
	return s, nil
}

// nameOf returns the name of the robot or overhead camera on a port: that of the
// world, or "robot".
func (s *simulation) nameOf(port int) string {
	return cmp.Or(s.names[port], "robot")
}

// createTruth creates the file of -truth, or empties it. It does not empty a file
// behind a symbolic link, which somebody else may have put there. A pipe or a device
// may be behind one, as /dev/stdout is.
func createTruth(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // follows no link
	if !errors.Is(err, fs.ErrExist) {
		return file, err
	}
	if file, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
		return nil, err
	}
	opened, err := file.Stat()
	if err == nil && opened.Mode().IsRegular() {
		var named fs.FileInfo
		if named, err = os.Lstat(path); err == nil && !os.SameFile(named, opened) {
			err = fmt.Errorf("%s is a symbolic link: name the file itself", path)
		}
		if err == nil {
			err = file.Truncate(0)
		}
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	return file, nil
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
