package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"player/client"
	"player/e2e/must"
	"player/e2e/waiting"
	"player/fleet/bridge"
)

// A command is answered with ok only if the robot's server has obeyed it.
func TestTrueAnswers(t *testing.T) {
	t.Parallel()
	a := newRobot(t, "a")
	world := must.Get(filepath.Abs("../simulation/worlds/room.world"))(t)
	file := filepath.Join(t.TempDir(), "first.cfg")
	must.Do(t, os.WriteFile(file, fmt.Appendf(nil, "driver ( name \"stage\" world %q control \"first\" )\n", world), 0o600))
	_, port, _ := strings.Cut(a.address, ":")
	start(t, player, file, "-bind", "127.0.0.1", "-gp", port, "-http", a.page)
	_, conn := startFleet(t, []robot{a})
	token := acquire(t, conn, "alice")
	send := func() (r reply) {
		t.Helper()
		for { // on a busy machine the lease may have ended
			began := time.Now()
			if r = request(t, conn, command, token, speed(100)); r.Error != bridge.ErrNoLease.Error() {
				t.Logf("answered after %v: %+v", time.Since(began).Round(10*time.Microsecond), r)
				return r
			}
			token = acquire(t, conn, "alice")
		}
	}
	obeyed := func() {
		t.Helper()
		if r := send(); !r.OK {
			t.Errorf("a command is answered %+v", r)
		}
	}
	refused := func(want string) {
		t.Helper()
		if r := send(); r.OK || !strings.Contains(r.Error, want) {
			t.Errorf("a command is answered %+v, want an error with %q", r, want)
		}
	}
	obeyed()

	other := must.Get(client.Dial(t.Context(), a.address))(t)
	defer other.Close()
	obey := func(do error) {
		t.Helper()
		must.Do(t, errors.Join(do, other.Request(t.Context(), "")))
	}
	obey(other.EmergencyStop(true))
	refused("emergency stop")
	obey(other.EmergencyStop(false))
	obeyed()

	status := subscribe(t, conn, "player.lab.a.status")
	obey(errors.Join(other.Request(t.Context(), "pr"), other.ChangeMotorState(false)))
	refused("motors are off")
	statusOf(t, status, "motors that are off, and a refusal", func(s bridge.RobotStatus) bool {
		refused("motors are off") // again, if the lease has ended
		return s.MotorsOff && strings.Contains(s.Refused["position"], "motors")
	})
	obey(other.ChangeMotorState(true))
	obeyed()
	statusOf(t, status, "motors that are on", func(s bridge.RobotStatus) bool { return !s.MotorsOff && len(s.Refused) == 0 })

	// A program at the robot itself takes control when alice has not commanded for a second,
	// and keeps it.
	bob := a.direct(t)
	must.Do(t, bob.SetName("bob"))
	waiting.Until(t, "turn by bob", func() bool {
		must.Do(t, bob.SetSpeed(0, -20))
		bob.next()
		return bob.Position.TurnRate == -20
	})
	refused("bob")
}
