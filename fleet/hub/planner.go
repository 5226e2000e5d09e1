package hub

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"

	"player/fleet/bridge"
)

// errNoPlan answers a request for the plan of a robot that has none.
var errNoPlan = errors.New("the robot has no floor plan")

// planner answers requests for the floor plan of a robot. Its own dashboard has it, if it is
// simulated.
type planner struct {
	hub   *hub
	robot Robot
}

func (p planner) run(ctx context.Context) error {
	return p.hub.receive(ctx, p.answer, bridge.Prefix(p.hub.Fleet, p.robot.Name)+"."+bridge.Plan)
}

// answer answers with the plan, its digest in a header. A program that has that plan is sent
// the digest only.
func (p planner) answer(ctx context.Context, m *nats.Msg) {
	plan, err := p.get(ctx)
	if err != nil {
		p.hub.answer(m, refusal{Error: err.Error()})
		return
	}
	digest := bridge.PlanDigest(plan)
	reply := &nats.Msg{Header: nats.Header{bridge.HeaderPlan: {digest}}, Data: plan}
	if bridge.KnowsPlan(m.Data, digest) {
		reply.Data = nil
	}
	_ = m.RespondMsg(reply) // the client that asked notices the lost connection
}

// get gets the plan from the dashboard.
func (p planner) get(ctx context.Context) ([]byte, error) {
	if p.robot.Page == "" {
		return nil, errNoPlan
	}
	_, plan, err := p.robot.get(ctx, dialLimit, bridge.MaxPlan+1, "", "plan")
	if errors.Is(err, errNotFound) {
		return nil, errNoPlan
	}
	if err == nil {
		err = bridge.CheckPlan(plan)
	}
	return plan, err
}
