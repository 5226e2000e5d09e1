package server

import (
	"encoding/binary"
	"io"
	"slices"
	"time"

	"player/devices"
)

// scanner provides the laser of a robot.
type scanner interface {
	// driver returns a new driver, and a function by which its link takes the place of the former one.
	driver() (kind devices.Kind, d devices.Driver, adopt func(link *devices.Link))
	current() *devices.Link
	// newest is when the newest scan was published.
	newest() time.Duration
	watch()
	// checkData checks that a scan is true, of the time that its age says, of this run, and the newest when it
	// was sent.
	checkData(c *simClient, scan []byte, taken, written time.Duration)
}

// simpleScanner is a scanner whose driver is also simulated.
type simpleScanner struct{ run *simScanner }

func (d *simpleScanner) driver() (devices.Kind, devices.Driver, func(*devices.Link)) {
	next := &simScanner{sim: d.run.sim}
	return devices.Kind{Name: "scanner", Provides: []devices.Spec{devices.Laser()}}, next, func(link *devices.Link) {
		next.link, next.scans, next.starts = link, d.run.scans, d.run.starts // frames with them may be under way
		d.run = next
	}
}

func (d *simpleScanner) current() *devices.Link { return d.run.link }

func (d *simpleScanner) newest() time.Duration {
	if n := len(d.run.scans); n > 0 {
		return d.run.scans[n-1]
	}
	return 0
}

func (d *simpleScanner) watch() {
	if state := d.run.link.State(); state != devices.Lost && state != devices.Starting {
		d.run.crashed = false
	}
}

func (d *simpleScanner) checkData(c *simClient, scan []byte, taken, written time.Duration) {
	d.run.checkData(c, scan, taken, written)
}

// simScanner is a driver whose first data comes late, sometimes never, and whose
// setup may fail. It implements devices.Driver.
type simScanner struct {
	sim     *sim
	link    *devices.Link
	ready   bool
	readyAt time.Duration
	crashed bool
	slow    bool            // its next setup takes long
	starts  []time.Duration // of its runs
	scans   []time.Duration // when it has published
}

func (d *simScanner) Setup(now time.Duration, link *devices.Link) {
	d.link, d.ready = link, false
	if !d.crashed { // else it is not started anew
		d.starts = append(d.starts, now)
	}
	if d.slow { // and it works
		d.slow = false
		d.readyIn(now, d.sim.between(6*time.Second, 7*time.Second))
		return
	}
	d.mayPanic(50)
	if d.sim.chance(10) {
		link.Fail(now, io.ErrUnexpectedEOF)
		return
	}
	if d.sim.chance(3) {
		d.Tick(now)
	}
	d.readyIn(now, d.sim.wait(500*time.Millisecond))
}

// readyIn ends the setup after so long. The loop may be late then, so that frames are due with it.
func (d *simScanner) readyIn(now, takes time.Duration) {
	if d.sim.chance(2) {
		d.sim.after(takes-1, func() { d.sim.delay(d.sim.between(0, 100*time.Millisecond)) })
	}
	d.link.WakeAt(now + takes)
}

func (d *simScanner) Shutdown(now time.Duration) {
	d.ready = false
	d.mayPanic(50)
	d.link.Stopped(now)
}

func (d *simScanner) mayPanic(n int) {
	if d.sim.chance(n) {
		d.crashed = true
		d.sim.summary.Panics++
		d.sim.note("the scanner's driver panics")
		panic(intended)
	}
}

func (d *simScanner) Tick(now time.Duration) time.Duration {
	if !d.ready {
		d.ready, d.readyAt = true, now
		if d.sim.chance(2) { // frames need not wait for its first data
			d.publish(now)
		}
		d.link.Ready(now)
		return now + d.sim.wait(time.Second)
	}
	d.mayPanic(500)
	d.publish(now)
	if d.sim.chance(30) {
		return now + d.sim.wait(5*time.Second)
	}
	return now + 200*time.Millisecond
}

func (d *simScanner) publish(now time.Duration) {
	if last(d.scans) != now {
		d.scans = append(d.scans, now)
	}
	scan := make([]byte, 722)
	binary.BigEndian.PutUint64(scan, uint64(now))
	d.link.Devices()[0].Publish(now, scan)
}

// checkData checks that a scan is of the time that its age says, of this run, and
// was the newest when it was sent.
func (d *simScanner) checkData(c *simClient, scan []byte, taken, written time.Duration) {
	s := d.sim
	at := time.Duration(binary.BigEndian.Uint64(scan))
	i, known := slices.BinarySearch(d.scans, at)
	switch off := at - taken; {
	case !known:
		s.fail("%v: a scan that was never published: %x", c, scan[:8])
	case off < -time.Microsecond || off > time.Microsecond:
		s.fail("%v: a scan of %v has an age as if it was of %v", c, at, taken)
	case i+1 < len(d.scans) && d.scans[i+1] < written:
		s.fail("%v: a scan of %v was sent at %v, and there was one of %v", c, at, written, d.scans[i+1])
	}
	for _, start := range d.starts {
		if at < start && start < written {
			s.fail("%v: a scan of %v is from before the start at %v", c, at, start)
		}
	}
}
