package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"player/logfile"
	"player/tools"
)

// repairCommand is player repair.
func repairCommand() tools.Command {
	return tools.Command{
		Name: "repair", Args: "LOG...", Summary: "make logs of a crash whole",
		Run: func(_ context.Context, args []string, stdout io.Writer, stderr *os.File) error {
			logs, err := tools.ParseSome(tools.NewFlags("repair"), args, 1, len(args), "the path of a log")
			if err != nil {
				return err
			}
			for _, path := range logs {
				err = errors.Join(err, repair(path, stdout, stderr))
			}
			return err
		},
	}
}

// repair repairs one log, and reports on stdout what was done.
func repair(path string, stdout, stderr io.Writer) error {
	done, err := logfile.Repair(path, tools.Progress("player: "+path, stderr))
	switch {
	case err != nil:
		return err
	case done.Whole:
		fmt.Fprintf(stdout, "%s: whole, nothing was done\n", path)
	case done.Damage == nil:
		fmt.Fprintf(stdout, "%s: %d messages; it has an index now\n", path, done.Messages)
	default:
		fmt.Fprintf(stdout, "%s: %d messages are left; %v\n", path, done.Messages, done.Damage)
	}
	if done.Kept != "" {
		fmt.Fprintf(stdout, "%s: the original\n", done.Kept)
	}
	return nil
}
