// Goto drives to a point around obstacles. The point is in metres from where the robot's odometry
// began. The server has the planner (docs/GOTO.md).
//
//	go run . -stage office -goto
//	go run ./examples/goto -- 4.5 -1.2
//
// Its last line is the result, as player sweep reads it.
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
	"player/codec"
)

func main() {
	addr := flag.String("addr", "localhost:6665", "`host:port` of the Player server")
	device := flag.String("device", "goto", "`name` of the device that drives")
	step := flag.Bool("step", false, "the robot is in a world in step, which waits for this program")
	tenths := flag.Int("n", 3000, "tenths of a second, by the robot's clock, until it gives up")
	flag.Parse()
	x, errX := strconv.ParseFloat(flag.Arg(0), 64)
	y, errY := strconv.ParseFloat(flag.Arg(1), 64)
	if errX != nil || errY != nil || flag.NArg() != 2 {
		log.Fatal("goto: give x and y in metres, as goto -- 4.5 -1.2")
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := drive(ctx, os.Stdout, *addr, *device, *step, *tenths, int32(x*1000), int32(y*1000)); err != nil && ctx.Err() == nil {
		log.Fatal("goto: ", err)
	}
}

var errLate = errors.New("it takes too long")

// drive drives to a point in mm.
func drive(ctx context.Context, out io.Writer, addr, device string, step bool, limit int, x, y int32) error {
	robot, err := client.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer robot.Close()
	if step { // if this program hangs the world waits, and a slow computer ends no goal
		err = robot.SetDataMode(client.RequestReply)
	} else { // if this program hangs the robot stops
		err = robot.SetCommandLifetime(time.Second)
	}
	if err != nil {
		return err
	}
	if err := robot.Request(ctx, "pr"); err != nil { // the wheels have the clock
		return err
	}
	code, err := robot.Open(ctx, device, codec.AccessAll, nil)
	if err != nil {
		return fmt.Errorf("%w (a server has it with -goto)", err)
	}
	var begin, tenths uint32
	err = robot.GoTo(ctx, code, codec.GotoCommand{X: x, Y: y, Heading: codec.AnyHeading}, func() error {
		if begin == 0 {
			begin = robot.Position.Time
		}
		if tenths = (robot.Position.Time - begin) / 100; tenths >= uint32(limit) {
			return errLate
		}
		return nil
	})
	arrived := 1
	gaveUp, is := errors.AsType[*client.GotoError](err)
	switch {
	case errors.Is(err, errLate), is && gaveUp.Data.Reason == codec.GotoNoWay:
		arrived = 0
	case err != nil:
		return err
	}
	_, err = fmt.Fprintf(out, "arrived=%d time=%.1f\n", arrived, float64(tenths)/10)
	return err
}
