package devices

import (
	"fmt"
	"time"
)

// VirtualSetupLimit is the Kind.SetupLimit of a driver that works on
// others: they give up by themselves, and it can name them.
const VirtualSetupLimit = 10 * time.Minute

// Needs is what a virtual device's driver works on: devices of other drivers
// (Args.Requires). They are open while the driver is. It implements Subscriber.
type Needs struct {
	Devices  []*Device
	Follower Follower // the driver, told of their data while they are open; may be nil

	link    *Link
	open    []*Device
	waiting int // setups under way
}

// Open opens the devices and is all there is to Driver.Setup: it ends, now or
// later, with the link ready or failed.
func (n *Needs) Open(now time.Duration, link *Link) {
	n.link, n.waiting = link, 0
	for _, d := range n.Devices {
		pending, err := d.Subscribe(now, n)
		if err != nil {
			n.fail(now, d, err)
			return
		}
		n.open = append(n.open, d)
		if pending {
			n.waiting++
		}
	}
	if n.waiting == 0 {
		n.ready(now)
	}
}

// SetupDone implements Subscriber.
func (n *Needs) SetupDone(now time.Duration, d *Device, err error) {
	if err != nil {
		n.fail(now, d, err)
		return
	}
	if n.waiting--; n.waiting == 0 {
		n.ready(now)
	}
}

// ready hands on what the devices have said before.
func (n *Needs) ready(now time.Duration) {
	if n.Follower != nil {
		for _, d := range n.open {
			d.Follow(n.Follower)
			if d.HasData() {
				n.Follower.Published(d)
			}
		}
	}
	n.link.Ready(now)
}

func (n *Needs) fail(now time.Duration, d *Device, err error) {
	n.Close(now)
	n.link.Fail(now, fmt.Errorf("it works on %s of %s: %w", d.spec.Name, d.link.name, err))
}

// Close gives the devices back, in Driver.Shutdown.
func (n *Needs) Close(now time.Duration) {
	open := n.open
	n.open = nil
	for _, d := range open {
		if n.Follower != nil {
			d.Unfollow(n.Follower)
		}
		d.Unsubscribe(now, n)
	}
}
