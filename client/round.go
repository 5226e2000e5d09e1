package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"player/codec"
)

var (
	errNothingOpen = errors.New("no device is open for reading: Request one first")
	errNoServer    = errors.New("freshness mode needs device y: Request \"yr\" first")
)

// Read waits for one complete round of data: a block of every device open for reading. A
// block of size 0 counts; it means that the device has no data yet. In continuous mode
// rounds come at the server's frequency (SetFrequency), in request/reply mode after
// RequestData.
//
// In freshness mode (SetFresh) a round contains only the devices that have new
// data; New reports which.
//
// The error is ctx.Err() if ctx ended first; the next Read continues the same
// round. It wraps io.EOF if the server closed the connection. If a block's
// payload does not match the manual, Read returns that error at once; the
// connection is still usable and the next Read continues after that block.
func (c *Client) Read(ctx context.Context) error {
	for {
		if c.awaited == 0 && c.readers == 0 {
			return errNothingOpen
		}
		if c.awaited == 0 && c.fresh && !c.devices[codec.Server].readable() {
			return errNoServer
		}
		letter, payload, err := c.receive(ctx)
		if err != nil {
			return err
		}
		if letter == codec.KindReply { // to a Request whose context ended
			c.reply(payload)
			continue
		}
		if whole, err := c.store(letter, payload); whole || err != nil {
			return err
		}
	}
}

// store takes one block and reports whether it completes a round.
func (c *Client) store(letter byte, payload []byte) (whole bool, err error) {
	d := c.device(letter)
	d.raw = append(d.raw[:0], payload...)
	d.has = len(payload) > 0
	if d.has && d.field != nil {
		if err = d.field.Decode(payload); err != nil {
			d.has = false
		}
	}
	if c.devices[codec.Server].readable() {
		return c.countAged(letter, d, err)
	}
	return c.count(d), err
}

// count counts a block of a round without device y: a round has as many blocks
// as devices are read. A second block of one device starts the next round.
func (c *Client) count(d *device) (whole bool) {
	if !d.readable() {
		return false
	}
	if c.left == 0 || d.round == c.round {
		c.round++
		c.left = c.readers
	}
	d.round = c.round
	c.left--
	return c.left == 0
}

// countAged counts a block of a round with device y: its block comes first and
// has an age for each block that follows, in freshness mode or not.
func (c *Client) countAged(letter byte, d *device, err error) (bool, error) {
	if letter == codec.Server {
		c.round++
		c.left = 0
		if err == nil && !d.has {
			err = errors.New("block of device y has no data")
		}
		if err == nil { // the field is the program's
			err = c.freshness.Decode(d.raw)
			d.has = err == nil
		}
		if err != nil {
			return false, err
		}
		d.round = c.round
		c.left = len(c.freshness.Ages)
		return c.left == 0, nil
	}
	if c.left == 0 {
		return false, errors.Join(fmt.Errorf("block of device %q without a block of device y before it", letter), err)
	}
	age := c.freshness.Ages[len(c.freshness.Ages)-c.left]
	d.aged = age != codec.NoAge
	d.taken = c.freshness.Time - uint64(age)
	d.round = c.round
	c.left--
	return c.left == 0, err
}

func (c *Client) device(letter byte) *device {
	d := c.devices[letter]
	if d == nil {
		d = new(device)
		c.devices[letter] = d
	}
	return d
}

// Has reports whether a device has data: its latest block since it was opened was not empty. If
// not, its field is zero or outdated.
func (c *Client) Has(letter byte) bool {
	d := c.devices[letter]
	return d != nil && d.has
}

// New reports whether the latest round has a block of this device. It is
// useful in freshness mode; otherwise every round has all blocks.
func (c *Client) New(letter byte) bool {
	d := c.devices[letter]
	return d != nil && c.round > 0 && d.round == c.round
}

// Raw returns the payload of a device's latest block, as sent, or nil. For
// devices that the manual does not define it is the only access. The slice is
// valid until the next Read or Request.
func (c *Client) Raw(letter byte) []byte {
	if d := c.devices[letter]; d != nil {
		return d.raw
	}
	return nil
}

// Age returns the age of a device's data when the server made the latest
// round, to the microsecond. ok is false if device y is not read or the device
// has no data yet. Ages over 71 minutes are reported as 71 minutes.
func (c *Client) Age(letter byte) (age time.Duration, ok bool) {
	d := c.devices[letter]
	if d == nil || !d.aged || !c.devices[codec.Server].readable() {
		return 0, false
	}
	return time.Duration(c.freshness.Time-d.taken) * time.Microsecond, true
}

// ServerTime returns the time of the latest round, counted from the server's
// start. It is zero if device y was never read.
func (c *Client) ServerTime() time.Duration {
	return time.Duration(c.freshness.Time) * time.Microsecond
}
