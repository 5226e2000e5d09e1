package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"player/bench/load"
	"player/bench/rig"
)

// figure is the content of a table's column: a number of a run, or text.
type figure struct {
	head  string // of the column
	write func(float64) string
	of    func(row, run) float64 // NaN: it was not measured
	text  func(row) string       // in place of a number
	left  bool                   // the text begins at the left of its column
}

// ofRun is a number that needs nothing but the run.
func ofRun(head string, write func(float64) string, of func(run) float64) figure {
	return figure{head: head, write: write, of: func(_ row, r run) float64 { return of(r) }}
}

// ofGroup is a time of a group of clients. The first group is the subject of a cell.
func ofGroup(head string, i int, of func(load.GroupResult) time.Duration) figure {
	return ofRun(head, duration, func(r run) float64 { return float64(of(r.Load.Groups[i])) })
}

// words is text, from the left.
func words(head string, of func(row) string) figure { return figure{head: head, text: of, left: true} }

func (f figure) as(head string) figure { f.head = head; return f }

func (f figure) written(write func(float64) string) figure { f.write = write; return f }

// when replaces the figure by a text in rows for which ok is false.
func (f figure) when(ok func(row) bool, otherwise string) figure {
	return figure{head: f.head, left: f.left, text: func(w row) string {
		if !ok(w) {
			return otherwise
		}
		return w.show(f)
	}}
}

// ofCell is the figure of all clients of a cell, in the row of the first group.
func (f figure) ofCell() figure {
	return figure{head: f.head, text: func(w row) string {
		if w.Group > 0 {
			return ""
		}
		w.grouped = false
		return w.show(f)
	}}
}

// on is the figure of a server other than the row's.
func (f figure) on(s server, head string) figure {
	return figure{head: head, text: func(w row) string { return w.at(s).show(f) }}
}

// ofProcess is the figure for another process of a fleet, if there is one.
func (f figure) ofProcess(process func(run) *rig.Usage) figure {
	of := f.of
	f.of = func(w row, r run) float64 {
		u := process(r)
		if u == nil {
			return math.NaN()
		}
		r.Usage = *u
		return of(w, r)
	}
	return f
}

func bridgeOf(r run) *rig.Usage { return r.Bridge }
func natsOf(r run) *rig.Usage   { return r.NATS }

// Figures of the clients.
var (
	closedClients   = ofRun("closed", count, closed)
	badFrames       = ofRun("", count, bad)
	frameRate       = ofRun("frames/s", rounded, rate)
	frameCount      = ofRun("frames/s", count, rate)
	framesPerSecond = ofRun("", perSecond, rate)
	ofAsked         = figure{head: "of asked", write: percent, of: func(w row, r run) float64 {
		return rate(r) / float64(w.asked())
	}}
	// eachRate is the frames a second of one client of the first group.
	eachRate = figure{head: "", write: rounded, of: func(w row, r run) float64 {
		return float64(r.Load.Groups[0].Frames) / r.Load.Window.Seconds() / float64(w.Groups[0].Clients)
	}}
	missing = figure{head: "", write: rounded, of: row.missing}
	dropped = figure{head: "dropped", write: count, of: func(w row, r run) float64 {
		return max(0, w.missing(r)*float64(w.Groups[0].Clients))
	}}
	jain        = ofRun("Jain", index, func(r run) float64 { return r.Load.Groups[0].Jain })
	worstMean   = ofGroup("mean error", 0, func(g load.GroupResult) time.Duration { return g.WorstMean })
	intervalP50 = ofGroup("median error", 0, func(g load.GroupResult) time.Duration { return g.Interval.P50 })
	intervalP99 = ofGroup("p99 error", 0, func(g load.GroupResult) time.Duration { return g.Interval.P99 })
	intervalMax = ofGroup("max", 0, func(g load.GroupResult) time.Duration { return g.Interval.Max })
	latency     = ofGroup("latency", 0, func(g load.GroupResult) time.Duration { return g.Latency.Mean })
	age         = ofGroup("age", 0, func(g load.GroupResult) time.Duration { return g.AgeMean })
	ageP50      = ofGroup("age p50", 0, func(g load.GroupResult) time.Duration { return g.AgeP50 })
	ageP99      = ofGroup("p99", 0, func(g load.GroupResult) time.Duration { return g.AgeP99 })
	roundMean   = ofGroup("round", 0, func(g load.GroupResult) time.Duration { return g.Round.Mean })
	roundP99    = ofGroup("p99", 0, func(g load.GroupResult) time.Duration { return g.Round.P99 })
	// The client that asks, in the cells with strangers, is the second group.
	asksP50 = ofGroup("asks: round", 1, func(g load.GroupResult) time.Duration { return g.Round.P50 })
	asksP99 = ofGroup("p99", 1, func(g load.GroupResult) time.Duration { return g.Round.P99 })
	asksMax = ofGroup("max", 1, func(g load.GroupResult) time.Duration { return g.Round.Max })

	clientShare = ofRun("clients", percent, func(r run) float64 {
		return r.Load.CPU.Seconds() / r.Load.Window.Seconds()
	})
	busiestClients = figure{head: "", write: percent, of: func(w row, _ run) (worst float64) {
		for _, w.Server = range w.servers() {
			share, _ := w.value(clientShare)
			worst = max(worst, share)
		}
		return worst
	}}
)

// Figures of the server, its host and its network.
var (
	cpuOfFrame = ofRun("us/frame", rounded, func(r run) float64 { // us
		return float64(r.Usage.CPU) / 1e3 / max(framesOf(r), 1)
	})
	cpuShare  = ofRun("CPU", percent, func(r run) float64 { return r.Usage.CPU.Seconds() / r.Load.Window.Seconds() })
	idleShare = ofRun("CPU", percent, func(r run) float64 { return float64(r.Usage.CPU) / float64(idleWindow) })
	ofCore    = figure{head: "rounds/s and core", write: count, of: func(w row, r run) float64 {
		return rate(r) / max(cpuShare.of(w, r), 1e-9)
	}}
	rss = ofRun("RSS", memory, func(r run) float64 { return float64(r.Usage.RSS) })
	// anonymous is no number in results of before it was measured.
	anonymous = ofRun("anonymous", memory, func(r run) float64 {
		if r.Usage.Anonymous == 0 {
			return math.NaN()
		}
		return float64(r.Usage.Anonymous)
	})
	peak = ofRun("largest RSS", memory, func(r run) float64 { return float64(r.Usage.Peak) })
	// bytesOfFrame is no number in results of before it was measured.
	bytesOfFrame = ofRun("bytes/frame", count, func(r run) float64 {
		bytes := total(r, func(g load.GroupResult) int { return g.Bytes })
		if bytes == 0 {
			return math.NaN()
		}
		return bytes / max(framesOf(r), 1)
	})
	growth = figure{head: "", write: kibibytes, of: func(w row, _ run) float64 {
		return w.results.memoryOfClient(w.Server)
	}}
	switches  = ofRun("", count, func(r run) float64 { return float64(r.Usage.Voluntary) })
	wakes     = ofRun("", perSecond, func(r run) float64 { return float64(r.Usage.Voluntary) / r.Load.Window.Seconds() })
	loopWakes = ofRun("wakes/s", perSecond, func(r run) float64 {
		return float64(r.Usage.Busiest) / r.Load.Window.Seconds()
	})
	startTime   = ofRun("", duration, func(r run) float64 { return float64(r.Start) })
	fileSize    = ofRun("", memory, func(r run) float64 { return float64(r.Bytes) })
	insideP50   = ofRun("median", duration, func(r run) float64 { return float64(r.Inside.P50) })
	insideP99   = ofRun("p99", duration, func(r run) float64 { return float64(r.Inside.P99) })
	insideP999  = ofRun("p99.9", duration, func(r run) float64 { return float64(r.Inside.P999) })
	insideMax   = ofRun("max", duration, func(r run) float64 { return float64(r.Inside.Max) })
	queueDrops  = ofRun("drops", count, func(r run) float64 { return float64(r.Traffic.Drops) })
	networkUsed = figure{head: "network", write: percent, of: func(w row, r run) float64 {
		return float64(r.Traffic.Bytes) * 8 / r.Load.Window.Seconds() / float64(w.Network.Rate)
	}}
)

// Figures of a language's program that reads robots.
var (
	readerRate = ofRun("frames/s", count, func(r run) float64 {
		return float64(r.Reader.Frames) / r.Reader.Window.Seconds()
	})
	readerAsked = figure{head: "of asked", write: percent, of: func(w row, r run) float64 {
		return readerRate.of(w, r) / (robots * robotRate)
	}}
	readerShare = ofRun("share", percent, func(r run) float64 { return r.Usage.CPU.Seconds() / r.Reader.Window.Seconds() })
	readerCPU   = ofRun("CPU us/frame", rounded, func(r run) float64 { // us
		return float64(r.Usage.CPU) / 1e3 / max(float64(r.Reader.Frames), 1)
	})
	readerP50 = ofRun("median interval", duration, func(r run) float64 { return float64(r.Reader.P50) * 1e3 })
	readerP99 = ofRun("p99", duration, func(r run) float64 { return float64(r.Reader.P99) * 1e3 })
	parsed    = ofRun("", count, func(r run) float64 { return r.Parsed })
)

// ofEach is each stranger's part of the increase of a figure that the strangers of a cell of viewers cause.
func ofEach(f figure) figure {
	of := f.of
	f.of = func(w row, r run) float64 {
		without, ok := w.results.row(viewersPrefix + nobody).value(f.with(of))
		n := strangersIn(w.Strangers)
		if !ok || n == 0 {
			return math.NaN()
		}
		return (of(w, r) - without) / float64(n)
	}
	return f
}

// with is the same figure with another number.
func (f figure) with(of func(row, run) float64) figure { f.of = of; return f }

// total adds up a number of all groups of clients.
func total(r run, of func(load.GroupResult) int) float64 {
	n := 0
	for _, g := range r.Load.Groups {
		n += of(g)
	}
	return float64(n)
}

func closed(r run) float64   { return total(r, func(g load.GroupResult) int { return g.Closed }) }
func framesOf(r run) float64 { return total(r, func(g load.GroupResult) int { return g.Frames }) }
func bad(r run) float64      { return total(r, func(g load.GroupResult) int { return g.Bad }) }
func rate(r run) float64     { return framesOf(r) / r.Load.Window.Seconds() }

// missing is how many frames a client lacked on average.
func (c *cellResult) missing(r run) float64 {
	g := c.Groups[0]
	return float64(g.Rate)*r.Load.Window.Seconds() - float64(r.Load.Groups[0].Frames)/float64(g.Clients)
}

// memoryOfClient is the memory in bytes that a further client takes: the slope
// from 50 to 10,000 clients. It is no number if one of them was not measured.
func (r *results) memoryOfClient(s server) float64 {
	few, many := r.row("scale/50x10Hz").at(s), r.row("scale/10000x10Hz").at(s)
	a, ok1 := few.value(rss)
	b, ok2 := many.value(rss)
	if !ok1 || !ok2 {
		return math.NaN()
	}
	return (b - a) / float64(many.Groups[0].Clients-few.Groups[0].Clients)
}

// callKinds are system calls that the report shows together, in the order of its columns.
var callKinds = []struct {
	name  string
	calls []string
}{
	{"write", []string{"write", "writev", "sendto", "sendmsg"}}, {"read", reads}, {"wait", waits}, {"ioctl", []string{"ioctl"}},
	{"getsockopt", []string{"getsockopt"}}, {"timer", []string{"timerfd_settime"}}, {"futex", []string{"futex"}},
}

// reads are the system calls that take the clients' input, and one of the timer
// for each tick. waits report that there is something to read.
var (
	reads = []string{"read", "readv", "recvfrom", "recvmsg"}
	waits = []string{"epoll_wait", "epoll_pwait"}
)

// callsOf is how many system calls of some names a frame took, or of all other names.
func callsOf(others bool, names ...string) figure {
	return ofRun("", ratio, func(r run) float64 {
		n := uint64(0)
		for name, calls := range r.Calls {
			if slices.Contains(names, name) != others {
				n += calls
			}
		}
		return float64(n) / max(framesOf(r), 1)
	})
}

// allCalls is how many system calls a frame took, without those that read the
// clients' input: the reads, and for each of them the wait that reports it.
var allCalls = figure{head: "sum", write: ratio, of: func(w row, r run) float64 {
	if r.Calls == nil {
		return math.NaN()
	}
	read := callsOf(false, reads...).of(w, r)
	return callsOf(true).of(w, r) - read - min(read, callsOf(false, waits...).of(w, r))
}}

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
	if v < 100 {
		return fmt.Sprintf("%.1f", v)
	}
	return count(v)
}

const (
	mib = 1 << 20
	kib = 1 << 10
)

func micros(v float64) string    { return rounded(v) + " us" }
func times(v float64) string     { return fmt.Sprintf("%.2fx", v) }
func ratio(v float64) string     { return fmt.Sprintf("%.2f", v) }
func percent(v float64) string   { return fmt.Sprintf("%.1f %%", 100*v) }
func index(v float64) string     { return fmt.Sprintf("%.4f", v) }
func perSecond(v float64) string { return fmt.Sprintf("%.0f /s", v) }
func memory(v float64) string {
	if v >= 100*mib {
		return fmt.Sprintf("%.0f MiB", v/mib)
	}
	return fmt.Sprintf("%.1f MiB", v/mib)
}
func kibibytes(v float64) string { return fmt.Sprintf("%.2f KiB", v/kib) }
