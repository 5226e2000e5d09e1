// First is a complete robot in thirty lines: it wanders around, turns away
// from things that its sonars see, and frees itself from things that they miss.
// Ctrl-C stops it.
//
//	go run . -stage simulation/worlds/room.world
//	go run ./examples/first
package main

import (
	"context"
	"log"
	"os"
	"os/signal"

	"player/client"
	"player/client/subsumption"
	"player/client/subsumption/pilot"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	robot, err := client.Dial(ctx, "localhost:6665")
	if err != nil {
		log.Fatal(err)
	}
	if err := robot.Request(ctx, "pasrmr"); err != nil { // wheels, sonars, bumpers
		log.Fatal(err)
	}
	log.Print(pilot.Run(ctx, robot, subsumption.New(
		subsumption.NewLayer("bump", &subsumption.Bump{}),
		subsumption.NewLayer("ir", &subsumption.IR{}),
		subsumption.NewLayer("cruise", subsumption.Cruise{}),
	)))
}
