package p2os

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/devices"
	"player/devices/transport"
)

// speeds are tried in this order, in baud, after the one that worked last. Robots
// leave the factory with the first; the second is what their owners set to get more
// sonar readings. Other programs leave a robot at one of the others.
var speeds = [...]int{9600, 38400, 19200, 57600, 115200}

// searchStep is a part of the search for a robot of unknown speed.
type searchStep struct {
	speed int           // place in the order of speeds
	close bool          // begin with CLOSE
	tries int           // SYNC0 is sent so often
	wait  time.Duration // for each answer; the original server waits 200 ms for the only one
}

// search is the way in which a robot is looked for. It ends in 1.9 s: a client that
// asks for a robot that is not there is told within 2 s. A robot whose last handshake
// ended between SYNC2 and OPEN takes SYNC0 for PULSE and says nothing: it is closed
// first at the usual speeds.
var search = [...]searchStep{
	{speed: 0, tries: 2, wait: 175 * time.Millisecond},
	{speed: 1, tries: 2, wait: 175 * time.Millisecond},
	{speed: 2, tries: 1, wait: 150 * time.Millisecond},
	{speed: 3, tries: 1, wait: 150 * time.Millisecond},
	{speed: 4, tries: 1, wait: 150 * time.Millisecond},
	{speed: 0, close: true, tries: 2, wait: 140 * time.Millisecond},
	{speed: 1, close: true, tries: 2, wait: 140 * time.Millisecond},
}

const (
	// searchTime is when a robot that has said nothing counts as absent.
	searchTime = 1900 * time.Millisecond
	// answerTime bounds the wait for one answer of a robot that has answered before.
	answerTime = 500 * time.Millisecond
	// attempts is how often such a request is sent before the handshake starts again.
	attempts = 2
	// clearTime is how long a robot that was left open may still send after CLOSE: the
	// bytes under way and one packet more.
	clearTime = 250 * time.Millisecond
	// closeTime is for a robot that says nothing to take CLOSE.
	closeTime = 80 * time.Millisecond
	// originTime bounds the wait for a SIP that shows the effect of SETO, sent twice.
	// It ends before the second one counts as not answered.
	originTime = 800 * time.Millisecond
)

// phase of the connection. From sync0 to origin the driver waits for the answer to
// a request.
type phase uint8

const (
	sync0    phase = iota
	sync1          //
	sync2          // the answer names the robot
	opening        // for the first SIP
	origin         // for the first SIP after SETO
	running        //
	clearing       // until a robot that was left open has fallen silent
	leaving        // for the robot to brake, at shutdown
)

// appendRequest appends the request of a phase.
func (p phase) appendRequest(dst []byte) []byte {
	switch p {
	case sync0:
		// A robot that was left open, by a lost line or by a server that was killed,
		// obeys its last command: SYNC0, which is PULSE to it, would keep its watchdog
		// from stopping it, or let it drive on (P2OS manual).
		return AppendCommand(AppendVel2(dst, 0, 0), Sync0)
	case sync1:
		return AppendCommand(dst, Sync1)
	case sync2:
		return AppendCommand(dst, Sync2)
	case opening:
		return AppendCommand(AppendCommand(dst, Open), Pulse)
	case origin:
		return AppendSetOrigin(AppendInt(dst, Sonar, 1))
	}
	return dst
}

// Open implements transport.Hardware.
func (d *Driver) Open(h devices.PortHandler) (devices.Port, error) {
	d.speed = d.worked
	return d.link.Host().OpenSerial(d.port, d.speed, h)
}

// lastWords stop the wheels when the server dies. They come twice: if a packet was cut
// off before them, the robot takes their first bytes for the rest of it, six at most.
// The motors keep their power, which holds a robot on a slope.
func lastWords() (words []byte) {
	for range 2 {
		words = AppendCommand(AppendVel2(words, 0, 0), Stop)
	}
	return words
}

// Greet implements transport.Hardware.
func (d *Driver) Greet(now time.Duration) {
	d.transport.LastWords(lastWords())
	d.parser.Reset()
	d.begun, d.heard, d.closed, d.search, d.free = now, false, false, 0, 0
	d.overheard = d.overheard[:0]
	d.moving, d.gripping = false, false
	d.enter(now, sync0)
}

// giveUp returns when the handshake fails.
func (d *Driver) giveUp() time.Duration {
	if d.heard {
		return d.begun + setupTime
	}
	return d.begun + searchTime
}

// enter starts a phase.
func (d *Driver) enter(now time.Duration, p phase) {
	d.phase, d.tries = p, 0
	d.ask(now)
}

// ask sends the request of the phase, for the first time or again.
func (d *Driver) ask(now time.Duration) {
	d.tries++
	d.out = d.phase.appendRequest(d.out[:0])
	d.write(now)
	d.transport.WakeAt(min(now+d.patience().wait, d.giveUp()))
}

// patience returns how often a request is sent and how long its answer may take.
func (d *Driver) patience() searchStep {
	if d.heard {
		return searchStep{tries: attempts, wait: answerTime}
	}
	return search[d.search]
}

// Timeout implements transport.Timer.
func (d *Driver) Timeout(now time.Duration) {
	switch {
	case d.phase == running:
		if d.moving || d.gripping {
			d.flush(now)
		}
		if now >= d.sent+pulsePeriod {
			d.out = AppendCommand(d.out[:0], Pulse)
			d.write(now)
		}
		if !d.moving && !d.gripping {
			d.transport.WakeAt(d.sent + pulsePeriod)
		}
	case d.phase == leaving:
		d.transport.Finish(now, AppendCommand(d.out[:0], Close))
	case now >= d.giveUp():
		d.fail(now)
	case d.phase == clearing:
		d.transport.Port().Discard()
		d.parser.Reset()
		d.enter(now, sync0)
	case d.tries < d.patience().tries:
		d.ask(now)
	case d.phase == sync0:
		d.searchOn(now)
	default:
		d.enter(now, sync0)
	}
}

var (
	errNotOpened = errors.New("the robot answers, but does not open the connection: switch it off and on again")
	errSilent    = errors.New("no answer at 9600 to 115200 baud: is the robot on, and the cable in its HOST port?")
)

// fail ends a handshake that has failed.
func (d *Driver) fail(now time.Duration) {
	found := transport.Recognize(d.overheard)
	switch {
	case d.heard:
		d.transport.Down(now, errNotOpened)
	case found != "" && found != "a P2OS robot":
		d.transport.Down(now, fmt.Errorf("%s is heard here, not a robot: are the ports swapped?", found))
	default:
		d.transport.Unanswered(now, errSilent)
	}
}

// searchOn continues with the next step of the search.
func (d *Driver) searchOn(now time.Duration) {
	d.search = (d.search + 1) % len(search)
	step := search[d.search]
	// The order is that of speeds, with the one that worked first.
	baud := d.worked
	if last := slices.Index(speeds[:], d.worked); step.speed > last {
		baud = speeds[step.speed]
	} else if step.speed > 0 {
		baud = speeds[step.speed-1]
	}
	if !d.transport.SetSpeed(now, baud) {
		return
	}
	d.speed = baud
	d.parser.Reset() // it holds bytes of the other speed
	if step.close {
		d.clear(now, closeTime)
	} else {
		d.enter(now, sync0)
	}
}

// clear closes a robot that was left open, and restarts the handshake.
func (d *Driver) clear(now time.Duration, wait time.Duration) {
	d.phase, d.closed = clearing, true
	d.out = AppendCommand(d.out[:0], Close)
	d.write(now)
	d.transport.WakeAt(min(now+wait, d.giveUp()))
}

// Receive implements transport.Hardware.
func (d *Driver) Receive(now time.Duration, p []byte) {
	if !d.heard {
		d.overheard = transport.Remember(d.overheard, p)
	}
	for packet, rest := d.parser.Next(p); packet != nil && d.transport.IsOpen(); packet, rest = d.parser.Next(rest) {
		d.packet(now, packet)
	}
	d.transport.Noise(now, d.parser.Stats)
}

func (d *Driver) packet(now time.Duration, p Packet) {
	d.heard = true
	if d.phase <= sync2 && p.Type() <= byte(Sync2) {
		d.echo(now, p)
		return
	}
	if err := d.sip.Decode(p); err != nil {
		if errors.Is(err, ErrShortSIP) {
			d.parser.Stats.Broken++
		}
		return // robots also send packets of other kinds
	}
	switch d.phase {
	case sync0, sync1, sync2:
		// The robot is still open, from an earlier server or before it was lost.
		if d.transport.WasLost() && !d.closed {
			d.run(now)
			return
		}
		d.transport.Log().Info("the robot was left open: closing it first")
		d.clear(now, clearTime)
	case opening:
		if d.transport.WasLost() {
			// The pose continues from the one that clients know.
			d.transport.Log().Warn("the connection was opened anew: the movement meanwhile is missing in the odometry",
				zap.Duration("since", now-d.odometry.at))
			d.odometry.Resume(&d.sip, now)
			d.out = AppendInt(d.out[:0], Sonar, 1)
			d.write(now)
			d.run(now)
			return
		}
		d.odometry.Reset(now)
		d.opened = d.anyOpen()
		d.originBy = now + originTime
		d.enter(now, origin)
	case origin:
		switch {
		case d.model.atOrigin(&d.sip):
			d.run(now)
		case now >= d.originBy: // it ignores SETO, or somebody pushes it
			d.odometry = Odometry{Model: &d.model}
			d.run(now)
		}
	case running:
		d.report(now)
	}
}

// echo continues with the next phase of the handshake. An echo of an earlier phase
// answers a repeated request.
func (d *Driver) echo(now time.Duration, p Packet) {
	if p.Type() != byte(d.phase) {
		return
	}
	if id, ok := DecodeIdentity(p); ok {
		d.identify(id)
	}
	d.enter(now, d.phase+1)
}

// identify takes the model of the robot.
func (d *Driver) identify(id Identity) {
	nearest, known := d.setModel(id.Subclass)
	log := d.transport.Log()
	log.Info("robot found", zap.String("name", id.Name), zap.String("class", id.Class),
		zap.String("subclass", id.Subclass), zap.String("model", d.model.Name), zap.Int("baud", d.speed))
	if !known {
		log.Warn("this model is not known: it is taken for the nearest one; its options correct that",
			zap.String("subclass", id.Subclass), zap.String("taken for", nearest))
	}
}

// run starts normal operation, with the SIP that was just decoded.
func (d *Driver) run(now time.Duration) {
	d.phase, d.worked = running, d.speed
	d.transport.WakeAt(now + pulsePeriod)
	d.transport.Up(now) // forgets the commands of the outage
	if d.phase == running {
		d.report(now)
	}
}

// atOrigin reports whether SETO has taken effect in a robot that stands still. Older
// SIPs may still come after SETO was sent.
func (m *Model) atOrigin(s *SIP) bool {
	const near = 2 // units of either kind: wheels under power quiver
	x, y := m.step(0, s.X), m.step(0, s.Y)
	return max(x, -x, y, -y, int64(s.Heading), -int64(s.Heading)) <= near
}
