package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"player/codec/peertext"
	"player/formats/logfile"
	"player/tools"
)

// repairCommand is player repair.
func repairCommand() tools.Command {
	return tools.Command{
		Name: "repair", Args: "[flags] LOG...", Summary: "make logs of a crash whole",
		Run: func(_ context.Context, args []string, stdout io.Writer, stderr *os.File) error {
			flags := tools.NewFlags("repair")
			raw := flags.Bool("json", false, "")
			logs, err := tools.ParseSome(flags, args, 1, len(args), "the path of a log")
			if err != nil {
				return err
			}
			for _, path := range logs {
				err = errors.Join(err, repair(path, *raw, stdout, stderr))
			}
			return err
		},
	}
}

// repaired is the report on one log, for programs.
type repaired struct {
	Log      string `json:"log"`
	Whole    bool   `json:"whole"`              // there was nothing to do: the rest is left out
	Messages int    `json:"messages,omitempty"` // in the log now
	Damage   string `json:"damage,omitempty"`   // the missing parts, other than the index
	Original string `json:"original,omitempty"` // where it is, if more than the end was lost
}

// repair repairs one log, and reports the result on stdout.
func repair(path string, raw bool, stdout, stderr io.Writer) error {
	work := tools.NewWork("player: "+path, true, stderr)
	done, err := logfile.Repair(path, work.Done)
	work.End()
	if err != nil {
		return err
	}
	r := repaired{path, done.Intact, done.Messages, "", done.Kept}
	if done.Damage != nil {
		r.Damage = done.Damage.Error()
	}
	switch {
	case raw:
		return json.NewEncoder(stdout).Encode(r)
	case r.Whole:
		fmt.Fprintf(stdout, "%s: whole, nothing was done\n", path)
	case r.Damage == "":
		fmt.Fprintf(stdout, "%s: %d messages; it has an index now\n", path, r.Messages)
	default:
		fmt.Fprintf(stdout, "%s: %d messages are left; %s\n", path, r.Messages, peertext.Line(r.Damage))
	}
	if r.Original != "" {
		fmt.Fprintf(stdout, "%s: the original\n", r.Original)
	}
	return nil
}
