package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"player/bench/load"
)

// verdict is what became of one target.
type verdict struct {
	Target  string
	Got     string
	Reached bool
	Open    bool // not measured
}

// target is something that the server must reach, in words and as a question
// to the results.
type target struct {
	says  string
	judge func(*results) verdict
}

const (
	mib = 1 << 20
	kib = 1 << 10
)

// targets are all of them, in the order of the report.
func targets() []target {
	return []target{
		every("Cells that fit the link: nobody closed", fitting, 0, count, none(closed)),
		every("Cells that fit: every frame came (one a client may be under way)", fitting, 1.05, rounded, noneOf((*cellResult).missing)),
		every("Cells that fit: mean interval within 20 us of the target, for every client (the paper: 50 us)", fitting, 20e3, duration, figure(worstMean)),
		every("Cells that fit, loopback: p99 interval error under 2 ms", fittingLoopback, 2e6, duration, figure(intervalP99)),
		every("Cells that do not fit: nobody closed", tight, 0, count, none(closed)),
		every("Cells that do not fit: nothing dropped by the link's queue", tight, 0, count, none(drops)),
		every("Cells that do not fit: link at least 97 % used", tight, -0.97, negative(percent), func(c *cellResult) (float64, bool) {
			use, ok := c.median(player, c.linkUse)
			return -use, ok
		}),
		every("Cells that do not fit: Jain at least 0.99", tight, -0.99, negative(index), func(c *cellResult) (float64, bool) {
			j, ok := c.median(player, jain)
			return -j, ok
		}),
		every("Cells that do not fit: mean age at most 1.25 times the floor", tight, 1.25, times, overFloor(ageMean)),
		every("Cells that do not fit: p99 of age at most 2.5 times the floor", tight, 2.5, times, overFloor(ageP99)),
		one("CPU a frame, 50 x 50 Hz, at most 1.25 times `floor`", "scale/50x50Hz", 1.25, times, against(floor)),
		one("CPU a frame, 50 x 50 Hz, at most 0.5 times `threads`", "scale/50x50Hz", 0.5, times, against(threads)),
		one("CPU a frame, 5000 x 10 Hz, at most 1.15 times `floor`", "scale/5000x10Hz", 1.15, times, against(floor)),
		one("10,000 clients x 10 Hz: at least 99.9 % of 100,000 frames a second", "scale/10000x10Hz", -99900, negative(perSecond), func(c *cellResult) (float64, bool) {
			n, ok := c.median(player, rate)
			return -n, ok
		}),
		one("10,000 clients x 10 Hz: uses at most one core", "scale/10000x10Hz", 1, percent, figure(cpuShare)),
		one("10,000 clients x 10 Hz: p99 interval error under 10 ms", "scale/10000x10Hz", 10e6, duration, figure(intervalP99)),
		every("Scale: nobody closed, even where it saturates", prefixed("scale/"), 0, count, none(closed)),
		every("Everywhere: no frame of a wrong size", func(c *cellResult) bool { return c.Kind == frames }, 0, count, none(bad)),
		one("Request/reply: one client's round under 0.08 ms", "request/1", 80e3, duration, figure(round)),
		one("Request/reply: 10 clients at least 93,000 rounds a second", "request/10", -93000, negative(perSecond), func(c *cellResult) (float64, bool) {
			n, ok := c.median(player, rate)
			return -n, ok
		}),
		one("50 Hz stream beside ten commands a second: p99 interval error under 2 ms", "command/1x50Hz", 2e6, duration, figure(intervalP99)),
		every("Isolation: nobody closed", prefixed("isolation/"), 0, count, none(closed)),
		every("Isolation: p99 interval error of the well clients under 2 ms", prefixed("isolation/"), 2e6, duration, figure(intervalP99)),
		isolated("Isolation: mean age of the well clients at most 5 % above that of being alone"),
		every("A tenth of a core and 32 MiB: nobody closed", prefixed("small-cpu/"), 0, count, none(closed)),
		one("RSS at most 14 MiB with 50 clients", "scale/50x50Hz", 14*mib, memory, figure(rss)),
		perClient("RSS at most 2 KiB a further client"),
		one("Stripped binary at most 10 MiB", "binary", 10*mib, memory, func(c *cellResult) (float64, bool) {
			return c.median(player, func(r run) float64 { return float64(r.Bytes) })
		}),
		one("Idle: no voluntary context switches in 10 s, all threads", "idle", 0, count, none(func(r run) float64 { return float64(r.Usage.Voluntary) })),
		one("50 clients at 10 Hz: the loop is woken at most 20 times a second", "scale/50x10Hz", 20, perSecond, figure(loopWakes)),
		one("The same counted over all threads: voluntary context switches", "scale/50x10Hz", 20, perSecond, figure(wakes)),
		one("Ready to serve within 50 ms of start", "start", 50e6, duration, func(c *cellResult) (float64, bool) {
			return c.median(player, func(r run) float64 { return float64(r.Start) })
		}),
		every("The clients' process has time to spare: at most 90 % of a core, also at twice the load", streaming, 0.9, percent, busiestClients),
	}
}

// The cells that a target speaks of.

func fitting(c *cellResult) bool {
	return c.Kind == frames && c.fits() && (strings.HasPrefix(c.Name, "paper/") || strings.HasPrefix(c.Name, "wireless5/"))
}
func fittingLoopback(c *cellResult) bool { return fitting(c) && c.Link == loopback }
func tight(c *cellResult) bool {
	return c.Kind == frames && !c.fits() && (strings.HasPrefix(c.Name, "paper/") || strings.HasPrefix(c.Name, "wireless5/"))
}

// streaming leaves out clients that are busy by themselves.
func streaming(c *cellResult) bool {
	return c.Kind == frames && !slices.ContainsFunc(c.Groups, func(g group) bool { return g.Task == load.Request || g.Task == load.Flood })
}
func prefixed(prefix string) func(*cellResult) bool {
	return func(c *cellResult) bool { return strings.HasPrefix(c.Name, prefix) }
}

// The questions to a cell. ok is false if it was not measured.
type question func(*cellResult) (value float64, ok bool)

// figure is the median over the runs.
func figure(f func(run) float64) question {
	return func(c *cellResult) (float64, bool) { return c.median(player, f) }
}

// none is the largest value over the runs: once is too often, and a server that
// failed once is worse than any value.
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

func overFloor(f func(run) float64) question {
	return func(c *cellResult) (float64, bool) {
		v, ok := c.median(player, f)
		return v / float64(c.ageFloor()), ok
	}
}

func against(s server) question {
	return func(c *cellResult) (float64, bool) { return c.ratio(s, cpuOfFrame) }
}

// busiestClients is what the clients' process used beside the server that kept
// it busiest.
func busiestClients(c *cellResult) (worst float64, ok bool) {
	for _, s := range c.servers() {
		if share, measured := c.median(s, clientShare); measured {
			worst, ok = max(worst, share), true
		}
	}
	return worst, ok
}

// enough is how many runs a median should be of.
const enough = 5

// every is a target for the worst of many cells: at most limit.
func every(says string, which func(*cellResult) bool, limit float64, format func(float64) string, ask question) target {
	return target{says, func(r *results) verdict {
		var worst float64
		var where string
		measured, missed, few, failed := 0, 0, 0, 0
		for i := range r.Cells {
			c := &r.Cells[i]
			if !which(c) {
				continue
			}
			if c.NotRun != "" {
				failed++
				continue
			}
			v, ok := ask(c)
			if !ok {
				continue
			}
			if measured++; v > limit {
				missed++
			}
			if len(c.of(player)) < enough {
				few++
			}
			if where == "" || v > worst {
				worst, where = v, c.Name
			}
		}
		if measured == 0 {
			return verdict{Target: says, Open: true}
		}
		got := fmt.Sprintf("%d of %d cells; worst %s in %s", measured-missed, measured, format(worst), where)
		if few > 0 {
			got += fmt.Sprintf("; %d have fewer than %d runs", few, enough)
		}
		if failed > 0 {
			got += fmt.Sprintf("; %d were not run", failed)
		}
		return verdict{Target: says, Reached: missed == 0, Got: got}
	}}
}

// one is a target for one cell: at most limit.
func one(says, name string, limit float64, format func(float64) string, ask question) target {
	return target{says, func(r *results) verdict {
		c := r.find(name)
		if c == nil {
			return verdict{Target: says, Open: true}
		}
		v, ok := ask(c)
		if !ok {
			return verdict{Target: says, Open: true}
		}
		return verdict{Target: says, Reached: v <= limit, Got: format(v)}
	}}
}

// isolated compares the well clients with those that were alone.
func isolated(says string) target {
	return target{says, func(r *results) verdict {
		const limit = 1.05
		alone := r.find("isolation/alone")
		if alone == nil {
			return verdict{Target: says, Open: true}
		}
		base, ok := alone.median(player, ageMean)
		if !ok {
			return verdict{Target: says, Open: true}
		}
		return every(says, prefixed("isolation/"), limit, times, func(c *cellResult) (float64, bool) {
			age, ok := c.median(player, ageMean)
			return age / base, ok
		}).judge(r)
	}}
}

// perClient is the slope of memory over clients, from 50 to the most that were
// measured.
func perClient(says string) target {
	return target{says, func(r *results) verdict {
		few, many := r.find("scale/50x10Hz"), r.find("scale/10000x10Hz")
		if few == nil || many == nil {
			return verdict{Target: says, Open: true}
		}
		a, ok1 := few.median(player, rss)
		b, ok2 := many.median(player, rss)
		slope := (b - a) / float64(many.Groups[0].Clients-few.Groups[0].Clients)
		return verdict{Target: says, Open: !ok1 || !ok2, Reached: slope <= 2*kib, Got: fmt.Sprintf("%.2f KiB", slope/kib)}
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
	}
	return fmt.Sprintf("%.0f ms", v/1e6)
}

// count writes a number; infinitely many are what a failed run counts as.
func count(v float64) string {
	if math.IsInf(v, 1) {
		return "a failed run"
	}
	return fmt.Sprintf("%.0f", v)
}

func times(v float64) string     { return fmt.Sprintf("%.2fx", v) }
func percent(v float64) string   { return fmt.Sprintf("%.1f %%", 100*v) }
func index(v float64) string     { return fmt.Sprintf("%.4f", v) }
func perSecond(v float64) string { return fmt.Sprintf("%.0f /s", v) }
func memory(v float64) string    { return fmt.Sprintf("%.1f MiB", v/mib) }

// negative writes figures that are compared with their sign changed, for "at
// least".
func negative(format func(float64) string) func(float64) string {
	return func(v float64) string { return format(-v) }
}
