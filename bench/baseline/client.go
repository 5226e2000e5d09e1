// Package baseline is shared by the two baselines of the benchmark: they read
// the same messages as the server and send frames of the same size and shape.
package baseline

import (
	"player/codec"
)

// Client is the server's side of one client: the requests so far. The
// zero value is a client that has sent nothing. Like the server it decodes
// every message and its payload; unlike the server it checks no rights and
// drives nothing.
type Client struct {
	decoder codec.Decoder

	Rate     int  // frames a second
	Asks     bool // frames are sent on request
	Reads    bool // has requested devices
	Requests int  // frames asked for
	Commands int
	Command  codec.PositionCommand // the newest
}

// Receive takes bytes from the client. reply is to be sent back at once,
// frames the number of frames that in asks for.
func (c *Client) Receive(in []byte) (reply []byte, frames int) {
	for {
		m, rest, ok := c.decoder.Next(in)
		if !ok {
			return reply, frames
		}
		in = rest
		switch {
		case m.Malformed:
		case m.Kind == codec.KindRequest:
			c.Reads = true
			reply = codec.AppendBlock(reply, codec.KindReply, m.Payload) // everything is granted
		case m.Kind == codec.KindCommand && m.Device == codec.Position:
			if c.Command.Decode(m.Payload) == nil {
				c.Commands++
			}
		case m.Kind == codec.KindConfig && m.Device == codec.Server:
			config, err := codec.DecodeServerConfig(m.Payload)
			switch {
			case err != nil:
			case config.Code == codec.ConfigFrequency:
				c.Rate = int(config.Arg)
			case config.Code == codec.ConfigMode:
				c.Asks = config.Arg != 0
			case config.Code == codec.ConfigData:
				c.Requests++
				frames++
			}
		}
	}
}
