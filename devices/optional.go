package devices

import (
	"time"

	"go.uber.org/zap"

	"player/devices/retry"
)

// Optional is the devices of other drivers that a driver uses while they can be
// opened, and works without otherwise. Each is tried again until it opens.
type Optional struct {
	Devices []*Device

	link   *Link // of the driver that uses them
	inputs []*input
}

// input is one of the devices, and its Subscriber.
type input struct {
	of      *Optional
	device  *Device
	open    bool // or its setup is under way
	retry   retry.Retry
	retryAt time.Duration // when it is opened again, zero: it need not be
}

// Open opens the devices, in or after Driver.Setup. For a device that cannot be
// opened link wakes its driver, which must call Tick.
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

// Tick opens the devices whose time has come. It is called in Driver.Tick.
func (o *Optional) Tick(now time.Duration) {
	for _, in := range o.inputs {
		if in.retryAt != 0 && in.retryAt <= now {
			in.subscribe(now)
		}
	}
}

// RetryAt returns when to Tick next, zero for not at all. It is part of what
// Driver.Tick returns.
func (o *Optional) RetryAt() (earliest time.Duration) {
	for _, in := range o.inputs {
		if in.retryAt != 0 && (earliest == 0 || in.retryAt < earliest) {
			earliest = in.retryAt
		}
	}
	return earliest
}

// Close gives the devices back, in Driver.Shutdown.
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

// abandon gives the devices back in place of the driver, which has panicked.
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
