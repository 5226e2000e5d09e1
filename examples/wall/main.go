// Wall follows walls with the laser: it keeps the nearest wall half a metre to its right.
// Ctrl-C stops it.
//
//	go run . -stage room
//	go run ./examples/wall
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"time"

	"player/client"
	"player/codec"
)

const (
	wanted  = 500  // mm from the laser to the wall
	far     = 1500 // mm; a wall beyond is not followed yet
	cruise  = 250  // mm/s
	maxTurn = 40   // deg/s
)

func main() {
	addr := flag.String("addr", "localhost:6665", "`host:port` of the Player server")
	rounds := flag.Int("n", 1000, "rounds of data to drive for, ten in a second")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := drive(ctx, *addr, *rounds); err != nil && ctx.Err() == nil {
		log.Fatal("wall: ", err)
	}
}

func drive(ctx context.Context, addr string, rounds int) error {
	robot, err := client.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer robot.Close()                                                      // the robot stops
	if err := robot.SetCommandLifetime(500 * time.Millisecond); err != nil { // if this program hangs, the wheels stop
		return err
	}
	laser, err := robot.OpenLaser(ctx, 0)
	if err != nil {
		return err
	}
	wheels, err := robot.OpenWheels(ctx)
	if err != nil {
		return err
	}
	for range rounds {
		if err := robot.Read(ctx); err != nil {
			return err
		}
		if !laser.Has() {
			continue
		}
		if err := wheels.Drive(follow(laser.Data)); err != nil {
			return err
		}
	}
	return nil
}

// follow returns mm/s, slower the nearer an obstacle ahead is, and deg/s: turns until the wall is at the right, and towards
// the wanted distance.
func follow(scan *codec.LaserData) (speed, turn int) {
	ahead := nearest(scan, 140, 220) // 20 degrees to each side
	speed = max(0, min((int(scan[ahead])-350)/2, cruise))
	wall := nearest(scan, 0, 270) // everything but the left
	if scan[wall] > far {
		return speed, 0 // straight on to the next wall
	}
	direction := wall / 2                                      // deg from the right; a wall ahead must come to the right
	distance := max(-20, min((wanted-int(scan[wall]))/10, 20)) // too near: to the left
	return speed, max(-maxTurn, min(direction+distance, maxTurn))
}

// nearest returns the index of the smallest range from first to last. Index i points to i/2 - 90 degrees.
func nearest(scan *codec.LaserData, first, last int) int {
	best := first
	for i := first; i <= last; i++ {
		if scan[i] < scan[best] {
			best = i
		}
	}
	return best
}
