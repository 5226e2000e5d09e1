package server

import (
	"slices"
	"time"

	"player/codec"
	"player/devices"
)

// simPilot is a virtual device in front of the wheels that passes on each command after a while, like a slow
// program between clients and their robot. So commands from before an emergency stop come to the wheels during
// it. It implements devices.Driver.
type simPilot struct {
	wheels devices.Required
	link   *devices.Link
	waits  []lateCommand
}

type lateCommand struct {
	at      time.Duration
	command []byte
}

// pilotTime is how late a pilot passes on a command. Stops also come through in stopDelay.
const pilotTime = 100 * time.Millisecond

func newPilot(wheels *devices.Device) *simPilot {
	return &simPilot{wheels: devices.Required{Devices: []*devices.Device{wheels}}}
}

func pilotKind() devices.Kind {
	return devices.Kind{Name: "pilot", Provides: []devices.Spec{devices.Position()}, SetupLimit: devices.VirtualSetupLimit}
}

func (d *simPilot) Setup(now time.Duration, link *devices.Link) {
	d.link, d.waits = link, nil
	d.wheels.Open(now, link)
}

func (d *simPilot) Shutdown(now time.Duration) {
	if d.waits != nil {
		d.pass(now, []byte(devices.Position().Stop))
	}
	d.wheels.Close(now)
	d.link.Stopped(now)
}

func (d *simPilot) Command(now time.Duration, device *devices.Device) {
	d.waits = append(d.waits, lateCommand{now + pilotTime, slices.Clone(device.Command())})
	d.link.WakeAt(d.waits[0].at)
}

func (d *simPilot) Tick(now time.Duration) time.Duration {
	for len(d.waits) > 0 && d.waits[0].at <= now {
		d.pass(now, d.waits[0].command)
		d.waits = d.waits[1:]
	}
	if len(d.waits) == 0 {
		return 0
	}
	return d.waits[0].at
}

func (d *simPilot) pass(now time.Duration, command []byte) {
	d.wheels.Devices[0].SetCommand(now, command)
}

// attachPilot puts a pilot in front of the wheels.
func (r *simRobot) attachPilot(t *devices.Table) (kind devices.Kind, d devices.Driver) {
	r.reflexes, r.pilot = true, true
	return pilotKind(), newPilot(t.Hide(codec.Position))
}
