// Avoid drives around obstacles with the sonars, as in appendix C of the
// Player manual: the nearer an obstacle, the slower it drives; it turns
// towards the side with more room; without room it backs off. Ctrl-C stops it.
//
//	go run ./examples/avoid -addr tanis:6665
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
)

func main() {
	addr := flag.String("addr", "localhost:6665", "`host:port` of the Player server")
	rounds := flag.Int("n", 400, "rounds of data to drive for, ten in a second")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := drive(ctx, *addr, *rounds); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "avoid:", err)
		os.Exit(1)
	}
}

func drive(ctx context.Context, addr string, rounds int) error {
	robot, err := client.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer robot.Close()
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

	for range rounds {
		if err := robot.Read(ctx); err != nil {
			return err
		}
		if !sonar.Has() { // the robot has not reported yet
			continue
		}
		// Sonars 1 to 3 look ahead and to the left, 4 to 6 to the right.
		left := push(nearest(sonar.Data[1:4]))
		right := push(nearest(sonar.Data[4:7]))
		// Room on both sides adds up to speed, the difference to turning:
		// positive is to the left.
		if err := wheels.Drive(left+right, left-right); err != nil {
			return err
		}
	}
	return nil
}

// nearest returns the smallest valid range, mm. A sonar that has not fired yet
// reads 0. Zero means that none has fired.
func nearest(ranges []uint16) uint16 {
	var mm uint16
	for _, r := range ranges {
		if r != 0 && (mm == 0 || r < mm) {
			mm = r
		}
	}
	return mm
}

// push returns how much one side drives the robot on: -100 at the wall, 0 at
// 300 mm, 150 from 750 mm on. A side without readings, 0 mm, does not.
func push(mm uint16) int {
	if mm == 0 {
		return 0
	}
	return min(100*int(mm)/300-100, 150)
}
