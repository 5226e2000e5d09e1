// Square drives a square of a metre by the odometry, to the left. Ctrl-C stops it.
//
//	go run . -stage room
//	go run ./examples/square -n 4
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/signal"
	"time"

	"player/client"
	"player/codec"
)

const (
	side    = 1000 // mm
	speed   = 300  // mm/s
	corner  = 90   // deg
	maxTurn = 40   // deg/s
)

func main() {
	addr := flag.String("addr", "localhost:6665", "`host:port` of the Player server")
	sides := flag.Int("n", 4, "sides to drive")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := drive(ctx, *addr, *sides); err != nil && ctx.Err() == nil {
		log.Fatal("square: ", err)
	}
}

func drive(ctx context.Context, addr string, sides int) error {
	robot, err := client.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer robot.Close()                                                      // the robot stops
	if err := robot.SetCommandLifetime(500 * time.Millisecond); err != nil { // if this program hangs, the wheels stop
		return err
	}
	wheels, err := robot.OpenWheels(ctx)
	if err != nil {
		return err
	}
	if err := robot.Read(ctx); err != nil { // where it begins
		return err
	}
	for n := range sides {
		from := *wheels.Data
		for math.Hypot(float64(wheels.Data.X-from.X), float64(wheels.Data.Y-from.Y)) < side {
			if err := step(ctx, robot, wheels, speed, 0); err != nil {
				return err
			}
		}
		wanted := int(wheels.Data.Heading) + corner
		for left := corner; left > 1; left = degreesTo(wanted, *wheels.Data) {
			if err := step(ctx, robot, wheels, 0, min(left, maxTurn)); err != nil { // slower towards the end
				return err
			}
		}
		fmt.Printf("side %d: x %d mm, y %d mm, %d deg\n", n+1, wheels.Data.X, wheels.Data.Y, wheels.Data.Heading)
	}
	return wheels.Stop()
}

// step drives until the next round of data, a tenth of a second.
func step(ctx context.Context, robot *client.Client, wheels *client.Wheels, mmPerSec, degPerSec int) error {
	if err := wheels.Drive(mmPerSec, degPerSec); err != nil {
		return err
	}
	return robot.Read(ctx)
}

// degreesTo returns by how much to turn to a heading, -180 to 179 deg.
func degreesTo(heading int, here codec.PositionData) int {
	return (heading-int(here.Heading)+900)%360 - 180
}
