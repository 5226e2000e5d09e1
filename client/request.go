package client

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"player/codec"
)

// Access is the requested and the granted access for one device. The letters are in table 3
// of the manual.
type Access struct {
	Device  byte
	Name    string    // Client.NameOf the device
	Asked   byte      // r, w, a or c
	Granted byte      // r, w, a, c, or e: the device failed or does not exist
	Why     codec.Why // of e; empty: the server gave no reason
	Text    string    // of e: the same for people, or empty
}

// Reason returns why a device is e, for people.
func (a Access) Reason() string {
	if a.Text == "" {
		return "the server's log has the reason"
	}
	return a.Text
}

// AccessError lists the devices that were granted less than the request. The
// granted access is in force.
type AccessError struct {
	Devices []Access
}

func (e *AccessError) Error() string {
	var b strings.Builder
	b.WriteString("access is not as requested")
	for i, a := range e.Devices {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		fmt.Fprintf(&b, "device %s asked %q granted %q", cmp.Or(a.Name, strings.Trim(strconv.QuoteToASCII(string([]byte{a.Device})), `"`)), a.Asked, a.Granted)
		if a.Granted == codec.AccessError {
			b.WriteString(": " + a.Reason())
		}
	}
	return b.String()
}

// enough reports whether an access includes the requested one: r, followed by w in another
// request, is granted as a.
func enough(asked, granted byte) bool {
	partly := asked == codec.AccessRead || asked == codec.AccessWrite
	return granted == asked || partly && granted == codec.AccessAll
}

// replyHead is the size of the head of a reply in bytes: kind and size.
const replyHead = 3

// Request asks for devices and waits for the server's reply (manual 3.3). The
// request consists of pairs of a device and an access: "srpw" is sonar read,
// position write; 'c' closes a device. Setting up a device can take seconds.
//
// It returns nil if the whole request is granted; a device that is read and then opened with
// w is granted a. It returns an *AccessError if the server granted less, which is then in
// force. The error has the server's reasons, unless the server does not know them, or ctx
// ends before they have come. Other errors mean that the request was not answered.
//
// Rounds that arrive meanwhile update the fields and are not returned by Read again: in
// request/reply mode, call Read for the data of RequestData before Request. If ctx ends
// first, the server still answers the request; the next Read or Request takes its reply. If
// the network has not accepted the whole request by then, the connection is closed.
func (c *Client) Request(ctx context.Context, request string) error {
	if len(request)%2 != 0 {
		return fmt.Errorf("request %q does not consist of pairs of device and access", request)
	}
	if c.auto {
		if err := c.SetCompact(codec.FramesAuto, codec.Scan{}); err != nil {
			return fmt.Errorf("request %q: %w", request, err)
		}
	}
	reply, err := c.roundTrip(ctx, request)
	if err != nil {
		return fmt.Errorf("request %q: %w", request, err)
	}
	refused, err := compare(request, reply)
	if err != nil || refused == nil {
		return err
	}
	if slices.ContainsFunc(refused, func(a Access) bool { return a.Granted == codec.AccessError }) {
		c.explain(ctx, refused)
	}
	for i := range refused {
		refused[i].Name = c.NameOf(refused[i].Device)
	}
	return &AccessError{refused}
}

// roundTrip sends a request and waits for its reply, which is valid until the next call
// of receive.
func (c *Client) roundTrip(ctx context.Context, request string) (reply []byte, err error) {
	c.payload = append(c.payload[:0], request...)
	if err := c.queue(codec.KindRequest, 'r', c.payload); err != nil {
		return nil, err
	}
	if err := c.flush(ctx); err != nil {
		return nil, err
	}
	c.awaited++
	if c.first == nil {
		c.first = codec.AppendBlock(nil, codec.KindReply, c.payload)[:replyHead]
	}
	for {
		letter, payload, err := c.receive(ctx)
		if err != nil {
			return nil, err
		}
		if letter != codec.KindReply {
			c.store(letter, payload) // Read reports bad data
			continue
		}
		if c.reply(payload); c.awaited == 0 {
			return payload, nil
		}
	}
}

// reply stores the granted access of each device in the reply. The next block
// starts a round. A device that is opened for reading has no data yet.
func (c *Client) reply(payload []byte) {
	c.awaited = max(0, c.awaited-1)
	c.left = 0
	for pairs := payload; len(pairs) >= 2; pairs = pairs[2:] {
		d := c.device(pairs[0])
		closed := !d.readable()
		if d.access = pairs[1]; closed && d.readable() {
			*d = device{field: d.field, access: d.access}
		}
		c.want(pairs[0], pairs[1])
	}
	c.readers = 0
	for _, d := range c.devices {
		if d.readable() {
			c.readers++
		}
	}
}

// compare returns the devices that were granted less than the request. The error is for a
// reply to another request.
func compare(request string, reply []byte) (refused []Access, err error) {
	if len(request) != len(reply) {
		return nil, fmt.Errorf("request %q: the reply %q answers another request", request, reply)
	}
	for i := 0; i < len(request); i += 2 {
		if request[i] != reply[i] {
			return nil, fmt.Errorf("request %q: the reply %q answers another request", request, reply)
		}
		if asked, granted := request[i+1], reply[i+1]; !enough(asked, granted) {
			refused = append(refused, Access{Device: request[i], Asked: asked, Granted: granted})
		}
	}
	return refused, nil
}

// Access returns the last granted access to a device, in the letters of a reply; zero: it
// was never requested.
func (c *Client) Access(letter byte) byte {
	if d := c.devices[letter]; d != nil {
		return d.access
	}
	return 0
}
