// Goto drives to a point around obstacles, with the laser, or with the sonars if the
// robot has no laser. The point is in metres from where the robot's odometry began.
//
//	go run . -stage office
//	go run ./examples/goto -- 4.5 -1.2
//
// Its last line is the result, as player sweep reads it. Package vfh has the algorithm.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strconv"
	"time"

	"player/client"
	"player/devices/vfh"
	"player/codec"
)

func main() {
	addr := flag.String("addr", "localhost:6665", "`host:port` of the Player server")
	step := flag.Bool("step", false, "the robot is in a world in step, which waits for this program")
	sonar := flag.Bool("sonar", false, "use the sonars, even if there is a laser")
	rounds := flag.Int("n", 3000, "rounds of data until it gives up, ten in a second")
	flag.Parse()
	x, errX := strconv.ParseFloat(flag.Arg(0), 64)
	y, errY := strconv.ParseFloat(flag.Arg(1), 64)
	if errX != nil || errY != nil || flag.NArg() != 2 {
		log.Fatal("goto: give x and y in metres, as goto -- 4.5 -1.2")
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := drive(ctx, os.Stdout, *addr, *step, *sonar, *rounds, int(x*1000), int(y*1000)); err != nil && ctx.Err() == nil {
		log.Fatal("goto: ", err)
	}
}

// drive drives to a point in mm.
func drive(ctx context.Context, out io.Writer, addr string, step, sonar bool, rounds, x, y int) error {
	robot, err := client.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer robot.Close()
	if step {
		if err := robot.SetDataMode(client.RequestReply); err != nil {
			return err
		}
	}
	sensor, mounts, c, err := open(ctx, robot, sonar)
	if err != nil {
		return err
	}
	if err := robot.SetCommandLifetime(time.Second); err != nil { // if this program hangs the robot stops
		return err
	}
	defer robot.SetSpeed(0, 0) // whatever happens: stop

	way := vfh.New(c, x, y)
	var beams []vfh.Beam
	for round := range rounds {
		if step {
			if err := robot.RequestData(); err != nil {
				return err
			}
		}
		if err := robot.Read(ctx); err != nil {
			return err
		}
		if !robot.Has(codec.Position) || !robot.Has(sensor) { // nothing yet
			continue
		}
		if sensor == codec.Laser {
			beams = vfh.AppendLaser(beams[:0], mounts[0], &robot.Laser)
		} else {
			beams = vfh.AppendSonar(beams[:0], mounts, &robot.Sonar)
		}
		speed, turn, arrived := way.Next(&robot.Position, beams)
		if arrived {
			_, err := fmt.Fprintf(out, "arrived=1 time=%.1f\n", float64(round)/10)
			return err
		}
		if err := robot.SetSpeed(speed, turn); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "arrived=0 time=%.1f\n", float64(rounds)/10)
	return err
}

// open opens the wheels with the laser, or with the sonars, in one request: in step, all
// devices then have data from the first round on. It asks where the sensors are mounted.
func open(ctx context.Context, robot *client.Client, sonar bool) (sensor byte, mounts []codec.Part, c vfh.Config, err error) {
	sensor = codec.Laser
	if sonar || robot.Request(ctx, "palr") != nil { // refused
		sensor = codec.Sonar
		if err := robot.Request(ctx, "pasr"); err != nil {
			return 0, nil, c, err
		}
	}
	parts, err := robot.Geometry(ctx)
	if err != nil && !errors.Is(err, client.ErrUnknownQuestion) {
		return 0, nil, c, err
	}
	for _, p := range parts {
		if p.Device == sensor {
			mounts = append(mounts, p)
		}
	}
	if mounts == nil {
		if sensor == codec.Sonar {
			return 0, nil, c, errors.New("the server does not know where the sonars are mounted")
		}
		mounts = []codec.Part{{Device: codec.Laser, X: 80}} // as on a Pioneer
	}
	return sensor, mounts, vfh.Of(parts), nil
}
