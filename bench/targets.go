package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"player/bench/load"
)

// target is a goal for the server, in words, and the bound that says whether it is reached.
type target struct {
	Goal  string // at most 62 characters: the report's lines have 120
	where selection
	figure
	bound bound
}

// selection is the cells that a target is about. The name is the cell's if it is only one.
type selection struct {
	name string
	has  func(*cellResult) bool
}

// bound limits a figure. The figure is the median of the runs in each cell.
type bound struct {
	limit   float64
	atLeast bool // the limit is the least value, not the largest
	// worst takes the largest value of all runs, for events that must never happen. A failed run is worse than any value.
	worst bool
	// per divides the figure by another one, over subtracts it.
	per, over other
	// or also allows a factor of another figure, and plus adds one. The report shows the other one as shown.
	or, plus float64
	of       other
	shown    string
}

// other is a figure that another one is compared with: of a server, a cell, or the least age.
type other func(w row, f figure) (float64, bool)

func inCell(name string) other {
	return func(w row, f figure) (float64, bool) { return w.results.row(name).value(f) }
}

func onServer(s server) other {
	return func(w row, f figure) (float64, bool) { return w.at(s).value(f) }
}

func leastAge(w row, _ figure) (float64, bool) { return float64(w.ageFloor()), true }

func atMost(limit float64) bound             { return bound{limit: limit} }
func atLeast(limit float64) bound            { return bound{limit: limit, atLeast: true} }
func never(limit float64) bound              { return bound{limit: limit, worst: true} }
func atMostTimes(f float64, per other) bound { return bound{limit: f, per: per} }

// orAsOn allows as much as another server has.
func (b bound) orAsOn(s server) bound {
	b.or, b.of, b.shown = 1, onServer(s), string(s)
	return b
}

func oneCell(name string) selection {
	return selection{name, func(c *cellResult) bool { return c.Name == name }}
}

func cellsUnder(prefix string) selection {
	return selection{has: func(c *cellResult) bool { return strings.HasPrefix(c.Name, prefix) }}
}

func cellsWith(has func(*cellResult) bool) selection { return selection{has: has} }

var (
	healthyCells    = cellsUnder("healthy/")
	isolationCells  = cellsUnder("isolation/")
	strangersCells  = cellsUnder("strangers/")
	realTimeCells   = cellsUnder("real-time/")
	fittingCells    = cellsWith(func(c *cellResult) bool { return ofPaper(c) && c.fits() })
	fittingLoopback = cellsWith(func(c *cellResult) bool { return ofPaper(c) && c.fits() && c.Network == loopback })
	fullCells       = cellsWith(full)
	frameCells      = cellsWith(func(c *cellResult) bool { return c.Kind == frames })
	libraryCells    = cellsWith(func(c *cellResult) bool { return c.Kind == library })
	countingCells   = cellsWith(func(c *cellResult) bool { return c.Calls })
	compactOrRelay  = cellsWith(func(c *cellResult) bool { return c.Drive || c.Wire > 0 })
	natsCells       = cellsWith(func(c *cellResult) bool { return c.Robots > 0 && c.Monitors > 0 && c.Plain == nil })
	nearClients     = cellsWith(func(c *cellResult) bool {
		return strings.HasPrefix(c.Name, "neighbours/") && !c.Groups[0].far()
	})
	// A client that does not run may get fewer frames.
	runningCells = cellsWith(func(c *cellResult) bool { return strings.HasPrefix(c.Name, "healthy/") && c.Hold == 0 })
	// Other clients send as fast as they can.
	streamingCells = cellsWith(func(c *cellResult) bool {
		return c.Kind == frames && !slices.ContainsFunc(c.Groups, func(g group) bool {
			return g.Task == load.Request || g.Task == load.Flood
		})
	})
)

func ofPaper(c *cellResult) bool {
	return c.Kind == frames && (strings.HasPrefix(c.Name, "paper/") || strings.HasPrefix(c.Name, "wireless5/"))
}

func full(c *cellResult) bool { return ofPaper(c) && !c.fits() }

const (
	micro = float64(time.Microsecond)
	milli = float64(time.Millisecond)
	// oneFrame may be under way at the end of a run.
	oneFrame = 1.05
)

// targets are all goals, in the order of the report.
func targets() []target {
	const tenFar, fiftyFar = "neighbours/10-far", "neighbours/50-far"
	small, large, largest := oneCell("scale/50x50Hz"), oneCell("scale/5000x10Hz"), oneCell("scale/10000x10Hz")
	few, requests := oneCell("scale/50x10Hz"), cellsUnder("request/")
	return []target{
		{"Healthy: no client closed", healthyCells, closedClients, never(0)},
		{"Healthy: every frame came (one may be under way)", runningCells, missing, never(oneFrame)},
		{"Healthy: at most 1.3 system calls a frame without reads", countingCells, allCalls, atMost(1.3)},
		{"Healthy: CPU at most 1.5 times the readers'", healthyCells, cpuOfFrame,
			atMostTimes(1.5, inCell("healthy/readers"))},
		{"Healthy: median interval error at most 1.3 times floor's", countingCells, intervalP50,
			atMostTimes(1.3, onServer(floor))},

		{"Cells that fit their network: no client closed", fittingCells, closedClients, never(0)},
		{"They fit: every frame came (one may be under way)", fittingCells, missing, never(oneFrame)},
		{"They fit: each client's mean interval within 20 us", fittingCells, worstMean, atMost(20 * micro)},
		{"They fit, loopback: p99 interval error under 2 ms", fittingLoopback, intervalP99, atMost(2 * milli)},

		{"Full networks: no client closed", fullCells, closedClients, never(0)},
		{"Full networks: the network's queue drops nothing", fullCells, queueDrops, never(0)},
		{"Full networks: at least 97 % of the network used", fullCells, networkUsed, atLeast(0.97)},
		{"Full networks: Jain's index at least 0.99", fullCells, jain, atLeast(0.99)},
		{"Full networks: mean age at most 1.25 times the least", fullCells, age, atMostTimes(1.25, leastAge)},
		{"Full networks: p99 of the age at most 2.5 times the least mean", fullCells, ageP99, atMostTimes(2.5, leastAge)},
		{"50 x 1 Hz on 1.9 Mbps: mean age at most 1.1 times the least", oneCell(dueAtOnce), age, atMostTimes(1.1, leastAge)},

		{"Compact, 50 x 10 Hz on 1.9 Mbps: every frame came", oneCell(compactCell), missing, never(oneFrame)},
		{"Compact, 50 x 10 Hz on 1.9 Mbps: mean age at most 70 ms", oneCell(compactCell), age, atMost(70 * milli)},
		{"20 readings, 50 x 50 Hz on 1.9 Mbps: every frame came", oneCell(beamsCell), missing, never(oneFrame)},
		{"Relay, 50 x 50 Hz over 1.9 Mbps: every frame came", oneCell(relayCell), missing, never(oneFrame)},
		{"Relay: mean age at most 15 ms above a direct client's", oneCell(relayCell), age,
			bound{limit: 15 * milli, plus: 1, of: inCell(directCell), shown: "direct"}},
		{"Fleet, 50 x 50 Hz over 1.9 Mbps: every frame came", oneCell(fleetCell), missing, never(oneFrame)},
		{"Fleet, 10,000 monitors by NATS: 99 % of all frames", natsCells, ofAsked, atLeast(0.99)},
		{"Compact and relay: no client closed", compactOrRelay, closedClients, never(0)},

		{"50 x 50 Hz: CPU a frame at most 1.25 times floor's", small, cpuOfFrame, atMostTimes(1.25, onServer(floor))},
		{"50 x 50 Hz: CPU a frame at most 0.5 times threads'", small, cpuOfFrame, atMostTimes(0.5, onServer(threads))},
		{"5000 x 10 Hz: CPU a frame at most 1.15 times floor's", large, cpuOfFrame, atMostTimes(1.15, onServer(floor))},
		{"10,000 x 10 Hz: 99.9 % of all frames, or floor's number", largest, framesPerSecond, atLeast(99900).orAsOn(floor)},
		{"10,000 x 10 Hz: p99 interval error under 10 ms, or floor's", largest, intervalP99,
			atMost(10 * milli).orAsOn(floor)},
		{"10,000 x 10 Hz: at most one core", largest, cpuShare, atMost(1)},
		{"Scale: no client closed, even in overload", cellsUnder("scale/"), closedClients, never(0)},
		{"Request/reply: at least as many rounds as floor", requests, frameRate, bound{limit: 1,
			atLeast: true, per: onServer(floor)}},
		{"Request/reply: a round as short as floor's", requests, roundMean, atMostTimes(1, onServer(floor))},

		{"Isolation: no client closed", isolationCells, closedClients, never(0)},
		{"Isolation: p99 error of healthy clients under 2 ms", isolationCells, intervalP99, atMost(2 * milli)},
		{"Isolation: their mean age at most 5 % above alone", isolationCells, age,
			atMostTimes(1.05, inCell("isolation/alone"))},
		{"Near clients of a full network: every frame came", nearClients, missing, never(oneFrame)},
		{"Near clients of a full network: p99 interval error under 20 ms", nearClients, intervalP99, atMost(20 * milli)},
		{"Ten far clients: mean age at most 1.1 times without near", oneCell(tenFar + "-with-near"), age,
			atMostTimes(1.1, inCell(tenFar))},
		{"Fifty far clients: mean age at most 1.1 times without near", oneCell(fiftyFar + "-with-near"), age,
			atMostTimes(1.1, inCell(fiftyFar))},
		{"Strangers: reader's p99 error at most 5 ms or 2 x alone", strangersCells, intervalP99,
			bound{limit: 5 * milli, or: 2, of: inCell("strangers/nobody")}},
		{"Strangers: asker's p99 round at most 5 ms or 2 x alone", strangersCells, asksP99,
			bound{limit: 5 * milli, or: 2, of: inCell("strangers/nobody")}},
		{"A tenth of a core and 32 MiB: no client closed", cellsUnder("small-cpu/"), closedClients, never(0)},
		{"Everywhere: no frame of a wrong size", frameCells, badFrames, never(0)},

		{"RSS at most 14 MiB with 50 clients", small, rss, atMost(14 * mib)},
		{"RSS at most 2 KiB a further client", largest, growth, atMost(2 * kib)},
		{"Binary at most 12 MiB", oneCell("binary"), fileSize, atMost(12 * mib)},
		{"Idle: no voluntary context switch in 10 s", oneCell("idle"), switches, never(0)},
		{"Idle, with -http and -foxglove: no voluntary context switch in 10 s", oneCell(idleOpen), switches, never(0)},
		{"50 x 10 Hz: the loop wakes at most 20 times a second", few, loopWakes, atMost(20)},
		{"50 x 10 Hz: all threads at most 20 times a second", few, wakes, atMost(20)},
		{"Ready to serve within 50 ms of its start", oneCell("start"), startTime, atMost(50 * milli)},
		{"Real time: p99 of the age inside the robot under 300 us", realTimeCells, insideP99, atMost(300 * micro)},
		{"Real time: median age at most 100 us above floor's", realTimeCells, insideP50,
			bound{limit: 100 * micro, over: onServer(floor)}},
		{"Clients: each gets 99 % of the frames", libraryCells, readerAsked, atLeast(0.99)},
		{"Clients: each reads 50 robots on at most one core", libraryCells, readerShare, atMost(1)},
		{"The clients' process uses at most 90 % of a core", streamingCells, busiestClients, atMost(0.9)},
	}
}

// value returns the value of a cell that is compared with the limit. ok is false if it was not measured.
func (t target) value(w row) (v float64, ok bool) {
	if t.bound.worst {
		return w.worst(t.figure)
	}
	v, ok = w.value(t.figure)
	switch {
	case t.bound.per != nil:
		other, known := t.bound.per(w, t.figure)
		return v / other, ok && known && other > 0
	case t.bound.over != nil:
		other, known := t.bound.over(w, t.figure)
		return v - other, ok && known
	}
	return v, ok
}

// worst is the largest value over the runs. A failed run is worse than any value.
func (w row) worst(f figure) (worst float64, ok bool) {
	worst = math.Inf(-1)
	for _, r := range w.Runs {
		switch {
		case r.Server != player:
		case r.Error != "":
			worst, ok = math.Inf(1), true
		default:
			worst, ok = max(worst, f.of(w, r)), true
		}
	}
	return worst, ok
}

// verdict is the outcome for one target.
type verdict struct {
	Got     string
	Reached bool
	Open    bool // not measured
}

// Judge compares the worst cell with the bound.
func (t target) Judge(r *results) verdict {
	b, write, shown := t.bound, t.write, ""
	sign := 1.0
	if b.atLeast {
		sign = -1
	}
	if b.per != nil {
		write = times
	}
	limit := b.limit
	if b.of != nil {
		other, ok := b.of(r.row(t.where.name), t.figure)
		if !ok {
			return verdict{Open: true}
		}
		limit += b.plus * other
		if b.or != 0 {
			limit = sign * max(sign*limit, sign*b.or*other)
		}
		if b.shown != "" {
			shown = "; " + b.shown + " " + write(other)
		}
	}
	var worst float64
	var where string
	measured, missed := 0, 0
	for name, c := range r.measured("") {
		if !t.where.has(c) {
			continue
		}
		v, ok := t.value(r.row(name))
		if !ok {
			continue
		}
		if measured++; sign*v > sign*limit {
			missed++
		}
		if where == "" || sign*v > sign*worst {
			worst, where = v, name
		}
	}
	got := write(worst) + shown
	if where != t.where.name {
		got = fmt.Sprintf("%d of %d; %s in %s", measured-missed, measured, got, where)
	}
	return verdict{Open: measured == 0, Reached: missed == 0, Got: got}
}
