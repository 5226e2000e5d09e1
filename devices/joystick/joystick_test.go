package joystick

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
)

const ms = time.Millisecond

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

// world is the outside of the driver.
type world struct {
	devices.Host // what it does not implement, nobody calls
	device       *devices.Device
	at           time.Duration
	refuse       error
	handler      devices.PortHandler
	open         bool
}

func (w *world) WakeAt(_ *devices.Link, at time.Duration) { w.at = at }
func (w *world) OpenInput(path string, h devices.PortHandler, opened func(now time.Duration, p devices.Port, err error)) {
	if w.refuse == nil {
		w.handler, w.open = h, true
	}
	opened(w.at, port{w}, w.refuse)
}
func (w *world) SetupDone(time.Duration, *devices.Device, error) {}

type port struct{ *world }

func (p port) Close()           { p.open = false }
func (p port) Write([]byte)     {}
func (p port) Buffered() int    { return 0 }
func (p port) LastWords([]byte) {}

func newWorld(t *testing.T) *world {
	t.Helper()
	w, table := &world{}, devices.NewTable(zap.NewNop())
	if _, err := table.Attach(Kind().Instance(New("/dev/input/js7"))); err != nil {
		t.Fatal(err)
	}
	table.Connect(w)
	w.device = table.Device(codec.Joystick)
	return w
}

func (w *world) data(t *testing.T) codec.JoystickData {
	t.Helper()
	var d codec.JoystickData
	if err := d.Decode(w.device.Data()); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDriver(t *testing.T) {
	w := newWorld(t)
	w.refuse = errors.New("not there")
	if _, err := w.device.Subscribe(ms, w); err != w.refuse {
		t.Fatal(err)
	}
	w.refuse = nil
	if pending, err := w.device.Subscribe(ms, w); pending || err != nil {
		t.Fatal(pending, err)
	}
	if w.device.HasData() {
		t.Error("data before there is any")
	}
	var stream []byte
	for n := range byte(2) {
		stream = append(stream, bytesOf(1, 0, typeAxis|typeInit, n)...)
	}
	w.handler.Receive(2*ms, stream) // at rest, and told so
	if w.device.Seq() != 1 || w.data(t) != (codec.JoystickData{}) {
		t.Errorf("published %d times, %+v", w.device.Seq(), w.data(t))
	}
	// The bytes of the specification: axis 1 backward, button 0 down.
	w.handler.Receive(3*ms, slices.Concat(bytesOf(2044, 32767, typeAxis, 1), bytesOf(2345, 1, typeButton, 0)))
	if w.device.Seq() != 2 || w.data(t) != (codec.JoystickData{Buttons: 1, Axes: [8]int16{1: 32767}}) {
		t.Errorf("published %d times, %+v", w.device.Seq(), w.data(t))
	}
	w.handler.Receive(4*ms, bytesOf(2400, 32767, typeAxis, 1))
	if w.device.Seq() != 2 {
		t.Error("published without a change")
	}

	// Pulled out it is at rest; it is back the third time it is looked for.
	w.handler.Hangup(5*ms, errors.New("no such device"))
	if w.data(t) != (codec.JoystickData{}) || w.at != 1005*ms {
		t.Errorf("%+v, next try at %v", w.data(t), w.at)
	}
	w.refuse = errors.New("not there")
	w.at = w.device.Link().Wake(w.at)
	if w.at != 3005*ms {
		t.Errorf("next try at %v", w.at)
	}
	w.refuse, w.open = nil, false
	w.at = w.device.Link().Wake(w.at)
	if !w.open || w.at != 0 {
		t.Error("not opened again")
	}
	w.handler.Receive(4000*ms, bytesOf(1, 1, typeButton|typeInit, 3))
	if w.data(t).Buttons != 8 {
		t.Errorf("%+v", w.data(t))
	}
	w.device.Unsubscribe(5000*ms, w)
	if w.open || w.device.Link().State() != devices.Idle {
		t.Error("still open")
	}
}

// Pulled out, and nobody asks for it any more.
func TestShutdownWhileOut(t *testing.T) {
	w := newWorld(t)
	if _, err := w.device.Subscribe(ms, w); err != nil {
		t.Fatal(err)
	}
	w.handler.Hangup(2*ms, errors.New("no such device"))
	w.device.Unsubscribe(3*ms, w)
	if w.device.Link().State() != devices.Idle || w.at != 0 {
		t.Error("it is still looked for")
	}
}

func TestCuts(t *testing.T) {
	var stream []byte
	for n := range byte(5) {
		stream = append(stream, bytesOf(uint32(n), int16(n)*100, typeAxis, n)...)
	}
	read := func(pieces ...[]byte) (events []string) {
		var p parser
		for _, in := range pieces {
			for {
				e, rest, ok := p.next(in)
				if !ok {
					break
				}
				events = append(events, fmt.Sprint(e))
				in = rest
			}
		}
		return events
	}
	want := []string{"{0 2 0}", "{100 2 1}", "{200 2 2}", "{300 2 3}", "{400 2 4}"}
	for i := range stream {
		for j := i; j <= len(stream); j++ {
			if got := read(stream[:i], stream[i:j], stream[j:]); !slices.Equal(got, want) {
				t.Fatalf("cut at %d and %d: %v", i, j, got)
			}
		}
	}
}

func TestReceiveAllocatesNothing(t *testing.T) {
	w := newWorld(t)
	if _, err := w.device.Subscribe(ms, w); err != nil {
		t.Fatal(err)
	}
	events := [][]byte{bytesOf(1, 5, typeAxis, 0), bytesOf(1, 6, typeAxis, 0)}
	w.handler.Receive(ms, events[0])
	i := 0
	if n := testing.AllocsPerRun(1000, func() { i++; w.handler.Receive(ms, events[i%2]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
