package reactor

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// clock is the only clock of the server. It has the time since its start, and one timerfd in the
// loop, which is armed for the earliest deadline.
type clock struct {
	start  time.Time
	base   time.Duration // CLOCK_MONOTONIC at start, for absolute deadlines
	fd     int           // of the timer; the loop polls a duplicate
	polled bool          // the loop polls the duplicate
	armed  time.Duration // the deadline that is set; zero: none
}

func (c *clock) open() error {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("cannot make the timer: %w", err)
	}
	c.fd = fd
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return fmt.Errorf("cannot read the clock: %w", err)
	}
	c.start, c.base = time.Now(), time.Duration(ts.Nano())
	return nil
}

// now returns the time since open, never zero.
func (c *clock) now() time.Duration { return time.Since(c.start) + 1 }

// arm sets the timer for the absolute deadline at, or disarms it.
func (c *clock) arm(at time.Duration, armed bool) {
	if !armed {
		at = 0
	}
	if !c.polled || at == c.armed {
		return
	}
	var spec unix.ItimerSpec
	if at != 0 {
		spec.Value = unix.NsecToTimespec(int64(c.base + at))
	}
	if unix.TimerfdSettime(c.fd, unix.TFD_TIMER_ABSTIME, &spec, nil) == nil {
		c.armed = at
	}
}

func (c *clock) close() {
	if c.fd > 0 {
		unix.Close(c.fd)
	}
}
