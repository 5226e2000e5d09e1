package dashboard

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"time"

	"player/client/simulation"
	"player/devices/stage"
	"player/visitors"
)

func (s *server) readSimulation(w http.ResponseWriter, r *http.Request) {
	type answer struct {
		state *simulation.State
		work  time.Duration
	}
	a, err := visitors.OnLoop(r.Context(), s.world, func(world *stage.World, now time.Duration) *answer {
		begin := time.Now()
		state := stateOf(world, now)
		return &answer{state, time.Since(begin)}
	})
	if err != nil {
		http.Error(w, explain(err), http.StatusServiceUnavailable)
		return
	}
	visitors.VisitorOf(r).Owe(a.work) // in a crowd of fiducial finders it takes milliseconds
	sendJSON(w, http.StatusOK, a.state)
}

func stateOf(world *stage.World, _ time.Duration) *simulation.State {
	speed, paused := world.Speed()
	state := &simulation.State{
		Time: world.Time().Seconds(), Speed: speed, Paused: paused, Finished: world.Finished(), Seed: world.Seed(), Movers: []simulation.Mover{},
	}
	poses := world.AppendPoses(nil)
	for i, m := range world.Movers() {
		p := poses[i]
		state.Movers = append(state.Movers, simulation.Mover{Name: m.Name, Robot: m.Robot, X: p.X, Y: p.Y, Heading: p.Heading * 180 / math.Pi,
			Color: m.Color.String()})
	}
	var seen []stage.Sighting
	for i, r := range world.Robots() { // the first movers
		seen = r.AppendSightings(seen[:0])
		for _, s := range seen {
			state.Movers[i].Sees = append(state.Movers[i].Sees, simulation.Sighting{Name: s.Name, ID: s.ID, Range: s.Range, Bearing: s.Bearing * 180 / math.Pi})
		}
	}
	return state
}

// commandSimulation carries out a command and answers with the state afterwards.
func (s *server) commandSimulation(w http.ResponseWriter, r *http.Request) {
	var order simulation.Order // a request has no body
	if err := decodeCommand([]byte(r.URL.Query().Get("order")), &order); err != nil {
		http.Error(w, "?order= wants JSON: "+err.Error(), http.StatusBadRequest)
		return
	}
	if order.Step < 0 || order.Step > maxSteps || order.Speed != nil && !(*order.Speed >= 0 && *order.Speed <= maxSpeed) {
		http.Error(w, fmt.Sprintf("write step 0 to %d and speed 0 to %d", maxSteps, maxSpeed), http.StatusBadRequest)
		return
	}
	var refused error
	var state *simulation.State
	err := s.commands.do(r.Context(), func() (err error) {
		refused, err = visitors.OnLoop(r.Context(), s.world, func(world *stage.World, now time.Duration) error {
			return carryOut(order, now, world)
		})
		if err != nil || refused != nil {
			return err
		}
		if err := s.step(r.Context(), order.Step); err != nil {
			return err
		}
		state, err = visitors.OnLoop(r.Context(), s.world, stateOf)
		return err
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

// step advances the world by n steps, one by one: other work of the loop must not wait for
// all.
func (s *server) step(ctx context.Context, n int) error {
	for range n {
		if err := visitors.Do(ctx, s.world, func(world *stage.World, _ time.Duration) { world.Step(1) }); err != nil {
			return err
		}
	}
	return nil
}

// carryOut does all but the steps.
func carryOut(o simulation.Order, now time.Duration, world *stage.World) error {
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
	colors := map[string]string{}
	for _, p := range o.Color {
		colors[p.Name] = p.Color
	}
	if err := world.Paint(colors); err != nil {
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
