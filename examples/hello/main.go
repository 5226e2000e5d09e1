// Hello is the first program of the Player manual (appendix A): the robot
// drives around, turns away from the nearer obstacle, and turns on the spot while
// something is close ahead, in the direction in which it began. Where its wheels
// stall, it backs off. Ctrl-C stops it.
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
	"time"

	"player/client"
	"player/codec"
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

	// Opening a device can take a few seconds.
	sonar, err := robot.OpenSonar(ctx, 0)
	if err != nil {
		return err
	}
	wheels, err := robot.OpenWheels(ctx)
	if err != nil {
		return err
	}
	// If this program hangs the robot stops, and at its end it stops no other program's robot.
	if err := robot.SetCommandLifetime(time.Second); err != nil {
		return err
	}
	defer wheels.Stop() // whatever happens: stop

	var h hello
	for range rounds {
		// Wait for the next round of data. Ctrl-C ends the wait.
		if err := robot.Read(ctx); err != nil {
			return err
		}
		if !sonar.Has() { // the sonars have not fired yet
			continue
		}
		fmt.Println("sonar (mm)", *sonar.Data)

		if err := wheels.Drive(h.steer(*sonar.Data, wheels.Data.Stall != 0)); err != nil {
			return err
		}
	}
	return nil
}

// hello is the memory of the program.
type hello struct {
	speed int // mm/s
	turn  int // deg/s, counterclockwise: to the left
	away  int // rounds for which it gets away from an obstacle that has stopped it
}

// steer returns the next speed and turn rate. Its wheels stall at things that sonars miss.
func (h *hello) steer(sonar codec.SonarData, stall bool) (speed, turn int) {
	const back, turned = 20, 45 // rounds
	if stall && h.away == 0 {
		h.away = back + turned
	}
	if h.away > 0 {
		if h.away--; h.away >= turned {
			return -100, 0
		}
		return 0, h.turn
	}
	// Sonars 0 and 1 look to the left, 6 and 7 to the right.
	left := int(sonar[0]) + int(sonar[1])
	right := int(sonar[6]) + int(sonar[7])
	blocked := sonar[3] < 500
	// The manual's program decides anew in each round. In a corner it turns left and right
	// for ever, so this one keeps turning until the way is free.
	if stands := h.speed == 0 && h.turn != 0; !blocked || !stands {
		h.turn = 20
		if left < right {
			h.turn = -20
		}
	}
	h.speed = 100
	if blocked {
		h.speed = 0
	}
	return h.speed, h.turn
}
