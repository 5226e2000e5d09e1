package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// awakeVerb is the argument by which this program becomes a loop that keeps a processor
// awake. The next argument is the processor's number.
const awakeVerb = "awake"

// keepAwake keeps all processors awake until the returned function is called. The host
// of a virtual processor that sleeps takes milliseconds now and then to wake it, more
// than what is measured. The loops run only when nothing else wants to.
func keepAwake(ctx context.Context) (end func(), err error) {
	var loops []*exec.Cmd
	end = func() {
		for _, cmd := range loops {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	for i := range runtime.NumCPU() {
		cmd := exec.CommandContext(ctx, "/proc/self/exe", awakeVerb, strconv.Itoa(i))
		cmd.SysProcAttr = apart()
		if err := cmd.Start(); err != nil {
			end()
			return nil, fmt.Errorf("keep processor %d awake: %w", i, err)
		}
		loops = append(loops, cmd)
	}
	return end, nil
}

// stayAwake loops on a processor, in the scheduler's lowest class, while its parent lives.
func stayAwake(processor string) error {
	parent := os.Getppid()
	i, err := strconv.Atoi(processor)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := unix.SchedSetaffinity(0, processors(i, i+1)); err != nil {
		return fmt.Errorf("processor %d: %w", i, err)
	}
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil {
		return fmt.Errorf("lowest class: %w", err)
	}
	for os.Getppid() == parent {
	}
	return nil
}
