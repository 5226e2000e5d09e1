// Logrun prints where a robot is, and its battery, as CSV, while other programs drive it. It
// never drives itself. To record everything: player record.
//
//	go run ./examples/logrun -n 100 >run.csv
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"

	"player/client"
	"player/codec"
)

func main() {
	addr := flag.String("addr", "localhost:6665", "`host:port` of the Player server")
	rounds := flag.Int("n", 1000, "rounds of data, ten in a second")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := print(ctx, *addr, *rounds); err != nil && ctx.Err() == nil {
		log.Fatal("logrun: ", err)
	}
}

func print(ctx context.Context, addr string, rounds int) error {
	robot, err := client.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer robot.Close()
	var at codec.PositionData // the odometry: this program does not drive
	wheels, err := robot.Open(ctx, "position", codec.AccessRead, &at)
	if err != nil {
		return err
	}
	misc, err := robot.OpenMisc(ctx, 0) // the battery
	if err != nil {
		return err
	}
	fmt.Println("time_ms,x_mm,y_mm,heading_deg,battery_dV")
	for range rounds {
		if err := robot.Read(ctx); err != nil {
			return err
		}
		if robot.Has(wheels) && misc.Has() {
			fmt.Printf("%d,%d,%d,%d,%d\n", at.Time, at.X, at.Y, at.Heading, misc.Data.Battery)
		}
	}
	return nil
}
