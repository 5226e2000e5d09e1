package stage

import (
	"runtime"
	"time"
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
	laser := d.subscribed(d.laser) && d.laserSeen != now
	ranger := false
	for i := range d.rangers {
		ranger = ranger || d.wants(&d.rangers[i], now)
	}
	if !sonar && !laser && !ranger {
		return
	}
	c.prepare(d.robot)
	if sonar {
		d.robot.scanSonars(c, &d.sonarData)
		d.sonarBuf, d.sonarSeen = d.sonarData.Append(d.sonarBuf[:0]), now
	}
	if laser {
		d.robot.scanLaser(c, &d.laserData)
		d.laserBuf, d.laserSeen = d.laserData.Append(d.laserBuf[:0]), now
	}
	for i := range d.rangers {
		if g := &d.rangers[i]; ranger && d.wants(g, now) {
			d.robot.scanRanger(c, i, &g.data)
			g.buf, g.seen = g.data.Append(g.buf[:0]), now
		}
	}
}

// wants reports whether a ranger is open and its readings are not known.
func (d *Driver) wants(g *rangerData, now moment) bool {
	return g.seen != now && d.subscribed(g.device)
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
