package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
)

// gcPercent is how much the heap may grow before it is collected, in per cent
// of what is in use. The loop makes no garbage, so collections stay rare. With
// Go's default of 100 a client would take up to twice the memory that it needs.
const gcPercent = 25

// tuneRuntime sets up the Go runtime for the server. The environment variables
// GOMAXPROCS and GOGC take precedence.
func tuneRuntime() {
	if os.Getenv("GOMAXPROCS") == "" {
		// The loop does all the work. A second thread for Go code would only
		// spin beside it (docs/BENCHMARKS.md).
		runtime.GOMAXPROCS(1)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// untilSignal returns a context that ends with ctx, at the first signal to
// terminate, or when quit is called. A second signal kills the process.
func untilSignal(ctx context.Context) (_ context.Context, quit context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, quit = signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, quit) // restores the default action
	// Motors must be stopped even if nobody reads the log: a write to a closed
	// pipe must not kill the process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return ctx, quit
}
