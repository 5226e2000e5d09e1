package server

import (
	"slices"
	"testing"
	"time"

	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
)

// A seed determines everything, and its whole story is the seed: each event is recorded, with its time. With programs of
// ROS only the seed, or a story that is given, determines everything.
func TestStoryIsReplayed(t *testing.T) {
	acceptance.Alone(t)
	needs.Time(t)
	keys := newKeys(t)
	for seed := uint64(1); seed <= 3; seed++ {
		a, b := newSim(seed), newSim(seed)
		a.keys, b.keys = keys, keys
		errA := a.live(t)
		if a.site == nil {
			b.given = must.Get(storyOf(a.story.String()))(t)
		}
		errB := b.live(t)
		if (errA == nil) != (errB == nil) || a.trace.sum() != b.trace.sum() || a.summary != b.summary {
			t.Errorf("seed %d: its story is another one: %v, %v; %+v, %+v", seed, errA, errB, a.summary, b.summary)
		}
	}
}

// An invariant that two clients and one fault break is shown with little else; so is one that a program of ROS and a
// client break.
func TestFailureShrinks(t *testing.T) {
	acceptance.Alone(t)
	needs.Time(t)
	driving := func(s *sim) (n int) {
		for _, c := range s.clients {
			if c.robot == s.robots[0] && writes(c.access('p')) && c.socket == nil {
				n++
			}
		}
		return n
	}
	for name, test := range map[string]struct {
		programs bool
		breaks   func(s *sim) bool
	}{
		"two clients": {false, func(s *sim) bool {
			return driving(s) >= 2 && s.robots[0].fault > 0 && s.robots[0].mayBeStopped()
		}},
		"a program": {true, func(s *sim) bool {
			subscribed := func(p *simProgram) bool { return len(p.topics) > 0 }
			return s.now > 20*time.Second && driving(s) >= 1 && s.site != nil &&
				slices.ContainsFunc(s.site.programs, subscribed)
		}},
	} {
		t.Run(name, func(t *testing.T) { testFailureShrinks(t, test.programs, test.breaks) })
	}
}

func testFailureShrinks(t *testing.T, programs bool, breaks func(s *sim) bool) {
	prepare := func(s *sim) { s.judge = func() bool { return breaks(s) } }
	keys := newKeys(t)
	var s *sim
	for seed := uint64(1); s == nil || s.broken == "" || (s.site != nil) != programs; seed++ {
		s = newSim(seed)
		s.prepare, s.keys, s.longest = prepare, keys, 45*time.Second
		s.live(t)
	}
	runs := 0
	h := shrink(t, s, func() bool { runs++; return runs <= 300 })
	st := &h.best.story
	t.Logf("%d runs: from %d to %d: %v", h.runs, s.story.size(), st.size(), st)
	shown := slices.ContainsFunc(st.events, func(e *event) bool { return e.kind == aProgram })
	if h.best.broken != s.broken || len(st.events) > 4 || st.actions() > 2 || shown != programs {
		t.Errorf("%v: %d events, %d actions: %v", h.best.failure, len(st.events), st.actions(), st)
	}
	again := newSim(s.seed)
	again.given, again.prepare, again.keys = must.Get(storyOf(h.best.replayed().String()))(t), prepare, keys
	again.live(t)
	if again.broken != s.broken || again.now != h.best.now || !slices.Equal(again.trace.lines, h.best.trace.lines) {
		t.Errorf("the short story is another one when it is replayed: %v, %v", again.failure, h.best.failure)
	}
}
