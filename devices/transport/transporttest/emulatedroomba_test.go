package transporttest_test

import (
	"testing"
	"time"

	"player/codec"
	"player/devices/retry"
	"player/e2e/must"
	emulatedcreate "player/simulation/emulator/create"
	"player/simulation/emulator/line"
)

// losses returns how often the log says that hardware is lost.
func (r *rig) losses() int { return r.Log.FilterMessage(retry.LogUnavailable).Len() }

// newRoomba returns a robot that a client has open.
func newRoomba(t *testing.T, o emulatedcreate.Options) (*rig, *createRobot) {
	t.Helper()
	p := createProduct()
	p.start = creates(o)
	r := newRig(t, p, line.Options{})
	r.connect()
	return r, r.hardware.(*createRobot)
}

// returns waits for a robot that is found again, and obeys: until then no wheel turns.
func (r *rig) returns(h *createRobot) {
	r.T.Helper()
	if !r.Until(r.isUp, 30*time.Second) {
		r.T.Fatalf("not found again, log %.2000q", r.Messages())
	}
	if r.Pass(time.Second); !h.still() {
		r.T.Error("it moves by itself")
	}
	r.Client.SetCommand(r.Now(), codec.PositionCommand{Speed: 200}.Append(nil))
	if r.Pass(time.Second); h.State().Left != 200 {
		r.T.Errorf("it does not obey: %+v, log %.2000q", h.State(), r.Messages())
	}
}

// TestRoombaStaysAwake: a robot whose motors are on does not sleep, also if no client commands it.
func TestRoombaStaysAwake(t *testing.T) {
	r, h := newRoomba(t, emulatedcreate.Options{})
	r.Pass(11 * time.Minute)
	if h.State().Asleep || !r.isUp() || r.losses() != 0 {
		t.Errorf("%+v, %d losses", h.State(), r.losses())
	}
}

// TestRoombaSleeps: a robot whose motors are off sleeps after five minutes. It is lost, and comes back when a person
// presses CLEAN, or by the wake line.
func TestRoombaSleeps(t *testing.T) {
	for name, wakes := range map[string]bool{"CLEAN": false, "wake line": true} {
		t.Run(name, func(t *testing.T) {
			r, h := newRoomba(t, emulatedcreate.Options{})
			must.Do(t, r.Client.Configure(r.Now(), []byte{codec.ConfigMotors, 0}))
			if r.Pass(299 * time.Second); !r.isUp() || r.losses() != 0 {
				t.Errorf("lost before it sleeps: %q", r.Messages())
			}
			r.Pass(4 * time.Second)
			if !h.State().Asleep || r.losses() != 1 {
				t.Fatalf("%+v, %d losses", h.State(), r.losses())
			}
			if wakes {
				if !r.Until(func() bool { return !r.Port().DTR }, 10*time.Second) {
					t.Fatal("the wake line is not released: an open port has it pulled")
				}
				if r.Pass(150 * ms); !r.Port().DTR {
					t.Fatal("the wake line is not pulled")
				}
			} else {
				r.Pass(time.Minute)
			}
			h.PressButton()
			r.returns(h)
		})
	}
}

// TestRoombaAtItsDock: a robot that sends nothing at its charger is lost until it leaves it.
func TestRoombaAtItsDock(t *testing.T) {
	for _, docked := range []time.Duration{5 * time.Second, 20 * time.Minute} {
		r, h := newRoomba(t, emulatedcreate.Options{DockQuiet: true})
		r.Client.SetCommand(r.Now(), codec.PositionCommand{Speed: 100}.Append(nil))
		r.Pass(time.Second)
		h.Charger(true)
		if r.Pass(3 * time.Second); r.isUp() || r.losses() != 1 || !h.still() {
			t.Fatalf("at its dock: up %v, %d losses, %+v", r.isUp(), r.losses(), h.State())
		}
		r.Pass(docked)
		h.Charger(false)
		r.returns(h)
	}
}
