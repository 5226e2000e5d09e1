// Package stop is player stop: the emergency stop of a robot, and its release.
package stop

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"player/client"
	"player/codec"
	"player/tools"
)

const (
	// standLimit is how long a robot may take to stop: braking from 1 m/s at 0.5 m/s2 takes
	// 2 s.
	standLimit = 3 * time.Second
)

// Command is the subcommand.
func Command() tools.Command {
	return tools.Command{Name: "stop", Args: "[flags] HOST[:PORT]", Summary: "emergency stop, and release", Run: run}
}

// result is the result for programs. Stands is whether the robot reports that it has
// stopped; after a release it is left out.
type result struct {
	Stopped bool  `json:"stopped"`
	Stands  *bool `json:"stands,omitempty"`
}

func run(ctx context.Context, args []string, stdout io.Writer, _ *os.File) error {
	flags := tools.NewFlags("stop")
	release, raw := flags.Bool("release", false, ""), flags.Bool("json", false, "")
	rest, err := tools.ParseSome(flags, args, 1, 1, "a host: player stop 10.0.0.5")
	if err != nil {
		return err
	}
	ctx, stop := tools.UntilSignal(ctx)
	defer stop()
	address := rest[0]
	c, err := tools.Connect(ctx, address, "stop")
	if err != nil {
		return err
	}
	defer c.Close()
	// The stop comes first: a server may be slow to answer. It needs no wheels, which may
	// take seconds to open.
	err = c.EmergencyStop(!*release)
	if err == nil {
		err = tools.Answer(ctx, c, address)
	}
	if err != nil {
		return fmt.Errorf("whether the robot has obeyed is unknown: %w", tools.Unanswered(address, err))
	}
	aged, err := tools.Open(ctx, c, "pa")
	if err != nil {
		return err
	}
	text, r := "released: clients may drive again", result{}
	var failure error
	if !*release {
		failure = stands(ctx, c, aged)
		stands := failure == nil
		text, r = fmt.Sprintf("stopped: player stop -release %s releases it", address), result{true, &stands}
	}
	if *raw {
		err = json.NewEncoder(stdout).Encode(r)
	} else if failure == nil {
		_, err = fmt.Fprintln(stdout, text)
	}
	if failure != nil {
		return tools.Failure{Err: failure}
	}
	return err
}

// stands waits until the robot reports that it has stopped, in data that was taken after the
// call if the server sends ages.
func stands(ctx context.Context, c *client.Client, aged bool) error {
	limited, cancel := context.WithTimeout(ctx, standLimit)
	defer cancel()
	var since time.Duration
	for first := true; ; first = false {
		err := c.Read(limited)
		p := c.Position
		switch {
		case err != nil && ctx.Err() == nil && limited.Err() != nil:
			return fmt.Errorf("the stop was sent, but the robot does not report that it stands: speed %d mm/s, turn rate %d deg/s", p.Speed, p.TurnRate)
		case err != nil:
			return fmt.Errorf("the stop was sent; whether the robot has stopped is unknown: %w", err)
		}
		if first {
			since = c.ServerTime()
		}
		age, dated := c.Age(codec.Position)
		recent := !aged || dated && c.ServerTime()-age >= since
		if c.Has(codec.Position) && recent && p.Speed == 0 && p.TurnRate == 0 {
			return nil
		}
	}
}
