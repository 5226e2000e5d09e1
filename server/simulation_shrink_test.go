package server

import (
	"slices"
	"testing"
	"time"

	"player/e2e/must"
	"player/e2e/needs"
)

// A seed determines everything, and its whole story is the seed: each event is recorded, with its time. With programs of
// ROS only the seed determines everything.
func TestStoryIsReplayed(t *testing.T) {
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

// An invariant that two clients and one fault break is shown with little else.
func TestFailureShrinks(t *testing.T) {
	needs.Time(t)
	prepare := func(s *sim) {
		s.judge = func() bool {
			driving := 0
			for _, c := range s.clients {
				if c.robot == s.robots[0] && writes(c.access('p')) {
					driving++
				}
			}
			return driving >= 2 && s.robots[0].fault > 0 && s.robots[0].mayBeStopped()
		}
	}
	keys := newKeys(t)
	var s *sim
	for seed := uint64(1); s == nil || s.broken == "" || s.site != nil; seed++ {
		s = newSim(seed)
		s.prepare, s.keys, s.longest = prepare, keys, 45*time.Second
		s.live(t)
	}
	runs := 0
	h := shrink(t, s, func() bool { runs++; return runs <= 300 })
	st := &h.best.story
	t.Logf("%d runs: from %d to %d: %v", h.runs, s.story.size(), st.size(), st)
	if h.best.broken != s.broken || len(st.events) > 4 || st.actions() > 2 {
		t.Errorf("%v: %d events, %d actions: %v", h.best.failure, len(st.events), st.actions(), st)
	}
	again := newSim(s.seed)
	again.given, again.prepare, again.keys = must.Get(storyOf(st.String()))(t), prepare, keys
	again.live(t)
	if again.broken != s.broken || again.now != h.best.now || !slices.Equal(again.trace.lines, h.best.trace.lines) {
		t.Errorf("the short story is another one when it is replayed: %v, %v", again.failure, h.best.failure)
	}
}
