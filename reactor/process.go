package reactor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/devices"
)

// programSlack is the kernel's own timer slack, 50 us, in ns.
const programSlack = 50_000

// program is a process that a driver has started. Its pidfd is in the loop: it
// becomes readable when the process ends, and reading it fails, so the end is
// the Hangup of a port. Only then is the process reaped, on the loop; until
// then its number, and that of its group, are not given to another.
type program struct {
	cmd    *exec.Cmd
	exited func(now time.Duration, err error)
	sweep  bool // kill what is left of its group when it has ended
	reaped bool
}

// StartProgram implements devices.Host.
func (r *Reactor) StartProgram(exited func(now time.Duration, err error), name string, args ...string) (devices.Program, error) {
	p := &program{cmd: exec.Command(name, args...), exited: exited}
	p.cmd.Stdout, p.cmd.Stderr = os.Stderr, os.Stderr
	if err := r.start(p); err != nil {
		return nil, fmt.Errorf("program %s: %w", name, err)
	}
	return p, nil
}

// StartPlugin implements devices.Host.
func (r *Reactor) StartPlugin(stdout, stderr devices.PortHandler, exited func(now time.Duration, err error), name string, args ...string) (devices.Program, devices.Port, error) {
	p := &program{cmd: exec.Command(name, args...), exited: exited, sweep: true}
	var pipes plumbing
	p.cmd.Stdin = pipes.end(0)
	p.cmd.Stdout, p.cmd.Stderr = pipes.end(1), pipes.end(1)
	err := pipes.err
	if err == nil {
		err = r.start(p)
	}
	pipes.closeTheirs()
	if err != nil {
		pipes.closeOurs()
		return nil, nil, fmt.Errorf("plugin %s: %w", name, err)
	}
	// newPort takes the descriptors over, whatever happens.
	_, errOut := r.newPort(pipes.ours[1], stdout)
	_, errErr := r.newPort(pipes.ours[2], stderr)
	stdin, errIn := r.newPort(pipes.ours[0], deaf{})
	if err := errors.Join(errIn, errOut, errErr); err != nil {
		r.log.Error("plugin cannot be talked with", zap.String("plugin", name), zap.Error(err))
		p.Signal(unix.SIGKILL) // its end is told as any other
		if errIn != nil {
			stdin = &port{closed: true}
		}
	}
	return p, stdin, nil
}

// plumbing is the pipes of a plugin.
type plumbing struct {
	theirs []*os.File
	ours   []int
	err    error
}

// end makes a pipe and returns the plugin's end of it: 0 reads, 1 writes.
func (p *plumbing) end(theirs int) *os.File {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		p.err = errors.Join(p.err, err)
		return nil
	}
	if theirs == 0 {
		// The smallest there is: what a plugin has not read is old commands.
		_, _ = unix.FcntlInt(uintptr(pipe[0]), unix.F_SETPIPE_SZ, os.Getpagesize())
	}
	// Only our end: the flag belongs to the end, and programs expect to wait.
	p.err = errors.Join(p.err, unix.SetNonblock(pipe[1-theirs], true))
	p.ours = append(p.ours, pipe[1-theirs])
	file := os.NewFile(uintptr(pipe[theirs]), "plugin")
	p.theirs = append(p.theirs, file)
	return file
}

func (p *plumbing) closeTheirs() {
	for _, file := range p.theirs {
		_ = file.Close() // a pipe's end
	}
}

func (p *plumbing) closeOurs() {
	for _, fd := range p.ours {
		_ = unix.Close(fd) // a pipe's end
	}
}

// deaf hears of a plugin's standard input, of which there is nothing to hear:
// a plugin may close it.
type deaf struct{}

func (deaf) Receive(time.Duration, []byte) {}
func (deaf) Hangup(time.Duration, error)   {}

// start starts a program and watches its end.
func (r *Reactor) start(p *program) error {
	var pidfd int
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, PidFD: &pidfd}
	// A program inherits the timer slack of the thread that starts it, and ours
	// may have a very large one. Programs are used to the kernel's.
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, programSlack, 0, 0, 0)
	err := p.cmd.Start()
	runtime.UnlockOSThread()
	if err != nil {
		return err
	}
	err = errors.New("its end cannot be watched: that needs Linux 5.3; start it by hand")
	if pidfd >= 0 {
		_, err = r.newPort(pidfd, p)
	}
	if err != nil {
		p.Signal(unix.SIGKILL)
		_ = p.cmd.Wait()
	}
	return err
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
	if p.sweep {
		p.Signal(unix.SIGKILL)
	}
	p.reaped = true
	p.exited(now, p.cmd.Wait())
}
