package server

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/create"
	"player/devices/kobuki"
	"player/devices/p2os"
	emulatedcreate "player/simulation/emulator/create"
	emulatedkobuki "player/simulation/emulator/kobuki"
	"player/simulation/emulator/line"
	emulatedpioneer "player/simulation/emulator/p2os"
)

// moment is where a robot was at a time: mm, radians counterclockwise, and the speeds of its wheels.
type moment struct {
	at            time.Duration
	x, y, heading float64
	left, right   float64
}

// emulatedBase is a robot by an emulator. It implements base.
type emulatedBase struct {
	emulated
	model *baseModel
	state func() (m moment, on bool) // now
	// The way of the robot in the last seconds, and the pose that clients were shown, as far as they agree.
	moments []moment
	anchor  *anchor
	resets  []*op
	counted int           // reports for which missed was called
	kept    time.Duration // when the hardware has restarted last by itself, if its driver keeps the pose
	unseen  bool          // its driver may not know of the newest restart
}

// anchor is a pose that a client was shown, and where the robot was.
type anchor struct {
	at            time.Duration // of the report
	session       int
	starts        int
	x, y, heading float64 // shown
	slack, turned float64 // mm and degrees
	moment
}

// baseModel is a kind of emulated robots.
type baseModel struct {
	kind    devices.Kind
	letters string
	// The time after which the robot's own watchdog stops its wheels. The specifications of Create and Kobuki have
	// none: the robots drive on.
	watchdog, brakes time.Duration
	forgets, motors  bool
	// Its driver knows that the hardware has restarted, and goes on from the pose of before.
	continues bool
	motions   func(r *simRobot, p *simPort, b []byte) []*op
	start     func(b *emulatedBase) error
}

func baseModels() []*baseModel {
	return []*baseModel{
		{kind: create.Kind(), letters: "pm", forgets: true, motors: true, motions: createMotions, start: startCreate},
		{kind: kobuki.Kind(), letters: "pm", forgets: true, continues: true, motions: kobukiMotions, start: startKobuki},
		// P2OS manual: the watchdog's factory setting is 2 s. The emulator brakes with 1 m/s², and its state may be as
		// old as a report.
		{kind: p2os.Kind(), letters: "psgm", watchdog: 2 * time.Second, brakes: 700 * time.Millisecond, motors: true,
			motions: p2Motions, start: startPioneer},
	}
}

// newBase returns the wheels of a robot: a simulated Pioneer's, or emulated ones.
func (s *sim) newBase(r *simRobot) base {
	if s.plain || s.chance(2+2*r.index) {
		return s.newPioneer(r)
	}
	models := baseModels()
	b := &emulatedBase{emulated: r.newEmulated(), model: models[s.random.IntN(len(models))]}
	b.options.Trace = b.trace
	if err := b.model.start(b); err != nil {
		s.fail("%s: %v", r.path, err)
	}
	s.summary.Emulated++
	s.note("%s is a %s, latency %v, noise %v", r.path, b.model.kind.Name, b.options.Latency, b.noisy)
	return b
}

func startCreate(b *emulatedBase) error {
	s := b.rig.sim
	h, err := emulatedcreate.Start(emulatedcreate.Options{Line: b.options, Counts: int16(s.random.IntN(1 << 16))})
	b.rig.asleep = func() bool { return h.State().Asleep } // after 5 minutes without a driver, until its button is pressed
	b.cable, b.restart = h, func() { b.unclear, b.rig.garbled = s.now, s.now; h.Reboot() }
	b.size = func(p []byte) int { // a header, the size, the content, and what makes the sum zero (specification)
		if len(p) < 2 || p[0] != 19 || len(p) < 3+int(p[1]) {
			return 0
		}
		sum := byte(0)
		for _, v := range p[:3+int(p[1])] {
			sum += v
		}
		if sum != 0 {
			return 0
		}
		return 3 + int(p[1])
	}
	b.state = func() (moment, bool) {
		s := h.State()
		return moment{x: s.X, y: s.Y, heading: s.Heading, left: float64(s.Left), right: float64(s.Right)}, s.Mode >= 2
	}
	return err
}

func startKobuki(b *emulatedBase) error {
	s := b.rig.sim
	h, err := emulatedkobuki.Start(emulatedkobuki.Options{
		Line: b.options, Counts: uint16(s.random.IntN(1 << 16)), NoGyro: s.chance(2),
	})
	began := -20 * time.Second // of its clock
	b.cable, b.restart = h, func() {
		// Its clock has 16 bits of ms. If it begins anew just before its end, it seems to go on: 3 s are nothing for a
		// line that is late. Only the counts show the restart then, unless they are near 0.
		const end, near = (1 << 16) * time.Millisecond, 3500 * time.Millisecond
		b.unseen, began = (s.now-began)%end > end-near, s.now
		b.unclear, b.rig.garbled = s.now, s.now
		h.Reboot()
	}
	b.size = func(p []byte) int { // two bytes, the size, the content, and the checksum (specification)
		if len(p) < 3 || p[0] != 0xAA || p[1] != 0x55 || len(p) < 4+int(p[2]) || line.Xor(p[2:4+int(p[2])]) != 0 {
			return 0
		}
		return 4 + int(p[2])
	}
	b.state = func() (moment, bool) {
		s := h.State()
		return moment{x: s.X, y: s.Y, heading: s.Heading, left: s.Left, right: s.Right}, true
	}
	return err
}

func startPioneer(b *emulatedBase) error {
	s := b.rig.sim
	b.options.Baud = []int{9600, 38400}[s.random.IntN(2)]
	h, err := emulatedpioneer.Start(emulatedpioneer.Options{Line: b.options, MotorsOn: true, Room: 8000})
	b.cable, b.restart = h, func() { b.unclear, b.rig.robot.powered = s.now, s.now; h.Reboot() }
	b.state = func() (moment, bool) {
		s := h.State()
		heading := s.World.Heading * math.Pi / 180
		return moment{x: s.World.X, y: s.World.Y, heading: heading, left: s.Left, right: s.Right}, s.Motors
	}
	return err
}

// window is how long the way of a robot is kept: a report may be late by that much.
const window = 3 * time.Second

func (b *emulatedBase) sample() {
	m, _ := b.state()
	m.at = b.rig.sim.now
	if n := len(b.moments); n > 0 && b.moments[n-1] == m {
		return
	}
	b.moments = append(b.moments, m)
	if len(b.moments) > 4096 || b.moments[0].at < m.at-2*window {
		i := slices.IndexFunc(b.moments, func(o moment) bool { return o.at >= m.at-window })
		b.moments = slices.Delete(b.moments, 0, i)
	}
}

// restarted is called when the hardware has restarted by itself. Its way in a moment before and after that may
// be missing in its pose.
func (b *emulatedBase) restarted() {
	if b.model.continues && !b.unseen && b.anchor != nil {
		b.kept = b.unclear
		b.anchor.slack += 100
		b.anchor.turned += 15
	}
}

// read implements waited.
func (b *emulatedBase) read(now, came time.Duration) {
	b.emulated.read(now, came)
	for all := b.rig.robot.reports; b.counted < len(all); b.counted++ {
		if i := b.counted; i > 0 && b.anchor != nil && b.model.watchdog == 0 {
			b.missed(span{all[i-1].sent.from, all[i].sent.until})
		}
	}
}

// missed widens the allowed error of the pose after reports are missing: the driver takes the way between two reports
// for an arc.
func (b *emulatedBase) missed(t span) {
	if t.until-t.from < 100*time.Millisecond {
		return
	}
	if t.from < b.rig.sim.now-window {
		b.anchor = nil
		return
	}
	way, last := 0.0, moment{}
	for i, m := range b.during(t) {
		if i > 0 {
			way += math.Hypot(m.x-last.x, m.y-last.y)
		}
		last = m
	}
	b.anchor.slack += way / 2
}

func (b *emulatedBase) driver() (devices.Kind, devices.Driver) {
	values := b.model.kind.Defaults()
	values["port"] = b.rig.path
	d, err := b.model.kind.New(devices.Args{Name: b.model.kind.Name, Values: values})
	if err != nil {
		b.rig.sim.fail("%s: %v", b.rig.path, err)
	}
	return b.model.kind, d
}

func (b *emulatedBase) letters() string                    { return b.model.letters }
func (b *emulatedBase) watchdog() time.Duration            { return b.model.watchdog }
func (b *emulatedBase) brakes() time.Duration              { return b.model.brakes }
func (b *emulatedBase) forgets() bool                      { return b.model.forgets }
func (b *emulatedBase) charge(*simReport) string           { return "" }
func (b *emulatedBase) motors() (on, known bool)           { _, on = b.state(); return on, b.model.motors }
func (b *emulatedBase) turns() bool                        { m, _ := b.state(); return m.left != 0 || m.right != 0 }
func (b *emulatedBase) motions(p *simPort, d []byte) []*op { return b.model.motions(b.rig.robot, p, d) }

// during returns where the robot was in a span, and just before it.
func (b *emulatedBase) during(t span) []moment {
	place := func(at time.Duration) int {
		i, _ := slices.BinarySearchFunc(b.moments, at, func(m moment, at time.Duration) int { return int(m.at - at) })
		return i
	}
	from, until := place(t.from), place(t.until+1)
	if from == until && from > 0 { // it has not moved since
		from--
	}
	return b.moments[from:until]
}

func (b *emulatedBase) matches(rep *simReport, letter byte, p []byte, late bool) bool {
	if letter != codec.Position {
		return true // its size and its age were judged
	}
	speed := float64(int16(binary.BigEndian.Uint16(p[14:])))
	if !late && binary.BigEndian.Uint32(p) != uint32(rep.at/time.Millisecond) {
		return false
	}
	if late || b.rig.faults > 0 || rep.at < b.late+time.Second || rep.sent.from < b.rig.sim.now-window+time.Second ||
		b.rig.sim.now < max(b.unclear, b.rig.fault)+2*time.Second ||
		b.rig.port != nil && rep.at < b.rig.port.opened+4*time.Second ||
		slices.ContainsFunc(b.resets, func(o *op) bool { return o.ret > rep.at-time.Second }) { // it begins to measure anew
		return true
	}
	// Create and Kobuki report counts, of which the driver makes speeds in the last 0.3 s.
	measured, tolerance := 350*time.Millisecond, 15.0
	if b.model.watchdog != 0 {
		measured, tolerance = 0, 1
	}
	all := b.during(span{rep.sent.from - measured, rep.sent.until})
	least, most := math.Inf(1), math.Inf(-1)
	for _, m := range all {
		least, most = min(least, (m.left+m.right)/2), max(most, (m.left+m.right)/2)
	}
	if b.model.watchdog == 0 { // reports are cut, and come up to 2 ms late
		tolerance += 0.08 * max(most, -least)
	}
	return len(all) == 0 || speed >= least-tolerance && speed <= most+tolerance
}

// shown judges a pose. It has its origin where the odometry was begun or reset, so two poses are compared: their
// difference is the way of the robot.
func (b *emulatedBase) shown(c *simClient, rep *simReport, p []byte) {
	s := b.rig.sim
	if rep.sent.from < s.now-window || b.anchor != nil && rep.at < b.anchor.at {
		return
	}
	be := binary.BigEndian
	shown := anchor{
		at: rep.at, session: rep.session, starts: b.rig.startsUntil(rep.at),
		x: float64(int32(be.Uint32(p[4:]))), y: float64(int32(be.Uint32(p[8:]))),
		heading: float64(be.Uint16(p[12:])) * math.Pi / 180,
	}
	all := b.during(rep.sent)
	if len(all) == 0 {
		return
	}
	if a := b.anchor; a == nil || b.mayLose(a, rep) {
		shown.moment = all[len(all)-1]
		if rep.sent.from == rep.sent.until {
			b.anchor = &shown
		} else {
			b.anchor = nil
		}
		return
	}
	s.summary.Poses++
	var off error
	for _, m := range all {
		if off = b.anchor.compare(&shown, m); off == nil {
			return
		}
	}
	s.fail("%v: %s: pose (%.0f, %.0f) mm, %.0f deg of %v: %v",
		c, b.rig.path, shown.x, shown.y, shown.heading*180/math.Pi, rep.at, off)
}

// compare compares the ways since then.
func (a *anchor) compare(shown *anchor, m moment) error {
	sin, cos := math.Sincos(a.heading - a.moment.heading)
	dx, dy := m.x-a.moment.x, m.y-a.moment.y
	x, y := a.x+dx*cos-dy*sin, a.y+dx*sin+dy*cos
	turn := math.Remainder(m.heading-a.moment.heading-(shown.heading-a.heading), 2*math.Pi)
	off := math.Hypot(shown.x-x, shown.y-y)
	// The headings are in whole degrees, coordinates in mm.
	if off > 5+0.03*math.Hypot(dx, dy)+a.slack || math.Abs(turn) > (2.5+a.turned)*math.Pi/180 {
		return fmt.Errorf("it is (%.0f, %.0f) mm, and %.1f deg off, since %v", x, y, turn*180/math.Pi, a.at)
	}
	return nil
}

// mayLose reports whether the odometry may have begun anew since, or lost its way.
func (b *emulatedBase) mayLose(a *anchor, rep *simReport) bool {
	b.resets = slices.DeleteFunc(b.resets, func(o *op) bool { return o.ret < a.at-time.Second })
	if b.model.watchdog != 0 && (b.rig.faults > 0 || b.rig.fault+window > a.at) {
		return true // the microcontroller counts, and the reset of its counts may wait in the line, or get lost
	}
	return len(b.resets) > 0 || b.rig.startsUntil(rep.at) != a.starts || a.at <= b.unclear+5*time.Second && b.unclear != b.kept ||
		rep.session != a.session && (b.model.watchdog != 0 || b.rig.panicked > a.at || rep.at > a.at+2*time.Second)
}

// configure has a client configure a device.
func (c *simClient) configure(letter byte, payload []byte) {
	r, s := c.robot, c.sim
	if payload[0] == 'm' && r.base.forgets() { // nothing moves by itself
		o := r.history.write(s.now, nil, 0, 0, true)
		o.message = c.sent
		c.ops = append(c.ops, o)
		r.unpowered = r.unpowered || payload[1] == 0
		r.powered = s.now
	}
	if b, ok := r.base.(*emulatedBase); ok && payload[0] == 'R' {
		o := &op{call: s.now, ret: never, stops: true, message: c.sent}
		c.ops = append(c.ops, o)
		b.resets = append(b.resets, o)
	}
	c.send(message('x', letter, payload))
	c.request("")
}

// createMotions returns the motions that the driver commands a Create: 145 has the speeds of the right and the left
// wheel (specification).
func createMotions(r *simRobot, p *simPort, b []byte) (motions []*op) {
	sizes := map[byte]int{128: 1, 131: 1, 132: 1, 145: 5, 148: 12, 150: 2}
	apart := len(b) != 5
	for rest := b; len(rest) > 0; {
		size := sizes[rest[0]]
		if size == 0 || size > len(rest) {
			r.sim.fail("%s is sent %x, which is no command", r.path, b)
		}
		switch rest[0] {
		case 128, 131, 132:
			r.powered = r.sim.now
		case 145:
			be := binary.BigEndian
			right, left := int(int16(be.Uint16(rest[1:]))), int(int16(be.Uint16(rest[3:])))
			motions = append(motions, &op{read: true, left: left, right: right, apart: apart, fits: createFits})
		}
		rest = rest[size:]
	}
	return motions
}

// bounded returns the speeds of the wheels for a command, whose curve they keep below the fastest.
func bounded(speed, turn int16, base, fastest float64) (left, right float64) {
	half := float64(turn) * math.Pi / 180 * base / 2
	left, right = float64(speed)-half, float64(speed)+half
	if most := max(math.Abs(left), math.Abs(right)); most > fastest {
		left, right = left*fastest/most, right*fastest/most
	}
	return left, right
}

func createFits(o *op, speed, turn int16) bool {
	left, right := bounded(speed, turn, 235, 500)
	return math.Abs(float64(o.left)-left) <= 0.5001 && math.Abs(float64(o.right)-right) <= 0.5001
}

// kobukiMotions returns the motions that the driver commands a Kobuki: base control has the speed of the outer wheel,
// and the radius of the curve (specification).
func kobukiMotions(r *simRobot, p *simPort, b []byte) (motions []*op) {
	const size = 10
	for rest := b; len(rest) > 0; rest = rest[size:] {
		if len(rest) < size || string(rest[:5]) != "\xAA\x55\x06\x01\x04" || line.Xor(rest[2:size]) != 0 {
			r.sim.fail("%s is sent %x, which is no command to its wheels", r.path, b)
		}
		le := binary.LittleEndian
		o := &op{read: true, left: int(int16(le.Uint16(rest[5:]))), right: int(int16(le.Uint16(rest[7:]))), fits: kobukiFits}
		if o.left == 0 {
			o.right = 0
		}
		o.apart = len(b) != size || r.link.State() != devices.Ready
		o.halts = o.left == 0 && r.unpowered // perhaps a motor switch, not the command
		motions = append(motions, o)
	}
	return motions
}

// kobukiFits reads left as the speed and right as the radius.
func kobukiFits(o *op, speed, turn int16) bool {
	const base = 230.0
	left, right := bounded(speed, turn, base, 700)
	v, radius := float64(o.left), float64(o.right)
	l, r := v, v
	switch {
	case radius == 1:
		l = -v
	case radius > 1:
		l = v * (radius - base/2) / (radius + base/2)
	case radius < -1:
		r = v * (-radius - base/2) / (-radius + base/2)
	}
	// The radius is in whole mm, and 32 m at most.
	tolerance := 4 + 0.02*math.Abs(v)
	return math.Abs(l-left) <= tolerance && math.Abs(r-right) <= tolerance
}
