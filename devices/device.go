package devices

import (
	"math"
	"slices"
	"time"

	"player/codec"
	"player/codec/compact"
	"player/timers"
)

// Device has the newest data and the newest command of one device. Sessions and
// drivers meet here.
type Device struct {
	spec Spec
	link *Link
	code byte // on the wire, 0: clients do not see it

	block    []byte        // newest data as a block, header included
	stamp    time.Duration // when the newest data was taken
	seq      uint64        // counts the data published, never restarts
	command  []byte        // newest command; empty: none since the link started
	commands uint64        // counts the commands given, never restarts
	seqSeen  uint64        // seq when the link started: this data and older data are of an earlier run
	items    []item        // the newest data in compact form, for clients with compact frames
	rate     timers.Rate   // of publications
	read     bool          // the newest data was read

	observers []observation
	waiters   []Waiter
}

// Letter is the letter of the device's interface.
func (d *Device) Letter() byte { return d.spec.Letter }

// Code is the byte of the device on the wire (PROTOCOL 2.11): the letter of its interface, or a byte that the Table has
// handed out. It is 0 for a device that clients do not see.
func (d *Device) Code() byte { return d.code }

// Key names the device in the lines of answers (PROTOCOL 8.9): its letter, or its address if it has no letter of its own.
func (d *Device) Key() string {
	if d.code == d.spec.Letter {
		return string(d.code)
	}
	return d.spec.Address()
}

// Spec returns the device's declaration.
func (d *Device) Spec() Spec { return d.spec }

// AppendParts appends the parts of the device, as its driver knows them and the configuration declares
// them. It appends none if neither knows any.
func (d *Device) AppendParts(dst []codec.Part) []codec.Part {
	known := len(dst)
	if s := d.link.surveyed; s != nil {
		dst = s.AppendParts(dst, d)
	}
	g := d.link.geometry
	if len(dst) == known && g != (Geometry{}) {
		dst = append(dst, codec.Part{})
	}
	for i := known; i < len(dst); i++ {
		p := &dst[i]
		p.Device = d.code
		p.X, p.Y, p.Heading = g.place(p.X, p.Y, p.Heading)
		if len(dst) == known+1 && g.Length*g.Width > 0 { // for a ring of sonars the size is the size of the ring
			p.Length, p.Width = g.Length, g.Width
		}
	}
	return dst
}

// IsPlaced reports whether it is known where on the robot the device is. The origin is where a device counts as long as
// its configuration does not say, so one in the origin is not.
func (d *Device) IsPlaced() bool {
	return slices.ContainsFunc(d.AppendParts(nil), func(p codec.Part) bool { return p.X != 0 || p.Y != 0 || p.Heading != 0 })
}

// AppendRays appends where the readings of a laser, a sonar or a ranger look, as its driver knows it and the configuration
// declares it (PROTOCOL 8.9.6). It appends none for another device, and none if neither knows.
func (d *Device) AppendRays(dst []codec.Rays) []codec.Rays {
	known := len(dst)
	switch d.spec.Letter {
	case codec.Laser:
		for _, p := range d.AppendParts(nil) {
			dst = append(dst, codec.Rays{Count: codec.LaserCount, X: p.X, Y: p.Y, Heading: math.Remainder(p.Heading-codec.LaserView/2, 360),
				Step: codec.LaserView / float64(codec.LaserCount-1), Far: p.Range})
		}
	case codec.Sonar:
		for _, p := range d.AppendParts(nil) {
			dst = append(dst, codec.Rays{First: p.Number, Count: 1, X: p.X, Y: p.Y, Heading: p.Heading, Far: p.Range, Cone: p.View})
		}
	case codec.Ranger:
		if r := d.link.ranged; r != nil {
			dst = r.AppendRays(dst, d)
		}
		for i := known; i < len(dst); i++ {
			r := &dst[i]
			r.X, r.Y, r.Heading = d.link.geometry.place(r.X, r.Y, r.Heading)
		}
	}
	for i := known; i < len(dst); i++ {
		dst[i].Device = d.code
	}
	return dst
}

// AppendChannels appends descriptions of the inputs, outputs or joints of the device (PROTOCOL 8.9.7).
func (d *Device) AppendChannels(dst []codec.Channel) []codec.Channel {
	known := len(dst)
	if c := d.link.channelled; c != nil {
		dst = c.AppendChannels(dst, d)
	}
	for i := known; i < len(dst); i++ {
		dst[i].Device = d.code
	}
	return dst
}

// AppendColors appends the colours of the channels of a vision device, as far as its driver knows them (PROTOCOL 8.9.8).
func (d *Device) AppendColors(dst []codec.ChannelColor) []codec.ChannelColor {
	known := len(dst)
	if c := d.link.colored; c != nil {
		dst = c.AppendColors(dst, d)
	}
	for i := known; i < len(dst); i++ {
		dst[i].Device = d.code
	}
	return dst
}

// MotorsOff reports whether the device's driver knows that the motors of the robot are off.
func (d *Device) MotorsOff(now time.Duration) bool {
	m := d.link.motored
	return m != nil && d.link.state == Ready && m.MotorsOff(now)
}

// Charge returns the state of the robot's charger, in a word of PROTOCOL 8.9.4. It is empty
// if the state is unknown, or another device reports it.
func (d *Device) Charge() string {
	if c := d.link.charged; c != nil && d.link.state == Ready && d.spec.Letter == codec.Misc {
		return c.Charge()
	}
	return ""
}

// Link returns the link that the device is on.
func (d *Device) Link() *Link { return d.link }

// Publish replaces the device's data by payload, taken at stamp. Payloads larger than the device's
// Spec.DataSize are cut, because a mistake of a driver must not use up memory.
func (d *Device) Publish(stamp time.Duration, payload []byte) {
	payload = payload[:min(len(payload), d.spec.DataSize)]
	d.block = codec.AppendBlock(d.block[:0], d.code, payload)
	d.stamp = stamp
	d.seq++
	d.read = false
	d.rate.Count(stamp)
	for _, o := range d.observers {
		o.published(d)
	}
	for _, w := range d.waiters {
		w.News()
	}
}

// Waiter is a client that waits for the new data of a device.
type Waiter interface {
	// News is called from within Publish. It must not publish or command.
	News()
	// Waits reports whether the client has asked for data, and was already sent the newest.
	Waits() bool
}

// AddWaiter has w notified of new data until RemoveWaiter.
func (d *Device) AddWaiter(now time.Duration, w Waiter) {
	d.waiters = append(d.waiters, w)
	d.Asked(now)
}

// RemoveWaiter ends AddWaiter.
func (d *Device) RemoveWaiter(now time.Duration, w Waiter) {
	d.waiters = slices.DeleteFunc(d.waiters, func(o Waiter) bool { return o == w })
	d.Asked(now)
}

// Steps reports whether the driver is a Stepper: new data may come only when clients wait for it.
func (d *Device) Steps() bool { return d.link.stepper != nil }

// Asked calls Stepper.Asked of the driver: a waiter of d has asked for data, or has come or gone.
func (d *Device) Asked(now time.Duration) {
	if l := d.link; l.stepper != nil && l.state == Ready {
		l.call(now, l.run, func() { l.stepper.Asked(now) })
	}
}

// Observer is a driver that gets the new data of a device of another driver.
type Observer interface {
	// Published is called from within Publish, in the middle of a call of d's
	// driver. It may publish on other devices, and must not command d.
	Published(d *Device)
}

// CommandObserver is an Observer that also gets the device's commands and
// configurations, just before its driver does.
type CommandObserver interface {
	Observer
	// Commanded is called when d has a new command: d.Command.
	Commanded(now time.Duration, d *Device)
	// Configured is called when d is configured; payload is valid during the call.
	Configured(now time.Duration, d *Device, payload []byte)
}

// observation is an Observer and the link of its driver.
type observation struct {
	Observer
	link *Link
	run  int
}

func (o observation) published(d *Device) {
	// The stamp may be earlier than now. After a panic the driver may be tried again too early.
	o.link.call(d.stamp, o.run, func() { o.Published(d) })
}

func (o observation) commanded(now time.Duration, d *Device) {
	if f, ok := o.Observer.(CommandObserver); ok {
		o.link.call(now, o.run, func() { f.Commanded(now, d) })
	}
}

func (o observation) configured(now time.Duration, d *Device, payload []byte) {
	if f, ok := o.Observer.(CommandObserver); ok {
		o.link.call(now, o.run, func() { f.Configured(now, d, payload) })
	}
}

// AddObserver has f, which belongs to the driver of link l, called until RemoveObserver. It does not
// subscribe to the device.
func (d *Device) AddObserver(l *Link, f Observer) {
	d.observers = slices.DeleteFunc(slices.Clone(d.observers), observation.isOld)
	d.observers = append(d.observers, observation{f, l, l.run})
}

// isOld reports whether the observer's driver has panicked since AddObserver.
func (o observation) isOld() bool { return o.run != o.link.run }

// RemoveObserver ends AddObserver.
func (d *Device) RemoveObserver(f Observer) {
	// A new slice, because Publish may be iterating over the old one.
	d.observers = slices.DeleteFunc(slices.Clone(d.observers), func(o observation) bool { return o.Observer == f })
}

// Stamp returns when the data was taken; meaningful only with HasData.
func (d *Device) Stamp() time.Duration { return d.stamp }

// HasData reports whether the device has published since its link was started.
func (d *Device) HasData() bool { return d.seq > d.seqSeen }

// Data returns the newest payload, or nil. It is valid until the next Publish.
func (d *Device) Data() []byte {
	if !d.HasData() {
		return nil
	}
	return d.block[codec.BlockHeaderSize:]
}

// Seq counts the data published. It never runs backwards, so a change of it means
// new data.
func (d *Device) Seq() uint64 { return d.seq }

// Age returns how old the data is at now; meaningful only with HasData.
func (d *Device) Age(now time.Duration) time.Duration { return now - d.stamp }

// staleAfter is how old data may be until it is stale. Slow sensors publish five
// times a second, and hardware that is silent for 2 s is lost.
const staleAfter = 3 * time.Second

// IsFresh reports whether the data of a device that is open is not stale, or need not have come yet. A
// joystick is always fresh, because it publishes only when it is moved.
func (d *Device) IsFresh(now time.Duration) bool {
	newest := d.link.readyAt
	if d.HasData() {
		newest = max(newest, d.stamp)
	}
	return d.spec.Letter == codec.Joystick || now-newest <= staleAfter
}

// Rate returns how often data was published lately, in Hz.
func (d *Device) Rate(now time.Duration) float64 { return d.rate.Hz(now) }

// AppendBlock appends the newest data as a block, of size 0 if there is none
// (PROTOCOL 3.3).
func (d *Device) AppendBlock(dst []byte) []byte {
	if !d.HasData() {
		return codec.AppendBlockHeader(dst, d.code, 0)
	}
	d.markRead()
	start := len(dst)
	dst = append(dst, d.block...)
	dst[start] = d.code // a reload may have changed it
	return dst
}

// markRead notes that the newest data is read. The first time it calls Polled.Wanted.
func (d *Device) markRead() {
	if p := d.link.polled; p != nil && !d.read {
		d.read = true
		p.Wanted(d)
	}
}

// Wanted reports whether a Polled driver should ask for newer data: the newest was read, there is none,
// or a driver observes the device and gets all data.
func (d *Device) Wanted() bool { return d.read || !d.HasData() || len(d.observers) > 0 }

// mostItems is how many compact forms of a device's data are kept: of whole scans, and of some
// selections of their readings. If clients use more, data is encoded more than once.
const mostItems = 4

// item is data in compact form.
type item struct {
	scan  codec.Scan
	seq   uint64 // of the data, never zero
	bytes []byte
}

// AppendItem is AppendBlock for a compact block (PROTOCOL 8.4). New data is encoded for the first
// client that reads it; the others get a copy.
func (d *Device) AppendItem(dst []byte, scan codec.Scan) []byte {
	if !d.HasData() {
		return compact.Append(dst, d.code, nil, codec.Scan{})
	}
	d.markRead()
	if d.spec.Letter != codec.Laser {
		scan = codec.Scan{}
	}
	t := d.item(scan)
	if t.seq != d.seq {
		t.seq = d.seq
		t.bytes = compact.Append(t.bytes[:0], d.spec.Letter, d.Data(), scan)
	}
	start := len(dst)
	dst = append(dst, t.bytes...)
	dst[start] = d.code
	return dst
}

// item returns the item for a selection. A new item replaces the oldest.
func (d *Device) item(scan codec.Scan) *item {
	oldest := 0
	for i := range d.items {
		if d.items[i].scan == scan {
			return &d.items[i]
		}
		if d.items[i].seq < d.items[oldest].seq {
			oldest = i
		}
	}
	if len(d.items) < mostItems {
		oldest = len(d.items)
		d.items = append(d.items, item{})
	}
	t := &d.items[oldest]
	t.scan, t.seq = scan, 0
	return t
}

// Subscribe opens the device, and starts its link if the link has no other subscriber. If pending,
// setup is under way and s.SetupDone is called at its end. Otherwise the device is open, or err is the
// reason why not.
func (d *Device) Subscribe(now time.Duration, s Subscriber) (pending bool, err error) {
	return d.link.subscribe(now, d, s)
}

// Unsubscribe ends one subscription of s, even if its setup is still under way. The link stops when it
// has no subscription left.
func (d *Device) Unsubscribe(now time.Duration, s Subscriber) { d.link.unsubscribe(now, d, s) }

// SetCommand overwrites the device's command (manual 4.1: there is no queue) and
// calls the driver. payload must be of Spec.CommandSize; it is copied. Commands to
// a link that is not ready are dropped, and so are those to a robot that is stopped
// (Table.Stop).
func (d *Device) SetCommand(now time.Duration, payload []byte) {
	if !d.link.table.stopped {
		d.force(now, payload)
	}
}

// force is SetCommand, even during an emergency stop.
func (d *Device) force(now time.Duration, payload []byte) {
	if d.link.state != Ready {
		return
	}
	d.command = append(d.command[:0], payload...)
	d.commands++
	for _, o := range d.observers {
		o.commanded(now, d)
	}
	if l := d.link; l.commanded != nil {
		l.call(now, l.run, func() { l.commanded.Command(now, d) })
	}
}

// Command returns the newest command, or nil if there was none since the link
// was started or the command was forgotten.
func (d *Device) Command() []byte {
	if len(d.command) == 0 {
		return nil
	}
	return d.command
}

// Commands counts the commands given. A caller that remembers the count after a command can find out whether
// there is a newer one.
func (d *Device) Commands() uint64 { return d.commands }

// ForgetCommand drops the command, so that hardware that comes back does not move
// by itself.
func (d *Device) ForgetCommand() { d.command = d.command[:0] }

// Configure passes a configuration request to the driver. It returns ErrNotOpen, and
// has no effect, unless the link is ready (manual 3.6).
func (d *Device) Configure(now time.Duration, payload []byte) error {
	if d.link.state != Ready {
		return ErrNotOpen
	}
	for _, o := range d.observers {
		o.configured(now, d, payload)
	}
	l, err := d.link, errPanicked
	if l.configurer == nil {
		return ErrNoConfiguration
	}
	l.call(now, l.run, func() { err = l.configurer.Configure(now, d, payload) })
	return err
}

// restart forgets the data and the command of the link's previous run.
func (d *Device) restart() {
	d.seqSeen = d.seq
	d.ForgetCommand()
}
