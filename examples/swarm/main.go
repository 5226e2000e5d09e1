// Swarm is one program for two hundred robots. They stand in a crowd and spread over
// the hall: each drives away from the things that its sonars see. The world waits for the program
// in each step, so the run takes as long as it is computed, and ends the same each time.
//
//	go run . -stage examples/swarm/swarm.world
//	go run ./examples/swarm
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"time"

	"player/client"
	"player/codec"
	"player/codec/pioneer"
)

const (
	// period is the time between two reports of a simulated robot.
	period = 100 * time.Millisecond
	// room is the space that a robot wants around it, in mm.
	room = 2000
	// enough is the push, in mm of missing room, that a robot bears without moving.
	enough = 300
)

func main() {
	host := flag.String("host", "localhost", "`name` of the computer that serves the robots")
	port := flag.Int("port", 6665, "TCP port of the first robot; the others use the following ports")
	n := flag.Int("n", 200, "number of robots")
	limit := flag.Duration("time", 2*time.Minute, "simulated time of the run")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	err := run(ctx, *host, *port, *n, *limit)
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

func run(ctx context.Context, host string, port, n int, limit time.Duration) error {
	swarm := make([]*client.Client, n)
	for i := range swarm {
		robot, err := client.Dial(ctx, net.JoinHostPort(host, strconv.Itoa(port+i)))
		if err != nil {
			return err
		}
		defer robot.Close()
		// A client in request/reply mode is waited for.
		if err := robot.SetDataMode(client.RequestReply); err != nil {
			return err
		}
		if err := robot.Request(ctx, "pwsr"); err != nil {
			return fmt.Errorf("robot %d: %w", i, err)
		}
		swarm[i] = robot
	}
	for at := time.Duration(0); at <= limit; at += period {
		for _, robot := range swarm {
			if err := robot.RequestData(); err != nil {
				return err
			}
		}
		space := 0 // of all robots
		for i, robot := range swarm {
			if err := robot.Read(ctx); err != nil {
				return fmt.Errorf("robot %d: %w", i, err)
			}
			space += int(slices.Min(robot.Sonar[:]))
			if err := robot.SetSpeed(spread(&robot.Sonar)); err != nil {
				return err
			}
		}
		if at%(10*time.Second) == 0 {
			fmt.Printf("%v: %d mm of space on average\n", at, space/n)
		}
	}
	return nil
}

// spread returns the speed in mm/s and the turn rate in deg/s of a robot that drives
// away from things nearer than room.
func spread(sonar *codec.SonarData) (speed, turn int) {
	x, y := 0.0, 0.0
	for i, r := range sonar {
		near := float64(room - min(int(r), room))
		sin, cos := math.Sincos(pioneer.Sonars()[i].Heading * math.Pi / 180)
		x, y = x-near*cos, y-near*sin
	}
	if math.Hypot(x, y) < enough {
		return 0, 0
	}
	away := math.Atan2(y, x) * 180 / math.Pi
	turn = int(max(-60, min(60, away)))
	if ahead := min(sonar[2], sonar[3], sonar[4], sonar[5]); math.Abs(away) < 60 && ahead > 300 {
		speed = min(int(ahead)/2, 300)
	}
	return speed, turn
}
