package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"player/codec"
)

// ErrUnknownQuestion is the error if the server does not know a question. The original
// server knows none.
var ErrUnknownQuestion = errors.New("the server does not know this question")

// Ask asks the server a question and returns the lines of its answer (PROTOCOL 8.9). The
// answer to codec.QuestionObstacles lists what blocks this client's commands and data now.
// It waits as Request does. Request itself asks for the reasons of refused devices.
func (c *Client) Ask(ctx context.Context, question byte) (lines []string, err error) {
	if c.first == nil { // the reply to a request shows that this is a Player
		if _, err := c.roundTrip(ctx, ""); err != nil {
			return nil, fmt.Errorf("question %q: %w", question, err)
		}
	}
	c.answer = c.answer[:0]
	cfg := codec.Config{Code: codec.ConfigQuestion, Arg: uint16(question)}
	if err := c.queue(codec.KindConfig, codec.Server, cfg.Append(nil)); err != nil {
		return nil, fmt.Errorf("question %q: %w", question, err)
	}
	// Every server answers an empty request, and the answer comes before.
	if _, err := c.roundTrip(ctx, ""); err != nil {
		return nil, fmt.Errorf("question %q: %w", question, err)
	}
	if to, lines := codec.Answer(c.answer); to == question {
		return lines, nil
	}
	return nil, ErrUnknownQuestion
}

// Geometry asks the server for the places and sizes of the parts of its robot's devices, and
// for the areas that they cover. A device without known geometry has no part.
func (c *Client) Geometry(ctx context.Context) (parts []codec.Part, err error) {
	lines, err := c.Ask(ctx, codec.QuestionGeometry)
	for _, line := range lines {
		if p, ok := codec.ParsePart(line, c.codeOf); ok {
			parts = append(parts, p)
		}
	}
	return parts, err
}

// Colors asks the server which colours the channels of vision have, as far as it knows them.
func (c *Client) Colors(ctx context.Context) (colors []codec.ChannelColor, err error) {
	lines, err := c.Ask(ctx, codec.QuestionColors)
	for _, line := range lines {
		key, color, ok := codec.ParseChannelColor(line)
		if code, known := c.codeOf(key); ok && known {
			color.Device = code
			colors = append(colors, color)
		}
	}
	return colors, err
}

// explain adds the reasons to refused devices. A reason that cannot be obtained stays empty:
// the refusal stands.
func (c *Client) explain(ctx context.Context, refused []Access) {
	lines, err := c.Ask(ctx, codec.QuestionRefusals)
	if err != nil {
		return
	}
	for _, line := range lines {
		reason, ok := codec.ParseReason(line, c.codeOf)
		for i := range refused {
			if a := &refused[i]; ok && a.Device == reason.Device && a.Granted == codec.AccessError {
				a.Why, a.Text = reason.Why, reason.Text
			}
		}
	}
}

// Devices asks the server which devices its robot has (PROTOCOL 8.9.5). A robot may have several of an interface, and
// interfaces that have no letter. Entry.Code is the byte of such a device for Request, Access, Has, Raw and Age: a request
// is string([]byte{entry.Code, codec.AccessRead}). From then on Geometry and the reasons of refusals also have these devices.
// The error is ErrUnknownQuestion if the server is an older one, whose devices all have letters.
func (c *Client) Devices(ctx context.Context) ([]codec.Entry, error) {
	lines, err := c.Ask(ctx, codec.QuestionDevices)
	if err != nil {
		return nil, err
	}
	c.listed = nil
	for _, line := range lines {
		if e, ok := codec.ParseEntry(line); ok {
			c.listed = append(c.listed, e)
			if c.seen[e.Code] == "" {
				c.remember(e)
			}
		}
	}
	return slices.Clone(c.listed), nil
}

// remember notes the name of a byte for Reconnect.
func (c *Client) remember(e codec.Entry) {
	if c.seen == nil {
		c.seen = map[byte]string{}
	}
	c.seen[e.Code] = e.Address()
}

// Bind has the data of a device decoded into a variable, just as Laser gets the data of the first laser. Raw has the payload
// in any case. Data that cannot be decoded is an error of Read.
func (c *Client) Bind(code byte, data interface{ Decode(payload []byte) error }) {
	c.device(code).field = data
}

// codeOf is the Keys of the devices that the server has listed.
func (c *Client) codeOf(key string) (code byte, known bool) {
	if code, known = c.listedAs(key); known {
		return code, true
	}
	for code, name := range c.seen { // a device that a reload has removed
		if name == key {
			return code, true
		}
	}
	return codec.Letters(key)
}

// listedAs returns the byte of a device that the server has listed, by its name, for example laser:1.
func (c *Client) listedAs(address string) (code byte, listed bool) {
	for _, e := range c.listed {
		if e.Address() == address {
			return e.Code, true
		}
	}
	return 0, false
}

// NameOf returns the name of a device for people: its letter, or its name in the server's list, for example laser:1, if it
// has no letter. It is empty for a byte that no server has listed since the client connected first.
func (c *Client) NameOf(code byte) string {
	for _, e := range c.listed {
		if e.Code == code && codec.InterfaceLetter(e.Interface) != code {
			return e.Address()
		}
	}
	if code <= ' ' || code > '~' {
		return c.seen[code] // of a device that a reload has removed
	}
	return string(rune(code))
}

// interfaceOf returns the letter of the interface of a device, 0 if it is not known. A byte that no server has listed has the
// interface of the protocol's letter. The letters of interfaces without one, such as codec.Ranger, are names inside of
// programs, and no device of that byte.
func (c *Client) interfaceOf(code byte) (letter byte) {
	for _, e := range c.listed {
		if e.Code == code {
			return codec.InterfaceLetter(e.Interface)
		}
	}
	if !codec.OnWire(code) {
		return 0
	}
	return code
}
