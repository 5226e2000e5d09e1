package session

import (
	"slices"
	"time"

	"player/devices"
)

// slot is one device of this client, at its position in the client's frames.
type slot struct {
	device  *devices.Device
	access  access
	pending bool          // its setup is in progress
	shown   bool          // it is read, and a reply has said so: frames have it
	since   time.Duration // time at which it was last opened
	sent    uint64        // the device's Seq when last sent
	waits   bool          // it is a Waiter of the device
	tried   uint64        // the last request that could not open it: one request tries once
	command uint64        // Device.Commands after this client's newest; zero: it gave none, or has lost write access
	why     error         // why it could not be opened
}

// isShown reports whether frames have a block for the device. While a request waits for setups (2.7),
// frames have the devices that were open before it.
func (sl *slot) isShown() bool { return sl.shown && sl.access.reads() && !sl.pending }

// isNew reports whether the device has data that this client has not been sent.
func (sl *slot) isNew() bool { return sl.device.HasData() && sl.device.Seq() != sl.sent }

// isNewest reports whether the newest command of the device is this client's.
func (sl *slot) isNewest() bool { return sl.command != 0 && sl.command == sl.device.Commands() }

// slots are in order of first opening, and are kept until the connection ends (2.8).
type slots []slot

// of returns the slot of a device, or nil if it has none.
func (all slots) of(d *devices.Device) *slot {
	if d == nil {
		return nil
	}
	i := slices.IndexFunc(all, func(sl slot) bool { return sl.device.Code() == d.Code() })
	if i < 0 {
		return nil
	}
	sl := &all[i]
	if sl.device != d { // of a driver that a reload has replaced while the device was not open
		*sl = slot{device: d, access: sl.access}
	}
	return sl
}

// areShown reports whether a frame would have a block of any device.
func (all slots) areShown() bool {
	return slices.ContainsFunc(all, func(sl slot) bool { return sl.isShown() })
}

// haveNews reports whether any device in the next frame has data that this client has not been sent.
func (all slots) haveNews() bool {
	return slices.ContainsFunc(all, func(sl slot) bool { return sl.isShown() && sl.isNew() })
}
