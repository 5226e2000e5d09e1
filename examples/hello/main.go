// Hello is the first program of the Player manual (appendix A): the robot
// drives around, turns away from the nearer obstacle, and stands still while
// something is close ahead. Ctrl-C stops it.
//
//	go run ./examples/hello -addr tanis:6665
//
// A Pioneer starts with its motors off: press its white button.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"player/client"
)

func main() {
	addr := flag.String("addr", "localhost:6665", "`host:port` of the Player server")
	rounds := flag.Int("n", 1000, "rounds of data to drive for, ten in a second")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := drive(ctx, *addr, *rounds); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "hello:", err)
		os.Exit(1)
	}
}

func drive(ctx context.Context, addr string, rounds int) error {
	robot, err := client.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer robot.Close()

	// Read the sonars, write the wheels. This can take a few seconds.
	if err := robot.Request(ctx, "srpw"); err != nil {
		return err
	}
	defer robot.SetSpeed(0, 0) // whatever happens: stop

	for range rounds {
		// Wait for the next round of data. Ctrl-C ends the wait.
		if err := robot.Read(ctx); err != nil {
			return err
		}
		if !robot.Has('s') { // the sonars have not fired yet
			continue
		}
		fmt.Println("sonar (mm)", robot.Sonar)

		// Sonars 0 and 1 look to the left, 6 and 7 to the right.
		left := int(robot.Sonar[0]) + int(robot.Sonar[1])
		right := int(robot.Sonar[6]) + int(robot.Sonar[7])
		turn := 20 // deg/s, counterclockwise: to the left
		if left < right {
			turn = -20
		}
		speed := 100 // mm/s
		if robot.Sonar[3] < 500 {
			speed = 0
		}
		if err := robot.SetSpeed(speed, turn); err != nil {
			return err
		}
	}
	return nil
}
