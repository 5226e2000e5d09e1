package app

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"player/config"
	"player/tools"
)

const replayHelp = `Serves the robot of a log: its devices have the recorded data, with the recorded
timing, from the moment on at which the first client opens one (docs/LOGS.md).
LOG was written by player record or by the driver writelog.

  -speed X   X times as fast                                      (default 1)
  -loop      start again at the end
  -step      wait for the configuration s of a device before its next data
  -gp, -bind, -http and the other flags of the server: player -h

  player replay run.mcap
  player replay -speed 4 -loop -http localhost:8080 run.mcap
  player replay run.mcap & player print localhost lr

Commands are accepted and have no effect.

Exit codes: 0 ended by a signal, 1 the server failed, 2 the log cannot be read,
or the port is taken.
`

// replayCommand is player replay: the server with a configuration made of flags.
func replayCommand() tools.Command {
	return tools.Command{
		Name: "replay", Args: "[flags] LOG", Summary: "serve a recorded run", Help: replayHelp,
		Run: func(ctx context.Context, args []string, stdout io.Writer, stderr *os.File) error {
			o, err := parseReplay(args)
			if err != nil {
				return err
			}
			return serve(ctx, o, stdout, stderr)
		},
	}
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
