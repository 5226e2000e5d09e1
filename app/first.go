package app

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// orphansPause is how long the first process of a container waits, when the server has ended, for
// the processes that the server has left. A guard needs 0.5 s for its words, and 2 s until it kills
// plugins. A process that a plugin has hidden by setsid would keep the container for ever.
const orphansPause = 5 * time.Second

// isFirst reports whether this process is the first one of a container that runs a server. When
// the first process ends, the kernel kills all others at once, and the guard writes nothing.
func isFirst(args []string) bool {
	return os.Getpid() == 1 && (len(args) == 0 || !isCommand(args[0]))
}

// first runs the server in a second process. It passes signals on, waits for processes whose
// parents have ended, and ends after the guard. It returns the exit code: the server's, or 128
// and the number of the signal that ended it.
func first(args []string, stdin, stderr *os.File) int {
	quiet()
	signals := make(chan os.Signal, 8)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	server := exec.Command("/proc/self/exe", args...)
	server.Args[0] = os.Args[0]
	server.Stdin, server.Stdout, server.Stderr = stdin, os.Stdout, stderr
	// The keys of a terminal go to the server alone, which would get each signal twice otherwise.
	if _, err := unix.IoctlGetTermios(int(stdin.Fd()), unix.TCGETS); err == nil {
		server.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: int(stdin.Fd())}
	}
	if err := server.Start(); err != nil {
		return exitCode(fmt.Errorf("the first process of a container: %w", err), stderr)
	}
	return reap(server.Process.Pid, signals, orphansPause, stderr)
}

// reap waits for all children. When the one called server has ended, it waits for the others for
// pause at most. Meanwhile it passes signals on to the server.
func reap(server int, signals <-chan os.Signal, pause time.Duration, stderr io.Writer) (code int) {
	type end struct {
		pid    int
		status unix.WaitStatus
	}
	ends := make(chan end)
	go func() {
		defer close(ends)
		for {
			var e end
			var err error
			if e.pid, err = unix.Wait4(-1, &e.status, 0, nil); err == unix.EINTR {
				continue
			} else if err != nil {
				return // no children are left
			}
			ends <- e
		}
	}()
	var limit <-chan time.Time
	for {
		select {
		case s := <-signals:
			if limit == nil {
				_ = unix.Kill(server, s.(syscall.Signal)) // it may have ended
			}
		case e, ok := <-ends:
			if !ok {
				return code
			}
			if e.pid != server {
				continue
			}
			code = e.status.ExitStatus()
			if e.status.Signaled() {
				code = 128 + int(e.status.Signal())
				fmt.Fprintln(stderr, "player: the server was ended by", unix.SignalName(e.status.Signal()))
			}
			limit = time.After(pause)
		case <-limit:
			return code
		}
	}
}
