package devices

import (
	"time"

	"go.uber.org/zap"

	"player/devices/retry"
)

// Optional is the devices of other drivers that a driver uses if they can be opened. It works without
// them as well. Opening each is tried again until it succeeds.
type Optional struct {
	Devices []*Device

	link   *Link // of the driver that uses them
	inputs []*input
}

// input is one of the devices, and its Subscriber.
type input struct {
	of      *Optional
	device  *Device
	open    bool // it is open, or its setup is under way
	retry   retry.Retry
	retryAt time.Duration // when opening it is tried again, zero for never
}

// Open opens the devices, in or after Driver.Setup. If a device cannot be opened, it sets a deadline of
// link by which the driver must call Tick.
func (o *Optional) Open(now time.Duration, link *Link) {
	o.link, o.inputs = link, make([]*input, len(o.Devices))
	link.addDependency(o)
	for i, d := range o.Devices {
		o.inputs[i] = &input{of: o, device: d}
	}
	for _, in := range o.inputs {
		in.subscribe(now)
	}
}

// Tick opens the devices that are to be tried again now. The driver calls it in its Tick.
func (o *Optional) Tick(now time.Duration) {
	for _, in := range o.inputs {
		if in.retryAt != 0 && in.retryAt <= now {
			in.subscribe(now)
		}
	}
}

// RetryAt returns when Tick is due, zero for never. The Tick of the driver must return it, or an earlier
// deadline.
func (o *Optional) RetryAt() (earliest time.Duration) {
	for _, in := range o.inputs {
		if in.retryAt != 0 && (earliest == 0 || in.retryAt < earliest) {
			earliest = in.retryAt
		}
	}
	return earliest
}

// Close closes the devices, in Driver.Shutdown.
func (o *Optional) Close(now time.Duration) {
	if o.link == nil { // it was never opened
		return
	}
	inputs := o.inputs
	o.inputs = nil
	o.link.removeDependency(o)
	for _, in := range inputs {
		if in.open {
			in.device.Unsubscribe(now, in)
		}
	}
}

func (o *Optional) isSwitchedOff() bool { return false }

// abandon closes the devices in place of the driver, which has panicked.
func (o *Optional) abandon(now time.Duration) { o.Close(now) }

func (in *input) subscribe(now time.Duration) {
	in.open, in.retryAt = true, 0
	if pending, err := in.device.Subscribe(now, in); !pending {
		in.SetupDone(now, in.device, err)
	}
}

func (in *input) SetupDone(now time.Duration, d *Device, err error) {
	log := in.of.link.log.With(zap.String("requires", d.spec.Name))
	if err == nil {
		in.retry.Worked(now, log)
		return
	}
	in.open = false
	in.retryAt = in.retry.Failed(now, log, err)
	in.of.link.wakeBy(in.retryAt)
}
