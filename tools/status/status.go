// Package status is player status: the clients of a server, the driving client, and the
// states of its devices.
package status

import (
	"bytes"
	"context"
	"io"
	"os"
	"time"

	"player/server/status"
	"player/tools"
)

// refreshPeriod is how often the table is drawn again.
const refreshPeriod = time.Second

// Command is the subcommand.
func Command() tools.Command {
	return tools.Command{Name: "status", Args: "[flags] HOST[:PORT]", Summary: "devices, clients, control", Run: run}
}

func run(ctx context.Context, args []string, stdout io.Writer, _ *os.File) error {
	flags := tools.NewFlags("status")
	once := flags.Bool("once", false, "")
	raw := flags.Bool("json", false, "")
	rest, err := tools.ParseSome(flags, args, 1, 1, "a host: player status localhost")
	if err != nil {
		return err
	}
	ctx, stop := tools.UntilSignal(ctx)
	defer stop()
	address := tools.PageAddress(rest[0])
	for again := false; ; again = true {
		var s status.Status
		answer, err := tools.Object(ctx, address, "/status", "status", &s)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && again && answer == nil: // the server is gone
			return tools.Failure{Err: err}
		case err != nil:
			return err
		}
		if *raw {
			return tools.PassJSON(stdout, bytes.TrimSpace(answer))
		}
		if *once || !tools.IsTerminal(stdout) {
			return write(stdout, s)
		}
		if _, err := io.WriteString(stdout, "\x1b[H\x1b[J"); err != nil { // top left, and clear from there
			return err
		}
		if err := write(stdout, s); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(refreshPeriod):
		}
	}
}
