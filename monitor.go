package main

import (
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"player/devices"
)

// monitorSlack is how late the thread that the Go runtime watches itself with
// may wake. It bounds how long a goroutine beside the loop, such as the one
// that hears of a signal, can wait for the processor while the loop has nothing
// to do; a shorter one costs wakes a second, 16 instead of 10 for 50 clients at
// 10 Hz with this one, 58 with the kernel's 50 us.
const monitorSlack = 250 * time.Millisecond

// goProcessors is the environment variable that says how many threads may run Go
// code at a time.
const goProcessors = "GOMAXPROCS"

// relaxMonitor has that thread, sysmon, wake when the processor is awake
// anyway. It is made to take the processor from a goroutine that waits in a
// system call and to give it to another, and wakes after 20 us, again and again,
// whenever the program does something: five times for each time the loop wakes,
// and for a sixth of the server's time with 50 clients at 50 Hz. That is for
// nothing if the loop is alone.
//
// The kernel knows timer slack for that, which a thread inherits from the one
// that makes it and keeps through exec. Only sysmon is made before main, so the
// program sets the slack, executes itself, and takes the slack back from all
// threads but sysmon. Where that cannot be, everything stays as it was.
//
// The second one must begin with one processor for Go, not only go on with one:
// of more, threads that look for work would sleep for the length of the slack.
func relaxMonitor() {
	runtime.LockOSThread() // whose slack it is
	defer runtime.UnlockOSThread()
	defer func() { _ = setSlack(0) }()
	if relaxed() {
		_ = os.Unsetenv(goProcessors) // it is not for programs that we start
		return
	}
	path, err := os.Executable()
	if err != nil || os.Getenv(goProcessors) != "" || setSlack(monitorSlack) != nil || !relaxed() {
		return
	}
	_ = syscall.Exec(path, os.Args, append(os.Environ(), goProcessors+"=1")) // returns if it cannot be
}

// relaxed says whether this thread has the slack that is meant for sysmon.
func relaxed() bool {
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	return err == nil && slack == int(monitorSlack)
}

// setSlack sets the timer slack of this thread, and of those that it will make.
// Zero stands for what it had when the process began.
func setSlack(slack time.Duration) error {
	return unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0)
}

// alone says that the loop will be the only goroutine that works: there is no
// window, and no driver that waits for something beside the loop. Of a file
// that cannot be read, or only once, it says no; what is wrong with it is told
// elsewhere.
func (o options) alone() bool {
	if info, err := os.Stat(o.file); o.file != "" && (err != nil || !info.Mode().IsRegular()) {
		return false
	}
	file, err := o.parseConfig()
	if err != nil {
		return false
	}
	kinds := catalogue()
	for _, block := range file.Global.Sections("driver") {
		name := block.String("name", "")
		i := slices.IndexFunc(kinds, func(k devices.Kind) bool { return k.Name == name })
		if i >= 0 && (kinds[i].Beside || kinds[i].NewAll != nil && o.http == "") {
			return false // a simulated world has a window
		}
	}
	return o.http == "" || o.http == "off"
}
