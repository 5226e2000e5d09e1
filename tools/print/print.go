// Package print is player print: it prints the data of a robot's devices, one line for each
// round.
package print

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"player/client"
	"player/tools"
)

// Command is the subcommand.
func Command() tools.Command {
	return tools.Command{Name: "print", Args: "[flags] HOST[:PORT] DEVICES", Summary: "print what devices measure", Run: run}
}

func run(ctx context.Context, args []string, stdout io.Writer, _ *os.File) error {
	flags := tools.NewFlags("print")
	rounds := flags.Int("n", 0, "")
	rate := flags.Int("rate", 10, "")
	asJSON := flags.Bool("json", false, "")
	rest, err := tools.ParseSome(flags, args, 2, 2, "a host and devices: player print localhost srlr")
	switch {
	case err != nil:
		return err
	case *rounds < 0:
		return fmt.Errorf("-n %d: must not be negative", *rounds)
	}
	if err := tools.CheckDevices(rest[1]); err != nil {
		return err
	}
	ctx, stop := tools.UntilSignal(ctx)
	defer stop()
	c, err := tools.Dial(ctx, rest[0], "print", *rate)
	if err != nil {
		return err
	}
	defer c.Close()
	chosen, err := tools.Choose(ctx, c, rest[1])
	if err != nil {
		return err
	}
	p := newPrinter(c, chosen)
	if p.aged, err = tools.Open(ctx, c, tools.Pairs(chosen)); err != nil {
		return err
	}
	line := p.text
	if *asJSON {
		line = p.json
	}
	return printRounds(ctx, c, *rounds, stdout, line)
}

// printRounds prints a line for each round: n, or for zero until ctx ends.
func printRounds(ctx context.Context, c *client.Client, n int, stdout io.Writer, line func(dst []byte) []byte) error {
	out := bufio.NewWriter(stdout)
	var buf []byte
	for i := 0; n == 0 || i < n; i++ {
		switch err := c.Read(ctx); {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return tools.Failure{Err: err}
		}
		buf = line(buf[:0])
		_, _ = out.Write(append(buf, '\n')) // Flush returns the error
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}
