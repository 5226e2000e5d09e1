package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/config"
	"player/devices/readlog"
	"player/process/logging"
	"player/tools"
	"player/visitors"
)

// replayCommand is player replay: the server with a configuration made of flags.
func replayCommand() tools.Command {
	return tools.Command{
		Name: "replay", Args: "[flags] LOG", Summary: "serve a recorded run",
		Run: func(ctx context.Context, args []string, stdout io.Writer, stderr *os.File) error {
			o, err := parseReplay(args)
			if err != nil {
				return err
			}
			return serve(ctx, o, stdout, stderr)
		},
	}
}

// positionPeriod is how often the position of a log is shown.
const positionPeriod = time.Second

// showPosition shows which moment of a log is played, until ctx ends, if the server has one log
// and stderr is a terminal in which it runs in the foreground. Other programs use the terminal
// while a server runs in the background. Nothing else wakes the loop of an idle replay.
func showPosition(ctx context.Context, conf *config.Server, post func(func(now time.Duration)) bool, stderr *os.File, log *zap.Logger) {
	logs := replaysOf(conf)
	if len(logs) != 1 || !logging.Show(log, "") {
		return
	}
	ticks := time.NewTicker(positionPeriod)
	defer ticks.Stop()
	for {
		at, err := visitors.OnLoop(ctx, visitors.Confine(post, logs[0].driver), (*readlog.Driver).Playback)
		if err != nil {
			return
		}
		if group, err := unix.IoctlGetInt(int(stderr.Fd()), unix.TIOCGPGRP); err == nil && group == unix.Getpgrp() {
			logging.Show(log, position(at))
		}
		select {
		case <-ctx.Done():
			logging.Show(log, "")
			return
		case <-ticks.C:
		}
	}
}

// position is the line for a person.
func position(at *readlog.Playback) string {
	if at.State == readlog.Off {
		return "waiting for a client"
	}
	played, all := time.Duration(at.Time-at.Start), time.Duration(at.End-at.Start)
	return fmt.Sprintf("%v: %v of %v, %.0f %%, %g times as fast", at.State, played.Round(time.Second), all.Round(time.Second),
		100*float64(played)/float64(max(all, 1)), at.Speed)
}

// parseReplay returns the options of a server that replays a log.
func parseReplay(args []string) (o options, err error) {
	flags := newFlagSet(&o)
	speed := flags.Float64("speed", 1, "")
	loop := flags.Bool("loop", false, "")
	step := flags.Bool("step", false, "")
	logs, err := tools.Parse(flags, args, 1)
	switch {
	case err != nil:
		return o, err
	case len(logs) == 0:
		return o, errors.New("replay needs the path of a log")
	}
	path, err := filepath.Abs(logs[0])
	if err != nil {
		return o, err
	}
	if _, err := os.Stat(path); err != nil { // the driver's error has a place in a file that the user has not written
		return o, err
	}
	o.builtin = []byte(`driver ( name "readlog" )`)
	o.override(flags)
	for _, v := range []config.Override{
		{Flag: "LOG", Option: "file", Value: path}, {Flag: "-speed", Option: "rate", Value: *speed},
		{Flag: "-loop", Option: "loop", Value: *loop}, {Flag: "-step", Option: "step", Value: *step},
	} {
		v.Driver = "readlog"
		o.overrides = append(o.overrides, v)
	}
	return o, o.validate()
}
