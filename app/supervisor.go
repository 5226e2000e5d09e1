package app

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/config"
	"player/timers"
)

// supervisor is the service manager that started the program, which wants to know
// when it serves and when it ends: sd_notify(3), sd_watchdog_enabled(3).
type supervisor struct {
	socket   string        // path of its socket, "@" for an abstract one; empty: there is none
	watchdog time.Duration // it restarts a program that is silent for longer; 0: it does not
	log      *zap.Logger
}

// longest is the longest time.Duration in microseconds, 292 years. systemd counts further.
const longest = uint64(math.MaxInt64 / time.Microsecond)

// newSupervisor reads the variables of systemd from the environment.
func newSupervisor(env func(string) string, log *zap.Logger) supervisor {
	s := supervisor{socket: env("NOTIFY_SOCKET"), log: log}
	usec, err := strconv.ParseUint(env("WATCHDOG_USEC"), 10, 64)
	if pid := env("WATCHDOG_PID"); err == nil && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		s.watchdog = time.Duration(min(usec, longest)) * time.Microsecond
	}
	return s
}

// notify sends assignments, one a line. It does not block.
func (s supervisor) notify(state string) {
	if s.socket == "" {
		return
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd)
		err = unix.Sendto(fd, []byte(state), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, &unix.SockaddrUnix{Name: s.socket})
	}
	if err != nil {
		s.log.Warn("the service manager cannot be notified", zap.String("socket", s.socket), zap.Error(err))
	}
}

// ready is called on the loop when clients can connect. run starts a timer on it, so
// the watchdog sees a loop that hangs; it wakes the program twice in its time.
func (s supervisor) ready(ctx context.Context, run func(timers.Func), status string) {
	s.notify("READY=1\nSTATUS=" + status)
	context.AfterFunc(ctx, func() { s.notify("STOPPING=1\nSTATUS=stopping the motors") })
	if s.watchdog > 0 {
		run(func(now time.Duration) time.Duration {
			s.notify("WATCHDOG=1")
			return now + s.watchdog/2
		})
	}
}

// reloading announces that the configuration is read again, which ends with READY=1.
func (s supervisor) reloading() {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // every Linux has this clock
	s.notify(fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d\nSTATUS=reading the configuration again", now.Nano()/1000))
}

// statusLine is the line that systemctl status shows.
func statusLine(conf *config.Server) string {
	text := fmt.Sprintf("serving %d robots on ports", len(conf.Robots))
	if len(conf.Robots) == 1 {
		text = "serving a robot on port"
	}
	for _, robot := range conf.Robots[:min(len(conf.Robots), 10)] {
		text += " " + strconv.Itoa(robot.Port)
	}
	if len(conf.Robots) > 10 {
		text += " ..."
	}
	return text
}
