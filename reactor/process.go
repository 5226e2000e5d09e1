package reactor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"player/devices"
)

// program is a process that a driver has started. Its pidfd is in the loop: it
// becomes readable when the process ends, and reading it fails, so the end is
// the Hangup of a port. Only then is the process reaped, on the loop; until
// then its number, and that of its group, are not given to another.
type program struct {
	cmd    *exec.Cmd
	exited func(now time.Duration, err error)
	reaped bool
}

// StartProgram implements devices.Host.
func (r *Reactor) StartProgram(exited func(now time.Duration, err error), name string, args ...string) (devices.Program, error) {
	p := &program{cmd: exec.Command(name, args...), exited: exited}
	var pidfd int
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, PidFD: &pidfd}
	p.cmd.Stdout, p.cmd.Stderr = os.Stderr, os.Stderr
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("program %s: %w", name, err)
	}
	err := errors.New("its end cannot be watched: that needs Linux 5.3; start it by hand")
	if pidfd >= 0 {
		_, err = r.newPort(pidfd, p)
	}
	if err != nil {
		p.Signal(unix.SIGKILL)
		_ = p.cmd.Wait()
		return nil, fmt.Errorf("program %s: %w", name, err)
	}
	return p, nil
}

// Signal implements devices.Program.
func (p *program) Signal(s syscall.Signal) {
	if !p.reaped {
		_ = unix.Kill(-p.cmd.Process.Pid, s) // it may have just ended
	}
}

// Receive implements devices.PortHandler: a pidfd has no bytes.
func (p *program) Receive(time.Duration, []byte) {}

// Hangup implements devices.PortHandler.
func (p *program) Hangup(now time.Duration, _ error) {
	// The loop hangs up on all ports when it ends: what still runs is not
	// waited for.
	var info unix.Siginfo
	if unix.Waitid(unix.P_PID, p.cmd.Process.Pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) != nil || info.Signo == 0 {
		return
	}
	p.reaped = true
	p.exited(now, p.cmd.Wait())
}
