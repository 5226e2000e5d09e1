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
