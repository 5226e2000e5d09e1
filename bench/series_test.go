package main

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"player/bench/rig"
)

// A series is for a coffee, not for a night; cells that pages quote have medians.
func TestSeriesTakesFortyMinutes(t *testing.T) {
	o := options{window: defaultWindow, runs: 1, series: true}
	var all time.Duration
	for _, c := range cells() {
		all += o.all(c)
	}
	if all > 40*time.Minute {
		t.Errorf("a series takes %v", all)
	}
	for name, want := range map[string]struct {
		runs   int
		window time.Duration
	}{
		fullest:                    {3, 8 * time.Second}, // quoted, and a baseline lets its queue grow
		"paper/802.11/50x50Hz/85":  {1, 3 * time.Second},
		"paper/802.11/50x1Hz/85":   {1, 15 * time.Second}, // enough intervals
		"healthy/readers":          {3, 3 * time.Second},
		"real-time/robot":          {1, 15 * time.Second}, // its own
		"scale/10000x10Hz":         {3, 3 * time.Second},
		"fleet/10000x1":            {1, 3 * time.Second},
		peersPrefix + "1000x10Hz":  {1, costWindow},
		viewersPrefix + "programs": {3, 3 * time.Second},
	} {
		c := cellNamed(t, name)
		if o.runsOf(c) != want.runs || o.windowOf(c) != want.window {
			t.Errorf("%s: %d runs of %v, want %d of %v", name, o.runsOf(c), o.windowOf(c), want.runs, want.window)
		}
	}
}

// An interrupted series goes on: results of its commit stay, others are measured again.
func TestSeriesGoesOn(t *testing.T) {
	r := resultsOf(t, "start", "binary", "scale/50x50Hz")
	r.find("binary").Commit = "older"
	r.keep("abc")
	var names []string
	for _, c := range r.seriesCells([]cell{cellNamed(t, "start"), cellNamed(t, "binary"), cellNamed(t, "idle")}) {
		names = append(names, c.Name)
	}
	if want := []string{"binary", "idle"}; !slices.Equal(names, want) {
		t.Errorf("it measures %q, want %q", names, want)
	}
}

// A processor that a thread of this test uses all the time is busy.
func TestBusy(t *testing.T) {
	var stop atomic.Bool
	defer stop.Store(true)
	go func() {
		for !stop.Load() {
		}
	}()
	patiently(t, "the processors are used", func(window time.Duration) bool {
		share, err := rig.Busy(window)
		if err != nil || share < 0 || share > 1 {
			t.Fatalf("%g, %v", share, err)
		}
		return share > 0
	})
}
