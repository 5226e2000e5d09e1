package client

import (
	"encoding/hex"
	"testing"

	"player/codec"
	"player/codec/compact"
	"player/e2e/must"
)

// small returns a round in compact form, in hex.
func small(blocks ...string) string {
	var items []byte
	for _, b := range blocks {
		letter, payload, _, _ := codec.Block(unhex(b))
		items = compact.Append(items, letter, payload, codec.Scan{})
	}
	return hex.EncodeToString(codec.AppendBlock(nil, codec.KindCompact, items))
}

// The server may change the form of rounds at any time.
func TestCompactRounds(t *testing.T) {
	c, s := dial(t)
	c.auto = true
	s.send("720006 6C72 7A72 7072")
	must.Do(t, c.Request(t.Context(), "lrzrpr"))
	s.expect("78790002 7A02", "64720006 6C72 7A72 7072")
	s.send(small(laserBlock, ptzBlock, positionBlock), laserBlock, ptzBlock, positionBlock, "5A0001 6C", small(laserBlock, ptzBlock, positionBlock))
	for range 2 {
		read(t, c)
		if c.Laser[1] != 2001 || c.PTZ.Pan != -30 || c.Position.X != 1111 || !c.New('l') || !c.New('z') || !c.New('p') {
			t.Errorf("laser %d, ptz %+v, position %+v", c.Laser[1], c.PTZ, c.Position)
		}
		c.Laser, c.PTZ, c.Position = codec.LaserData{}, codec.PTZData{}, codec.PositionData{}
	}
	if err := c.Read(within(t)); err == nil {
		t.Error("a block that is none was read")
	}
	read(t, c)
	if c.Position.X != 1111 {
		t.Error("the round behind it was not")
	}
	must.Do(t, c.SetCompact(codec.FramesCompact, codec.Scan{Step: 2, Last: 360, Unit: 10}))
	s.expect("78790008 7A01 02 0000 0168 0A")
}
