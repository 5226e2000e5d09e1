package baseline

import (
	"bytes"
	"encoding/binary"
	"testing"

	"player/codec"
)

func config(c codec.Config) []byte {
	return codec.AppendMessage(nil, codec.KindConfig, codec.Server, c.Append(nil))
}

// A client's whole life in one stream, cut into single bytes.
func TestClientReads(t *testing.T) {
	var stream []byte
	stream = append(stream, config(codec.Config{Code: codec.ConfigFrequency, Arg: 50})...)
	stream = codec.AppendRequest(stream, []byte("lrpa"))
	for speed := range int16(3) {
		stream = codec.AppendMessage(stream, codec.KindCommand, codec.Position, codec.PositionCommand{Speed: speed, TurnRate: -1}.Append(nil))
	}
	stream = codec.AppendMessage(stream, codec.KindCommand, codec.Position, []byte("short"))
	stream = codec.AppendMessage(stream, 'q', codec.Position, nil)
	stream = append(stream, config(codec.Config{Code: codec.ConfigMode, Arg: 1})...)
	stream = append(stream, config(codec.Config{Code: codec.ConfigData})...)
	stream = append(stream, config(codec.Config{Code: codec.ConfigData})...)

	var c Client
	var replies []byte
	frames := 0
	for i := range stream {
		reply, n := c.Receive(stream[i : i+1])
		replies = append(replies, reply...)
		frames += n
	}
	if c.Rate != 50 || !c.Asks || !c.Reads || c.Requests != 2 || frames != 2 || c.Commands != 3 {
		t.Errorf("%+v, %d frames asked for", c, frames)
	}
	if want := (codec.PositionCommand{Speed: 2, TurnRate: -1}); c.Command != want {
		t.Errorf("newest command %+v, want %+v", c.Command, want)
	}
	if want := codec.AppendBlock(nil, codec.KindReply, []byte("lrpa")); !bytes.Equal(replies, want) {
		t.Errorf("replies %q, want %q", replies, want)
	}
}

func TestFramesAreStamped(t *testing.T) {
	for size, letter := range map[int]byte{85: codec.Sonar, 807: codec.Laser} {
		original := NewFrame(size)
		f := original.Clone()
		f.Stamp(0x0102030405060708)
		if len(f.Bytes) != size {
			t.Errorf("a frame of %d bytes has %d", size, len(f.Bytes))
		}
		blocks := 0
		for rest := f.Bytes; len(rest) > 0; blocks++ {
			var got byte
			var payload []byte
			var ok bool
			if got, payload, rest, ok = codec.Block(rest); !ok {
				t.Fatalf("%d bytes: block %d is cut", size, blocks+1)
			}
			if got == letter && binary.BigEndian.Uint64(payload) != 0x0102030405060708 {
				t.Errorf("%d bytes: the stamp is not in %c", size, letter)
			}
		}
		if blocks != 7 {
			t.Errorf("%d bytes: %d blocks", size, blocks)
		}
		if bytes.Equal(original.Bytes, f.Bytes) {
			t.Errorf("%d bytes: a stamp on the clone changed the original", size)
		}
	}
}
