// Speed reads many robots, one goroutine each, for the benchmarks
// (docs/CLIENTS.md).
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"player/client"
)

const (
	rate  = 50               // Hz
	limit = 10 * time.Second // for each wait
)

// result is the line that it prints.
type result struct {
	Runtime string `json:"runtime"`
	Frames  int    `json:"frames"`
	P50     int64  `json:"p50_us"` // of the time between two rounds of one robot
	P99     int64  `json:"p99_us"`
	Max     int64  `json:"max_us"`
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 6 {
		log.Fatal("usage: speed HOST PORT COUNT WARMUP SECONDS")
	}
	port, count := int(number(os.Args[2])), int(number(os.Args[3]))
	robots := make([]*client.Client, count)
	for i := range robots {
		robots[i] = open(os.Args[1], port+i)
	}
	begin := time.Now().Add(seconds(os.Args[4]))
	end := begin.Add(seconds(os.Args[5]))
	stop := make(chan struct{})
	intervals := make([][]time.Duration, count)
	var readers sync.WaitGroup
	for i, robot := range robots {
		readers.Go(func() { intervals[i] = read(robot, begin, end, stop) })
	}
	time.Sleep(time.Until(begin))
	fmt.Println("begin")
	time.Sleep(time.Until(end))
	fmt.Println("end")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		log.Fatal(err)
	}
	close(stop)
	readers.Wait()
	all := slices.Sorted(slices.Values(slices.Concat(intervals...)))
	n := len(all)
	if n == 0 {
		all = append(all, 0)
	}
	err := json.NewEncoder(os.Stdout).Encode(result{runtime.Version(), n,
		all[n/2].Microseconds(), all[n*99/100].Microseconds(), all[len(all)-1].Microseconds()})
	if err != nil {
		log.Fatal(err)
	}
}

func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func seconds(text string) time.Duration { return time.Duration(number(text) * float64(time.Second)) }

// open connects to one robot and asks for all its devices.
func open(host string, port int) *client.Client {
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(host, strconv.Itoa(port)), limit)
	if err != nil {
		log.Fatal(err)
	}
	robot := client.New(conn) // plain frames, as in the other languages
	if err := robot.SetFrequency(rate); err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := robot.Request(ctx, "lrsrprgrmrvrzr"); err != nil {
		log.Fatalf("port %d: %v", port, err)
	}
	return robot
}

// read returns the intervals between the rounds that arrive from begin to end.
func read(robot *client.Client, begin, end time.Time, stop <-chan struct{}) []time.Duration {
	var intervals []time.Duration
	var last time.Time
	for {
		select {
		case <-stop:
			return intervals
		default:
		}
		if err := robot.Read(context.Background()); err != nil {
			log.Fatal(err)
		}
		now := time.Now()
		if !now.Before(begin) && now.Before(end) && !last.IsZero() {
			intervals = append(intervals, now.Sub(last))
		}
		last = now
	}
}
