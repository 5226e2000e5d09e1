package lines

import (
	"slices"
	"time"

	"player/devices/transport"
)

// begin is Protocol.Begin: the board boots.
func (d *Driver) begin(now time.Duration) transport.Phase {
	d.booted, d.moving, d.free, d.due, d.flushAt = false, false, 0, 0, 0
	d.doubt, d.tested = false, false
	d.asked, d.awaiting, d.askAt, d.round = 0, len(d.polls) > 0, now+d.opts.Boot+answerLimit, now
	d.turned, d.drifting, d.fresh = turning{}, drift{}, [2]bool{}
	d.servos.begin()
	return booting
}

// halt appends the lines that stop the motors, if it has any.
func (d *Driver) halt(dst []byte) []byte {
	if d.stop != nil {
		dst = d.stop.append(dst, &[args]float64{})
	}
	return d.servos.halt(dst)
}

// greet appends the greeting of a board that has booted. It may have been left driving.
func (d *Driver) greet(dst []byte) []byte {
	d.booted = true
	dst = d.halt(dst)
	for _, line := range d.hello {
		dst = line.append(dst, &[args]float64{})
	}
	return dst
}

// ask appends the request of the handshake: the greeting, and the first poll until it
// is answered.
func (d *Driver) ask(dst []byte) []byte {
	if d.Tried() == 1 {
		dst = d.greet(dst)
	}
	if len(d.polls) > 0 {
		dst = d.polls[0].line.append(dst, &[args]float64{})
	}
	return dst
}

// bye is Protocol.Bye: the motors stop.
func (d *Driver) bye(dst []byte) []byte {
	if !d.booted {
		return dst
	}
	return d.halt(dst)
}

// wake is Protocol.Wake: a command or a poll is due.
func (d *Driver) wake(now time.Duration) {
	d.moving = d.moving || d.due != 0 && now >= d.due
	d.flush(now)
	d.poll(now)
}

// poll sends the next poll if it is time. It gives up a poll without an answer; then the line must settle, and one answer
// and no other must come to a poll.
func (d *Driver) poll(now time.Duration) {
	if len(d.polls) == 0 {
		return
	}
	if d.awaiting && now >= d.askAt {
		d.answered(now)
		d.doubt, d.tested, d.askAt = true, false, now+settle
	}
	if !d.awaiting && now >= d.askAt {
		d.doubt = d.doubt && !d.tested
		if d.asked == 0 {
			d.round = now
		}
		d.out = d.polls[d.asked].line.append(d.out[:0], &[args]float64{})
		d.Port().Write(d.out)
		d.awaiting, d.tested, d.askAt = true, false, now+answerLimit
	}
	d.schedule()
}

// answered continues with the next poll.
func (d *Driver) answered(now time.Duration) {
	d.awaiting, d.askAt = false, now
	if d.asked++; d.asked == len(d.polls) {
		d.asked, d.askAt = 0, max(now, d.round+d.opts.Round)
	}
}

// schedule sets the next deadline.
func (d *Driver) schedule() {
	at := d.flushAt
	if len(d.polls) > 0 && (at == 0 || d.askAt < at) {
		at = d.askAt
	}
	d.WakeAt(at)
}

func (d *Driver) receive(now time.Duration, p []byte) {
	for line, rest, ok := d.lines.Next(p); ok && d.IsOpen(); line, rest, ok = d.lines.Next(rest) {
		d.line(now, line)
	}
}

// line publishes the values of a line. The first line after the boot ends the handshake.
func (d *Driver) line(now time.Duration, line []byte) {
	if d.doubt && d.late(now, line) {
		return
	}
	answer := d.awaiting && d.polls[d.asked].answer.match(line, &d.values)
	unasked := -1
	if !answer {
		unasked = slices.IndexFunc(d.patterns, func(p pattern) bool { return p.match(line, &d.values) })
	}
	if !answer && unasked < 0 {
		if len(line) > 0 {
			d.Found()
			d.lines.Stats.Broken++
		}
		return
	}
	if !d.booted {
		return
	}
	if d.values.unknown {
		d.lines.Stats.Broken++
	}
	d.Heard(now)
	if answer && !d.IsUp() && d.Tried() > 1 {
		d.doubt, d.tested = true, true // a board that has booted late answers them all
		d.Up(now)
		d.awaiting, d.askAt = false, now+settle
		d.poll(now)
		return
	}
	d.guard.origin(d, answer, unasked)
	d.pair()
	d.guard.values(now, d)
	d.publish(now)
	d.Up(now)
	if answer {
		d.answered(now)
	}
	d.poll(now)
}

// late reports whether a line is an answer that is not believed. Only its time shows to which request it belongs.
func (d *Driver) late(now time.Duration, line []byte) bool {
	if !slices.ContainsFunc(d.polls, func(p poll) bool { return p.answer.match(line, &d.values) }) {
		return false
	}
	d.Heard(now)
	// One answer belongs to the newest poll, if no other follows.
	d.tested = d.awaiting && d.polls[d.asked].answer.match(line, &d.values)
	d.awaiting, d.askAt = false, now+settle
	d.poll(now)
	return true
}
