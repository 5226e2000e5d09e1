package readlog

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"player/devices"
)

// Playback is the position and state of a log's playback. Times are ns since 1970, as recorded.
type Playback struct {
	Start int64   `json:"start"` // of the log
	End   int64   `json:"end"`
	Time  int64   `json:"time"` // the time in the log that is played now
	Speed float64 `json:"speed"`
	State State   `json:"state"`
	Steps bool    `json:"steps,omitempty"` // it is played on request only: Control fails
}

// State of a playback.
type State string

const (
	Off     State = "off" // no client has a device open: the log will be played from its start
	Playing State = "playing"
	Paused  State = "paused"
	Ended   State = "ended"
)

// Control changes a playback. Fields that are nil change nothing.
type Control struct {
	Pause *bool
	Speed *float64 // relative to the recording, 0.01 to 100
	Seek  *int64   // ns since 1970; a time outside the log means its start or its end
}

// minSpeed and maxSpeed are also the limits of the option rate.
const minSpeed, maxSpeed = 0.01, 100

var (
	errSteps = errors.New("the log is played step by step: its driver has step 1")
	errRead  = errors.New("the log cannot be read any more: the server's log has the reason")
	errOff   = errors.New("the log is not played: no client has a device of it open")
)

// Playback returns the state at now. Like Control it is called on the loop.
func (d *Driver) Playback(now time.Duration) *Playback {
	p := &Playback{Start: d.first, End: d.last, Time: d.position(now), Speed: d.speed, State: Playing, Steps: d.options.Step}
	switch {
	case d.link == nil || d.link.State() != devices.Ready:
		p.State, p.Time, p.Speed = Off, d.first, d.options.Rate
	case d.log == nil:
		p.State, p.Time = Ended, d.last
	case d.paused:
		p.State = Paused
	}
	return p
}

// position returns the time of the log that is played at now.
func (d *Driver) position(now time.Duration) int64 {
	switch {
	case d.begins:
		return d.first
	case d.paused || d.seeking:
		return d.origin
	}
	return min(max(d.origin+int64(float64(now-d.base)*d.speed), d.first), d.last)
}

// Control changes the playback. After a seek each device publishes its data of that time.
// After the end of the log, Pause false plays it from its start.
func (d *Driver) Control(now time.Duration, c Control) error {
	switch {
	case d.options.Step:
		return errSteps
	case d.link == nil || d.link.State() != devices.Ready:
		return errOff
	case c.Speed != nil && !(*c.Speed >= minSpeed && *c.Speed <= maxSpeed):
		return fmt.Errorf("speed %g: it is %g to %d", *c.Speed, minSpeed, int(maxSpeed))
	}
	ended := d.log == nil
	if ended && c.Seek == nil && c.Pause != nil && !*c.Pause {
		c.Seek = &d.first
	}
	// From here on time counts from now.
	if !d.begins {
		d.origin, d.base = d.position(now), now
	}
	if c.Speed != nil {
		d.speed = *c.Speed
	}
	if c.Pause != nil {
		d.paused = *c.Pause
		if d.begins && !d.paused {
			d.base = now
		}
	}
	if c.Seek != nil {
		if err := d.seek(now, min(max(*c.Seek, d.first), d.last)); err != nil {
			d.link.Log().Error("the log cannot be played again", zap.Error(err))
			return errRead
		}
	}
	d.link.WakeAt(d.play(now))
	return nil
}

// seek goes to a time of the log. For an earlier time it reads from the beginning, in bursts
// like all reading: a log needs no index.
func (d *Driver) seek(now time.Duration, to int64) error {
	if d.log == nil || d.begins || to < d.origin || d.seeking {
		if err := d.rewind(); err != nil {
			return err
		}
		clear(d.skipped)
	}
	d.origin, d.base, d.begins, d.seeking = to, now, false, true
	return nil
}

// arrive ends a seek.
func (d *Driver) arrive(now time.Duration) {
	for _, device := range d.link.Devices() {
		if payload, ok := d.skipped[device]; ok {
			device.Publish(now, payload)
		}
	}
	clear(d.skipped)
	d.base, d.seeking = now, false
}
