package visitors

import (
	"errors"
	"testing"
	"time"

	"player/config/rights"
)

// oneRobot is a Server of the robot on port 6665.
type oneRobot struct {
	Server
	stopped bool
}

func (s *oneRobot) EmergencyStop(_ time.Duration, port int, on bool, _ string) bool {
	if port != 6665 {
		return false
	}
	s.stopped = on
	return true
}

// A stop is answered with success only if there was a robot to stop: a reload may have removed it.
func TestStopOfARemovedRobot(t *testing.T) {
	server := new(oneRobot)
	post := func(fn func(now time.Duration)) bool { fn(time.Second); return true }
	g := &Guest{May: rights.All, Ctx: t.Context(), common: Common{Server: Confine[Server](post, server)}}
	stop := Service{Name: "emergency_stop", needs: rights.Write, stop: true}
	for port, want := range map[int]error{6665: nil, 6666: errNotServed} {
		server.stopped = false
		err := errors.New("no answer")
		if failed := g.Call(stop, true, 0, Robot{Port: port}, func(result error) error { err = result; return nil }); failed != nil {
			t.Fatal(failed)
		}
		if err != want || server.stopped != (want == nil) {
			t.Errorf("port %d: answer %v, stopped %v", port, err, server.stopped)
		}
	}
}
