package app

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/devices/stage"
	"player/e2e/must"
	"player/process/slack"
	"player/timers"
)

func TestTuneRuntime(t *testing.T) {
	procs, percent := runtime.GOMAXPROCS(0), debug.SetGCPercent(100)
	defer func() { runtime.GOMAXPROCS(procs); debug.SetGCPercent(percent) }()
	for _, tt := range []struct {
		set           bool
		procs, gcIsAt int
	}{{true, 3, 80}, {false, 1, gcPercent}} {
		for _, name := range []string{"GOMAXPROCS", "GOGC"} {
			if t.Setenv(name, "3"); !tt.set {
				os.Unsetenv(name)
			}
		}
		runtime.GOMAXPROCS(3)
		debug.SetGCPercent(80)
		new(processors).tuneRuntime()
		if procs, percent := runtime.GOMAXPROCS(0), debug.SetGCPercent(100); procs != tt.procs || percent != tt.gcIsAt {
			t.Errorf("environment set: %v: GOMAXPROCS %d, GC at %d %%", tt.set, procs, percent)
		}
	}
}

func TestUseProcessors(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(procs)
	t.Setenv("GOMAXPROCS", "")
	var p processors
	want := func(when string, want int) {
		t.Helper()
		if got := runtime.GOMAXPROCS(0); got != want {
			t.Errorf("%s: %d processors, want %d", when, got, want)
		}
	}
	p.simulate(false)
	want("nothing runs", 1)
	p.see(true)
	p.see(true)
	want("two cameras run", 2)
	p.see(false)
	want("one camera runs", 2)
	p.see(false)
	want("no camera runs", 1)
	p.simulate(true)
	want("a fast simulation", runtime.NumCPU())
	p.see(true)
	want("a fast simulation and a camera", runtime.NumCPU())
	p.simulate(false)
	want("a camera runs", 2)
	runtime.GOMAXPROCS(3)
	t.Setenv("GOMAXPROCS", "3")
	p.see(false)
	want("that of the environment", 3)
}

// A second processor is used by threads without slack.
func TestSlackIsTakenBack(t *testing.T) {
	const threads = 4
	// onThreads calls do on some threads at once.
	onThreads := func(do func()) {
		var here, gone sync.WaitGroup
		here.Add(threads)
		for range threads {
			gone.Go(func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				do()
				here.Done()
				here.Wait()
			})
		}
		gone.Wait()
	}
	procs := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(procs)
	t.Setenv("GOMAXPROCS", "")
	// Now and then the runtime uses yet another thread, which keeps its slack until the next camera.
	const tries, enough = 6, 2 // without slack on all threads
	good := 0
	for range tries {
		onThreads(func() {
			if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(ownSlack), 0, 0, 0); err != nil {
				t.Error(err)
			}
		})
		new(processors).see(true)
		var late atomic.Bool
		onThreads(func() {
			if got, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || got != slack.Default {
				late.Store(true)
			}
		})
		if !late.Load() {
			good++
		}
	}
	if good < enough {
		t.Errorf("in %d of %d tries no thread has slack", good, tries)
	}
}

func TestUntilSignal(t *testing.T) {
	ctx, _, stop := untilSignal(context.Background(), func() { t.Error("the first signal kills") }, nil)
	defer stop()
	must.Do(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	select {
	case <-ctx.Done():
	case <-time.After(patience):
		t.Fatal("the signal does not end the context")
	}
}

// SIGHUP asks for a reload instead of the end, however often it comes.
func TestUntilSignalReloads(t *testing.T) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // one may arrive after stop
	requests := make(chan struct{}, 1)
	ctx, _, stop := untilSignal(context.Background(), func() { t.Error("the signal kills") }, requests)
	defer stop()
	for range 5 {
		must.Do(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	}
	select {
	case <-requests:
	case <-time.After(patience):
		t.Fatal("the signal does not ask for a reload")
	}
	if ctx.Err() != nil {
		t.Error("the signal ends the server")
	}
}

// A reload that ends a fast simulation gives its processors back, whatever is said to the
// world afterwards.
func TestProcessorsAfterASimulation(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(procs)
	t.Setenv("GOMAXPROCS", "")
	run := func(timers.Func) { t.Error("the world runs by itself") }
	quit := func() { t.Error("the server ends") }
	world := &stage.World{} // as fast as possible
	s := &simulation{world: world, processors: &processors{}, log: zap.NewNop()}
	s.start(run, quit)
	if got := runtime.GOMAXPROCS(0); got != runtime.NumCPU() {
		t.Errorf("a fast simulation: %d processors, want %d", got, runtime.NumCPU())
	}
	s.change(nil, nil, run, quit)
	if got := runtime.GOMAXPROCS(0); got != 1 {
		t.Errorf("no simulation: %d processors, want 1", got)
	}
	world.SetSpeed(time.Second, 0)
	if got := runtime.GOMAXPROCS(0); got != 1 {
		t.Errorf("a simulation that has ended: %d processors, want 1", got)
	}
}
