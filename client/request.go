package client

import (
	"context"
	"fmt"
	"strings"

	"player/codec"
)

// Access is the access asked for and granted for one device. The letters are
// those of table 3 of the manual.
type Access struct {
	Device  byte
	Asked   byte // r, w, a or c
	Granted byte // r, w, a, c, or e: the device failed or does not exist
}

// AccessError lists the devices whose access differs from the request. The
// granted access is in force.
type AccessError struct {
	Devices []Access
}

func (e *AccessError) Error() string {
	var b strings.Builder
	b.WriteString("access is not as requested")
	for i, a := range e.Devices {
		b.WriteString([]string{": ", ", "}[min(i, 1)])
		fmt.Fprintf(&b, "device %c asked %q granted %q", a.Device, a.Asked, a.Granted)
		if a.Granted == codec.AccessError {
			b.WriteString(" (see the server's log)")
		}
	}
	return b.String()
}

// Enough reports whether every device was granted at least the access asked
// for: r, followed by w in another request, is granted as a.
func (e *AccessError) Enough() bool {
	for _, a := range e.Devices {
		partly := a.Asked == codec.AccessRead || a.Asked == codec.AccessWrite
		if a.Granted != a.Asked && !(partly && a.Granted == codec.AccessAll) {
			return false
		}
	}
	return true
}

// replyHead is the size of the head of a reply in bytes: kind and size.
const replyHead = 3

// Request asks for devices and waits for the server's reply (manual 3.3). The
// request consists of pairs of a device and an access: "srpw" is sonar read,
// position write; 'c' closes a device. Setting up a device can take seconds.
//
// It returns nil if everything is granted as asked. It returns an *AccessError
// if the server granted something else, which is then in force. Note that a
// device opened with r and later with w is answered a. Other errors mean that the
// request was not answered.
//
// Rounds that arrive meanwhile update the fields and are not returned by Read
// again: in request/reply mode, Read what RequestData asked for before
// Request. If ctx ends first, the server still answers the request; the next
// Read or Request takes its reply.
func (c *Client) Request(ctx context.Context, request string) error {
	if len(request)%2 != 0 {
		return fmt.Errorf("request %q does not consist of pairs of device and access", request)
	}
	if c.auto {
		if err := c.SetCompact(codec.FramesAuto, codec.Scan{}); err != nil {
			return fmt.Errorf("request %q: %w", request, err)
		}
	}
	c.payload = append(c.payload[:0], request...)
	if err := c.send(codec.KindRequest, 'r', c.payload); err != nil {
		return fmt.Errorf("request %q: %w", request, err)
	}
	c.awaited++
	if c.first == nil {
		c.first = codec.AppendBlock(nil, codec.KindReply, c.payload)[:replyHead]
	}
	for {
		letter, payload, err := c.receive(ctx)
		if err != nil {
			return fmt.Errorf("request %q: %w", request, err)
		}
		if letter != codec.KindReply {
			c.store(letter, payload) // Read reports bad data
			continue
		}
		if c.reply(payload); c.awaited == 0 {
			return compare(request, payload)
		}
	}
}

// reply stores the granted access of each device in the reply. The next block
// starts a round.
func (c *Client) reply(payload []byte) {
	c.awaited = max(0, c.awaited-1)
	c.left = 0
	for pairs := payload; len(pairs) >= 2; pairs = pairs[2:] {
		c.device(pairs[0]).access = pairs[1]
	}
	c.readers = 0
	for _, d := range c.devices {
		if d.readable() {
			c.readers++
		}
	}
}

func compare(request string, reply []byte) error {
	if request == string(reply) {
		return nil
	}
	if len(request) != len(reply) {
		return fmt.Errorf("request %q: the reply %q answers another request", request, reply)
	}
	var e AccessError
	for i := 0; i < len(request); i += 2 {
		if request[i] != reply[i] {
			return fmt.Errorf("request %q: the reply %q answers another request", request, reply)
		}
		if request[i+1] != reply[i+1] {
			e.Devices = append(e.Devices, Access{Device: request[i], Asked: request[i+1], Granted: reply[i+1]})
		}
	}
	return &e
}
