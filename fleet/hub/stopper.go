package hub

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"player/client"
	"player/codec"
	"player/fleet/bridge"
)

// stopper carries out the emergency stops of one robot, and their releases, in order.
// Every bridge stops every robot, so no stop waits until another bridge takes over from
// one that has been killed. Only the bridge that serves a robot releases it.
type stopper struct {
	hub   *hub
	robot Robot
	state atomic.Pointer[state] // nil: another bridge serves the robot
}

// stopped is the answer to a stop and to a release.
type stopped struct {
	Robot string `json:"robot"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

func (s *stopper) run(ctx context.Context) error {
	robot := bridge.Prefix(s.hub.Fleet, s.robot.Name)
	fleet := bridge.FleetPrefix(s.hub.Fleet)
	return s.hub.receive(ctx, s.carryOut, robot+"."+bridge.Stop, fleet+"."+bridge.Stop, robot+"."+bridge.Release, fleet+"."+bridge.Release)
}

// carryOut stops or releases the robot. All bridges stop it. A bridge that does not serve the
// robot answers only if the robot stands: another bridge may reach it.
func (s *stopper) carryOut(ctx context.Context, m *nats.Msg) {
	stop, serving := strings.HasSuffix(m.Subject, "."+bridge.Stop), s.state.Load()
	if !stop && serving == nil {
		return
	}
	err := inWords(s.robot.Address, s.set(ctx, stop))
	if serving != nil {
		serving.wake()
	}
	switch {
	case err == nil:
		s.hub.answer(m, stopped{Robot: s.robot.Name, OK: true})
	case serving != nil:
		s.hub.answer(m, stopped{Robot: s.robot.Name, Error: err.Error()})
	}
}

// set begins or ends the emergency stop (PROTOCOL 8.5), and asks whether it holds.
func (s *stopper) set(ctx context.Context, on bool) error {
	conn, err := s.hub.dial(ctx, s.robot)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	if err := conn.EmergencyStop(on); err != nil {
		return err
	}
	lines, err := conn.Ask(ctx, codec.QuestionObstacles)
	if errors.Is(err, client.ErrUnknownQuestion) {
		return errors.New("the robot's server does not know the emergency stop")
	}
	if err != nil {
		return err
	}
	if o := readObstacles(lines); o.right != "" || o.stopped != on {
		return errors.New("the access rules of the robot do not let this bridge stop and release it: it needs the right to write")
	}
	return nil
}
