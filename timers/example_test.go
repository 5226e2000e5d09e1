package timers_test

import (
	"fmt"
	"time"

	"player/timers"
)

// The caller passes the time, so a test needs no clock.
func Example() {
	var queue timers.Queue
	rounds := 0
	timer := timers.NewTimer(func(now time.Duration) (next time.Duration) {
		rounds++
		fmt.Println("round", rounds, "at", now)
		if rounds == 2 {
			return 0 // it is not armed again
		}
		return now + 100*time.Millisecond
	})
	queue.Set(timer, 50*time.Millisecond)
	for at, armed := queue.Next(); armed; at, armed = queue.Next() {
		queue.Run(at, 0) // a program sleeps until then
	}
	// Output:
	// round 1 at 50ms
	// round 2 at 150ms
}

func ExampleRate() {
	var frames timers.Rate
	for now := time.Duration(0); now <= 3*time.Second; now += 100 * time.Millisecond {
		frames.Count(now)
	}
	fmt.Println(frames.Total, "events,", frames.Hz(3*time.Second), "a second")
	fmt.Println("ten seconds later:", frames.Hz(13*time.Second))
	// Output:
	// 31 events, 10 a second
	// ten seconds later: 0
}
