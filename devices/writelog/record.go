package writelog

import (
	"errors"
	"time"

	"player/devices"
)

var (
	errAlways = errors.New("the configuration has it record all the time: manual 1 would let you stop it")
	errBusy   = errors.New("the last recording is still being written")
	errOff    = errors.New("the recorder is off")

	errPanicked = errors.New("the recorder has panicked")
)

// Manual reports whether Record starts and stops it.
func (d *Driver) Manual() bool { return d.manual }

// Recording implements devices.Recorder. Like Record it is called on the loop.
func (d *Driver) Recording() devices.Recording {
	r := d.counted
	r.File, r.Manual = d.disk.path, d.manual
	switch {
	case d.link != nil && d.link.SetupError() != nil:
		r.Err = d.link.SetupError()
	case d.link != nil && d.link.State() == devices.Lost:
		r.Err = errPanicked
	case d.state != waiting && d.disk.full != nil && d.hasEnded():
		r.Err = d.disk.err
	}
	r.On = d.state == recording && d.running() && r.Err == nil
	return r
}

// Record starts a recording, in a new file, or stops it. It has no effect if the driver is
// in that state already.
func (d *Driver) Record(now time.Duration, on bool) error {
	switch {
	case !d.manual:
		return errAlways
	case !d.running():
		return errOff
	case on && d.state == ending:
		return errBusy
	case on && d.state != recording:
		d.begin(now)
	case !on && d.state == recording:
		d.finish(now, ending)
	}
	return nil
}

func (d *Driver) running() bool { return d.link != nil && d.link.State() == devices.Ready }
