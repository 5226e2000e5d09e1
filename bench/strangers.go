package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"player/bench/load"
	"player/bench/rig"
	"player/e2e/strangers"
)

// The cells of strangers are two well clients, one that reads 50 frames a second and
// one that has a request outstanding, while others abuse the server or watch the
// robot. In the cells of viewers there is one well client. The
// server has a processor of its own. Strangers and well clients share the rest; there
// the strangers have the lowest priority, so that only the server delays the well.

const (
	// strangersVerb is the argument by which this program becomes the strangers. The
	// name of their work follows, and the server's addresses.
	strangersVerb = "strangers"
	// strangersAddress is where they come from: not the computer of the well.
	strangersAddress = "127.0.0.9"
	// leastPriority is the priority of the strangers.
	leastPriority = 19
)

// beset is two healthy clients, one that reads and one that asks, among strangers.
func beset() []cell {
	one := func(who string) cell {
		c := served("strangers/"+who, loopback, group{Name: "reads", Clients: 1, Rate: 50, Task: load.Stream}, group{Name: "asks", Clients: 1, Task: load.Request})
		c.Strangers, c.Device = who, ageRate
		return c
	}
	all := []cell{one(nobody)}
	for _, p := range append(strangers.Abuses(), strangers.Crowds()...) {
		all = append(all, one(p.Name))
	}
	return all
}

// viewed is one client that reads, next to viewers: the cost of a viewer.
func viewed() []cell {
	var all []cell
	for _, viewers := range []string{nobody, "clients", "browser", "browsers", "viewer", "viewers", "programs"} {
		c := served(viewersPrefix+viewers, loopback, group{Name: "reads", Clients: 1, Rate: 50, Task: load.Stream})
		c.Strangers = viewers
		all = append(all, c)
	}
	return all
}

// beStrangers does the work of the arguments until standard input ends.
func beStrangers(args []string) error {
	if len(args) != 5 {
		return fmt.Errorf("%s needs a name and four addresses", strangersVerb)
	}
	all := strangers.All()
	i := slices.IndexFunc(all, func(p strangers.Workload) bool { return p.Name == args[0] })
	if i < 0 {
		return fmt.Errorf("there are no strangers %q", args[0])
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, leastPriority); err != nil {
		return err
	}
	const dialLimit = 5 * time.Second // then a stranger tries again
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(strangersAddress)}, Timeout: dialLimit}
	dial := func(address string) (net.Conn, error) { return from.Dial("tcp", address) }
	ctx, cancel := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	for range all[i].Count {
		workers.Go(func() {
			for ctx.Err() == nil {
				all[i].Do(ctx, dial, strangers.Addresses{Robot: args[1], Page: args[2], Foxglove: args[3], Rosbridge: args[4]})
			}
		})
	}
	_, err := io.Copy(io.Discard, os.Stdin)
	cancel()
	workers.Wait()
	return err
}

// nobody means no strangers: the cell with which the others are compared.
const nobody = "nobody"

// admit starts the strangers of a cell. If the server is to be alone, it gives it the first
// processor, and this process and its children the others.
func (p *process) admit(ctx context.Context, who string, alone bool) (end func(), err error) {
	all := processors(0, runtime.NumCPU())
	restore := func() { _ = setThreads(os.Getpid(), all) }
	if alone {
		others := processors(min(1, runtime.NumCPU()-1), runtime.NumCPU())
		if err := errors.Join(setThreads(p.cmd.Process.Pid, processors(0, 1)), setThreads(os.Getpid(), others)); err != nil {
			return nil, err
		}
	}
	if who == nobody {
		return restore, nil
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", strangersVerb, who, loopbackAddress(p.port), loopbackAddress(p.page), loopbackAddress(p.foxglove), loopbackAddress(p.rosbridge))
	cmd.SysProcAttr = apart()
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		restore()
		return nil, err
	}
	return func() {
		stdin.Close()
		_ = cmd.Wait()
		restore()
	}, nil
}

// processors is the set of those from one number up to another.
func processors(from, to int) *unix.CPUSet {
	var set unix.CPUSet
	for i := from; i < to; i++ {
		set.Set(i)
	}
	return &set
}

// setThreads lets all threads of a process run on some processors only.
func setThreads(pid int, on *unix.CPUSet) error {
	threads, err := rig.Threads(pid)
	for _, id := range threads {
		if err := unix.SchedSetaffinity(id, on); err != nil && err != unix.ESRCH {
			return fmt.Errorf("processors of thread %d: %w", id, err)
		}
	}
	return err
}
