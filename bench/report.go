package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/template"
	"time"

	"player/bench/rig"
	"player/bench/stats"
	"player/e2e/strangers"
)

// page is the report: prose, and tables that name the figures of their columns (figures).
//
//go:embed report.tmpl
var page string

// parts are the figures of Go's own benchmarks and of experiments. They do not
// come from a run of the suite and are written by hand.
//
//go:embed parts.md
var parts string

// report writes the page. plots is the directory of the plots, with a slash.
func (r *results) report(w io.Writer, plots string) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"rows": r.rows, "full": r.full, "find": func(name string) row { return r.row(name, name, "") }, "row": r.row,
		"servers": each(func(w row) (all []row) {
			for _, s := range w.servers() {
				w.Server = s
				all = append(all, w)
			}
			return all
		}),
		"groups": each(func(w row) (all []row) {
			for w.Group = range w.Groups {
				w.grouped = true
				all = append(all, w)
			}
			return all
		}),
		"targets": targets, "results": func() *results { return r }, "batches": r.batches, "claims": claims, "missing": r.missing,
	}).Parse(page + parts)
	if err != nil {
		return err
	}
	return t.Execute(w, struct {
		*results
		Plots string
	}{r, plots})
}

// row is what a line of a table is about: a server in a cell, perhaps one group of its
// clients.
type row struct {
	*cellResult
	results *results
	Name    string // the cell's, without what the whole table has in common
	Label   string
	Server  server
	Group   int
	grouped bool // it is about Group only
}

// rows are the cells that were measured and whose names begin with a prefix.
func (r *results) rows(prefix string, label ...string) (all []row) {
	for name := range r.measured(prefix) {
		all = append(all, r.row(prefix+name, name, strings.Join(label, "")))
	}
	return all
}

// row is one cell, without runs if it was not measured.
func (r *results) row(cell, name, label string) row {
	return row{cellResult: r.find(cell), results: r, Name: name, Label: label, Server: player}
}

// full are the cells whose networks cannot carry what the clients ask for, and the one where
// every client's frame is due at once.
func (r *results) full() (all []row) {
	for name, c := range r.measured("") {
		if full(c) || name == "paper/802.11/50x1Hz/807" {
			all = append(all, r.row(name, strings.TrimPrefix(name, "paper/"), ""))
		}
	}
	return all
}

// each makes rows of each row.
func each(f func(row) []row) func([]row) []row {
	return func(rows []row) (all []row) {
		for _, w := range rows {
			all = append(all, f(w)...)
		}
		return all
	}
}

// Plain is the cell with plain frames.
func (w row) Plain() row {
	return w.results.row(strings.Replace("paper/"+w.Name, "paper/"+wireless5.Name, "wireless5", 1), w.Name, "plain")
}

// Whole is the row about all groups.
func (w row) Whole() row { w.grouped = false; return w }

// Client is the group of the row.
func (w row) Client() group { return w.Groups[w.Group] }

// Once is the name, empty below the cell's first row.
func (w row) Once() string {
	if w.Group > 0 || w.Server != w.servers()[0] {
		return ""
	}
	return w.Name
}

func (w row) Asked() int      { return w.asked() }
func (w row) Stampless() bool { return w.stampless() }
func (w row) Least() string   { return duration(float64(w.ageFloor())) }

// Counted reports whether the system calls were counted.
func (w row) Counted() bool {
	return !slices.ContainsFunc(w.of(w.Server), func(r run) bool { return r.Calls == nil })
}

// Figures writes medians of figures side by side: those of the row's server, or of the
// server behind an @.
func (w row) Figures(names string) string {
	var shown []string
	for _, name := range strings.Fields(names) {
		name, other, _ := strings.Cut(name, "@")
		of := w
		of.Server = cmp.Or(server(other), w.Server)
		if v, ok := of.value(name); ok {
			shown = append(shown, w.figure(name).write(v))
		} else {
			shown = append(shown, "-")
		}
	}
	return strings.Join(shown, " | ")
}

// value is the median of a figure. ok is false if it was not measured.
func (w row) value(name string) (v float64, ok bool) {
	f := w.figure(name)
	return w.median(w.Server, func(r run) float64 {
		if w.grouped {
			of := *r.Load
			of.Groups = of.Groups[w.Group : w.Group+1]
			r.Load = &of
		}
		return f.of(r)
	})
}

// CostOf is the CPU time of a frame against that of a baseline.
func (w row) CostOf(baseline string) string {
	if q, ok := (target{figure: "cost / " + baseline}).of(w); ok {
		return times(q)
	}
	return "-"
}

// ForEach is the CPU time of the cell's strangers, each one's part of what is more than
// without them.
func (w row) ForEach(alone row) string {
	with, ok := w.median(player, cpuShare)
	without, known := alone.median(player, cpuShare)
	who := slices.IndexFunc(strangers.All(), func(p strangers.Pastime) bool { return p.Name == w.Name })
	if !ok || !known || who < 0 {
		return ""
	}
	return percent((with - without) / float64(strangers.All()[who].Count))
}

// Runtime is that of a client library's program.
func (w row) Runtime() string {
	for _, r := range w.of(player) {
		return cmp.Or(r.Reader.Runtime, "-")
	}
	return "-"
}

// written is a figure of a run, and how it is written.
type written struct {
	of    func(run) float64
	write func(float64) string
}

// figure is that of a name in the page. It panics if there is none.
func (w row) figure(name string) written {
	f, known := map[string]written{
		"rate": {rate, rounded}, "count": {rate, count}, "closed": {closed, count}, "asked": {w.ofAsked, percent}, "dropped": {w.dropped, count},
		"p50": {intervalP50, duration}, "p99": {intervalP99, duration}, "max": {intervalMax, duration}, "mean": {worstMean, duration},
		"latency": {latency, duration}, "age": {ageMean, duration}, "age-p50": {ageP50, duration}, "age-p99": {ageP99, duration},
		"jain": {jain, index}, "network": {w.networkUse, percent}, "drops": {drops, count},
		"cost": {cpuOfFrame, rounded}, "us": {cpuOfFrame, micros}, "cpu": {cpuShare, percent}, "clients": {clientShare, percent},
		"cpu-bridge": {of(bridgeOf, cpuShare), percent}, "cpu-nats": {of(natsOf, cpuShare), percent},
		"rss-bridge": {of(bridgeOf, rss), memory}, "rss-nats": {of(natsOf, rss), memory},
		"rss": {rss, memory}, "peak": {func(r run) float64 { return float64(r.Usage.Peak) }, memory}, "binary": {fileSize, memory},
		"cpu-idle": {func(r run) float64 { return float64(r.Usage.CPU) / float64(idleWindow) }, percent}, "start": {startTime, duration},
		"switches": {switches, count}, "wakes": {wakes, count}, "loop-wakes": {loopWakes, count},
		"round": {round, duration}, "round-p99": {roundP99, duration}, "of-core": {func(r run) float64 { return rate(r) / max(cpuShare(r), 1e-9) }, count},
		"asks-p50": {func(r run) float64 { return float64(r.Load.Groups[1].Round.P50) }, duration}, "asks-p99": {askedP99, duration},
		"asks-max": {func(r run) float64 { return float64(r.Load.Groups[1].Round.Max) }, duration},
		"inside":   {insideP50, duration}, "inside-p99": {insideP99, duration},
		"inside-p999": {func(r run) float64 { return float64(r.Inside.P999) }, duration},
		"inside-max":  {func(r run) float64 { return float64(r.Inside.Max) }, duration},
		"reads":       {readerRate, count}, "reads-asked": {readerAsked, percent}, "reads-cost": {readerCPU, rounded}, "reads-share": {readerShare, percent},
		"reads-p50": {readerP50, duration}, "reads-p99": {readerP99, duration}, "parsed": {func(r run) float64 { return r.Parsed }, count},
		"missing": {w.missing, rounded}, "bad": {bad, count}, "rate/s": {rate, perSecond}, "wakes/s": {wakes, perSecond}, "loop-wakes/s": {loopWakes, perSecond},
		"growth":          {func(run) float64 { return w.results.memoryOfClient(w.Server) }, kibibytes},
		"busiest-clients": {func(run) float64 { return w.busiestClients() }, percent},
		"calls":           {allCalls, ratio}, "other": {otherCalls, ratio},
	}[name]
	if calls := callKinds[name]; calls != nil {
		f, known = written{func(r run) float64 { return callsOf(r, calls...) }, ratio}, true
	}
	if !known {
		panic("no figure " + name)
	}
	return f
}

// of is a figure of another process of a fleet. Without the process it is no number.
func of(process func(run) *rig.Usage, f func(run) float64) func(run) float64 {
	return func(r run) float64 {
		u := process(r)
		if u == nil {
			return math.NaN()
		}
		r.Usage = *u
		return f(r)
	}
}

// claims are what the paper reports for the cells, other than what it does for most.
func claims(rows []row) (lines []string) {
	for _, w := range rows {
		switch claim := fmt.Sprintf("- %s in the paper: %s", w.Name, w.Claim); {
		case w.Claim != "" && w.Claim != held:
			lines = append(lines, claim)
		case w.Claim == held && !w.fits():
			lines = append(lines, fmt.Sprintf("%s, though it asks for %.1f Mbps", claim, w.wireTime().Seconds()*float64(w.asked()*w.Network.Rate)/1e6))
		}
	}
	return lines
}

// batches are lines about the cells that were measured alike.
func (r *results) batches() (lines []string) {
	type batch struct {
		commit string
		window time.Duration
		runs   int
	}
	var order []batch
	stolen := map[batch][]float64{}
	n := map[batch]int{}
	for _, c := range r.measured("") {
		if c.Kind == frames || c.Kind == library {
			b := batch{c.Commit, c.Window, len(c.of(c.servers()[0]))}
			if n[b]++; n[b] == 1 {
				order = append(order, b)
			}
			for _, run := range c.Runs {
				stolen[b] = append(stolen[b], run.Stolen)
			}
		}
	}
	for _, b := range order {
		lines = append(lines, fmt.Sprintf("%s, %s of %v, at commit %s; other guests of the host used %s of the processors",
			plural(n[b], "cell"), plural(b.runs, "run"), b.window, b.commit, percent(stats.Median(stolen[b]))))
	}
	return lines
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// missing are the lines of a list of what was not measured, and why.
func (r *results) missing() (lines []string) {
	left := len(cells()) - len(r.Cells)
	cellsOf := map[string][]string{}
	var order []string
	note := func(c cellResult, reason string) {
		if cellsOf[reason] == nil {
			order = append(order, reason)
		}
		cellsOf[reason] = append(cellsOf[reason], c.Name)
	}
	for _, c := range r.Cells {
		if c.NotRun != "" {
			note(c, c.NotRun)
		}
		for _, run := range c.Runs {
			if run.Error != "" {
				note(c, string(run.Server)+": "+run.Error)
			}
			if run.NotCounted != "" {
				note(c, "system calls not counted: "+run.NotCounted)
			}
		}
	}
	for _, reason := range order {
		lines = append(lines, wrapped(reason+": "+strings.Join(slices.Compact(cellsOf[reason]), ", "))...)
	}
	if left > 0 {
		lines = append(lines, "- not chosen: "+plural(left, "cell"))
	}
	return lines
}

// wrapped is an item of a list in lines that fit the page.
func wrapped(text string) (lines []string) {
	line := "-"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > pageWidth {
			lines = append(lines, line)
			line = " "
		}
		line += " " + word
	}
	return append(lines, line)
}

// pageWidth is the longest line of the page in bytes.
const pageWidth = 120
