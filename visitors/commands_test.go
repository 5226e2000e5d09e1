package visitors

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"player/codec"
	"player/e2e/must"
)

func noResult(error, bool) error { return nil }

// Commands that wait for the device to start are replaced by newer ones of their kind, and no other command
// renews the time of one.
func TestWaitingCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRobot()
		r.setup = silence / 2
		c := NewCommands(codec.Position, "wheels", silence, r.dial, noResult)
		go c.Run(t.Context())
		motors := func(on bool) {
			c.Put("motors", func(c *Controller) error { return c.Robot().ChangeMotorState(on) })
		}
		c.Drive(0, 0) // does not connect only to stop
		r.expect(t)
		c.Drive(300, 0)
		motors(false)
		r.expect(t, "0 "+lives, "0 pw")
		c.Drive(200, 0)
		motors(true)
		time.Sleep(silence)
		r.expect(t, "200 cp 00c80000", "200 xp 6d01", "400 "+stop)
		c.Drive(300, 0)
		c.Drive(0, 0)
		r.expect(t, "400 "+stop)
	})
}

// A release ends all commands before it, also those that came after an earlier release while the device starts.
func TestRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRobot()
		r.setup = time.Second
		c := NewCommands(codec.Position, "wheels", 0, r.dial, noResult)
		go c.Run(t.Context())
		for goal := range 2 {
			must.Do(t, c.Queue(func(context.Context, *Controller) error { r.note("goal %d", goal); return nil }))
			synctest.Wait()
			c.Release()
		}
		r.expect(t, "0 pw")
		time.Sleep(time.Minute)
		r.expect(t, "1000 goal 0", "1000 goal 1", "1000 closed")
	})
}

// A call is answered after its effect. Not too many wait.
func TestCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRobot()
		r.setup = time.Second
		c := NewCommands(codec.Position, "wheels", silence, r.dial, noResult)
		go c.Run(t.Context())
		answers := make(chan error, maxCalls+1)
		call := func() error {
			answer := func(err error) error { answers <- err; return nil }
			return c.configure(func(c *Controller) error { return c.Robot().ResetPosition() }, answer)
		}
		for range maxCalls {
			if err := call(); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if err := call(); err == nil || len(answers) != 0 {
			t.Errorf("too many wait: %v, %d answers", err, len(answers))
		}
		for range maxCalls {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
	})
}

// A call that fails is answered, and gives the device up: the next one connects again.
func TestCallFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRobot()
		held := true
		c := NewCommands(codec.Position, "wheels", silence, r.dial, func(_ error, has bool) error { held = has; return nil })
		go c.Run(t.Context())
		failed := errors.New("failed")
		for range 2 {
			answer := error(nil)
			must.Do(t, c.configure(func(*Controller) error { return failed }, func(err error) error { answer = err; return nil }))
			r.expect(t, "0 "+lives, "0 pw", "0 closed")
			if answer != failed || held {
				t.Errorf("answer %v, held %v", answer, held)
			}
		}
	})
}

// An error that is repeated is reported once, and again later.
func TestReportOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports := 0
		g := Guest{Report: func(error) error { reports++; return nil }}
		result := g.reportOnce("r0")
		for range 100 {
			for _, err := range []error{errors.New("refused"), ErrSilent, nil} {
				if err := result(err, true); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(repeatPeriod / 50)
		}
		if reports != 2 {
			t.Errorf("%d reports", reports)
		}
	})
}
