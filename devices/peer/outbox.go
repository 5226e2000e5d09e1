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
// only the newest command of each device is kept (PROTOCOL 5.3).
type Outbox struct {
	Port devices.Port
	Log  *zap.Logger

	pending []*devices.Device // devices with a newest command to send
	slow    limited.Line
	buf     []byte
}

// Command sends the newest command of a device. It returns when to call Flush, zero
// for not at all.
func (o *Outbox) Command(now time.Duration, device *devices.Device) time.Duration {
	if !slices.Contains(o.pending, device) {
		o.pending = append(o.pending, device)
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
	for _, device := range o.pending {
		if command := device.Command(); command != nil {
			o.buf = codec.AppendMessage(o.buf, codec.KindCommand, device.Letter(), command)
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
	o.buf = codec.AppendMessage(o.buf, codec.KindConfig, device.Letter(), payload)
	o.Port.Write(o.buf)
	return nil
}
