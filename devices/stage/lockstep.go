package stage

import (
	"time"

	"player/devices"
)

// stepLimit is how long the clients in lockstep wait for one of them, in real time. A
// control loop that needs longer has crashed or is in a debugger.
const stepLimit = 10 * time.Second

// lockstep decides whether a world in lockstep may go on. Its clients are the ones in
// request/reply mode: a client that has asked for data, and has been sent all there is,
// waits for the next step.
type lockstep struct {
	need    int  // clients that start the time; zero: the world is not in lockstep
	started bool // they came, and not all of them have left
	crew         // of all robots

	since time.Duration // server's time at which clients began to hold up others
}

// crew counts clients in lockstep. A client that neither waits nor is behind is late: it has
// been given up until it asks again.
type crew struct{ clients, waiting, behind int }

// roll is the clients of one robot.
type roll struct {
	crew
	members, spare []member
	waiters        []devices.Waiter // scratch
}

type member struct {
	who  devices.Waiter
	late bool
}

// open reports whether all clients that count have asked. If all clients of a world are
// late, it waits for them.
func (l *lockstep) open() bool {
	return l.started && l.waiting > 0 && l.behind == 0
}

// waits reports whether clients wait for others.
func (l *lockstep) waits() bool { return l.started && l.waiting > 0 && l.behind > 0 }

// deadline returns the server's time at which the clients behind are given up, zero if
// no client waits for them.
func (l *lockstep) deadline() time.Duration {
	if !l.waits() {
		return 0
	}
	return l.since + stepLimit
}

// recount notes which clients of a robot wait. present are those that are connected.
func (l *lockstep) recount(now time.Duration, r *roll, present []devices.Waiter) {
	was := r.members
	r.members = r.spare[:0]
	for _, w := range present {
		m := member{who: w}
		for _, o := range was {
			m.late = m.late || o.who == w && o.late
		}
		r.members = append(r.members, m)
	}
	r.spare = was
	before := l.waits()
	l.count(r)
	l.started = l.clients > 0 && (l.started || l.clients >= l.need)
	if !before && l.waits() {
		l.since = now
	}
}

// giveUp makes those clients of a robot late that are behind. It returns their number.
func (l *lockstep) giveUp(r *roll) int {
	late := r.behind
	for i := range r.members {
		m := &r.members[i]
		m.late = m.late || !m.who.Waits()
	}
	l.count(r)
	return late
}

func (l *lockstep) count(r *roll) {
	before := r.crew
	r.crew = crew{clients: len(r.members)}
	for i := range r.members {
		m := &r.members[i]
		switch {
		case m.who.Waits():
			m.late = false
			r.waiting++
		case !m.late:
			r.behind++
		}
	}
	l.clients += r.clients - before.clients
	l.waiting += r.waiting - before.waiting
	l.behind += r.behind - before.behind
}
