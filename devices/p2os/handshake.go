package p2os

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"go.uber.org/zap"

	"player/devices"
	"player/devices/transport"
)

// speeds are tried in this order, in baud, after the last speed that worked. Robots leave the
// factory with the first; owners set the second to get more sonar readings. Other programs
// leave robots at the other speeds.
var speeds = []int{9600, 38400, 19200, 57600, 115200}

// search lists the attempts to find a robot. They end after 1.9 s, because a client that asks
// for an absent robot must get an error within 2 s. The original server waits 200 ms for the
// only answer. A robot whose last handshake ended between SYNC2 and OPEN takes SYNC0 for PULSE
// and does not answer, so it is closed first at the usual speeds.
var search = []transport.Attempt{
	{Speed: 0, Tries: 2, Wait: 175 * time.Millisecond},
	{Speed: 1, Tries: 2, Wait: 175 * time.Millisecond},
	{Speed: 2, Wait: 150 * time.Millisecond},
	{Speed: 3, Wait: 150 * time.Millisecond},
	{Speed: 4, Wait: 150 * time.Millisecond},
	{Speed: 0, First: halfOpen, Tries: 2, Wait: 140 * time.Millisecond},
	{Speed: 1, First: halfOpen, Wait: 140 * time.Millisecond},
}

const (
	// listenTime is how long the driver listens for a robot that was left open: the time
	// between two SIPs plus the time of a long SIP at 9600 baud.
	listenTime = 150 * time.Millisecond
	// answerTime bounds the wait for one answer of a robot that has answered before.
	answerTime = 500 * time.Millisecond
	// attempts is how often such a request is sent before the handshake starts again.
	attempts = 2
	// clearTime is how long a robot that was left open may still send after CLOSE: the
	// bytes under way and one packet more.
	clearTime = 250 * time.Millisecond
	// closeTime is the time for a silent robot to process CLOSE.
	closeTime = 80 * time.Millisecond
	// originTime bounds the wait for a SIP that shows the effect of SETO, sent twice.
	// It ends before the second one counts as not answered.
	originTime = 800 * time.Millisecond
)

// The phases of the handshake. Up to sync2 they are the number of their request.
const (
	sync0     transport.Phase = iota
	sync1                     //
	sync2                     // the answer names the robot
	opening                   // for the first SIP
	origin                    // for the first SIP after SETO
	clearing                  // until a robot that was left open has fallen silent
	halfOpen                  // the robot is silent, and may be half open
	listening                 // is it open?
)

// steps is the handshake.
func (d *Driver) steps() []transport.Step {
	request := func(commands ...Command) func(dst []byte) []byte {
		return func(dst []byte) []byte {
			for _, c := range commands {
				dst = AppendCommand(dst, c)
			}
			return dst
		}
	}
	// Requests are Fresh: a packet that noise has begun, or has cut off, would swallow the answer.
	return []transport.Step{
		// After a lost line, or after the server was killed, an open robot obeys its last
		// command. To such a robot SYNC0 is PULSE: it would keep the watchdog from stopping
		// the robot, or let it drive on (P2OS manual). So VEL2 stops the robot first. A
		// robot that has been silent since the port was opened was closed: it gets SYNC0
		// alone, as some require.
		sync0: {Send: func(dst []byte) []byte {
			if !d.silent {
				dst = AppendVel2(dst, 0, 0)
			}
			d.silent = false
			return AppendCommand(dst, Sync0)
		}, Fresh: true},
		sync1:     {Send: request(Sync1), Wait: answerTime, Tries: attempts, Fresh: true},
		sync2:     {Send: request(Sync2), Wait: answerTime, Tries: attempts, Fresh: true},
		opening:   {Send: request(Open, Pulse), Wait: answerTime, Tries: attempts, Fresh: true},
		origin:    {Send: func(dst []byte) []byte { return AppendSetOrigin(AppendInt(dst, Sonar, 1)) }, Wait: answerTime, Tries: attempts},
		clearing:  {Send: func(dst []byte) []byte { return AppendCommand(AppendVel2(dst, 0, 0), Close) }, Wait: clearTime, Late: d.anew},
		halfOpen:  {Send: request(Close), Wait: closeTime, Late: d.anew},
		listening: {Wait: listenTime, Late: d.Then(sync0)},
	}
}

// anew greets a closed robot, and drops its earlier bytes.
func (d *Driver) anew(now time.Duration) {
	d.closed = true
	d.Discard()
	d.parser.Reset()
	d.Enter(now, sync0)
}

// protocol returns the transport's protocol for a robot on a port.
func (d *Driver) protocol(port string) transport.Protocol {
	return transport.Protocol{
		Address: port, Name: "a robot", Speeds: speeds, Search: search,
		Begin: d.begin, Steps: d.steps(), Limit: setupTime,
		Framing: &d.parser.Framing, Receive: d.receive, Wake: d.wake, LastWords: lastWords(),
		Silent: errSilent, Stuck: func(transport.Phase) error { return errNotOpened },
	}
}

// lastWords stop the wheels when the server dies. They come twice: if a packet was cut off
// before them, the robot takes their first bytes for the rest of it, six at most. The motors
// keep their power, so that a robot on a slope does not roll.
func lastWords() (words []byte) {
	for range 2 {
		words = AppendCommand(AppendVel2(words, 0, 0), Stop)
	}
	return words
}

func (d *Driver) begin(time.Duration) transport.Phase {
	d.closed, d.free = false, 0
	d.moving, d.gripping, d.outputs = false, false, outputs{}
	if d.silent = !d.WasLost(); d.silent {
		return listening
	}
	return sync0
}

// wake is Protocol.Wake: it keeps the watchdog of a robot without commands from stopping
// the robot, or closes a robot that has braked.
func (d *Driver) wake(now time.Duration) {
	if !d.IsUp() {
		d.Finish(now, func(dst []byte) []byte { return AppendCommand(dst, Close) })
		return
	}
	if d.isPending() {
		d.flush(now)
	}
	if now >= d.sent+pulsePeriod {
		d.out = AppendCommand(d.out[:0], Pulse)
		d.write(now)
	}
	if !d.isPending() {
		d.WakeAt(d.sent + pulsePeriod)
	}
}

var (
	errNotOpened = errors.New("the robot answers, but does not open the connection: switch it off and on again")
	errSilent    = errors.New("no answer at 9600 to 115200 baud: is the robot on, and the cable in its HOST port?")
)

func (d *Driver) receive(now time.Duration, p []byte) {
	d.silent = false
	for packet, rest := d.parser.Next(p); packet != nil && d.IsOpen(); packet, rest = d.parser.Next(rest) {
		d.packet(now, packet)
	}
}

func (d *Driver) packet(now time.Duration, p Packet) {
	greeted := d.Phase() > sync2 && d.Phase() != listening
	d.Found()
	if !greeted && p.Type() <= byte(Sync2) {
		d.echo(now, p)
		return
	}
	if p.Type() == gyroPacket && d.asksGyro() && d.IsUp() {
		if d.gyroBy = 0; !d.gyro.read(p.Body(), d.sip.Left == 0 && d.sip.Right == 0) {
			d.parser.Stats.Broken++
			return
		}
		d.publishIMU(now)
		return
	}
	if err := d.sip.Decode(p); err != nil {
		if errors.Is(err, ErrShortSIP) {
			d.parser.Stats.Broken++
		}
		return // robots also send packets of other kinds
	}
	switch {
	case d.IsUp():
		d.report(now)
	case !greeted:
		// The robot is still open, from an earlier server or before it was lost.
		if d.WasLost() && !d.closed {
			if !d.odometry.isSettled() {
				d.resume(now, LogUnsettled)
			}
			d.run(now)
			return
		}
		d.Log().Info("the robot was left open: closing it first")
		d.Enter(now, clearing)
	case d.Phase() == opening:
		if d.WasLost() {
			d.resume(now, LogOpenedAnew)
			d.out = AppendInt(d.out[:0], Sonar, 1)
			d.write(now)
			d.run(now)
			return
		}
		d.odometry.Reset(now)
		d.opened = d.anyOpen()
		d.originBy = now + originTime
		d.Enter(now, origin)
	case d.Phase() == origin:
		switch {
		case d.model.atOrigin(&d.sip):
			d.run(now)
		case now >= d.originBy: // it ignores SETO, or a person pushes it
			d.odometry = Odometry{Model: &d.model}
			d.run(now)
		}
	}
}

// resume goes on from the clients' last pose. why is a message of the log.
func (d *Driver) resume(now time.Duration, why string) {
	d.Log().Warn(why, zap.Duration("since", now-d.odometry.at))
	d.odometry.Resume(&d.sip, now)
	d.rested = 0
}

// echo continues with the next phase of the handshake. An echo of an earlier phase
// answers a repeated request.
func (d *Driver) echo(now time.Duration, p Packet) {
	if p.Type() != byte(d.Phase()) {
		return
	}
	if id, ok := DecodeIdentity(p); ok {
		if err := d.identify(id); err != nil {
			d.Down(now, err)
			return
		}
	}
	d.Enter(now, d.Phase()+1)
}

// identify sets the robot's model.
func (d *Driver) identify(id Identity) error {
	nearest, err := d.setModel(id.Subclass)
	if err != nil {
		return err
	}
	d.found = true
	log := d.Log()
	log.Info("robot found", zap.String("name", id.Name), zap.String("class", id.Class),
		zap.String("subclass", id.Subclass), zap.String("model", d.model.Name), zap.Int("baud", d.Baud()))
	if said := cmp.Or(d.overrides.Subclass, id.Subclass, nearest); !strings.EqualFold(nearest, said) {
		log.Warn(LogUnknown,
			zap.String("subclass", id.Subclass), zap.String("taken for", nearest))
	}
	return nil
}

// run starts normal operation, with the SIP that was just decoded.
func (d *Driver) run(now time.Duration) {
	if d.initial < 0 {
		d.initial = int(d.sip.Output)
	}
	d.out = d.overrides.Tuning.append(d.out[:0])
	if d.asksGyro() {
		d.gyro, d.gyroBy = newGyro(&d.model, d.overrides.GyroScaler), now+gyroTime
		d.out = AppendInt(d.out, Gyro, 1)
	}
	if len(d.out) > 0 {
		d.write(now) // also to a robot that was off: it has forgotten
	}
	d.Up(now) // forgets the commands of the outage
	if d.IsUp() {
		d.report(now)
	}
}

// asksGyro reports whether the robot is to send the readings of its gyroscope: for the heading, or for device imu.
func (d *Driver) asksGyro() bool { return d.overrides.Gyro || d.imu.Spec().Index != devices.Hidden }

// atOrigin reports whether SETO has taken effect in a stopped robot. Older SIPs may still
// come after SETO was sent.
func (m *Model) atOrigin(s *SIP) bool {
	const near = 2 // units of either kind: wheels under power quiver
	x, y := m.step(0, s.X), m.step(0, s.Y)
	return max(x, -x, y, -y, int64(s.Heading), -int64(s.Heading)) <= near
}
