package app

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"
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
		tuneRuntime()
		if procs, percent := runtime.GOMAXPROCS(0), debug.SetGCPercent(100); procs != tt.procs || percent != tt.gcIsAt {
			t.Errorf("environment set: %v: GOMAXPROCS %d, GC at %d %%", tt.set, procs, percent)
		}
	}
}

func TestUseProcessors(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(procs)
	t.Setenv("GOMAXPROCS", "")
	if useProcessors(false); runtime.GOMAXPROCS(0) != 1 {
		t.Errorf("%d processors, want 1", runtime.GOMAXPROCS(0))
	}
	if useProcessors(true); runtime.NumCPU() > 1 && runtime.GOMAXPROCS(0) < 2 {
		t.Errorf("%d processors of %d", runtime.GOMAXPROCS(0), runtime.NumCPU())
	}
	runtime.GOMAXPROCS(3)
	t.Setenv("GOMAXPROCS", "3")
	if useProcessors(false); runtime.GOMAXPROCS(0) != 3 {
		t.Errorf("%d processors, want those of GOMAXPROCS", runtime.GOMAXPROCS(0))
	}
}

func TestUntilSignal(t *testing.T) {
	ctx, _, stop := untilSignal(context.Background(), func() { t.Error("the first signal kills") }, nil)
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
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
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
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
