// Tune finds the gain of a wall follower: twenty gains, each in fifty runs with other
// noise. It is the program of a sweep, which takes the gain from the seed.
//
//	go build -o player . && go build -o tune ./examples/tune
//	./player sweep -seeds 0-999 -o tune.csv examples/tune/tune.world -- ./tune
//	./tune -best tune.csv
package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/signal"
	"slices"
	"strconv"

	"player/client"
	"player/codec"
)

const (
	rounds = 250 // 25 s of simulated time
	wanted = 500 // mm from the wall on the right
	base   = 226 // mm between the two sonars that look to the right
)

func main() {
	address := flag.String("addr", cmp.Or(os.Getenv("PLAYER_ADDRESS"), "localhost:6665"), "`host:port` of the robot")
	seed, _ := strconv.Atoi(os.Getenv("PLAYER_SEED")) // 0 without a sweep
	gain := flag.Float64("gain", 0.25*float64(1+seed%20), "degrees per second for each degree of error")
	best := flag.String("best", "", "table of a sweep: print the mean error of each gain")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	var err error
	if *best != "" {
		err = summarise(os.Stdout, *best)
	} else {
		err = follow(ctx, os.Stdout, *address, *gain)
	}
	if err != nil {
		log.Fatal("tune: ", err)
	}
}

// follow follows the wall for so long and prints the gain and the mean error in mm.
func follow(ctx context.Context, out io.Writer, address string, gain float64) error {
	robot, err := client.Dial(ctx, address)
	if err != nil {
		return err
	}
	defer robot.Close()
	// A client in request/reply mode is waited for.
	if err := robot.SetDataMode(client.RequestReply); err != nil {
		return err
	}
	if err := robot.Request(ctx, "srpw"); err != nil {
		return err
	}
	sum := 0.0
	for range rounds {
		if err := robot.RequestData(); err != nil {
			return err
		}
		if err := robot.Read(ctx); err != nil {
			return err
		}
		speed, turn, wrong := steer(&robot.Sonar, gain)
		if err := robot.SetSpeed(speed, turn); err != nil {
			return err
		}
		sum += math.Abs(wrong)
	}
	_, err = fmt.Fprintf(out, "gain=%.2f error=%.1f\n", gain, sum/rounds)
	return err
}

// steer returns speed in mm/s and turn rate in deg/s, and how far the robot is from where
// it should be, in mm.
func steer(sonar *codec.SonarData, gain float64) (speed, turn int, wrong float64) {
	front, rear := float64(sonar[7]), float64(sonar[8])
	wrong = min(front, rear) - wanted
	if min(sonar[2], sonar[3], sonar[4]) < 700 {
		return 50, 45, wrong // a corner
	}
	// The angle to the wall, and one that leads back to it.
	angle := math.Atan2(front-rear, base)*180/math.Pi + max(-30, min(30, wrong/10))
	return 200, int(math.Round(max(-60, min(60, -gain*angle)))), wrong
}

// summarise prints the mean error of each gain, the best first.
func summarise(out io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	table, err := csv.NewReader(file).ReadAll()
	if err != nil || len(table) < 2 {
		return fmt.Errorf("%s has no results: %w", path, err)
	}
	gain, wrong := slices.Index(table[0], "gain"), slices.Index(table[0], "error")
	if gain < 0 || wrong < 0 {
		return fmt.Errorf("%s is no table of this program", path)
	}
	sum, runs := map[string]float64{}, map[string]float64{}
	for _, line := range table[1:] {
		v, err := strconv.ParseFloat(line[wrong], 64)
		if err != nil {
			return err
		}
		sum[line[gain]] += v
		runs[line[gain]]++
	}
	var gains []string
	for g := range sum {
		gains = append(gains, g)
	}
	slices.SortFunc(gains, func(a, b string) int { return cmp.Compare(sum[a]/runs[a], sum[b]/runs[b]) })
	for _, g := range gains {
		fmt.Fprintf(out, "gain %s: %.1f mm in %.0f runs\n", g, sum[g]/runs[g], runs[g])
	}
	return nil
}
