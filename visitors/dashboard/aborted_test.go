package dashboard

import (
	"context"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/visitors"
)

// A visitor may leave while the loop is busy. The visitor's goroutine no longer reads the
// loop's later results: the race detector checks this.
func TestAborted(t *testing.T) {
	world := load(t, `position ( name "a" port 6665 pose [0 0 0 0] )`)
	waiting := make(chan func(now time.Duration), 1)
	post := func(fn func(now time.Duration)) bool { waiting <- fn; return true }
	page := site(t.Context(), Config{
		Robots: []Robot{{Address: "localhost:6665", Port: 6665, Simulated: world.Robots()[0]}},
		World:  world, Runs: map[string]Run{"localhost:6665": newRun(t)},
		Common: visitors.Common{
			Server: newFake().on(post), Log: zap.NewNop(), Post: post,
		},
	}).Protected()
	for _, request := range []struct{ method, path string }{
		{"GET", "/status"}, {"GET", "/healthz"}, {"GET", "/metrics"},
		{"POST", "/stop?robot=6665"}, {"POST", "/stop?robot=6666"}, {"POST", "/release?robot=all"},
		{"GET", "/shape?robot=localhost:6665"}, {"GET", "/run?robot=localhost:6665"},
		{"POST", "/playback?robot=localhost:6665&pause=1"}, {"POST", "/record?robot=localhost:6665&on=1"},
		{"GET", "/simulation"}, {"POST", `/simulation?order={"Move":[{"Name":"nobody"}]}`}, {"GET", "/map.yaml"},
	} {
		for range 20 { // the loop and the visitor's goroutine go on at the same time, in any order
			ctx, leave := context.WithCancel(t.Context())
			r := httptest.NewRequest(request.method, request.path, nil).WithContext(ctx)
			r.Host = "localhost"
			var done sync.WaitGroup
			done.Go(func() { page.ServeHTTP(httptest.NewRecorder(), r) })
			fn := <-waiting
			done.Go(func() { // the loop has time at last
				<-ctx.Done()
				fn(time.Second)
			})
			leave()
			done.Wait()
		}
	}
}
