package devices

import (
	"slices"
	"time"

	"player/codec"
)

// Device is one wire letter: its newest data and its newest command. It is
// where the two halves of the server meet.
type Device struct {
	spec Spec
	link *Link

	block   []byte        // newest data as a block, header included
	stamp   time.Duration // when it was taken
	seq     uint64        // counts the data published, never restarts
	command []byte        // newest command; empty: none since the link started
	seqSeen uint64        // seq when the link started: data up to it is of an earlier run

	followers []Follower
}

// Letter is the device's code on the wire.
func (d *Device) Letter() byte { return d.spec.Letter }

// Spec returns what the driver said of the device.
func (d *Device) Spec() Spec { return d.spec }

// Link returns the cable that the device is on.
func (d *Device) Link() *Link { return d.link }

// Publish replaces the device's data by payload, taken at stamp. Payloads
// larger than the device's Spec.DataSize are cut: a driver's mistake must not
// grow memory.
func (d *Device) Publish(stamp time.Duration, payload []byte) {
	payload = payload[:min(len(payload), d.spec.DataSize)]
	d.block = codec.AppendBlock(d.block[:0], d.spec.Letter, payload)
	d.stamp = stamp
	d.seq++
	for _, f := range d.followers {
		f.Published(d)
	}
}

// Follower is told of new data of a device: a driver that works on it.
type Follower interface {
	// Published is called from within Publish, in the middle of what the driver
	// of d does. It may publish on other devices, and not command d.
	Published(d *Device)
}

// Overseer is a Follower that is told, too, what the device is told, just
// before its driver is.
type Overseer interface {
	Follower
	// Commanded says that d has a new command: d.Command.
	Commanded(now time.Duration, d *Device)
	// Configured says how d is configured; payload is valid during the call.
	Configured(now time.Duration, d *Device, payload []byte)
}

// Follow has f told of new data until Unfollow. It does not subscribe.
func (d *Device) Follow(f Follower) { d.followers = append(d.followers, f) }

// Unfollow ends what Follow began.
func (d *Device) Unfollow(f Follower) {
	// A new slice: it may be called from within Publish.
	d.followers = slices.DeleteFunc(slices.Clone(d.followers), func(o Follower) bool { return o == f })
}

// Stamp returns when the data was taken; meaningful only with HasData.
func (d *Device) Stamp() time.Duration { return d.stamp }

// HasData says whether the device has published since its link was started.
func (d *Device) HasData() bool { return d.seq > d.seqSeen }

// Data returns the newest payload, or nil. It is valid until the next Publish.
func (d *Device) Data() []byte {
	if !d.HasData() {
		return nil
	}
	return d.block[codec.BlockHeaderSize:]
}

// Seq counts the data published. It never runs backwards, so whoever
// remembers it knows whether there is news.
func (d *Device) Seq() uint64 { return d.seq }

// Age returns how old the data is at now; meaningful only with HasData.
func (d *Device) Age(now time.Duration) time.Duration { return now - d.stamp }

// AppendBlock appends the newest data as a block, of size 0 if there is none
// (PROTOCOL 3.3).
func (d *Device) AppendBlock(dst []byte) []byte {
	if !d.HasData() {
		return codec.AppendBlockHeader(dst, d.spec.Letter, 0)
	}
	return append(dst, d.block...)
}

// Subscribe asks for the device and starts its link if it is the first to ask.
// If pending, setup is under way and s.SetupDone will tell its end; otherwise
// the subscription stands, unless err says that setup failed at once.
func (d *Device) Subscribe(now time.Duration, s Subscriber) (pending bool, err error) {
	return d.link.subscribe(now, d, s)
}

// Unsubscribe gives back one subscription of s, whether its setup is still
// under way or not. The last one stops the link.
func (d *Device) Unsubscribe(now time.Duration, s Subscriber) { d.link.unsubscribe(now, d, s) }

// SetCommand overwrites the device's command (manual 4.1: there is no queue)
// and tells the driver. payload must be of Spec.CommandSize; it is copied. A
// device whose link is not ready does not take commands.
func (d *Device) SetCommand(now time.Duration, payload []byte) {
	if d.link.state != Ready {
		return
	}
	d.command = append(d.command[:0], payload...)
	for _, f := range d.followers {
		if o, ok := f.(Overseer); ok {
			o.Commanded(now, d)
		}
	}
	if d.link.commander != nil {
		d.link.commander.Command(now, d)
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

// ForgetCommand drops the command, so that hardware that comes back does not
// move by itself.
func (d *Device) ForgetCommand() { d.command = d.command[:0] }

// Configure hands a configuration request to the driver. It reports
// ErrNotOpen, and does nothing, unless the link is ready (manual 3.6).
func (d *Device) Configure(now time.Duration, payload []byte) error {
	if d.link.state != Ready {
		return ErrNotOpen
	}
	for _, f := range d.followers {
		if o, ok := f.(Overseer); ok {
			o.Configured(now, d, payload)
		}
	}
	if d.link.configurer == nil {
		return errNoConfiguration
	}
	return d.link.configurer.Configure(now, d, payload)
}

// restart forgets what an earlier run of the link left behind.
func (d *Device) restart() {
	d.seqSeen = d.seq
	d.ForgetCommand()
}
