package stage

import (
	"runtime"
	"time"

	"player/devices"
)

// This file computes the scans of a world that is faster than real time, or in lockstep, on
// all processors. In real time each driver computes its own scan when it reports, because
// the loop must not wait for the scans of other drivers.
//
// A scan only reads the world, and its errors follow from the robot and the time. So it
// does not matter which processor computes it, nor how many there are.

// moment is a state of the world.
type moment struct {
	sim   time.Duration
	moved int // by hand
}

// scanning is the work of an instant.
type scanning struct {
	done     moment // for which all scans are known
	due      []*Driver
	scanners []*scanner // of the workers; the first is the loop's
}

// Fast reports whether the world is in lockstep or faster than real time.
func (w *World) Fast() bool { return w.lockstep.need > 0 || w.speed == 0 || w.speed > 1 }

// updateScans computes the scans for a report of d, and also the scans of all drivers that
// report at this instant.
func (d *Driver) updateScans() {
	w := d.world
	if w.Fast() {
		w.scanAll()
	}
	d.scan(w.scanning.scanners[0])
}

// scan computes the scans of the open devices unless they are known.
func (d *Driver) scan(c *scanner) {
	now := moment{d.world.sim, d.world.moved}
	sonar := d.subscribed(d.sonar) && d.sonarSeen != now
	if !sonar && !wanted(d, d.lasers, now) && !wanted(d, d.rangers, now) {
		return
	}
	c.prepare(d.robot)
	if sonar {
		d.robot.scanSonars(c, &d.sonarData)
		d.sonarBuf, d.sonarSeen = d.sonarData.Append(d.sonarBuf[:0]), now
	}
	for i := range d.lasers {
		if s := &d.lasers[i]; s.wanted(d, now) {
			d.robot.scanLaser(c, i, &s.data)
			s.buf, s.seen = s.data.Append(s.buf[:0]), now
		}
	}
	for i := range d.rangers {
		if s := &d.rangers[i]; s.wanted(d, now) {
			d.robot.scanRanger(c, i, &s.data)
			s.buf, s.seen = s.data.Append(s.buf[:0]), now
		}
	}
}

// scanned is a laser or a ranger, and its newest data.
type scanned[T any] struct {
	device *devices.Device
	seen   moment // of the data
	data   T
	buf    []byte // its payload
}

// wanted reports whether the device is open, and its readings of that moment are not known.
func (s *scanned[T]) wanted(d *Driver, now moment) bool {
	return s.seen != now && d.subscribed(s.device)
}

// wanted reports whether any of several devices is wanted.
func wanted[T any](d *Driver, list []scanned[T], now moment) bool {
	for i := range list {
		if list[i].wanted(d, now) {
			return true
		}
	}
	return false
}

// publish publishes the readings of the device if it is open.
func (s *scanned[T]) publish(d *Driver, now time.Duration) {
	if d.subscribed(s.device) {
		s.device.Publish(now, s.buf)
	}
}

// scanAll computes the scans of this instant, once.
func (w *World) scanAll() {
	l, now := &w.scanning, moment{w.sim, w.moved}
	if l.done == now {
		return
	}
	l.done = now
	workers := runtime.GOMAXPROCS(0)
	if workers < 2 {
		return
	}
	l.due = l.due[:0]
	for _, s := range w.drivers {
		if s.scans != nil && s.due < w.sim+StepTime {
			l.due = append(l.due, s.scans)
		}
	}
	workers = min(workers, len(l.due))
	if workers < 2 {
		return
	}
	for len(l.scanners) < workers {
		l.scanners = append(l.scanners, newScanner())
	}
	w.pool.run(workers, len(l.due), 1, l)
}

// do implements work: the scans of drivers.
func (l *scanning) do(worker, first, end int) {
	for _, d := range l.due[first:end] {
		d.scan(l.scanners[worker])
	}
}
