package client

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/codec/compact"
	"player/e2e/must"
)

// listed answers the questions that the first Open of a device without a letter asks.
func listed(lines ...string) string { return "720000" + answer('d', lines...) + "720000" }

// grant grants one device, in hex.
func grant(code, access byte) string {
	return hex.EncodeToString(codec.AppendBlock(nil, codec.KindReply, []byte{code, access}))
}

// data returns a block, in hex.
func data(code byte, d interface{ Append([]byte) []byte }) string {
	return hex.EncodeToString(codec.AppendBlock(nil, code, d.Append(nil)))
}

func TestTypedDevices(t *testing.T) {
	c, s := dial(t)
	ctx := within(t)
	s.send(listed("108 laser 0 a", "128 laser 1 b", "129 imu 0 c", "130 servo 0 d", "131 io 0 e", "112 position 0 f"))
	s.send(grant(0x80, 'r'), grant(0x81, 'r'), grant(0x82, 'a'), grant(0x83, 'a'), grant('p', 'a'), grant('l', 'r'))
	rear := must.Get(c.OpenLaser(ctx, 1))(t)
	imu := must.Get(c.OpenIMU(ctx, 0))(t)
	arm := must.Get(c.OpenServo(ctx, 0))(t)
	lamp := must.Get(c.OpenIO(ctx, 0))(t)
	wheels := must.Get(c.OpenWheels(ctx))(t)
	front := must.Get(c.OpenLaser(ctx, 0))(t)
	s.expect("64720000 78790002 7164 64720000", "64720002 8072", "64720002 8172", "64720002 8261", "64720002 8361", "64720002 7061", "64720002 6C72")
	if imu.Has() || front.Data != &c.Laser || wheels.Data != &c.Position {
		t.Error("data before any, or elsewhere than in the fields")
	}
	s.send(data(0x80, &codec.LaserData{7: 1234}), data(0x81, &codec.IMUData{Yaw: -5}), "820000", "830000", positionBlock, laserBlock)
	read(t, c)
	if rear.Data[7] != 1234 || imu.Data.Yaw != -5 || !imu.New() || arm.Has() || wheels.Data.X != 1111 || front.Data[1] != 2001 || rear.Name() != "laser:1" {
		t.Errorf("%v, %+v, %+v, %s", rear.Data[:9], *imu.Data, *wheels.Data, rear.Name())
	}
	must.Do(t, errors.Join(arm.Move(1, -1, 2), arm.Stop(), lamp.Set(3, 1), wheels.Drive(100, -20), wheels.Stop()))
	s.expect("63820009 01 FFFFFFFF 00000002", "63820009 FF 80000000 00000000", "63830005 03 00000001", "63700004 0064 FFEC", "63700004 0000 0000")
	s.send(grant(0x81, 'c'))
	must.Do(t, imu.Close(ctx))
	s.expect("64720002 8163")
	s.send(grant('s', 'e'), "720000")
	if _, err := c.OpenSonar(ctx, 0); err == nil {
		t.Error("a device that the robot does not have was opened")
	}
}

// The server itself is in no list.
func TestOpenFreshness(t *testing.T) {
	c, s := dial(t)
	s.send(grant('y', 'r'))
	if code, err := c.Open(within(t), "freshness", codec.AccessRead, nil); err != nil || code != 'y' {
		t.Errorf("device %q, %v", code, err)
	}
	s.expect("64720002 7972")
}

// A variable of the program gets the data of the server itself as well, and the rounds keep their ages.
func TestFreshnessInAVariable(t *testing.T) {
	c, s := dial(t)
	var f codec.FreshnessData
	s.send(grant('y', 'r'))
	must.Get(c.Open(within(t), "freshness", codec.AccessRead, &f))(t)
	s.expect("64720002 7972")
	open(t, c, s, "pr")
	for i := range uint64(2) {
		now := codec.FreshnessData{Time: 7_000_000 + i, Ages: []uint32{1500}}
		at := codec.PositionData{X: int32(i)}
		s.send(data('y', &now), data('p', &at))
		read(t, c)
		if age, aged := c.Age('p'); f.Time != now.Time || age != 1500*time.Microsecond || !aged || c.Position.X != at.X {
			t.Errorf("time %d, age %v, %t, x %d", f.Time, age, aged, c.Position.X)
		}
	}
}

// Reconnect leaves the variables of Bind to their devices, also those of devices with fields of the client.
func TestVariablesAfterReconnect(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	c := must.Get(Dial(t.Context(), l.Addr().String()))(t)
	defer c.Close()
	c.auto = false
	var at codec.PositionData
	c.Bind('p', &at)
	serve := func(x int32) {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		conn.Write(unhex(grant('p', 'r'), data('p', &codec.PositionData{X: x})))
		io.Copy(io.Discard, conn)
	}
	for x := range int32(2) {
		go serve(x + 1)
		if x == 0 {
			must.Do(t, c.Request(within(t), "pr"))
		} else {
			must.Do(t, c.Reconnect(within(t)))
		}
		read(t, c)
		if at.X != x+1 {
			t.Errorf("x %d, want %d", at.X, x+1)
		}
	}
}

// The letters by which programs name interfaces without a letter in the protocol are no devices of these bytes.
func TestBytesThatNoServerListed(t *testing.T) {
	c, s := dial(t)
	open(t, c, s, "Rr")
	payload := (&codec.RangerData{Unit: 1, Ranges: []uint16{1000, 1001, 1002}}).Append(nil)
	item := compact.Append(nil, codec.Ranger, payload, codec.Scan{})
	s.send(hex.EncodeToString(codec.AppendBlock(nil, codec.KindCompact, item)))
	if err := c.Read(within(t)); err == nil {
		t.Error("an item of a device that nobody knows was decoded as a ranger's")
	}
}

func TestColors(t *testing.T) {
	c, s := dial(t)
	s.send("720000", answer('v', "v 0 ffa500", "v 32 ffffff", "vision:7 1 000000", "v 31 00FF00 more"), "720000")
	colors := must.Get(c.Colors(within(t)))(t)
	if want := []codec.ChannelColor{{Device: 'v', Color: 0xFFA500}, {Device: 'v', Channel: 31, Color: 0x00FF00}}; !slices.Equal(colors, want) {
		t.Errorf("%+v, want %+v", colors, want)
	}
}

// driver returns a client that has opened goto.
func driver(t *testing.T) (*Client, *server, *Goto) {
	t.Helper()
	c, s := dial(t)
	s.send(listed("140 goto 0 goto"), grant(0x8C, 'a'))
	nav := must.Get(c.OpenGoto(within(t)))(t)
	s.expect("64720000 78790002 7164 64720000", "64720002 8C61")
	return c, s, nav
}

// reply reads a goal, and sends data of it in a state.
func (s *server) reply(state codec.GotoState, reason codec.GotoReason) (goal codec.GotoCommand) {
	s.t.Helper()
	command := make([]byte, 4+codec.GotoCommandSize)
	_ = must.Get(io.ReadFull(s.conn, command))(s.t)
	must.Do(s.t, goal.Decode(command[4:]))
	s.send(data(0x8C, &codec.GotoData{State: state, Reason: reason, Tag: goal.Tag, X: goal.X, Y: goal.Y, Heading: goal.Heading}))
	return goal
}

func TestGoTo(t *testing.T) {
	for _, tt := range []struct {
		name   string
		states []codec.GotoState
		reason codec.GotoReason
		check  func(error) bool
	}{
		{"arrives", []codec.GotoState{codec.GotoDriving, codec.GotoBlocked, codec.GotoArrived}, 0, func(err error) bool { return err == nil }},
		{"gives up", []codec.GotoState{codec.GotoDriving, codec.GotoStopped}, codec.GotoNoWay, func(err error) bool {
			var e *GotoError
			return errors.As(err, &e) && e.Error() == "the robot has not arrived at (1000, -2000) mm: it has found no way"
		}},
		{"is replaced", []codec.GotoState{codec.GotoDriving}, 0, func(err error) bool { return errors.Is(err, ErrReplaced) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, s, nav := driver(t)
			end := make(chan error, 1)
			go func() { end <- nav.Drive(within(t), 1000, -2000) }()
			for _, state := range tt.states {
				if goal := s.reply(state, tt.reason); goal.X != 1000 || goal.Y != -2000 || goal.Heading != codec.AnyHeading {
					t.Errorf("goal %+v", goal)
				}
			}
			if tt.name == "is replaced" {
				s.send(data(0x8C, &codec.GotoData{State: codec.GotoDriving, Tag: 1, X: 7}))
			}
			if err := <-end; !tt.check(err) {
				t.Errorf("%v", err)
			}
		})
	}
}

// The robot stops if its program does not wait any more.
func TestGoToInterrupted(t *testing.T) {
	c, s, nav := driver(t)
	enough := errors.New("enough")
	const stop = "638C0014 80000000 00000000 00000000 00000000 00000000"
	end := make(chan error, 1)
	goTo := func(ctx context.Context, each func() error) {
		go func() { end <- c.GoTo(ctx, nav.Code(), codec.GotoCommand{X: 1}, each) }()
	}
	goTo(within(t), func() error { return enough })
	s.reply(codec.GotoDriving, 0)
	s.expect(stop)
	if err := <-end; !errors.Is(err, enough) {
		t.Errorf("an error of the program: %v", err)
	}
	ctx, cancel := context.WithCancel(within(t))
	goTo(ctx, func() error { cancel(); return nil })
	s.reply(codec.GotoDriving, 0)
	again := make([]byte, 4+codec.GotoCommandSize)
	_ = must.Get(io.ReadFull(s.conn, again))(t)
	s.expect(stop)
	if err := <-end; !errors.Is(err, context.Canceled) {
		t.Errorf("the end of the context: %v", err)
	}
	if err := c.GoTo(within(t), 'p', codec.GotoCommand{}, nil); err == nil {
		t.Error("a goal for a device that is not open")
	}
}
