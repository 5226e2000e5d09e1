package acts

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"

	"player/devices"
	"player/devices/retry"
	"player/devices/transport"
)

const (
	// setupRetry is how often the server is tried during setup: an ACTS that we have
	// started is found that soon after it listens. It ends with setupLimit.
	setupRetry = 100 * time.Millisecond
)

// search tries one address after the other, again and again.
type search struct {
	at       int           // index of the address that was tried last
	heard    bool          // a program listens at one of the addresses
	troubles []string      // the fault of each address
	giveUp   time.Duration // end of the setup at the latest; zero: it is over
	retry    retry.Retry

	program devices.Program // that we have started; nil: it has ended
	started time.Duration   // when it was started, zero: never since Setup
}

func (d *Driver) address() string { return d.addresses[d.at] }

// seek starts with the first address.
func (d *Driver) seek(now time.Duration) {
	d.at, d.heard = 0, false
	d.dial(now)
}

// dial connects to the address and requests an image: only an answer proves
// that there is an ACTS.
func (d *Driver) dial(now time.Duration) {
	d.found = false
	d.parser = Parser{Detect: true, Framing: transport.Framing{Stats: d.parser.Stats}}
	conn, err := d.link.Host().Dial(d.address(), d)
	if err != nil {
		d.lost(now, err)
		return
	}
	d.conn = conn
	d.ask(now)
}

// lost continues after a connection that was lost or refused.
func (d *Driver) lost(now time.Duration, err error) {
	d.troubles[d.at] = err.Error()
	d.heard = d.heard || !errors.Is(err, syscall.ECONNREFUSED)
	switch {
	case d.found:
		d.wait(resting, d.retry.Failed(now, d.link.Log(), err))
	case d.at+1 < len(d.addresses):
		d.at++
		d.dial(now)
	case d.giveUp == 0:
		if !d.heard && d.program == nil && d.started != 0 && now >= d.started+setupLimit {
			if failure := d.start(now); failure != nil {
				d.started, err = now, failure // the next start is not at once
			}
		}
		d.wait(resting, d.retry.Failed(now, d.link.Log(), err))
	default:
		if !d.heard && d.started == 0 {
			if err := d.start(now); err != nil {
				d.fail(now, err)
				return
			}
		}
		d.wait(resting, now+setupRetry)
	}
}

// start starts the program.
func (d *Driver) start(now time.Duration) error {
	var program devices.Program
	exited := func(now time.Duration, err error) {
		if d.program == program {
			d.program = nil
			d.exited(now, err)
		}
	}
	program, err := d.link.Host().StartProgram(exited, "acts", "-t", d.configFile, "-s", strconv.Itoa(d.port))
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("nothing listens on %s, and there is no program acts in PATH: start ACTS, or add its folder to PATH", strings.Join(d.addresses, " or "))
	case err != nil:
		return err
	}
	d.program, d.started = program, now
	d.link.Log().Info("started the program acts", zap.Int("port", d.port), zap.String("config", d.configFile))
	return nil
}

// exited is called when the program has ended.
func (d *Driver) exited(now time.Duration, err error) {
	how := "exit status 0"
	if err != nil {
		how = err.Error()
	}
	switch {
	case d.state == stopping:
		d.stopped(now)
	case d.giveUp != 0:
		d.fail(now, fmt.Errorf("the program acts ended before it answered: %s", how))
	default:
		d.link.Log().Warn("the program acts ended", zap.Int("port", d.port), zap.String("how", how))
	}
}

// fail ends the setup. A program that has never answered is killed at once.
func (d *Driver) fail(now time.Duration, err error) {
	d.disconnect()
	if d.program != nil {
		d.program.Signal(syscall.SIGKILL)
		d.program = nil
	}
	d.wait(off, 0)
	d.link.Fail(now, fmt.Errorf("acts %d: %w", d.port, err))
}

// arrived is called at the first answer on a connection.
func (d *Driver) arrived(now time.Duration) {
	log := d.link.Log().With(zap.String("address", d.address()))
	if d.giveUp == 0 {
		d.retry.Worked(now, log)
		return
	}
	log.Info("ACTS answers")
	d.giveUp = 0
	d.link.Ready(now)
}
