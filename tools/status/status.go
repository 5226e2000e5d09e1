// Package status is player status: who is connected to a server, who drives, and
// how its devices are.
package status

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"player/server/status"
	"player/tools"
)

const (
	// refreshPeriod is how often the table is drawn again.
	refreshPeriod = time.Second
	// answerLimit bounds the wait for the answer, which takes milliseconds.
	answerLimit = 5 * time.Second
)

// Command is the subcommand.
func Command() tools.Command {
	return tools.Command{Name: "status", Args: "[flags] HOST[:PORT]", Summary: "who is there, who drives", Run: run}
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
		answer, err := tools.Page(ctx, address, "/status", answerLimit)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && again:
			return tools.Failure{Err: err}
		case err != nil:
			return err
		}
		var s status.Status
		if err := json.Unmarshal(answer, &s); err != nil {
			return fmt.Errorf("http://%s/status is not the status of a server: %w", address, err)
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
