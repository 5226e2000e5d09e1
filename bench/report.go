package main

import (
	_ "embed" // parts
	"fmt"
	"io"
	"strings"
	"time"

	"player/bench/load"
	"player/bench/stats"
)

// preface is what a reader has to know before the figures.
const preface = `# Benchmarks

The experiments of section 5 of the Player paper, and how far it goes beyond them. This page is written by the suite.

## What to expect: the latency formula

A frame is made when it is sent, of the newest data of every device. So what a client has is at any moment this old, on average:

    age = D/2 + n*t + P/2

- **D** is the period of the device: its data waits half a period to be fetched.
- **t** is what the link takes for one frame, (bytes + 66) * 8 / rate, and **n** the frames that it has under way, this one
  included. Clients of one tick stand in line: n of them wait (n+1)/2 frames on average. On loopback t is next to nothing.
- **P** is the time between frames at the client: 1/rate, or N*t for N clients on a link that is too small for what they ask.

The last is the least age on a link that is too small: *N*t/2 + t*, half a round and one frame. The server cannot be better; queues
in the network make others worse by seconds.

"Latency" below is from new data to its arrival; a frame with data that the client has already does not count for it. The devices of
these cells have news 500 times a second on the links, so that D is small beside what the link does, and 10 times a second on loopback
and wherever cost is measured; a laser of 2500 Hz is in "Isolation". They publish just before the frames are made: of data that comes when it
likes a client sees D/2 more, and the server is woken once more for each. On the links the CPU a frame is mostly what these 500 Hz cost.

## Repeat it

    go run ./bench                          # everything, 10 s a cell: three quarters of an hour
    go run ./bench -run 'paper/802.11' -n 5 # some of it, median of 5 runs
    go run ./bench -full                    # two minutes a cell, as in the paper

Results and report go to bench/out; this page is of ` + "`-out bench/results -report docs/BENCHMARKS.md`" + `. The links need root (network namespaces, veth, tbf); without it their cells are reported as not run. ` + "`go run ./bench -h`" + ` shows
the other flags. ` + "`floor`" + ` is a bare epoll loop that writes a constant frame on the same grid of ticks, started with the same timer slack for
Go's monitor thread as the server gives itself; ` + "`threads`" + ` is a goroutine and a ticker for each client. Both run in turn with the server.
`

// parts are the figures of Go's own benchmarks. They change with the code of a
// room, not with a run of the suite, and are written by hand.
//
//go:embed parts.md
var parts string

// reading is how the tables are to be read.
const reading = `
Medians are of the runs in column "runs", each as long as it says. Percentiles are middles of buckets that are 3 % wide. The links are token buckets that let the first
3000 bytes pass at once, so a lone frame is there sooner than t; their drops are counted in the window, at the server's end.
Jain's index says how evenly frames are shared: 1 if all clients have as many, k/N if k of N have them all.
`

// report writes the page. plots are files beside it.
func (r *results) report(w io.Writer, plots string) error {
	p := &page{}
	p.text(preface)
	p.machine(r)
	p.targets(r)
	p.paper(r)
	p.figure(plots+figure3, "The paper's figure 3 redrawn: time between frames of 807 bytes on 802.11, 1, 10 and 50 clients")
	p.figure(plots+agePlot, "Age of information on 802.11, frames of 807 bytes")
	p.scale(r)
	p.figure(plots+scalePlot, "CPU a frame, p99 interval error and memory as clients and rates grow")
	p.processors(r)
	p.isolation(r)
	p.exchanges(r)
	p.missing(r)
	p.b.WriteString("\n" + parts)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// page builds Markdown.
type page struct {
	b    strings.Builder
	head string // of a table that has no row yet
}

func (p *page) text(format string, args ...any) {
	p.head = ""
	if len(args) == 0 {
		p.b.WriteString(format)
		return
	}
	fmt.Fprintf(&p.b, format, args...)
}

// section begins what is only there if a row follows.
func (p *page) section(text string) { p.head = text }

func (p *page) row(cells ...string) {
	p.b.WriteString(p.head + tableRow(cells))
	p.head = ""
}

func tableRow(cells []string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// table starts a table; columns that begin with ">" are to the right. A table
// without rows is left out, and so is the section before it.
func (p *page) table(columns ...string) {
	rule := make([]string, len(columns))
	for i, c := range columns {
		rule[i] = "---"
		if name, right := strings.CutPrefix(c, ">"); right {
			columns[i], rule[i] = name, "---:"
		}
	}
	p.head += "\n" + tableRow(columns) + tableRow(rule)
}

func (p *page) figure(file, title string) { p.text("\n![%s](%s)\n", title, file) }

func (p *page) machine(r *results) {
	m := r.Machine
	p.text("\n## Machine\n\n%s, %d cores, Linux %s, %s, %s.\n", m.CPU, m.Cores, m.Kernel, m.OS, m.Go)
	type batch struct {
		commit string
		window time.Duration
		runs   int
	}
	n := map[batch]int{}
	stolen := map[batch][]float64{}
	var order []batch
	for _, c := range r.Cells {
		if c.NotRun == "" && c.Kind == frames {
			b := batch{c.Commit, c.Window, len(c.of(c.servers()[0]))}
			if n[b]++; n[b] == 1 {
				order = append(order, b)
			}
			for _, run := range c.Runs {
				if run.Stolen > 0 { // else nobody looked
					stolen[b] = append(stolen[b], run.Stolen)
				}
			}
		}
	}
	if len(order) > 0 {
		p.text("\n")
	}
	for _, b := range order {
		runs := "one run"
		if b.runs > 1 {
			runs = fmt.Sprintf("the median of %d runs", b.runs)
		}
		which := "1 cell"
		if n[b] > 1 {
			which = fmt.Sprintf("%d cells", n[b])
		}
		p.text("- %s: %s of %v, at commit %s", which, runs, b.window, b.commit)
		if len(stolen[b]) > 0 {
			p.text("; other guests of the host took %s of the processors", percent(stats.Median(stolen[b])))
		}
		p.text("\n")
	}
	p.text("%s", reading)
}

func (p *page) targets(r *results) {
	p.text("\n## Targets\n")
	p.table("target", "reached", "measured")
	for _, t := range targets() {
		v := t.judge(r)
		reached := "**no**"
		switch {
		case v.Open:
			reached = "not measured"
		case v.Reached:
			reached = "yes"
		}
		p.row(v.Target, reached, v.Got)
	}
}

// show is the median of a figure, written, or a dash.
func show(c *cellResult, s server, f func(run) float64, format func(float64) string) string {
	v, ok := c.median(s, f)
	if !ok {
		return "-"
	}
	return format(v)
}

func (p *page) paper(r *results) {
	p.text("\n## The paper's 54 experiments\n\nClients x rate / bytes. Errors are of the time between frames against 1/rate; \"mean\" is the worst client's. Beside cells that do not fit\ntheir link stands the least age that is possible; what the paper says of them in one sentence with the others cannot be, for they ask for more bits than there are.\n")
	for _, l := range []struct{ prefix, title string }{
		{"paper/loopback/", "Loopback"}, {"paper/Ethernet/", "Ethernet, 10 Mbps"}, {"paper/802.11/", "802.11, 1.9 Mbps"},
		{"wireless5/", "A faster wireless link, 5 Mbps (not in the paper)"},
	} {
		p.section("\n### " + l.title + "\n")
		p.table("cell", "the paper", ">runs", ">frames/s", ">closed", ">mean", ">sd", ">p50", ">p99", ">p99.9", ">max", ">latency", ">age", ">age p99", ">least age", ">Jain", ">link", ">drops", ">CPU us/frame")
		for i := range r.Cells {
			if c := &r.Cells[i]; strings.HasPrefix(c.Name, l.prefix) && c.NotRun == "" {
				p.paperRow(c, strings.TrimPrefix(c.Name, l.prefix))
			}
		}
	}
}

func (p *page) paperRow(c *cellResult, name string) {
	get := func(f func(run) float64, format func(float64) string) string { return show(c, player, f, format) }
	floorAge, link, lost := "", "", ""
	if !c.fits() {
		floorAge = duration(float64(c.ageFloor()))
	}
	if c.Link.Rate > 0 {
		link, lost = get(c.linkUse, percent), get(drops, count)
	}
	frames, claim := get(rate, rounded), c.Claim
	if !c.fits() {
		frames += fmt.Sprintf(" of %d", c.asked())
		if claim == held {
			claim += fmt.Sprintf(" (asks for %.1f Mbps)", c.wireTime().Seconds()*float64(c.asked()*c.Link.Rate)/1e6)
		}
	}
	p.row(name, claim, c.times(), frames, get(closed, count), get(worstMean, duration), get(intervalSD, duration), get(intervalP50, duration), get(intervalP99, duration),
		get(intervalP999, duration), get(intervalMax, duration), get(latency, duration), get(ageMean, duration), get(ageP99, duration), floorAge, get(jain, index), link, lost, get(cpuOfFrame, rounded))
}

// rounded has as many decimals as matter.
func rounded(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func (p *page) scale(r *results) {
	p.section("\n## Scale\n\nLoopback, 807 bytes. CPU in us a frame; ratios are of medians of alternated runs.\n")
	p.table("cell", ">runs", ">frames/s", ">floor", ">threads", ">of asked", ">closed", ">CPU", ">floor's", ">threads'", ">of floor", ">of threads", ">cores", ">p99 error", ">floor's", ">threads'", ">Jain", ">floor's", ">threads'", ">RSS", ">wakes/s", ">of all threads", ">clients' core")
	for i := range r.Cells {
		c := &r.Cells[i]
		if !strings.HasPrefix(c.Name, "scale/") || c.NotRun != "" {
			continue
		}
		s := c.servers()[0]
		get := func(f func(run) float64, format func(float64) string) string { return show(c, s, f, format) }
		ratio := func(to server) string {
			if q, ok := c.ratio(to, cpuOfFrame); ok {
				return times(q)
			}
			return "-"
		}
		share := func(run run) float64 { return rate(run) / float64(c.asked()) }
		name := strings.TrimPrefix(c.Name, "scale/")
		if s != player {
			name += fmt.Sprintf(" (%s)", s)
		}
		p.row(name, c.times(), get(rate, count), show(c, floor, rate, count), show(c, threads, rate, count), get(share, percent), get(closed, count), get(cpuOfFrame, rounded),
			show(c, floor, cpuOfFrame, rounded), show(c, threads, cpuOfFrame, rounded), ratio(floor), ratio(threads), get(cpuShare, percent),
			get(intervalP99, duration), show(c, floor, intervalP99, duration), show(c, threads, intervalP99, duration),
			get(jain, index), show(c, floor, jain, index), show(c, threads, jain, index), get(rss, memory), get(loopWakes, count), get(wakes, count), get(clientShare, percent))
	}
}

// plain is the table of cells that differ in one thing.
func (p *page) plain(r *results, prefix string) {
	p.table("cell", ">runs", "clients", ">frames/s", ">closed", ">worst mean error", ">p99 error", ">max error", ">latency", ">age", ">age p99", ">CPU", ">CPU us/frame", ">RSS")
	for i := range r.Cells {
		c := &r.Cells[i]
		if !strings.HasPrefix(c.Name, prefix) || c.NotRun != "" {
			continue
		}
		for j, g := range c.Groups {
			of := func(f func(load.GroupResult) float64, format func(float64) string) string {
				return show(c, player, func(r run) float64 { return f(r.Load.Groups[j]) }, format)
			}
			get := func(f func(run) float64, format func(float64) string) string {
				if j > 0 {
					return ""
				}
				return show(c, player, f, format)
			}
			name, times := strings.TrimPrefix(c.Name, prefix), c.times()
			if j > 0 {
				name, times = "", ""
			}
			took := func(f func(load.GroupResult) float64) string { // times of frames, where there are any
				if g.Task == load.Deaf {
					return ""
				}
				return of(f, duration)
			}
			p.row(name, times, fmt.Sprintf("%d %s", g.Clients, g.Name),
				show(c, player, func(r run) float64 { return float64(r.Load.Groups[j].Frames) / r.Load.Window.Seconds() }, rounded),
				of(func(g load.GroupResult) float64 { return float64(g.Closed) }, count),
				took(func(g load.GroupResult) float64 { return float64(g.WorstMean) }),
				took(func(g load.GroupResult) float64 { return float64(g.Interval.P99) }),
				took(func(g load.GroupResult) float64 { return float64(g.Interval.Max) }),
				took(func(g load.GroupResult) float64 { return float64(g.Latency.Mean) }),
				took(func(g load.GroupResult) float64 { return float64(g.AgeMean) }),
				took(func(g load.GroupResult) float64 { return float64(g.AgeP99) }),
				get(cpuShare, percent), get(cpuOfFrame, rounded), get(rss, memory))
		}
	}
}

func (p *page) processors(r *results) {
	p.section("\n## One processor or two, and a tenth of one\n\nThe same cells with GOMAXPROCS=1 (the server's choice) and 2.\n")
	p.plain(r, "procs/")
	p.section("\nThe paper's fifty clients on its links, the server held to 10 % of one core (100 ms periods) and 32 MiB by a control group. It is the time that is short, not the core slow.\n")
	p.plain(r, "small-cpu/")
}

func (p *page) isolation(r *results) {
	p.section("\n## Isolation\n\n25 clients on loopback at 50 Hz, alone; beside 25 that ask for 50 Hz on the 1.9 Mbps link; beside one that does not read; beside one that\nsends commands as fast as they are taken; and with devices that have news 2500 times a second.\nThe CPU a frame is of all that the server does meanwhile: beside the flood mostly its commands.\n")
	p.plain(r, "isolation/")
}

func (p *page) exchanges(r *results) {
	p.text("\n## Request/reply, commands, and nobody\n")
	p.section("\nOne request outstanding a client, 807 bytes a reply; the baselines answer whatever is said with a constant frame.\n")
	p.table("clients", ">runs", "server", ">rounds/s", ">round", ">p99", ">its core", ">rounds/s and core", ">clients' core")
	for i := range r.Cells {
		c := &r.Cells[i]
		if name, ok := strings.CutPrefix(c.Name, "request/"); ok && c.NotRun == "" {
			times := c.times()
			for _, s := range c.servers() {
				get := func(f func(run) float64, format func(float64) string) string { return show(c, s, f, format) }
				perCore := func(r run) float64 { return rate(r) / max(cpuShare(r), 1e-9) }
				p.row(name, times, string(s), get(rate, count), get(round, duration), get(roundP99, duration), get(cpuShare, percent), get(perCore, count), get(clientShare, percent))
				name, times = "", ""
			}
		}
	}
	p.section("\nA stream at 50 Hz to a client that sends ten commands a second:\n")
	p.plain(r, "command/")
	p.text("\n")
	if c := r.find("idle"); c != nil {
		p.text("- Idle, no clients: %s voluntary context switches of all threads in %v, %s of RSS.\n",
			show(c, player, func(r run) float64 { return float64(r.Usage.Voluntary) }, count), idleWindow, show(c, player, rss, memory))
	}
	if c := r.find("start"); c != nil {
		p.text("- From exec to the first reply: %s.\n", show(c, player, func(r run) float64 { return float64(r.Start) }, duration))
	}
	if c := r.find("binary"); c != nil {
		p.text("- Stripped binary: %s.\n", show(c, player, func(r run) float64 { return float64(r.Bytes) }, memory))
	}
}

// missing names what was not measured, and why.
func (p *page) missing(r *results) {
	measured := map[string]bool{}
	reasons := map[string][]string{}
	var order []string
	note := func(reason, cell string) {
		if reasons[reason] == nil {
			order = append(order, reason)
		}
		reasons[reason] = append(reasons[reason], cell)
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		measured[c.Name] = true
		if c.NotRun != "" {
			note(c.NotRun, c.Name)
		}
		for _, run := range c.Runs {
			if run.Error != "" {
				note(fmt.Sprintf("%s: %s", run.Server, run.Error), c.Name)
			}
		}
	}
	left := 0
	for _, c := range cells() {
		if !measured[c.Name] {
			left++
		}
	}
	if len(order) == 0 && left == 0 {
		return
	}
	p.text("\n## Not run, or failed\n\n")
	for _, reason := range order {
		p.text("- %s: %s\n", reason, strings.Join(reasons[reason], ", "))
	}
	if left > 0 {
		p.text("- not chosen: %d cells\n", left)
	}
}
