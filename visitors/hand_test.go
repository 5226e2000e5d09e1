package visitors

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"player/client"
	"player/codec"
)

const silence = 400 * time.Millisecond

// robot is the Player server of a robot, on connections in memory. It notes what it is
// told, after the time at which that came.
type robot struct {
	began  time.Time
	denies bool
	down   bool          // nobody answers
	setup  time.Duration // of the device

	mu     sync.Mutex
	events []string
}

func newRobot() *robot { return &robot{began: time.Now()} }

func (r *robot) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf("%d "+format, append([]any{time.Since(r.began).Milliseconds()}, args...)...))
}

func (r *robot) dial(context.Context) (*client.Client, func(), error) {
	if r.down {
		r.note("down")
		return nil, nil, net.ErrClosed
	}
	here, there := net.Pipe()
	go r.serve(there, r.setup, r.denies)
	return client.New(here), func() { r.note("closed") }, nil
}

func (r *robot) serve(conn net.Conn, setup time.Duration, denies bool) {
	defer conn.Close()
	var decoder codec.Decoder
	in := make([]byte, 1000)
	for {
		n, err := conn.Read(in)
		if err != nil {
			return
		}
		for rest := in[:n]; ; {
			var m codec.Message
			var ok bool
			if m, rest, ok = decoder.Next(rest); !ok {
				break
			}
			switch {
			case m.Kind == codec.KindConfig && m.Payload[0] == codec.ConfigQuestion:
				_, _ = conn.Write(codec.AppendAnswer(nil, m.Payload[1], []string{"p right you may only watch"}))
				continue
			case m.Kind == codec.KindRequest && m.Size == 0:
				_, _ = conn.Write(codec.AppendBlock(nil, codec.KindReply, nil))
				continue
			case m.Kind != codec.KindRequest:
				r.note("%c%c %x", m.Kind, m.Device, m.Payload)
				continue
			}
			r.note("%s", m.Payload)
			time.Sleep(setup)
			reply := []byte{codec.KindReply, 0, 2, m.Payload[0], m.Payload[1]}
			if denies {
				reply[4] = codec.AccessError
			}
			_, _ = conn.Write(reply) // the hand may have let go
		}
	}
}

// expect checks what the robot has been told since the last call.
func (r *robot) expect(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := strings.Join(r.events, ", "); got != strings.Join(want, ", ") {
		t.Errorf("the robot was told %s, want %s", got, strings.Join(want, ", "))
	}
	r.events = nil
}

// drive takes hold and drives.
func drive(t *testing.T, h *Hand, speed int) {
	t.Helper()
	if err := errors.Join(h.Hold(t.Context()), h.Drive(speed, 0, time.Now())); err != nil {
		t.Fatal(err)
	}
}

// lapse waits until Lapse is due, and calls it.
func lapse(t *testing.T, h *Hand, drove bool) {
	t.Helper()
	<-h.Due()
	if got, err := h.Lapse(); err != nil || got != drove {
		t.Errorf("lapsed: drove %v, %v, want %v", got, err, drove)
	}
}

const (
	lives   = "xy 6c0190" // for 400 ms
	forever = "xy 6c0000"
	ahead   = "cp 012c0000"
	stop    = "cp 00000000"
)

// A visitor drives, repeats the command, and is silent: he is stopped, and later lets go.
func TestHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRobot()
		h := NewHand(codec.Position, "wheels", silence, r.dial)
		drive(t, h, 300)
		r.expect(t, "0 "+lives, "0 pw", "0 "+ahead)
		for range 3 {
			time.Sleep(silence - time.Nanosecond)
			drive(t, h, 300)
		}
		r.expect(t, "399 "+ahead, "799 "+ahead, "1199 "+ahead)
		lapse(t, h, true)
		r.expect(t, "1599 "+stop)
		lapse(t, h, false)
		r.expect(t, "4599 closed")
		drive(t, h, 300) // anew
		r.expect(t, "4599 "+lives, "4599 pw", "4599 "+ahead)
		drive(t, h, 0)
		time.Sleep(2 * time.Second)
		if err := h.Hold(t.Context()); err != nil { // for something else
			t.Error(err)
		}
		lapse(t, h, false)
		r.expect(t, "4599 "+stop, "9599 closed")
		h.LetGo() // again
		drive(t, h, 300)
		r.expect(t, "9599 "+lives, "9599 pw", "9599 "+ahead)
		h.LetGo()
		r.expect(t, "9599 closed")
		select {
		case <-h.Due():
			t.Error("a hand that has let go lapses")
		case <-time.After(time.Hour):
		}
	})
}

// Only Overrule stops what others drive: for it the hand does not yield.
func TestOverrule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRobot()
		h := NewHand(codec.Position, "wheels", silence, r.dial)
		drive(t, h, 300)
		if err := h.Overrule(); err != nil {
			t.Error(err)
		}
		lapse(t, h, false)
		r.expect(t, "0 "+lives, "0 pw", "0 "+ahead, "0 "+forever, "0 "+stop, "0 "+lives, "3000 closed")
	})
}

// A command that has waited too long for the wheels to start stops.
func TestOldCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRobot()
		r.setup = silence
		h := NewHand(codec.Position, "wheels", silence, r.dial)
		drive := func() {
			heard := time.Now()
			if err := errors.Join(h.Hold(t.Context()), h.Drive(300, 0, heard)); err != nil {
				t.Error(err)
			}
		}
		drive()
		r.expect(t, "0 "+lives, "0 pw", "400 "+stop)
		drive()
		r.expect(t, "400 "+ahead)
		h.LetGo()
		r.setup--
		drive()
		lapse(t, h, true) // silence after it was heard, not after it was sent
		r.expect(t, "400 closed", "400 "+lives, "400 pw", "799 "+ahead, "800 "+stop)
		h.LetGo()
	})
}

// What is refused, or fails, is not tried again for some time.
func TestRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRobot()
		h := NewHand(codec.Position, "wheels", silence, r.dial)
		again := func() error {
			t.Helper()
			err := h.Hold(t.Context())
			if err == nil || h.Robot() != nil {
				t.Fatalf("held: %v", err)
			}
			time.Sleep(retryPeriod - time.Nanosecond)
			if now := h.Hold(t.Context()); now != err || h.Refused() != err {
				t.Errorf("%v, %v, want %v", now, h.Refused(), err)
			}
			time.Sleep(time.Nanosecond)
			if h.Refused() != nil {
				t.Error(h.Refused())
			}
			return err
		}
		r.denies = true
		err := again()
		if refusal, ok := errors.AsType[*Refusal](err); !ok || refusal.Name != "wheels" || refusal.Error() != "the robot refuses access to its wheels: you may only watch" {
			t.Error(err)
		}
		r.expect(t, "0 "+lives, "0 pw", "0 closed")
		r.denies, r.down = false, true
		if err := again(); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		r.down, r.setup = false, time.Hour
		if err := again(); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		r.setup = 0
		drive(t, h, 300)
		r.expect(t, "5000 down", "10000 "+lives, "10000 pw", "50000 closed", "55000 "+lives, "55000 pw", "55000 "+ahead)
		h.LetGo()
		time.Sleep(time.Hour) // the setup ends
	})
}

// What is not the wheels is held until the visitor lets go.
func TestHandOnTheCamera(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRobot()
		h := NewHand(codec.PTZ, "camera", 0, r.dial)
		if err := errors.Join(h.Hold(t.Context()), h.Robot().SetPTZ(1, 2, 3)); err != nil {
			t.Fatal(err)
		}
		select {
		case <-h.Due():
			t.Error("it lapses")
		case <-time.After(time.Hour):
		}
		h.LetGo()
		r.expect(t, "0 zw", "0 cz 000100020003", "3600000 closed")
	})
}
