package page

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"player/fleet/bridge"
)

const (
	// maxPlans is how many different floor plans are kept: more than the buildings of a
	// fleet, so that made-up plans take 32 MiB at most.
	maxPlans = 32
	// maxAsking is how many robots are asked for their plans at a time.
	maxAsking = 8
	// planLimit bounds the wait for a plan: longer than a bridge waits for a dashboard.
	planLimit = 5 * time.Second
	// planPause is the time until a robot that gave no plan is asked again: its dashboard may
	// not have run.
	planPause = time.Minute
)

// plans are the floor plans of the robots. Robots with one plan share a map.
type plans struct {
	asking int
	found  chan found

	mu       sync.Mutex // of the state that requests of browsers read
	byDigest map[string][]byte
}

// found is the answer of a robot.
type found struct {
	robot, digest string
	plan          []byte // nil: it is known
	err           error
}

// ask asks robots whose plan is not known for it.
func (s *site) ask(robots roster) {
	for name, known := range robots {
		if s.plans.asking == maxAsking {
			return
		}
		if known.status.Page == "" || known.plan != "" || time.Now().Before(known.planned) {
			continue
		}
		known.planned = time.Now().Add(planPause)
		s.plans.asking++
		body := bridge.KnownPlans(s.plans.digests())
		go func() {
			f := s.plan(name, body)
			select {
			case s.plans.found <- f:
			case <-s.ctx.Done():
			}
		}()
	}
}

// plan asks the bridge of a robot for its plan. Every program that may answer can have made it up.
func (s *site) plan(robot string, body []byte) found {
	ctx, cancel := context.WithTimeout(s.ctx, planLimit)
	defer cancel()
	m, err := s.NATS.RequestWithContext(ctx, bridge.Prefix(s.Fleet, robot)+"."+bridge.Plan, body)
	f := found{robot: robot, err: err}
	if err != nil {
		return f
	}
	if f.digest = m.Header.Get(bridge.HeaderPlan); f.digest == "" {
		f.err = refused(m)
		return f
	}
	if bridge.KnowsPlan(body, f.digest) {
		return f
	}
	f.plan = m.Data
	if f.err = bridge.CheckPlan(f.plan); f.err == nil && f.digest != bridge.PlanDigest(f.plan) {
		f.err = errors.New("a floor plan has another digest")
	}
	return f
}

// refused returns the error in an answer.
func refused(m *nats.Msg) error {
	var refusal struct{ Error string }
	if err := json.Unmarshal(m.Data, &refusal); err != nil {
		return err
	}
	return errors.New(refusal.Error)
}

// take notes the plan of a robot.
func (p *plans) take(f found, robots roster) {
	p.asking--
	known := robots[f.robot]
	if known == nil || f.err != nil { // it shows on the map without walls
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byDigest[f.digest] == nil {
		if f.plan == nil || len(p.byDigest) == maxPlans {
			return
		}
		if p.byDigest == nil {
			p.byDigest = map[string][]byte{}
		}
		p.byDigest[f.digest] = f.plan
	}
	known.plan = f.digest
}

// digests returns the digests of the plans that are known.
func (p *plans) digests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.byDigest))
}

// serve replies with the plan whose digest the address has.
func (p *plans) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	plan := p.byDigest[r.URL.Query().Get("of")]
	p.mu.Unlock()
	if plan == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "max-age=86400, immutable") // the address has the digest
	_, _ = w.Write(plan)                                        // fails if the browser has disconnected
}
