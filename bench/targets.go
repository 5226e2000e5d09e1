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
	// Why a miss is accepted; a target that is missed without a reason fails a test.
	Why string
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

// orTimes allows a factor of what another server has.
func (b bound) orTimes(factor float64, s server) bound {
	b.or, b.of, b.shown = factor, onServer(s), string(s)
	return b
}

// accepted gives the reason why a miss is accepted.
func (t target) accepted(why string) target {
	t.Why = why
	return t
}

// goal is a target without such a reason.
func goal(text string, where selection, f figure, b bound) target {
	return target{Goal: text, where: where, figure: f, bound: b}
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
	oneDevice       = cellsWith(func(c *cellResult) bool { return len(c.Blocks) == 1 })
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
		goal("Healthy: no client closed", healthyCells, closedClients, never(0)),
		goal("Healthy: every frame came (one may be under way)", runningCells, missing, never(oneFrame)),
		goal("Healthy: at most 1.3 system calls a frame without reads", countingCells, allCalls, atMost(1.3)).accepted(
			"gnet asks for events once more before it sleeps. The floor does not: a wake by a command costs the server one call more."),
		// Ten commands a second cost any server half as much as the frames, so readers are no measure.
		goal("Healthy: CPU a frame at most 1.4 times floor's", healthyCells, cpuOfFrame, atMostTimes(1.4, onServer(floor))).accepted(
			"the server checks rights, limits and the state of the network before a frame and a command, and the floor nothing."),
		// Ratios of errors of 50 us say nothing: a processor that slept for 20 ms costs as much.
		goal("Healthy: median interval error at most 100 us above floor's", countingCells, intervalP50,
			bound{limit: 100 * micro, over: onServer(floor)}),

		goal("Cells that fit their network: no client closed", fittingCells, closedClients, never(0)),
		goal("They fit: every frame came (one may be under way)", fittingCells, missing, never(oneFrame)),
		// The paper's own result.
		goal("They fit: each client's mean interval within 50 us", fittingCells, worstMean, atMost(50*micro)).accepted(
			"fifteen intervals are measured at 1 Hz, so one frame that the host delays by 1 ms moves the mean of a client by 67 us."),
		goal("They fit, loopback: p99 interval error under 2 ms", fittingLoopback, intervalP99, atMost(2*milli)).accepted(
			"other guests of the host take a processor for milliseconds, from every server: the floor has such errors as well (Scale)."),

		goal("Full networks: no client closed", fullCells, closedClients, never(0)),
		goal("Full networks: the network's queue drops nothing", fullCells, queueDrops, never(0)),
		goal("Full networks: at least 97 % of the network used", fullCells, networkUsed, atLeast(0.97)),
		goal("Full networks: Jain's index at least 0.99", fullCells, jain, atLeast(0.99)),
		goal("Full networks: mean age at most 1.25 times the least", fullCells, age, atMostTimes(1.25, leastAge)),
		goal("Full networks: p99 of the age at most 2.5 times the least mean", fullCells, ageP99, atMostTimes(2.5, leastAge)),
		goal("50 x 1 Hz on 1.9 Mbps: mean age at most 1.1 times the least", oneCell(dueAtOnce), age, atMostTimes(1.1, leastAge)),

		goal("Compact, 50 x 10 Hz on 1.9 Mbps: every frame came", oneCell(compactCell), missing, never(oneFrame)),
		goal("Compact, 50 x 10 Hz on 1.9 Mbps: mean age at most 70 ms", oneCell(compactCell), age, atMost(70*milli)),
		goal("20 readings, 50 x 50 Hz on 1.9 Mbps: every frame came", oneCell(beamsCell), missing, never(oneFrame)),
		goal("Relay, 50 x 50 Hz over 1.9 Mbps: every frame came", oneCell(relayCell), missing, never(oneFrame)),
		goal("Relay: mean age at most 15 ms above a direct client's", oneCell(relayCell), age,
			bound{limit: 15 * milli, plus: 1, of: inCell(directCell), shown: "direct"}),
		goal("Fleet, 50 x 50 Hz over 1.9 Mbps: every frame came", oneCell(fleetCell), missing, never(oneFrame)),
		goal("Fleet, 10,000 monitors: 99 %, or 0.95 x NATS's alone", natsCells, ofAsked,
			bound{limit: 0.99, atLeast: true, or: 0.95, of: inCell(plainPrefix + "as-bridge"), shown: "alone"}).accepted(
			"two cores carry 57,000 messages a second of NATS to connections of their own (fleet/failures.md), with any publisher."),
		goal("Compact and relay: no client closed", compactOrRelay, closedClients, never(0)),

		goal("50 x 50 Hz: CPU a frame at most 1.25 times floor's", small, cpuOfFrame, atMostTimes(1.25, onServer(floor))),
		goal("50 x 50 Hz: CPU a frame at most 0.5 times threads'", small, cpuOfFrame, atMostTimes(0.5, onServer(threads))).accepted(
			"three quarters of a frame are one system call, which all servers make: the floor itself is near half of the threads."),
		goal("5000 x 10 Hz: CPU a frame at most 1.15 times floor's", large, cpuOfFrame, atMostTimes(1.15, onServer(floor))).accepted(
			"5000 clients do not fit the cache of a processor, and the state of a client is larger than the floor's."),
		goal("10,000 x 10 Hz: 99.9 % of all frames, or floor's number", largest, framesPerSecond, atLeast(99900).orAsOn(floor)),
		// Two runs of one program differ by more than a tenth.
		goal("10,000 x 10 Hz: p99 interval error under 10 ms, or 1.25 x floor's", largest, intervalP99,
			atMost(10*milli).orTimes(1.25, floor)).accepted(
			"server and clients need both cores wholly, so each waits for the other and for other guests of the host."),
		goal("10,000 x 10 Hz: at most one core", largest, cpuShare, atMost(1)),
		goal("Scale: no client closed, even in overload", cellsUnder("scale/"), closedClients, never(0)),
		// 15 % of the server's time is its own code, which the floor does not have: sessions, pacing, liveness.
		goal("Request/reply: at least 0.85 times as many rounds as floor", requests, frameRate, bound{limit: 0.85,
			atLeast: true, per: onServer(floor)}).accepted(
			"a round is so short that sessions, rights and pacing, which the floor does not have, are a fifth of it."),
		goal("Request/reply: a round at most 1.15 times floor's", requests, roundMean, atMostTimes(1.15, onServer(floor))).accepted(
			"the difference is some microseconds."),

		goal("Isolation: no client closed", isolationCells, closedClients, never(0)),
		goal("Isolation: p99 error of healthy clients at most 5 ms or 2 x alone", isolationCells, intervalP99,
			bound{limit: 5 * milli, or: 2, of: inCell("isolation/alone")}),
		goal("Isolation: their mean age at most 5 % above alone", isolationCells, age,
			atMostTimes(1.05, inCell("isolation/alone"))),
		goal("Near clients of a full network: every frame came", nearClients, missing, never(oneFrame)),
		goal("Near clients of a full network: p99 interval error under 20 ms", nearClients, intervalP99, atMost(20*milli)),
		goal("Ten far clients: mean age at most 1.1 times without near", oneCell(tenFar+"-with-near"), age,
			atMostTimes(1.1, inCell(tenFar))),
		goal("Fifty far clients: mean age at most 1.1 times without near", oneCell(fiftyFar+"-with-near"), age,
			atMostTimes(1.1, inCell(fiftyFar))),
		goal("Strangers: reader's p99 error at most 5 ms or 2 x alone", strangersCells, intervalP99,
			bound{limit: 5 * milli, or: 2, of: inCell("strangers/nobody")}),
		goal("Strangers: asker's p99 round at most 5 ms or 2 x alone", strangersCells, asksP99,
			bound{limit: 5 * milli, or: 2, of: inCell("strangers/nobody")}),
		goal("A tenth of a core, 32 or 64 MiB: no client closed", cellsUnder("small-cpu/"), closedClients, never(0)),
		goal("A whole robot in a tenth of a core and 64 MiB: every frame came", oneCell(wholeCell), missing, never(oneFrame)),
		goal("One device without a letter: CPU a frame at most as of all seven", oneDevice, cpuOfFrame,
			atMostTimes(1, inCell("scale/50x50Hz"))).accepted(
			"one run each, and two runs of one program differ by more than a tenth."),
		goal("Everywhere: no frame of a wrong size", frameCells, badFrames, never(0)),

		goal("RSS at most 14 MiB with 50 clients", small, rss, atMost(14*mib)),
		goal("Anonymous memory at most 4 MiB with 50 clients", small, anonymous, atMost(4*mib)),
		goal("RSS at most 2 KiB a further client", largest, growth, atMost(2*kib)).accepted(
			"a computer that serves 10,000 clients has some tens of MiB for them."),
		goal("Binary at most 12 MiB", oneCell("binary"), fileSize, atMost(12*mib)),
		goal("Idle: no voluntary context switch in 10 s", oneCell("idle"), switches, never(0)),
		goal("Idle, with -http and -foxglove: no voluntary context switch in 10 s", oneCell(idleOpen), switches, never(0)),
		goal("50 x 10 Hz: the loop wakes at most 20 times a second", few, loopWakes, atMost(20)),
		goal("50 x 10 Hz: all threads at most 20 times a second", few, wakes, atMost(20)).accepted(
			"the loop wakes 10 times a second; the other threads belong to Go's runtime."),
		goal("Ready to serve within 50 ms of its start", oneCell("start"), startTime, atMost(50*milli)),
		goal("Real time: p99 of the age inside the robot under 300 us", realTimeCells, insideP99, atMost(300*micro)).accepted(
			"a robot sends every 100 ms, against which some tens of microseconds do not count."),
		goal("Real time: median age at most 100 us above floor's", realTimeCells, insideP50,
			bound{limit: 100 * micro, over: onServer(floor)}),
		goal("Clients: each gets 99 % of the frames", libraryCells, readerAsked, atLeast(0.99)),
		goal("Clients: each reads 50 robots on at most one core", libraryCells, readerShare, atMost(1)),
		goal("The clients' process uses at most 90 % of a core", streamingCells, busiestClients, atMost(0.9)).accepted(
			"cells that overload the computer on purpose fill the core of the clients as well: their frame rates are a lower bound."),
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

// unexplained are the goals that are missed without a reason.
func (r *results) unexplained() (goals []string) {
	for _, t := range targets() {
		if v := t.Judge(r); !v.Open && !v.Reached && t.Why == "" {
			goals = append(goals, t.Goal)
		}
	}
	return goals
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
