package writelog

import (
	"errors"
	"path/filepath"
	"time"

	"player/devices"
)

// Recording is what a recorder does.
type Recording struct {
	On       bool      `json:"on"`
	Failed   bool      `json:"failed,omitempty"` // the disk has ended it
	Manual   bool      `json:"manual"`           // Record starts and stops it
	File     string    `json:"file"`             // the name of the log, without its directory
	Since    time.Time `json:"since"`            // of this recording, or the last one; zero: there was none
	Messages int       `json:"messages"`         // of it
	Bytes    int64     `json:"bytes"`            // of their payloads
}

var (
	errAlways = errors.New("the configuration has it record all the time: manual 1 would let you stop it")
	errBusy   = errors.New("the last recording is still being written")
	errOff    = errors.New("the recorder is off")
)

// Manual reports whether Record starts and stops it.
func (d *Driver) Manual() bool { return d.manual }

// Recording returns the state. Like Record it is called on the loop.
func (d *Driver) Recording() *Recording {
	r := new(Recording)
	*r = d.counted
	r.On, r.Failed = d.state == recording && d.running(), d.state == failed
	r.Manual, r.File = d.manual, filepath.Base(d.disk.path)
	return r
}

// Record starts a recording, in a new file, or stops it. It has no effect if that is
// so already.
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
