package host

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
	"player/process/lastwords"
	"player/process/slack"
	"player/reactor"
	"player/timers"
)

// program is a process that a driver has started. Its pidfd is in the loop. It becomes readable when
// the process ends, and reading it fails, so the loop calls Hangup. The process is reaped there and
// not before, so that the kernel does not give its number, or its group's, to another process.
type program struct {
	cmd     *exec.Cmd
	exited  func(now time.Duration, err error)
	release func()           // of the descriptor of its process
	sweep   bool             // kill the rest of its process group when it has ended
	group   *lastwords.Words // its process group, which the guard kills; nil: the guard does not
	reaped  bool

	// The end of a plugin is reported behind its output, which may say why it has ended.
	err    error         // of the end, once the process is reaped
	output bool          // its standard output is open
	limit  *timers.Timer // reports the end although the output is open
	timers *timers.Queue
}

// outputLimit is how long the end of a plugin waits for the end of its output. The kernel ends it with
// the last process of the group. A process that has left the group may keep it open for longer; its
// bytes are read, but the plugin counts as ended.
const outputLimit = 100 * time.Millisecond

// output is a plugin's standard output.
type output struct {
	devices.PortHandler
	program *program
}

func (o output) Hangup(now time.Duration, err error) {
	o.PortHandler.Hangup(now, err)
	o.program.output = false
	if o.program.reaped {
		o.program.timers.Stop(o.program.limit)
		o.program.report(now)
	}
}

// report reports the end once.
func (p *program) report(now time.Duration) {
	if exited := p.exited; exited != nil {
		p.exited = nil
		exited(now, p.err)
	}
}

// StartProgram implements devices.Host.
func (h *Host) StartProgram(exited func(now time.Duration, err error), name string, args ...string) (devices.Program, error) {
	p := &program{cmd: exec.Command(name, args...), exited: exited}
	p.cmd.Stdout, p.cmd.Stderr = os.Stderr, os.Stderr
	if err := h.start(p); err != nil {
		return nil, fmt.Errorf("program %s: %w", name, err)
	}
	return p, nil
}

// StartPlugin implements devices.Host.
func (h *Host) StartPlugin(stdout, stderr devices.PortHandler, exited func(now time.Duration, err error), name string, args ...string) (devices.Program, devices.Port, error) {
	p := &program{cmd: exec.Command(name, args...), exited: exited, sweep: true, output: true, timers: h.timers}
	p.limit = timers.NewTimer(func(now time.Duration) time.Duration {
		p.report(now)
		return 0
	})
	// Take them before anything is opened: two for each pipe, which Open takes again below.
	if err := h.loop.Descriptors().Take(6); err != nil {
		return nil, nil, fmt.Errorf("plugin %s: %w", name, err)
	}
	var ends pipes
	p.cmd.Stdin = ends.end(0)
	p.cmd.Stdout, p.cmd.Stderr = ends.end(1), ends.end(1)
	err := ends.err
	if err == nil {
		err = h.start(p)
	}
	ends.closeTheirs()
	h.loop.Descriptors().Return(6)
	if err != nil {
		ends.closeOurs()
		return nil, nil, fmt.Errorf("plugin %s: %w", name, err)
	}
	// open takes the descriptors over, also when it fails.
	_, errOut := h.open(ends.ours[1], output{stdout, p})
	p.output = errOut == nil
	_, errErr := h.open(ends.ours[2], stderr)
	stdin, errIn := h.open(ends.ours[0], ignore{})
	if err := errors.Join(errIn, errOut, errErr); err != nil {
		h.log.Error("plugin stopped: its pipes cannot be opened", zap.String("plugin", name), zap.Error(err))
		p.Signal(unix.SIGKILL) // exited is called when it has ended
		if errIn != nil {
			closed := &reactor.Descriptor{}
			closed.Close()
			stdin = closed
		}
	}
	return p, stdin, nil
}

// pipes are the pipes of a plugin.
type pipes struct {
	theirs []*os.File
	ours   []int
	err    error
}

// end makes a pipe and returns the plugin's end of it: 0 reads, 1 writes.
func (p *pipes) end(theirs int) *os.File {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		p.err = errors.Join(p.err, err)
		return nil
	}
	if theirs == 0 {
		// The smallest size there is: the bytes that a plugin has not read are old commands.
		_, _ = unix.FcntlInt(uintptr(pipe[0]), unix.F_SETPIPE_SZ, os.Getpagesize())
	}
	// Only our end does not block: programs expect that reading and writing waits.
	p.err = errors.Join(p.err, unix.SetNonblock(pipe[1-theirs], true))
	p.ours = append(p.ours, pipe[1-theirs])
	file := os.NewFile(uintptr(pipe[theirs]), "plugin")
	p.theirs = append(p.theirs, file)
	return file
}

func (p *pipes) closeTheirs() {
	for _, file := range p.theirs {
		_ = file.Close() // a pipe's end
	}
}

func (p *pipes) closeOurs() {
	for _, fd := range p.ours {
		_ = unix.Close(fd) // a pipe's end
	}
}

// ignore ignores events on a plugin's standard input: the plugin may close it.
type ignore struct{}

func (ignore) Receive(time.Duration, []byte) {}
func (ignore) Hangup(time.Duration, error)   {}

// start launches a program, and has the guard end it if this process is killed.
func (h *Host) start(p *program) error {
	err := h.launch(p)
	if err == nil {
		p.group = h.guard.book.KeepGroup(p.cmd.Process.Pid)
	}
	return err
}

// launch starts a program and watches its end. It needs two descriptors: the loop polls the pidfd,
// and exec.Cmd keeps another one.
func (h *Host) launch(p *program) error {
	if err := h.loop.Descriptors().Take(3); err != nil {
		return err
	}
	h.loop.Descriptors().Return(2) // Open takes them again
	p.release = func() { h.loop.Descriptors().Return(1) }
	err := h.execute(p)
	if err != nil {
		p.release()
	}
	return err
}

func (h *Host) execute(p *program) error {
	var pidfd int
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, PidFD: &pidfd}
	// A program inherits the timer slack of the thread that starts it. Programs expect the
	// kernel's, but the server may have been started with another one.
	runtime.LockOSThread()
	slack.TakeBack()
	err := p.cmd.Start()
	runtime.UnlockOSThread()
	if err != nil {
		return err
	}
	err = errors.New("its end cannot be watched, which needs Linux 5.3: start it by hand")
	if pidfd >= 0 {
		_, err = h.open(pidfd, p)
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
	// The loop hangs up on all descriptors when it ends: a program that still
	// runs is not waited for.
	var info unix.Siginfo
	if unix.Waitid(unix.P_PID, p.cmd.Process.Pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) != nil || info.Signo == 0 {
		return
	}
	if p.sweep {
		p.Signal(unix.SIGKILL)
	}
	if p.group != nil {
		p.group.Drop()
	}
	p.reaped = true
	p.err = p.cmd.Wait()
	p.release()
	if p.output {
		p.timers.Set(p.limit, now+outputLimit)
		return
	}
	p.report(now)
}
