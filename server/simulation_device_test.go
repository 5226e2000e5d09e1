package server

import (
	"time"

	"player/devices"
	"player/server/status"
)

// The status of the devices of a robot in the simulation, and its judge: the status is the truth about
// the data that has come.

// watchDevices checks the state and the age of the devices that clients have open.
func (r *simRobot) watchDevices() {
	s := r.sim
	if s.now < s.busy || s.now < r.garbled+4*time.Second { // what has come is not all known
		return
	}
	all := r.state().Devices
	for name, d := range all {
		link, newest, started := r.link, r.newestSure(), last(r.starts)
		switch {
		case name == "laser":
			scanner, ok := r.scanner.(*simpleScanner)
			if !ok {
				continue // when a scan of an emulated laser is whole, only its driver knows
			}
			link, newest, started = scanner.run.link, last(scanner.run.scans), scanner.run.readyAt
		case name == "position" && r.reflexes:
			continue // it has a driver of its own
		case r.port == nil || s.now < r.port.opened+6*time.Second:
			continue // its driver greets it, and does not use its reports
		}
		if link == nil || link.State() != devices.Ready || !d.Open {
			continue
		}
		age := s.now - newest
		s.summary.States++
		switch {
		case d.State == status.Stale && age < 2900*time.Millisecond:
			s.fail("%s: the status shows %s as %s, and its newest data is of %v", r.path, name, d.State, newest)
		case d.State == status.Ready && age > 3100*time.Millisecond && s.now > started+15*time.Second:
			s.fail("%s: the status shows %s as %s, and its newest data is of %v", r.path, name, d.State, newest)
		case d.State != status.Stale && d.State != status.Ready:
			s.fail("%s: the status shows %s as %s, and it works", r.path, name, d.State)
		}
		if d.Age != nil && newest > started {
			if off := time.Duration(*d.Age) - age; off < -time.Millisecond || off > time.Millisecond {
				s.fail("%s: the status shows data of %s %v old, and it is of %v", r.path, name, time.Duration(*d.Age), newest)
			}
		}
	}
}

// newestSure returns when the driver was given the newest report that it has surely read.
func (r *simRobot) newestSure() time.Duration {
	for i := len(r.reports) - 1; i >= 0; i-- {
		if !r.reports[i].unsure {
			return r.reports[i].at
		}
	}
	return 0
}

// last returns the last of some moments, zero if there is none.
func last(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1]
}
