package client

import (
	"context"
	"encoding/hex"
	"errors"
	"net"
	"slices"
	"strings"
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
	seen := map[byte]string{0x80: "laser:1", 0x81: "laser:2"}
	rear, top := codec.Entry{Code: 0x80, Interface: "laser", Index: 1}, codec.Entry{Code: 0x81, Interface: "laser", Index: 2}
	other, further := codec.Entry{Code: 0x80, Interface: "laser", Index: 3}, codec.Entry{Code: 0x82, Interface: "imu"}
	for _, tt := range []struct {
		now  []codec.Entry
		want error
	}{
		{[]codec.Entry{rear, top}, nil},
		{[]codec.Entry{top}, nil},
		{[]codec.Entry{rear, top, further}, nil},
		{[]codec.Entry{other, top}, errMoved},
	} {
		if err := moved(seen, tt.now); err != tt.want {
			t.Errorf("%v: %v", tt.now, err)
		}
	}
}

// A server that was started anew means other devices by the same bytes: Reconnect says so at once, and requests none of
// them, then or later.
func TestReconnectToMovedDevices(t *testing.T) {
	const empty = "720000"
	moved := answer('d', "129 laser 1 urg", "130 imu 0 lines")
	connections := [][]string{ // the server's bytes on each
		{empty, answer('d', "129 imu 0 lines"), empty, "720002 8172"},
		{moved, empty},
		{moved, empty, "720002 8272"},
	}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	dialled := 0
	c := must.Get(DialBy(within(t), func(ctx context.Context) (net.Conn, error) {
		if dialled == len(connections) {
			return nil, errors.New("one connection more")
		}
		conn := must.Get(new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String()))(t)
		s := &server{t, must.Get(l.Accept())(t)}
		t.Cleanup(func() { s.conn.Close() })
		s.send(connections[dialled]...)
		dialled++
		return conn, nil
	}))(t)
	defer c.Close()
	must.Get(c.Open(within(t), "imu", codec.AccessRead, nil))(t)
	if err := c.Reconnect(within(t)); !errors.Is(err, errMoved) || dialled != 2 {
		t.Fatalf("%v, after %d connections", err, dialled)
	}
	must.Do(t, c.Reconnect(within(t)))
	if code := must.Get(c.Open(within(t), "imu", codec.AccessRead, nil))(t); code != 130 {
		t.Errorf("imu is %d", code)
	}
}

// A program opens devices by their names.
func TestOpen(t *testing.T) {
	const empty = "720000"
	c, s := dial(t)
	var imu codec.IMUData
	s.send(empty, answer('d', "129 imu 0 lines", "108 laser 0 sick", "130 io 2 lines", "131 servo 0 lines"), empty, "720002 8172")
	code := must.Get(c.Open(within(t), "imu", codec.AccessRead, &imu))(t)
	s.expect("64720000", "78790002 7164", "64720000", "64720002 8172")
	sent := codec.IMUData{Yaw: 90000, X: codec.Unknown}
	s.send(hex.EncodeToString(codec.AppendBlock(nil, code, sent.Append(nil))))
	if read(t, c); imu != sent || !c.Has(code) {
		t.Errorf("imu %+v", imu)
	}

	list := answer('d', "129 imu 0 lines", "108 laser 0 sick", "130 io 2 lines", "131 servo 0 lines")
	s.send("720002 8277", "720002 8377")
	io := must.Get(c.Open(within(t), "io:2", codec.AccessWrite, nil))(t)
	servo := must.Get(c.Open(within(t), "servo:0", codec.AccessWrite, nil))(t)
	s.expect("64720002 8277", "64720002 8377") // the bytes are known
	must.Do(t, c.SetOutput(io, 3, -2))
	must.Do(t, c.MoveJoint(servo, 1, 45000, 9))
	must.Do(t, c.StopJoints(servo))
	s.expect("63820005 03 FFFFFFFE", "63830009 01 0000AFC8 00000009", "63830009 FF 80000000 00000000")

	s.send(answer('r', "l 0 361 0 0 -90 0.5 0 8000 0", "ranger:7 0 1 0 0 0 0 0 0 0"), empty, answer('i', "io:2 3 output bit 0 1 Lamp"), empty)
	if rays := must.Get(c.Rays(within(t)))(t); len(rays) != 1 || rays[0].Device != 'l' || rays[0].Step != 0.5 {
		t.Errorf("rays %+v", rays)
	}
	if channels := must.Get(c.Channels(within(t)))(t); len(channels) != 1 || channels[0].Device != io || channels[0].Name != "Lamp" {
		t.Errorf("channels %+v", channels)
	}

	s.send(list, empty)
	if _, err := c.Open(within(t), "gps", codec.AccessRead, nil); !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), `"imu:0" "laser:0" "io:2" "servo:0"`) {
		t.Errorf("a device that is missing: %v", err)
	}
	if _, err := c.Open(within(t), "gps:x", codec.AccessRead, nil); err == nil {
		t.Error("a name that is none")
	}
}

// An older server has the devices with letters.
func TestOpenOfOlderServer(t *testing.T) {
	c, s := dial(t)
	s.send("720000", "720000", "720002 6C72", "720000")
	if code := must.Get(c.Open(within(t), "laser", codec.AccessRead, nil))(t); code != 'l' {
		t.Errorf("laser is %q", code)
	}
	if _, err := c.Open(within(t), "imu", codec.AccessRead, nil); !errors.Is(err, ErrNoDevice) {
		t.Errorf("imu: %v", err)
	}
}
