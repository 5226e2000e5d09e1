package devices

import (
	"fmt"
	"slices"
	"time"
)

// VirtualSetupLimit is the Kind.SetupLimit of a virtual device's driver. It is long because the drivers
// that it requires have limits of their own, and their errors explain more.
const VirtualSetupLimit = 10 * time.Minute

// Required is the devices of other drivers that a virtual device needs (Args.Requires). They are open
// while its driver is set up. Required implements Subscriber.
type Required struct {
	Devices  []*Device
	Observer Observer // gets their data while they are open; may be nil
	// Optional is opened when all Devices are open; may be nil.
	Optional *Optional

	link   *Link
	run    int // of the link
	open   []*Device
	setups int // setups under way
}

// Open opens the devices. It is a complete Driver.Setup: within the call or later, it calls link.Ready
// or link.Fail.
func (n *Required) Open(now time.Duration, link *Link) {
	n.link, n.run, n.setups = link, link.run, 0
	link.addDependency(n)
	for _, d := range n.Devices {
		pending, err := d.Subscribe(now, n)
		if err != nil {
			n.fail(now, d, err)
			return
		}
		n.open = append(n.open, d)
		if pending {
			n.setups++
		}
	}
	if n.setups == 0 {
		n.ready(now)
	}
}

func (n *Required) SetupDone(now time.Duration, d *Device, err error) {
	n.link.call(now, n.run, func() {
		if err != nil {
			n.fail(now, d, err)
		} else if n.setups--; n.setups == 0 {
			n.ready(now)
		}
	})
}

// ready is called when all devices are open. The Observer gets the data that they have already.
func (n *Required) ready(now time.Duration) {
	if n.Optional != nil {
		n.Optional.Open(now, n.link)
	}
	if n.Observer != nil {
		for _, d := range n.open {
			d.AddObserver(n.link, n.Observer)
			if d.HasData() {
				d.observers[len(d.observers)-1].published(d)
			}
		}
	}
	n.link.Ready(now)
}

func (n *Required) fail(now time.Duration, d *Device, err error) {
	n.Close(now)
	n.link.Fail(now, fmt.Errorf("it works on %s of %s: %w", d.spec.Name, d.link.name, err))
}

// Close closes the devices, in Driver.Shutdown.
func (n *Required) Close(now time.Duration) {
	open := n.open
	n.open = nil
	n.link.removeDependency(n)
	for _, d := range open {
		if n.Observer != nil {
			d.RemoveObserver(n.Observer)
		}
		d.Unsubscribe(now, n)
	}
	if n.Optional != nil {
		n.Optional.Close(now)
	}
}

// Path returns the path of the driver's link, which waits for the devices.
func (n *Required) Path() string { return n.link.Path() }

func (n *Required) isSwitchedOff() bool {
	return slices.ContainsFunc(n.open, func(d *Device) bool { return d.link.isSwitchedOff() })
}

// abandon closes the devices in place of the driver, which has panicked. Devices that it has commanded
// are stopped.
func (n *Required) abandon(now time.Duration) {
	for _, d := range n.open {
		if stop := d.spec.Stop; stop != "" && d.Command() != nil {
			d.SetCommand(now, []byte(stop))
		}
	}
	n.Close(now)
}
