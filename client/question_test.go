package client

import (
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"player/codec"
	"player/codec/compact"
	"player/e2e/must"
)

// answer returns an answer to a question, in hex.
func answer(question byte, lines ...string) string {
	return hex.EncodeToString(codec.AppendAnswer(nil, question, lines))
}

// A client learns the bytes of devices without letters, reads them, and knows them in answers.
func TestDevices(t *testing.T) {
	c, s := dial(t)
	const empty = "720000"
	s.send(empty, answer('d', "108 laser 0 sick"), answer('d', "128 laser 1 rplidar", "later servers say more", "129 imu 0 lines"), empty)
	entries := must.Get(c.Devices(within(t)))(t)
	s.expect("64720000", "78790002 7164", "64720000")
	want := []codec.Entry{{Code: 'l', Interface: "laser", Driver: "sick"}, {Code: 0x80, Interface: "laser", Index: 1, Driver: "rplidar"},
		{Code: 0x81, Interface: "imu", Driver: "lines"}}
	if !slices.Equal(entries, want) {
		t.Fatalf("devices %+v", entries)
	}

	var rear codec.LaserData
	c.Bind(0x80, &rear)
	open(t, c, s, "\x80r")
	scan := codec.LaserData{7: 1234}
	s.send(hex.EncodeToString(codec.AppendBlock(nil, 0x80, scan.Append(nil))))
	read(t, c)
	if rear != scan || !c.Has(0x80) || c.Has('l') {
		t.Errorf("the rear laser has %v", rear[:10])
	}
	scan[8] = 4321
	item := compact.Append(nil, 'l', scan.Append(nil), codec.Scan{})
	item[0] = 0x80
	s.send(hex.EncodeToString(codec.AppendBlock(nil, codec.KindCompact, item)))
	read(t, c)
	if rear != scan {
		t.Errorf("the rear laser has %v by a compact item", rear[:10])
	}

	s.send(answer('g', "l 0 80 0 0 0 0 8000 180", "laser:1 0 -80 0 180 0 0 8000 180", "laser:9 0 0 0 0 0 0 0 0"), empty)
	parts := must.Get(c.Geometry(within(t)))(t)
	if len(parts) != 2 || parts[0].Device != 'l' || parts[1].Device != 0x80 || parts[1].X != -80 {
		t.Errorf("parts %+v", parts)
	}
	s.send("720002 8165", answer('e', "imu:0 hardware it is unplugged"), empty)
	var refused *AccessError
	if err := c.Request(within(t), "\x81r"); !errors.As(err, &refused) || refused.Devices[0].Why != codec.WhyHardware {
		t.Errorf("refused: %v", err)
	}
}

func TestOlderServerListsNoDevices(t *testing.T) {
	c, s := dial(t)
	s.send("720000", "720000")
	if _, err := c.Devices(within(t)); !errors.Is(err, ErrUnknownQuestion) {
		t.Errorf("error %v", err)
	}
}

func TestMovedDevices(t *testing.T) {
	rear, top := codec.Entry{Code: 0x80, Interface: "laser", Index: 1}, codec.Entry{Code: 0x81, Interface: "laser", Index: 2}
	other := rear
	other.Index = 3
	for _, tt := range []struct {
		before, now []codec.Entry
		want        error
	}{
		{[]codec.Entry{rear, top}, []codec.Entry{rear, top}, nil},
		{[]codec.Entry{rear, top}, []codec.Entry{top}, nil},
		{[]codec.Entry{rear}, []codec.Entry{rear, top}, nil},
		{[]codec.Entry{rear, top}, []codec.Entry{other, top}, errMoved},
	} {
		if err := moved(tt.before, tt.now); err != tt.want {
			t.Errorf("%v, then %v: %v", tt.before, tt.now, err)
		}
	}
}
