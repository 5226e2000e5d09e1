package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"player/bench/load"
)

// verdict is the outcome for one target.
type verdict struct {
	Got     string
	Reached bool
	Open    bool // not measured
}

// target is a goal for the server, in words and as a question to the results.
type target struct {
	Goal  string // at most 62 characters: the report's lines have 120
	Judge func(*results) verdict
}

const (
	mib = 1 << 20
	kib = 1 << 10
)

// targets are all goals, in the order of the report.
func targets() []target {
	return []target{
		every("Healthy: nobody closed", prefixed("healthy/"), 0, count, none(closed)),
		every("Healthy: every frame came (one may be under way)", unheld, 1.05, rounded, noneOf((*cellResult).missing)),
		every("Healthy: at most 1.3 system calls a frame beside reads", counting, 1.3, ratio, callsPerFrame),
		relative("Healthy: CPU at most 1.5 times that of readers", "healthy/readers", "healthy/", 1.5, cpuOfFrame),
		every("Healthy: median interval error at most 1.3 times floor's", counting, 1.3, times, against(floor, intervalP50)),

		every("Cells that fit their link: nobody closed", fitting, 0, count, none(closed)),
		every("They fit: every frame came (one may be under way)", fitting, 1.05, rounded, noneOf((*cellResult).missing)),
		every("They fit: each client's mean interval within 20 us", fitting, 20e3, duration, figure(worstMean)),
		every("They fit, loopback: p99 interval error under 2 ms", fittingLoopback, 2e6, duration, figure(intervalP99)),

		every("Full links: nobody closed", full, 0, count, none(closed)),
		every("Full links: the link's queue drops nothing", full, 0, count, none(drops)),
		atLeast("Full links: at least 97 % of the link used", full, 0.97, percent, figureOf((*cellResult).linkUse)),
		atLeast("Full links: Jain's index at least 0.99", full, 0.99, index, figure(jain)),
		every("Full links: mean age at most 1.25 times the least", full, 1.25, times, overFloor(ageMean)),
		every("Full links: p99 of the age at most 2.5 times the least mean", full, 2.5, times, overFloor(ageP99)),
		one("50 x 1 Hz on 1.9 Mbps: mean age at most 1.1 times the least", "paper/802.11/50x1Hz/807", 1.1, times, overFloor(ageMean)),

		one("Compact, 50 x 10 Hz on 1.9 Mbps: every frame came", compactGoal, 1.05, rounded, noneOf((*cellResult).missing)),
		one("Compact, 50 x 10 Hz on 1.9 Mbps: mean age at most 70 ms", compactGoal, 70e6, duration, figure(ageMean)),
		one("20 readings, 50 x 50 Hz on 1.9 Mbps: every frame came", beamsGoal, 1.05, rounded, noneOf((*cellResult).missing)),
		one("Relay, 50 x 50 Hz over 1.9 Mbps: every frame came", relayGoal, 1.05, rounded, noneOf((*cellResult).missing)),
		relayAge("Relay: mean age at most 15 ms above that of a direct client"),
		one("Fleet, 50 x 50 Hz over 1.9 Mbps: every frame came", fleetGoal, 1.05, rounded, noneOf((*cellResult).missing)),
		atLeast("Fleet, 10,000 monitors by NATS: 99 % of all frames", byNATS, 0.99, percent, figureOf((*cellResult).ofAsked)),
		every("Compact and relay: nobody closed", compactOrRelay, 0, count, none(closed)),

		one("50 x 50 Hz: CPU a frame at most 1.25 times floor's", "scale/50x50Hz", 1.25, times, against(floor, cpuOfFrame)),
		one("50 x 50 Hz: CPU a frame at most 0.5 times threads'", "scale/50x50Hz", 0.5, times, against(threads, cpuOfFrame)),
		one("5000 x 10 Hz: CPU a frame at most 1.15 times floor's", "scale/5000x10Hz", 1.15, times, against(floor, cpuOfFrame)),
		orFloor("10,000 x 10 Hz: 99.9 % of all frames, or floor's number", "scale/10000x10Hz", 99900, math.Max, rate, perSecond),
		orFloor("10,000 x 10 Hz: p99 interval error under 10 ms, or floor's", "scale/10000x10Hz", 10e6, math.Min, intervalP99, duration),
		one("10,000 x 10 Hz: at most one core", "scale/10000x10Hz", 1, percent, figure(cpuShare)),
		every("Scale: nobody closed, even in overload", prefixed("scale/"), 0, count, none(closed)),
		atLeast("Request/reply: at least as many rounds as floor", prefixed("request/"), 1, times, against(floor, rate)),
		every("Request/reply: a round as short as floor's", prefixed("request/"), 1, times, against(floor, round)),

		every("Isolation: nobody closed", prefixed("isolation/"), 0, count, none(closed)),
		every("Isolation: p99 interval error of the well under 2 ms", prefixed("isolation/"), 2e6, duration, figure(intervalP99)),
		relative("Isolation: mean age of the well at most 5 % above alone", "isolation/alone", "isolation/", 1.05, ageMean),
		beside("Strangers: p99 error of who reads at most 5 ms or 2 x alone", intervalP99),
		beside("Strangers: p99 round of who asks at most 5 ms or 2 x alone", askedP99),
		every("A tenth of a core and 32 MiB: nobody closed", prefixed("small-cpu/"), 0, count, none(closed)),
		every("Everywhere: no frame of a wrong size", func(c *cellResult) bool { return c.Kind == frames }, 0, count, none(bad)),

		one("RSS at most 14 MiB with 50 clients", "scale/50x50Hz", 14*mib, memory, figure(rss)),
		perClient("RSS at most 2 KiB a further client"),
		one("Binary at most 12 MiB", "binary", 12*mib, memory, figure(fileSize)),
		one("Idle: no voluntary context switch in 10 s", "idle", 0, count, none(switches)),
		one("Idle, with -http and -foxglove: no voluntary context switch in 10 s", idleOpen, 0, count, none(switches)),
		one("50 x 10 Hz: the loop wakes at most 20 times a second", "scale/50x10Hz", 20, perSecond, figure(loopWakes)),
		one("50 x 10 Hz: all threads together too", "scale/50x10Hz", 20, perSecond, figure(wakes)),
		one("Ready to serve within 50 ms of its start", "start", 50e6, duration, figure(startTime)),
		every("Real time: p99 of the age inside the robot under 300 us", prefixed("real-time/"), 300e3, duration, figure(insideP99)),
		every("Real time: median age at most 100 us above floor's", prefixed("real-time/"), 100e3, duration, func(c *cellResult) (float64, bool) {
			ours, ok1 := c.median(player, insideP50)
			floors, ok2 := c.median(floor, insideP50)
			return ours - floors, ok1 && ok2
		}),
		atLeast("Clients: each gets 99 % of the frames", ofLibrary, 0.99, percent, figure(readerAsked)),
		every("Clients: each reads 50 robots on at most one core", ofLibrary, 1, percent, figure(readerShare)),
		every("The clients' process uses at most 90 % of a core", streaming, 0.9, percent, busiestClients),
	}
}

// The cells that a target is about.

func ofPaper(c *cellResult) bool {
	return c.Kind == frames && (strings.HasPrefix(c.Name, "paper/") || strings.HasPrefix(c.Name, "wireless5/"))
}
func fitting(c *cellResult) bool         { return ofPaper(c) && c.fits() }
func fittingLoopback(c *cellResult) bool { return fitting(c) && c.Link == loopback }
func full(c *cellResult) bool            { return ofPaper(c) && !c.fits() }

// The cells that compact frames and the relay are for.
const (
	compactGoal = "compact/802.11/50x10Hz/807"
	beamsGoal   = "beams/802.11/50x50Hz/20"
	relayGoal   = "relay/802.11/50x50Hz/807"
	relayDirect = "relay/direct/802.11/1x50Hz/807"
	fleetGoal   = "fleet/802.11/50x50Hz/807"
)

func compactOrRelay(c *cellResult) bool { return c.Drive || c.Wire > 0 }

func ofLibrary(c *cellResult) bool { return c.Kind == library }

func byNATS(c *cellResult) bool { return c.Robots > 0 && c.Monitors > 0 }

// counting are the cells whose system calls are counted.
func counting(c *cellResult) bool { return c.Calls }

// unheld are the healthy cells whose clients are never held: a client that does
// not run may get fewer frames.
func unheld(c *cellResult) bool { return strings.HasPrefix(c.Name, "healthy/") && c.Hold == 0 }

// streaming leaves out clients that send as fast as they can.
func streaming(c *cellResult) bool {
	return c.Kind == frames && !slices.ContainsFunc(c.Groups, func(g group) bool { return g.Task == load.Request || g.Task == load.Flood })
}
func prefixed(prefix string) func(*cellResult) bool {
	return func(c *cellResult) bool { return strings.HasPrefix(c.Name, prefix) }
}

// question asks a cell for a value. ok is false if it was not measured.
type question func(*cellResult) (value float64, ok bool)

// figure is the median over the runs.
func figure(f func(run) float64) question {
	return figureOf(func(_ *cellResult, r run) float64 { return f(r) })
}

func figureOf(f func(*cellResult, run) float64) question {
	return func(c *cellResult) (float64, bool) {
		return c.median(player, func(r run) float64 { return f(c, r) })
	}
}

// none is the largest value over the runs, for what must never happen. A failed
// run is worse than any value.
func none(f func(run) float64) question {
	return noneOf(func(_ *cellResult, r run) float64 { return f(r) })
}

func noneOf(f func(*cellResult, run) float64) question {
	return func(c *cellResult) (worst float64, ok bool) {
		worst = math.Inf(-1)
		for _, r := range c.Runs {
			switch {
			case r.Server != player:
			case r.Error != "":
				worst, ok = math.Inf(1), true
			default:
				worst, ok = max(worst, f(c, r)), true
			}
		}
		return worst, ok
	}
}

// callsPerFrame is the median of allCalls.
func callsPerFrame(c *cellResult) (float64, bool) {
	if slices.ContainsFunc(c.of(player), func(r run) bool { return !counted(r) }) {
		return 0, false
	}
	return c.median(player, allCalls)
}

func overFloor(f func(run) float64) question {
	return func(c *cellResult) (float64, bool) {
		v, ok := c.median(player, f)
		return v / float64(c.ageFloor()), ok
	}
}

func against(s server, f func(run) float64) question {
	return func(c *cellResult) (float64, bool) { return c.ratio(s, f) }
}

// busiestClients is the largest CPU share of the clients' process, over the
// servers.
func busiestClients(c *cellResult) (worst float64, ok bool) {
	for _, s := range c.servers() {
		if share, measured := c.median(s, clientShare); measured {
			worst, ok = max(worst, share), true
		}
	}
	return worst, ok
}

// every is a target for the worst of many cells: at most limit.
func every(goal string, which func(*cellResult) bool, limit float64, format func(float64) string, ask question) target {
	return target{goal, func(r *results) verdict {
		var worst float64
		var where string
		measured, missed := 0, 0
		for name, c := range r.measured("") {
			if !which(c) {
				continue
			}
			v, ok := ask(c)
			if !ok {
				continue
			}
			if measured++; v > limit {
				missed++
			}
			if where == "" || v > worst {
				worst, where = v, name
			}
		}
		got := fmt.Sprintf("%d of %d; %s in %s", measured-missed, measured, format(worst), where)
		return verdict{Open: measured == 0, Reached: missed == 0, Got: got}
	}}
}

// atLeast is a target for the worst of many cells: at least limit.
func atLeast(goal string, which func(*cellResult) bool, limit float64, format func(float64) string, ask question) target {
	written := func(v float64) string { return format(-v) }
	return every(goal, which, -limit, written, func(c *cellResult) (float64, bool) {
		v, ok := ask(c)
		return -v, ok
	})
}

// one is a target for one cell: at most limit.
func one(goal, name string, limit float64, format func(float64) string, ask question) target {
	return target{goal, func(r *results) verdict {
		v, ok := ask(r.find(name))
		return verdict{Open: !ok, Reached: v <= limit, Got: format(v)}
	}}
}

// orFloor is a target that is also reached by being as good as floor in the same
// runs, for floor shows what the machine can do. better picks the better of two
// values.
func orFloor(goal, name string, limit float64, better func(a, b float64) float64, f func(run) float64, format func(float64) string) target {
	return target{goal, func(r *results) verdict {
		c := r.find(name)
		ours, ok1 := c.median(player, f)
		floors, ok2 := c.median(floor, f)
		return verdict{
			Open:    !ok1 || !ok2,
			Reached: better(ours, limit) == ours || better(ours, floors) == ours,
			Got:     fmt.Sprintf("%s; floor %s", format(ours), format(floors)),
		}
	}}
}

// relative compares a figure of many cells with that of one of them.
func relative(goal, base, prefix string, limit float64, f func(run) float64) target {
	return target{goal, func(r *results) verdict {
		b, known := r.find(base).median(player, f)
		return every(goal, prefixed(prefix), limit, times, func(c *cellResult) (float64, bool) {
			v, ok := c.median(player, f)
			return v / b, ok && known
		}).Judge(r)
	}}
}

// beside compares well clients among strangers with those that were left alone.
func beside(goal string, f func(run) float64) target {
	return target{goal, func(r *results) verdict {
		alone, ok := r.find("strangers/"+nobody).median(player, f)
		if !ok {
			return verdict{Open: true}
		}
		return every(goal, prefixed("strangers/"), max(5e6, 2*alone), duration, figure(f)).Judge(r)
	}}
}

// relayAge compares the age behind a relay with that of one client without it.
func relayAge(goal string) target {
	return target{goal, func(r *results) verdict {
		a, ok1 := r.find(relayGoal).median(player, ageMean)
		b, ok2 := r.find(relayDirect).median(player, ageMean)
		return verdict{Open: !ok1 || !ok2, Reached: a-b <= 15e6, Got: duration(a) + "; direct " + duration(b)}
	}}
}

// memoryOfClient is the memory in bytes that a further client takes: the slope
// from 50 to 10,000 clients.
func (r *results) memoryOfClient(s server) (bytes float64, ok bool) {
	few, many := r.find("scale/50x10Hz"), r.find("scale/10000x10Hz")
	a, ok1 := few.median(s, rss)
	b, ok2 := many.median(s, rss)
	if !ok1 || !ok2 {
		return 0, false
	}
	return (b - a) / float64(many.Groups[0].Clients-few.Groups[0].Clients), true
}

func perClient(goal string) target {
	return target{goal, func(r *results) verdict {
		slope, ok := r.memoryOfClient(player)
		return verdict{Open: !ok, Reached: slope <= 2*kib, Got: kibibytes(slope)}
	}}
}

// How figures are written. Durations are in ns.

func duration(v float64) string {
	d := time.Duration(v)
	switch abs := max(d, -d); {
	case abs < 10*time.Microsecond:
		return fmt.Sprintf("%.2f us", v/1e3)
	case abs < time.Millisecond:
		return fmt.Sprintf("%.0f us", v/1e3)
	case abs < 100*time.Millisecond:
		return fmt.Sprintf("%.2f ms", v/1e6)
	case abs >= 10*time.Second:
		return fmt.Sprintf("%.1f s", v/1e9)
	}
	return fmt.Sprintf("%.0f ms", v/1e6)
}

// count writes a number; infinity stands for a failed run.
func count(v float64) string {
	if math.IsInf(v, 1) {
		return "a failed run"
	}
	return fmt.Sprintf("%.0f", v)
}

// rounded has as many decimals as matter.
func rounded(v float64) string {
	if math.IsInf(v, 1) {
		return count(v)
	}
	if v < 100 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func micros(v float64) string    { return rounded(v) + " us" }
func times(v float64) string     { return fmt.Sprintf("%.2fx", v) }
func ratio(v float64) string     { return fmt.Sprintf("%.2f", v) }
func percent(v float64) string   { return fmt.Sprintf("%.1f %%", 100*v) }
func index(v float64) string     { return fmt.Sprintf("%.4f", v) }
func perSecond(v float64) string { return fmt.Sprintf("%.0f /s", v) }
func memory(v float64) string    { return fmt.Sprintf("%.1f MiB", v/mib) }
func kibibytes(v float64) string { return fmt.Sprintf("%.2f KiB", v/kib) }
