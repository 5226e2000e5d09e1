package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"player/bench/rig"
	"player/e2e/acceptance"
)

// A few monitors of a few robots, directly and by a bridge, and the cell over a network.
func TestFleetCells(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	w := buildForTest(t)
	few := func(name string, monitors int) cell {
		c := cellNamed(t, name)
		c.Robots, c.Monitors, c.Groups[0].Clients = 3, monitors, 6
		return c
	}
	all := []cell{few("fleet/direct", 0), few("fleet/100x100", 3), few("nats/as-bridge", 1), few("nats/bare-64", 1),
		few("nats/as-bridge-WebSocket", 1), few("nats/as-bridge-two-servers", 1)}
	if os.Geteuid() == 0 {
		all = append(all, cellNamed(t, fleetCell))
	} else if os.Getenv("CI") != "" {
		t.Error("a network needs root")
	}
	for _, c := range all {
		r, err := w.measure(t.Context(), player, c, 700*time.Millisecond)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		g := r.Load.Groups[0]
		if r.Error != "" || g.Closed != 0 || g.Bad != 0 || g.Frames < g.Clients || g.AgeMean <= 0 || g.AgeP50 <= 0 {
			t.Errorf("%s: error %q, %+v", c.Name, r.Error, g)
		}
		if bridged := c.Monitors > 0; (r.Bridge != nil) != bridged || bridged && (r.Bridge.CPU <= 0 || r.NATS.RSS <= 0) {
			t.Errorf("%s: bridge %+v, NATS %+v", c.Name, r.Bridge, r.NATS)
		}
	}
}

func TestReportOfFleets(t *testing.T) {
	r := resultsOf(t, "fleet/direct", "fleet/100x100", fleetCell, fullest)
	for _, name := range []string{"fleet/100x100", fleetCell} {
		run := &r.find(name).Runs[0]
		run.Bridge, run.NATS = &rig.Usage{CPU: 2 * time.Second, RSS: 20 * mib}, &rig.Usage{CPU: 5 * time.Second, RSS: 30 * mib}
		run.Load.Groups[0].AgeP50 = 60 * ms
	}
	few := r.find("fleet/100x100")
	few.Runs[0].Load.Groups[0].Frames -= 7
	served := &r.find(fleetCell).Runs[0].Load.Groups[0]
	served.Frames = 25000
	text := rendered(t, r)
	has(t, text,
		"| direct | 100000 | 0 | 0.00 us | 105 ms | 60.0 % | - | - | 10.0 MiB | - | - |\n",
		"| 100x100 | 99999 | 7 | 60.00 ms | 105 ms | 60.0 % | 20.0 % | 50.0 % | 10.0 MiB | 20.0 MiB | 30.0 MiB |\n",
		"| 50x50Hz/807 by a fleet's bridge | 2500 | 0 |",
		"| 802.11/50x50Hz/807 | fleet | 2500 | 2500 | 0 |",
		"| Fleet, 50 x 50 Hz over 1.9 Mbps: every frame came | yes | 0.0 |",
	)
	if v := judge(t, r, "NATS's alone"); !v.Open {
		t.Errorf("without a cell of NATS alone: %+v", v)
	}
	alone := cellNamed(t, "nats/as-bridge")
	r.put(cellResult{cell: alone, Commit: "abc", Runs: []run{measured(alone, player)}})
	few.Runs[0].Load.Groups[0].Frames = 90_000 * 10
	if v := judge(t, r, "NATS's alone"); v.Reached || v.Got != "0 of 1; 90.0 %; alone 100.0 % in fleet/100x100" {
		t.Errorf("%+v", v)
	}
	r.find(alone.Name).Runs[0].Load.Groups[0].Frames = 94_000 * 10
	if v := judge(t, r, "NATS's alone"); !v.Reached {
		t.Errorf("%+v", v)
	}
	if text := rendered(t, resultsOf(t, "scale/50x50Hz")); strings.Contains(text, "## A fleet") || strings.Contains(text, "plain NATS") {
		t.Error("there is a section without a fleet")
	}
	if text := rendered(t, resultsOf(t, "nats/bare")); !strings.Contains(text, "| bare | 100000 | 0 |") {
		t.Error("the report lacks plain NATS")
	}
}
