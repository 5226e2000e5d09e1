package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// awakeVerb is the argument by which this program becomes a loop that keeps processor 0
// awake.
const awakeVerb = "awake"

// unboundWork has the processors of the kernel's workers that belong to none, as a
// hexadecimal mask. They pass on the bytes that are written to pseudo-terminals.
const unboundWork = "/sys/devices/virtual/workqueue/cpumask"

// oneProcessor lets this process, its children and the kernel's pseudo-terminals run on
// processor 0 only, and keeps it awake, until the returned function is called. The host
// of a virtual processor that sleeps takes up to milliseconds to wake it, more than the
// measured times. The loop runs only when nothing else wants to. No garbage is collected.
//
// Without the right to move the kernel's workers they stay where they are.
func oneProcessor(ctx context.Context) (end func(), err error) {
	loop := exec.CommandContext(ctx, "/proc/self/exe", awakeVerb)
	loop.SysProcAttr = apart()
	if err := loop.Start(); err != nil {
		return nil, fmt.Errorf("keep a processor awake: %w", err)
	}
	workers, _ := os.ReadFile(unboundWork)
	_ = os.WriteFile(unboundWork, []byte("1"), 0)
	collect := debug.SetGCPercent(-1)
	end = func() {
		debug.SetGCPercent(collect)
		_ = os.WriteFile(unboundWork, workers, 0)
		_ = setThreads(os.Getpid(), processors(0, runtime.NumCPU()))
		_ = loop.Process.Kill()
		_ = loop.Wait()
	}
	if err := setThreads(os.Getpid(), processors(0, 1)); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// stayAwake loops on processor 0, in the scheduler's lowest class, while its parent lives.
func stayAwake() error {
	parent := os.Getppid()
	runtime.LockOSThread()
	if err := unix.SchedSetaffinity(0, processors(0, 1)); err != nil {
		return fmt.Errorf("processor 0: %w", err)
	}
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil {
		return fmt.Errorf("lowest class: %w", err)
	}
	for os.Getppid() == parent {
	}
	return nil
}
