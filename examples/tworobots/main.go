// Tworobots drives two robots in one program, each by a goroutine of its own: they avoid
// obstacles, and each other, with their sonars. Ctrl-C stops both.
//
//	go run . -stage subsumption-fleet
//	go run ./examples/tworobots localhost:6665 localhost:6666
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"sync"
	"time"

	"player/client"
	"player/codec"
)

func main() {
	rounds := flag.Int("n", 1000, "rounds of data to drive for, ten in a second")
	flag.Parse()
	robots := flag.Args()
	if len(robots) == 0 {
		robots = []string{"localhost:6665", "localhost:6666"}
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	var all sync.WaitGroup
	failed := make([]error, len(robots))
	for i, addr := range robots {
		all.Go(func() {
			end, err := wander(ctx, addr, *rounds)
			if failed[i] = err; err == nil {
				fmt.Printf("%s: x %d mm, y %d mm\n", addr, end.X, end.Y)
			}
		})
	}
	all.Wait()
	for i, err := range failed {
		if err != nil && ctx.Err() == nil {
			log.Fatalf("tworobots: %s: %v", robots[i], err)
		}
	}
}

// wander drives one robot, and returns where it is in the end.
func wander(ctx context.Context, addr string, rounds int) (codec.PositionData, error) {
	robot, err := client.Dial(ctx, addr)
	if err != nil {
		return codec.PositionData{}, err
	}
	defer robot.Close()                                                      // the robot stops
	if err := robot.SetCommandLifetime(500 * time.Millisecond); err != nil { // if this program hangs, the wheels stop
		return codec.PositionData{}, err
	}
	sonar, err := robot.OpenSonar(ctx, 0)
	if err != nil {
		return codec.PositionData{}, err
	}
	wheels, err := robot.OpenWheels(ctx)
	if err != nil {
		return codec.PositionData{}, err
	}
	for range rounds {
		if err := robot.Read(ctx); err != nil {
			return *wheels.Data, err
		}
		if !sonar.Has() { // the sonars have not fired yet
			continue
		}
		left, right := slices.Min(sonar.Data[1:4]), slices.Min(sonar.Data[4:7]) // mm
		turn := 20                                                              // deg/s, to the side with more room
		if right > left {
			turn = -turn
		}
		if err := wheels.Drive(max(0, min(int(min(left, right))/2-200, 300)), turn); err != nil { // slower the nearer
			return *wheels.Data, err
		}
	}
	return *wheels.Data, nil
}
