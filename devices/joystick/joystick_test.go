package joystick

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/transport/transporttest"
)

func bytesOf(time uint32, value int16, kind, number byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, time)
	b = binary.NativeEndian.AppendUint16(b, uint16(value))
	return append(b, kind, number)
}

func TestApply(t *testing.T) {
	for _, tt := range []struct {
		e    event
		want codec.JoystickData
	}{
		{event{32767, typeAxis, 1}, codec.JoystickData{Axes: [8]int16{1: 32767}}},
		{event{-32768, typeAxis, 0}, codec.JoystickData{Axes: [8]int16{-32767}}},
		{event{-5, typeAxis | typeInit, 7}, codec.JoystickData{Axes: [8]int16{7: -5}}},
		{event{1, typeAxis, 8}, codec.JoystickData{}},
		{event{1, typeButton, 0}, codec.JoystickData{Buttons: 1}},
		{event{1, typeButton | typeInit, 31}, codec.JoystickData{Buttons: 1 << 31}},
		{event{1, typeButton, 32}, codec.JoystickData{}},
		{event{1, 4, 0}, codec.JoystickData{}},
	} {
		var d codec.JoystickData
		if tt.e.apply(&d); d != tt.want {
			t.Errorf("%+v: %+v, want %+v", tt.e, d, tt.want)
		}
	}
	d := codec.JoystickData{Buttons: 7}
	if (event{0, typeButton, 1}).apply(&d); d.Buttons != 5 {
		t.Errorf("buttons %b after one was let go", d.Buttons)
	}
}

// newBench returns a driver with a client.
func newBench(t *testing.T) *transporttest.Bench {
	return transporttest.NewBench(t, Kind().Instance(New("/dev/input/js7")))
}

func TestDriver(t *testing.T) {
	b := newBench(t)
	d := b.Client
	expect := func(seq uint64, want codec.JoystickData) {
		t.Helper()
		var got codec.JoystickData
		if err := got.Decode(d.Data()); err != nil || got != want || seq != 0 && d.Seq() != seq {
			t.Errorf("published %d times, %+v, %v; want %+v", d.Seq(), got, err, want)
		}
	}
	b.Refuse = errors.New("not there")
	b.Subscribe()
	b.Refuse = nil
	b.Subscribe()
	if len(b.Done) != 2 || b.Done[0] == nil || b.Done[0].Error() != "not there" || b.Done[1] != nil {
		t.Fatal(b.Done)
	}
	if d.HasData() {
		t.Error("data before there is any")
	}
	// At rest, and it reports so.
	b.Port().Say(slices.Concat(bytesOf(1, 0, typeAxis|typeInit, 0), bytesOf(1, 0, typeAxis|typeInit, 1)))
	expect(1, codec.JoystickData{})
	// The bytes of the specification: axis 1 backward, button 0 down.
	backward := slices.Concat(bytesOf(2044, 32767, typeAxis, 1), bytesOf(2345, 1, typeButton, 0))
	b.Port().Say(backward)
	expect(2, codec.JoystickData{Buttons: 1, Axes: [8]int16{1: 32767}})
	b.Port().Say(bytesOf(2400, 32767, typeAxis, 1))
	expect(2, codec.JoystickData{Buttons: 1, Axes: [8]int16{1: 32767}}) // nothing has changed
	// Cut anywhere, events are the same.
	for cut := range backward {
		b.Port().Say(bytesOf(2500, 0, typeAxis, 1))
		b.Port().Say(backward[:cut])
		b.Port().Say(backward[cut:])
		expect(uint64(4+2*cut), codec.JoystickData{Buttons: 1, Axes: [8]int16{1: 32767}})
	}

	// Pulled out it is at rest; it is back when it is tried the third time.
	start := b.Now()
	b.Port().HangUp()
	expect(0, codec.JoystickData{})
	b.Refuse = errors.New("not there")
	for _, next := range []time.Duration{time.Second, 3 * time.Second} {
		if at := b.Deadline(b.Link); at != start+next {
			t.Errorf("next try at %v", at-start)
		}
		if next > time.Second {
			b.Refuse = nil
		}
		b.Pass(start + next - b.Now())
	}
	if len(b.Ports) != 2 || b.Deadline(b.Link) != 0 {
		t.Error("not opened again")
	}
	b.Port().Say(bytesOf(1, 1, typeButton|typeInit, 3))
	expect(0, codec.JoystickData{Buttons: 8})
	b.Unsubscribe()
	if !b.Port().Closed || b.Link.State() != devices.Idle {
		t.Error("still open")
	}
}

// Pulled out, and no client asks for it any more.
func TestShutdownWhileOut(t *testing.T) {
	b := newBench(t)
	b.Subscribe()
	b.Port().HangUp()
	b.Unsubscribe()
	if b.Link.State() != devices.Idle || b.Deadline(b.Link) != 0 {
		t.Error("it is still tried")
	}
}

func TestReceiveAllocatesNothing(t *testing.T) {
	b := newBench(t)
	b.Subscribe()
	events := [][]byte{bytesOf(1, 5, typeAxis, 0), bytesOf(1, 6, typeAxis, 0)}
	p := b.Port()
	p.Say(events[0])
	i := 0
	if n := testing.AllocsPerRun(1000, func() { i++; p.Say(events[i%2]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
