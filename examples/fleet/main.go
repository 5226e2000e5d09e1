// Fleet drives many robots of one world, each with its own stack. They stand
// in a ring, and each drives to the opposite side and back, so that all meet
// in the middle. Nothing coordinates them.
//
//	go run . -stage simulation/worlds/subsumption-fleet.world
//	go run ./examples/fleet
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"time"

	"player/client"
	"player/client/subsumption"
	"player/client/subsumption/pilot"
)

func main() {
	host := flag.String("host", "localhost", "`name` of the computer that serves the robots")
	port := flag.Int("port", 6665, "TCP port of the first robot; the others use the following ports")
	n := flag.Int("n", 10, "number of robots")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()

	var fleet sync.WaitGroup
	for i := range *n {
		fleet.Go(func() {
			addr := net.JoinHostPort(*host, strconv.Itoa(*port+i))
			if err := drive(ctx, addr); err != nil {
				log.Printf("robot at %s: %v", addr, err)
			}
		})
	}
	fleet.Wait()
}

// drive sends one robot there and back.
func drive(ctx context.Context, addr string) error {
	robot, err := client.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer robot.Close()
	if err := robot.Request(ctx, "pasrmr"); err != nil { // wheels, sonars, bumpers
		return err
	}
	ctx, arrived := context.WithCancel(ctx)
	stack, prowl := newStack()
	left := len(prowl.Targets)
	err = pilot.Run(ctx, robot, stack, func(now time.Duration, _ *subsumption.Sensors) {
		if len(prowl.Targets) < left {
			left = len(prowl.Targets)
			log.Printf("robot at %s: %d targets left after %.0f s", addr, left, now.Seconds())
		}
		if left == 0 {
			arrived()
		}
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// newStack returns a stack that drives nine metres ahead and back.
func newStack() (*subsumption.Stack, *subsumption.Prowl) {
	prowl := &subsumption.Prowl{Targets: []subsumption.Target{{X: 9000}, {}}, Radius: 600}
	rest := subsumption.NewLayer("prowl", prowl)
	rest.Inverted = true // without a target it stands still
	return subsumption.New(
		subsumption.NewLayer("escape", &subsumption.Escape{}),
		subsumption.NewLayer("bump", &subsumption.Bump{}),
		subsumption.NewLayer("ir", &subsumption.IR{}),
		subsumption.NewLayer("sonar", &subsumption.Sonar{Range: 800}),
		rest,
	), prowl
}
