package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"player/codec"
	"player/codec/compact"
)

// pause is between two attempts of Reconnect: a server takes as long to start again.
const pause = 100 * time.Millisecond

// Reconnect connects again, after the connection is lost or at any time, and restores this
// client's state: name, frequency, lifetime of commands, data mode, form of rounds, access
// to devices and freshness mode. It tries until it succeeds or ctx ends. The fields keep
// their values; Has is false until new data. Motor power, odometry and velocity control
// belong to the robot and are not touched.
//
// With an *AccessError the client is connected, but not all devices could be opened: the
// next Reconnect asks for them again.
//
// If Devices or Open has asked for the list of devices before, Reconnect asks again. If one of their bytes means another
// device now, that is an error: the client is connected, and no device is open. Open them again by their names.
func (c *Client) Reconnect(ctx context.Context) error {
	if c.dial == nil {
		return errors.New("a client of New cannot connect again: use DialBy")
	}
	var why error // of the last attempt that ctx has not cut short
	for {
		err := c.resume(ctx)
		if why == nil || ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
			why = err
		}
		if _, refused := errors.AsType[*AccessError](err); err == nil || refused || errors.Is(err, errMoved) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("connect again: %w", why)
		case <-time.After(pause):
		}
	}
}

// resume makes one attempt.
func (c *Client) resume(ctx context.Context) error {
	_ = c.Close() // the connection is lost
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	c.conn, c.done = conn, nil
	c.in, c.items, c.answer = nil, compact.Reader{Interface: c.interfaceOf}, nil
	if c.listed == nil { // otherwise this server is known as a Player, and is asked for its devices at once
		c.first, c.answered = nil, false
	}
	bound := c.devices
	c.devices, c.freshness = c.unknown(), codec.FreshnessData{}
	for code, d := range bound {
		if d.field != nil { // perhaps by Bind
			c.device(code).field = d.field
		}
	}
	c.readers, c.awaited, c.round, c.left, c.fresh = 0, 0, 0, 0, false
	for _, code := range []byte{codec.ConfigName, codec.ConfigFrequency, codec.ConfigLifetime, codec.ConfigMode, codec.ConfigCompact} {
		if cfg, set := c.settings[code]; set {
			err = errors.Join(err, c.config(codec.Server, cfg))
		}
	}
	if err == nil && c.listed != nil {
		var listed []codec.Entry
		if listed, err = c.Devices(ctx); err == nil {
			err = moved(c.seen, listed)
		}
		if errors.Is(err, errMoved) { // the next Reconnect knows the new list, and would request other devices
			c.wanted, c.devices, c.seen = nil, c.unknown(), nil
			for _, e := range listed {
				c.remember(e)
			}
		}
	}
	wanted := slices.Clone(c.wanted) // also devices that are refused now: the next Reconnect requests them again
	if err == nil && len(wanted) > 0 {
		err = c.Request(ctx, string(wanted))
	}
	if _, refused := errors.AsType[*AccessError](err); refused {
		c.wanted = wanted
	} else if err != nil {
		return err
	}
	if cfg := c.settings[codec.ConfigFresh]; cfg.Arg != 0 && c.devices[codec.Server].readable() {
		err = errors.Join(err, c.SetFresh(true))
	}
	return err
}

// want records the granted access of a reply for Reconnect. The record of a refused device stays as it was.
func (c *Client) want(letter, access byte) {
	at := 0
	for at < len(c.wanted) && c.wanted[at] != letter {
		at += 2
	}
	switch {
	case access == codec.AccessError:
	case access == codec.AccessClose:
		c.wanted = append(c.wanted[:at], c.wanted[min(at+2, len(c.wanted)):]...)
	case at == len(c.wanted):
		c.wanted = append(c.wanted, letter, access)
	default:
		c.wanted[at+1] = access
	}
}

// errMoved is the error of Reconnect if a device that Devices listed before has another byte now.
var errMoved = errors.New("the server was started anew with other devices: call Devices, and request them")

// moved returns errMoved if a byte means another device than it has meant since the devices were opened. A device may have
// been away meanwhile.
func moved(seen map[byte]string, now []codec.Entry) error {
	for _, n := range now {
		if before := seen[n.Code]; before != "" && before != n.Address() {
			return errMoved
		}
	}
	return nil
}
