package peer

import (
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/timers/limited"
)

// flushPeriod is the time between two tries to send to a peer that is slow to read.
const flushPeriod = 20 * time.Millisecond

// Outbox sends commands and configurations to a peer. While the peer does not read,
// only the newest command of each device is kept, or of each part of it (PROTOCOL 5.3).
type Outbox struct {
	Port devices.Port
	Log  *zap.Logger
	Code func(d *devices.Device) byte // of a device on the wire to the peer

	pending []pending
	slow    limited.Line
	buf     []byte
}

// pending is a device with a newest command to send.
type pending struct {
	device *devices.Device
	part   []byte // the command, of a device with Spec.ByPart; nil: the newest of the device
}

// isOverwritten reports whether a newer command of a device makes p needless.
func (p pending) isOverwritten(device *devices.Device) bool {
	return p.device == device && (p.part == nil || p.part[0] == device.Command()[0])
}

// Command sends the newest command of a device. It returns when to call Flush, zero
// for not at all.
func (o *Outbox) Command(now time.Duration, device *devices.Device) time.Duration {
	newest := pending{device: device}
	if device.Spec().ByPart {
		newest.part = slices.Clone(device.Command())
	}
	i := slices.IndexFunc(o.pending, func(p pending) bool { return p.isOverwritten(device) })
	switch {
	case i < 0:
		o.pending = append(o.pending, newest)
	case newest.part != nil: // behind those to other parts, which one to all parts may overwrite
		o.pending = append(slices.Delete(o.pending, i, i+1), newest)
	}
	return o.Flush(now)
}

// Flush sends the waiting commands, if the peer has received the earlier ones. It returns
// when to call Flush again, zero for not at all.
func (o *Outbox) Flush(now time.Duration) time.Duration {
	if len(o.pending) == 0 {
		return 0
	}
	if o.Port.Buffered() > 0 {
		o.slow.Warn(now, o.Log, "commands are not read")
		return now + flushPeriod
	}
	o.collect()
	o.Port.Write(o.buf)
	return 0
}

// collect puts the pending commands into the buffer.
func (o *Outbox) collect() {
	o.buf = o.buf[:0]
	for _, p := range o.pending {
		command := p.device.Command()
		if p.part != nil && command != nil { // else it was forgotten
			command = p.part
		}
		if command != nil {
			o.buf = codec.AppendMessage(o.buf, codec.KindCommand, o.Code(p.device), command)
		}
	}
	o.pending = o.pending[:0]
}

// Configure sends a configuration, after the commands that are older. It fails if
// the peer does not read.
func (o *Outbox) Configure(device *devices.Device, payload []byte) error {
	if o.Port.Buffered() > 0 {
		return errors.New("dropped: the peer does not read")
	}
	o.collect()
	o.buf = codec.AppendMessage(o.buf, codec.KindConfig, o.Code(device), payload)
	o.Port.Write(o.buf)
	return nil
}
