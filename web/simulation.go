package web

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"time"

	"player/devices/stage"
)

// simulationState is the true state of the simulation, for programs.
type simulationState struct {
	Time     float64 `json:"time"`  // simulated seconds
	Speed    float64 `json:"speed"` // simulated seconds a second; 0: as fast as possible
	Paused   bool    `json:"paused"`
	Finished bool    `json:"finished"`
	Seed     uint64  `json:"seed"`
	Movers   []mover `json:"movers"` // robots, then things
}

// mover is a robot or a thing that can move.
type mover struct {
	Name    string  `json:"name"`
	Robot   bool    `json:"robot"`
	X       float64 `json:"x"` // metres
	Y       float64 `json:"y"`
	Heading float64 `json:"heading"` // degrees, counterclockwise from the x axis
}

// simulationOrder is what a program wants of the simulation, carried out in this order
// and, except for the steps, at one moment.
type simulationOrder struct {
	Reset bool     `json:"reset"`
	Seed  *uint64  `json:"seed"` // implies a reset
	Move  []mover  `json:"move"` // all of them or none
	Pause *bool    `json:"pause"`
	Speed *float64 `json:"speed"`
	Step  int      `json:"step"` // how many, of stage.StepTime each
}

// readSimulation answers with the state.
func (s *server) readSimulation(w http.ResponseWriter, r *http.Request) {
	var state simulationState
	if err := s.onLoop(r.Context(), func(time.Duration) { state = stateOf(s.config.World) }); err != nil {
		http.Error(w, explain(err), http.StatusServiceUnavailable)
		return
	}
	sendJSON(w, http.StatusOK, state)
}

func stateOf(world *stage.World) simulationState {
	speed, paused := world.Speed()
	state := simulationState{
		Time: world.Time().Seconds(), Speed: speed, Paused: paused, Finished: world.Finished(), Seed: world.Seed(), Movers: []mover{},
	}
	poses := world.AppendPoses(nil)
	for i, m := range world.Movers() {
		p := poses[i]
		state.Movers = append(state.Movers, mover{m.Name, m.Robot, p.X, p.Y, p.Heading * 180 / math.Pi})
	}
	return state
}

// orderSimulation carries out an order and answers with the state afterwards.
func (s *server) orderSimulation(w http.ResponseWriter, r *http.Request) {
	var order simulationOrder // a request has no body
	if err := decodeCommand([]byte(r.URL.Query().Get("order")), &order); err != nil {
		http.Error(w, "?order= wants JSON: "+err.Error(), http.StatusBadRequest)
		return
	}
	if order.Step < 0 || order.Step > maxSteps || order.Speed != nil && !(*order.Speed >= 0 && *order.Speed <= maxSpeed) {
		http.Error(w, fmt.Sprintf("write step 0 to %d and speed 0 to %d", maxSteps, maxSpeed), http.StatusBadRequest)
		return
	}
	world := s.config.World
	var refused error
	var state simulationState
	err := s.inTurn(r.Context(), func() error {
		if err := s.onLoop(r.Context(), func(now time.Duration) { refused = order.carryOut(now, world) }); err != nil || refused != nil {
			return err
		}
		if err := s.step(r.Context(), order.Step); err != nil {
			return err
		}
		return s.onLoop(r.Context(), func(time.Duration) { state = stateOf(world) })
	})
	switch {
	case err != nil:
		http.Error(w, explain(err), http.StatusServiceUnavailable)
	case refused != nil:
		http.Error(w, refused.Error(), http.StatusConflict)
	default:
		sendJSON(w, http.StatusOK, state)
	}
}

// inTurn calls fn when the orders of other programs and pages have been carried out: the
// steps of two never mix, and however many visitors want steps, the loop has one to make
// at a time.
func (s *server) inTurn(ctx context.Context, fn func() error) error {
	select {
	case s.ordering <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.ordering }()
	return fn()
}

// step advances the world by n steps, one by one: other work of the loop must not wait for
// all.
func (s *server) step(ctx context.Context, n int) error {
	for range n {
		if err := s.onLoop(ctx, func(time.Duration) { s.config.World.Step(1) }); err != nil {
			return err
		}
	}
	return nil
}

// carryOut does all but the steps. It must be called on the loop.
func (o *simulationOrder) carryOut(now time.Duration, world *stage.World) error {
	if o.Reset || o.Seed != nil {
		seed := world.Seed()
		if o.Seed != nil {
			seed = *o.Seed
		}
		world.Reset(now, seed)
	}
	poses := map[string]stage.Pose{}
	for _, m := range o.Move {
		poses[m.Name] = stage.Pose{X: m.X, Y: m.Y, Heading: m.Heading * math.Pi / 180}
	}
	if err := world.SetPoses(poses); err != nil {
		return err
	}
	if o.Speed != nil {
		world.SetSpeed(now, *o.Speed)
	}
	if o.Pause != nil {
		world.Pause(now, *o.Pause)
	}
	return nil
}
