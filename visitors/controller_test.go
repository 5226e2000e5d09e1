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
	"player/e2e/must"
	"player/visitors/roomtest"
)

const silence = 400 * time.Millisecond

// robot is the Player server of a robot, on connections in memory. It notes each message,
// after the time at which that came.
type robot struct {
	began  time.Time
	denies bool
	down   bool          // it does not answer
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
	roomtest.Answer(conn, func(m codec.Message) []byte {
		switch {
		case m.Kind == codec.KindConfig && m.Payload[0] == codec.ConfigQuestion:
			return codec.AppendAnswer(nil, m.Payload[1], []string{"p right you may only watch"})
		case m.Kind == codec.KindRequest && m.Size == 0:
			return codec.AppendBlock(nil, codec.KindReply, nil)
		case m.Kind != codec.KindRequest:
			r.note("%c%c %x", m.Kind, m.Device, m.Payload)
			return nil
		}
		r.note("%s", m.Payload)
		time.Sleep(setup)
		reply := []byte{codec.KindReply, 0, 2, m.Payload[0], m.Payload[1]}
		if denies {
			reply[4] = codec.AccessError
		}
		return reply
	})
}

// expect checks the messages to the robot since the last call.
func (r *robot) expect(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := strings.Join(r.events, ", "); got != strings.Join(want, ", ") {
		t.Errorf("the robot got %s, want %s", got, strings.Join(want, ", "))
	}
	r.events = nil
}

// ofWheels calls fn with a controller of the wheels of a robot.
func ofWheels(t *testing.T, fn func(t *testing.T, r *robot, c *Controller)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRobot()
		fn(t, r, NewController(codec.Position, "wheels", silence, r.dial))
	})
}

// drive acquires the wheels and drives.
func drive(t *testing.T, c *Controller, speed int) {
	t.Helper()
	must.Do(t, errors.Join(c.Acquire(t.Context()), c.Drive(speed, 0, time.Now())))
}

// expire waits until Expire is due, and calls it.
func expire(t *testing.T, c *Controller, drove bool) {
	t.Helper()
	<-c.Due()
	if got, err := c.Expire(); err != nil || got != drove {
		t.Errorf("expired: drove %v, %v, want %v", got, err, drove)
	}
}

const (
	lives   = "xy 6c0190" // for 400 ms
	forever = "xy 6c0000"
	ahead   = "cp 012c0000"
	stop    = "cp 00000000"
)

// A visitor drives, repeats the command, and is silent: it is stopped, and later releases the wheels.
func TestController(t *testing.T) {
	ofWheels(t, func(t *testing.T, r *robot, c *Controller) {
		drive(t, c, 300)
		r.expect(t, "0 "+lives, "0 pw", "0 "+ahead)
		for range 3 {
			time.Sleep(silence - time.Nanosecond)
			drive(t, c, 300)
		}
		r.expect(t, "399 "+ahead, "799 "+ahead, "1199 "+ahead)
		expire(t, c, true)
		r.expect(t, "1599 "+stop)
		expire(t, c, false)
		r.expect(t, "4599 closed")
		drive(t, c, 300) // anew
		r.expect(t, "4599 "+lives, "4599 pw", "4599 "+ahead)
		drive(t, c, 0)
		time.Sleep(2 * time.Second)
		if err := c.Acquire(t.Context()); err != nil { // for something else
			t.Error(err)
		}
		expire(t, c, false)
		r.expect(t, "4599 "+stop, "9599 closed")
		c.Release() // again
		drive(t, c, 300)
		r.expect(t, "9599 "+lives, "9599 pw", "9599 "+ahead)
		c.Release()
		r.expect(t, "9599 closed")
		select {
		case <-c.Due():
			t.Error("a controller expires after its release")
		case <-time.After(time.Hour):
		}
	})
}

// Only Overrule stops a robot that another client drives: for it the controller does not yield.
func TestOverrule(t *testing.T) {
	ofWheels(t, func(t *testing.T, r *robot, c *Controller) {
		drive(t, c, 300)
		if err := c.Overrule(); err != nil {
			t.Error(err)
		}
		expire(t, c, false)
		r.expect(t, "0 "+lives, "0 pw", "0 "+ahead, "0 "+forever, "0 "+stop, "0 "+lives, "3000 closed")
	})
}

// A command that has waited too long for the wheels to start stops.
func TestOldCommand(t *testing.T) {
	ofWheels(t, func(t *testing.T, r *robot, c *Controller) {
		r.setup = silence
		drive := func() {
			heard := time.Now()
			if err := errors.Join(c.Acquire(t.Context()), c.Drive(300, 0, heard)); err != nil {
				t.Error(err)
			}
		}
		drive()
		r.expect(t, "0 "+lives, "0 pw", "400 "+stop)
		drive()
		r.expect(t, "400 "+ahead)
		c.Release()
		r.setup--
		drive()
		expire(t, c, true) // silence after it was heard, not after it was sent
		r.expect(t, "400 closed", "400 "+lives, "400 pw", "799 "+ahead, "800 "+stop)
		c.Release()
	})
}

// A request that is refused, or fails, is not repeated for some time.
func TestRefusal(t *testing.T) {
	ofWheels(t, func(t *testing.T, r *robot, c *Controller) {
		again := func() error {
			t.Helper()
			err := c.Acquire(t.Context())
			if err == nil || c.Robot() != nil {
				t.Fatalf("acquired: %v", err)
			}
			time.Sleep(retryPeriod - time.Nanosecond)
			if now := c.Acquire(t.Context()); now != err {
				t.Errorf("%v, want %v", now, err)
			}
			time.Sleep(time.Nanosecond)
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
		drive(t, c, 300)
		r.expect(t, "5000 down", "10000 "+lives, "10000 pw", "50000 closed", "55000 "+lives, "55000 pw", "55000 "+ahead)
		c.Release()
		time.Sleep(time.Hour) // the setup ends
	})
}

// A device other than the wheels is kept until the visitor releases it.
func TestControllerOfTheCamera(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRobot()
		c := NewController(codec.PTZ, "camera", 0, r.dial)
		must.Do(t, errors.Join(c.Acquire(t.Context()), c.Robot().SetPTZ(1, 2, 3)))
		select {
		case <-c.Due():
			t.Error("it expires")
		case <-time.After(time.Hour):
		}
		c.Release()
		r.expect(t, "0 zw", "0 cz 000100020003", "3600000 closed")
	})
}
