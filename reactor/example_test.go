package reactor_test

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"player/reactor"
	"player/timers"
)

// Other goroutines enter the loop by Post. Its timers and handlers need no locks. The test only compiles this example,
// because its port may be in use.
func Example() {
	loop := reactor.New(reactor.Config{
		Addresses: []string{"127.0.0.1:6665"},
		Accept:    func(time.Duration, *reactor.Descriptor, int) reactor.Handler { return nil }, // no client comes
		Log:       zap.NewNop(),
	})
	done := timers.NewTimer(func(time.Duration) time.Duration {
		fmt.Println("a timer ends it")
		loop.Stop()
		return 0
	})
	go loop.Post(func(now time.Duration) {
		fmt.Println("on the loop")
		loop.Timers.Set(done, now+time.Millisecond)
	})
	if err := loop.Run(); err != nil {
		fmt.Println(err)
	}
}
