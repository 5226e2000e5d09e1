package main

import (
	_ "embed" // parts
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"player/bench/load"
	"player/bench/stats"
)

// summary introduces the six figures that stand first.
const summary = `# Benchmarks

How fast the server is, measured on the program that is shipped (static, stripped). Three servers send the same
frames of 807 bytes to the same clients: Player, a bare epoll loop that does nothing else, and a program with
goroutines for each client. Smaller is better except for frames per second. The suite in bench/ writes this
page.

## In short
`

// baselines describes how the servers are built and started.
const baselines = `
## How it is measured

The server runs in a process of its own, the clients in another one, on the same machine. They subscribe to all
seven devices of the test driver. Servers take turns, and so do cells that are compared, so a disturbance hits all
of them; figures are medians of the runs.

- **player** is the server as it is shipped: static, stripped, with the flags of packaging/shipped.
  It gives itself %v of timer slack.
- **floor** is a bare loop on epoll and timerfd with the same ticks, started with the same slack. It decodes
  commands and requests as the server does. It has no devices, no rights and no idea of what a link carries.
- **threads** has one goroutine with a ticker to send to each client and one to read from it. It is started
  without slack, which would delay its tickers.

Errors are of the time between frames, against 1/rate; "mean error" is that of the worst client. The latency is
from new data to its arrival. The age is how old a client's newest data is at any moment. Percentiles are
middles of buckets that are 3 %% wide. Jain's index is 1 if all clients get as many frames, and k/N if k of N
clients get them all.
`

// formula explains the age of data.
const formula = `
## What to expect: the age of data

The server makes a frame when it sends it, from the newest data of every device. So a client's data has this
mean age:

    age = D/2 + n*t + P/2

- **D** is the period of the device: its data waits half a period on average until a frame is made.
- **t** is the time that the link needs for one frame, (bytes + 66) * 8 / rate, and **n** the number of frames
  under way, this one included. Of n clients with a common tick each waits for (n+1)/2 frames on average. On
  loopback t is near zero.
- **P** is the time between frames at the client: 1/rate, or N*t for N clients on a link that cannot carry more.

"Least age" is P/2 + t: one frame at a time, made when it is sent. No server can do better; queues in the
network make others seconds worse. Devices have news 500 times a second on the links, so D hardly matters there,
and 10 times a second where CPU time is measured. The links are token buckets that let the first 3000 bytes pass
at once, so a lone frame arrives earlier than t.

## Repeat it

    go run ./bench                          # everything, 10 s a run: 40 minutes
    go run ./bench -run 'paper/802.11' -n 5 # some of it, medians of five runs
    go run ./bench -full                    # two minutes a cell, as in the paper

Results and report go to bench/out. This page was written with ` + "`-out bench/results -report docs/BENCHMARKS.md -f`" + `.
Links and the counters of system calls need root; without it the report says what is missing.
` + "`go run ./bench -h`" + ` shows all flags.
`

// parts are the figures of Go's own benchmarks and of experiments. They do not
// come from a run of the suite and are written by hand.
//
//go:embed parts.md
var parts string

// report writes the page. plots is the directory of the plots, with a slash.
func (r *results) report(w io.Writer, plots string) error {
	p := &page{}
	p.text(summary)
	p.summary(r)
	p.targets(r)
	p.text(baselines, slack)
	p.machine(r)
	p.healthy(r)
	p.full(r)
	p.figure(plots+agePlot, "Age of data on 802.11, frames of 807 bytes")
	p.compact(r)
	p.scale(r)
	p.figure(plots+scalePlot, "CPU time a frame, p99 interval error and memory over clients and rates")
	p.exchanges(r)
	p.isolation(r)
	p.strangers(r)
	p.viewers(r)
	p.fleet(r)
	p.populations(r)
	p.realTime(r)
	p.clients(r)
	p.paper(r)
	p.figure(plots+figure3, "The paper's figure 3: time between frames of 807 bytes on 802.11")
	p.text(formula)
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

// section adds a text that is left out unless a row follows.
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

// list writes a text and names as an item of a list, in lines that fit the page.
func (p *page) list(text string, names []string) {
	line := "-"
	for _, word := range strings.Fields(text + ": " + strings.Join(names, ", ")) {
		if len(line)+1+len(word) > pageWidth {
			p.b.WriteString(line + "\n")
			line = " "
		}
		line += " " + word
	}
	p.b.WriteString(line + "\n")
}

// pageWidth is the longest line of the page in bytes.
const pageWidth = 120

// show is the median of a figure, written, or a dash if there is none.
func show(c *cellResult, s server, f func(run) float64, format func(float64) string) string {
	v, ok := c.median(s, f)
	if !ok {
		return "-"
	}
	return format(v)
}

// each is a figure of the server and both baselines.
func each(c *cellResult, f func(run) float64, format func(float64) string) []string {
	var shown []string
	for _, s := range everyone() {
		shown = append(shown, show(c, s, f, format))
	}
	return shown
}

// summary is the six figures for a visitor.
func (p *page) summary(r *results) {
	p.table("", ">Player", ">bare loop", ">goroutines")
	compare := func(title, cell string, f func(run) float64, format func(float64) string) {
		p.row(append([]string{title}, each(r.find(cell), f, format)...)...)
	}
	compare("CPU time for a frame, 50 clients at 50 Hz", "scale/50x50Hz", cpuOfFrame, micros)
	compare("frames per second, 10,000 clients at 10 Hz", "scale/10000x10Hz", rate, count)
	further := []string{"memory for each further client"}
	for _, s := range everyone() {
		shown := "-"
		if v, ok := r.memoryOfClient(s); ok {
			shown = kibibytes(v)
		}
		further = append(further, shown)
	}
	p.row(further...)
	compare("request and reply, one client", "request/1", round, duration)
	compare("wakes in ten seconds without clients", "idle", switches, count)
	compare("mean age of data, 50 clients on a full 1.9 Mbps link", fullest, ageMean, duration)
	p.text(`
- **CPU time**: sending is most of the work, so the server should cost little more than a loop that does nothing
  else.
- **Frames per second**: 100,000 are asked for; the machine's two cores serve and receive them.
- **Memory**: a small robot computer can serve many clients.
- **Request and reply**: the time until a program that asks for data has it.
- **Wakes**: a server without clients uses no energy.
- **Age**: the clients ask for nine times what the link carries. A server that queues frames delivers old data;
  Player waits and sends the newest. The least possible mean age is %s.
`, duration(float64(cellOf(fullest).ageFloor())))
}

// cellOf is a cell of the suite. It panics if there is none.
func cellOf(name string) cell {
	all := cells()
	return all[slices.IndexFunc(all, func(c cell) bool { return c.Name == name })]
}

func (p *page) machine(r *results) {
	m := r.Machine
	p.text("\nMachine: %s, %d cores, Linux %s, %s, %s.\n", m.CPU, m.Cores, m.Kernel, m.OS, m.Go)
	type batch struct {
		commit string
		window time.Duration
		runs   int
	}
	n := map[batch]int{}
	stolen := map[batch][]float64{}
	var order []batch
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
	if len(order) > 0 {
		p.text("\n")
	}
	for _, b := range order {
		p.text("- %s, %s of %v, at commit %s; other guests of the host used %s of the processors\n",
			plural(n[b], "cell"), plural(b.runs, "run"), b.window, b.commit, percent(stats.Median(stolen[b])))
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (p *page) targets(r *results) {
	p.text("\n## Targets\n\nThe measured column shows how many cells reach the target, and the worst of them.\n")
	p.table("target", "reached", "measured")
	for _, t := range targets() {
		v := t.judge(r)
		reached := "**no**"
		switch {
		case v.Open:
			reached, v.Got = "-", "not measured"
		case v.Reached:
			reached = "yes"
		}
		p.row(t.goal, reached, v.Got)
	}
}

// healthy shows the cells whose link carries everything easily.
func (p *page) healthy(r *results) {
	p.section(`
## Healthy links

Fifty clients at 50 Hz on loopback. They read only; may drive, but are silent; send ten commands a second each;
send them in reply to frames, with delayed acknowledgements; are all held for 150 ms once; or half of them read
only every 300 ms.
`)
	p.table("cell", "clients", "server", ">frames/s", ">closed", ">median error", ">p99 error", ">age", ">CPU", ">us/frame")
	for name, c := range r.measured("healthy/") {
		for _, s := range c.servers() {
			for j, g := range c.Groups {
				of := func(f func(load.GroupResult) float64, format func(float64) string) string {
					return show(c, s, func(r run) float64 { return f(r.Load.Groups[j]) }, format)
				}
				cpu, cost := show(c, s, cpuShare, percent), show(c, s, cpuOfFrame, rounded)
				if j > 0 {
					cpu, cost = "", ""
				}
				p.row(name, g.Name, string(s), show(c, s, framesPerSecond(j), rounded),
					of(func(g load.GroupResult) float64 { return float64(g.Closed) }, count),
					of(func(g load.GroupResult) float64 { return float64(g.Interval.P50) }, duration),
					of(func(g load.GroupResult) float64 { return float64(g.Interval.P99) }, duration),
					of(func(g load.GroupResult) float64 { return float64(g.AgeMean) }, duration), cpu, cost)
			}
		}
	}
	p.calls(r)
}

// framesPerSecond is the rate of one group.
func framesPerSecond(group int) func(run) float64 {
	return func(r run) float64 { return float64(r.Load.Groups[group].Frames) / r.Load.Window.Seconds() }
}

// calls shows the system calls a frame by kind.
func (p *page) calls(r *results) {
	p.section(`
System calls of the server for each frame. "sum" leaves out those that read what clients send: the reads, and for
each of them the wait that reports it. The kernel counts them (perf_event_open) in the same runs, which makes a
call about 0.1 us slower. A read and a call of "timer" for each tick serve the schedule.
`)
	columns := []string{"cell", "server", ">sum"}
	for _, k := range callKinds {
		columns = append(columns, ">"+k.name)
	}
	p.table(append(columns, ">other")...)
	for name, c := range r.measured("healthy/") {
		if !c.Calls {
			continue
		}
		for _, s := range c.servers() {
			if slices.ContainsFunc(c.of(s), func(r run) bool { return !counted(r) }) {
				p.row(name, string(s), "not counted")
				continue
			}
			row := []string{name, string(s), show(c, s, allCalls, ratio)}
			for _, k := range callKinds {
				row = append(row, show(c, s, func(r run) float64 { return callsOf(r, k.calls...) }, ratio))
			}
			p.row(append(row, show(c, s, otherCalls, ratio))...)
		}
	}
}

// full shows the links that cannot carry what the clients ask for, and the one
// where every client's frame is due at once.
func (p *page) full(r *results) {
	p.section(`
## Full links

The clients of these cells ask for more than the link carries, except fifty at 1 Hz, whose frames are due all at
once.
`)
	p.table("cell", "server", ">frames/s", ">of", ">closed", ">age", ">least", ">p99", ">Jain", ">link", ">drops")
	for name, c := range r.measured("") {
		if !full(c) && name != "paper/802.11/50x1Hz/807" {
			continue
		}
		for _, s := range c.servers() {
			get := func(f func(run) float64, format func(float64) string) string { return show(c, s, f, format) }
			p.row(strings.TrimPrefix(name, "paper/"), string(s), get(rate, rounded), fmt.Sprint(c.asked()), get(closed, count),
				get(ageMean, duration), duration(float64(c.ageFloor())), get(ageP99, duration), get(jain, index),
				get(c.linkUse, percent), get(drops, count))
		}
	}
}

// compact shows what compact frames and a relay do for full links.
func (p *page) compact(r *results) {
	p.section(`
## Compact frames and the relay

Full links with plain and with compact frames (docs/BANDWIDTH.md), the data that of a robot that drives through an
office, with noise of 5 mm on its ranges; "auto" is compact while the server finds the link full. "20 readings" is
the laser alone, one reading in 9 degrees in units of 5 cm. The relay is a second server on the wired side, "fleet"
a bridge and NATS there (docs/FLEET.md).
`)
	p.table("cell", "frames", ">frames/s", ">of", ">closed", ">age", ">least", ">p99", ">Jain", ">link", ">CPU us/frame")
	row := func(name, form string, c *cellResult) {
		if len(c.Runs) == 0 {
			return
		}
		get := func(f func(run) float64, format func(float64) string) string { return show(c, player, f, format) }
		age, least, p99 := get(ageMean, duration), duration(float64(c.ageFloor())), get(ageP99, duration)
		if c.Relay || c.Monitors > 0 {
			least = "-" // that of the direct client
		}
		if c.stampless() {
			age, p99 = "-", "-"
		}
		p.row(name, form, get(rate, rounded), fmt.Sprint(c.asked()), get(closed, count), age, least, p99, get(jain, index),
			get(c.linkUse, percent), get(cpuOfFrame, rounded))
	}
	for name, c := range r.measured("compact/") {
		row(name, "plain", r.find("paper/"+name))
		row(name, "plain", r.find(strings.Replace(name, wireless5.Name, "wireless5", 1)))
		row(name, "compact", c)
	}
	for name, c := range r.measured("auto/") {
		row(name, "auto", c)
	}
	for name, c := range r.measured("beams/") {
		row(name, "20 readings", c)
	}
	row("802.11/1x50Hz/807", "direct", r.find(relayDirect))
	row("802.11/50x50Hz/807", "relay", r.find(relayGoal))
	row("802.11/50x50Hz/807", "fleet", r.find(fleetGoal))
}

func (p *page) scale(r *results) {
	p.section("\n## Scale\n\nLoopback, 807 bytes. CPU time is in us for each frame; ratios are of medians.\n")
	p.table("frames/s", ">player", ">floor", ">threads", ">of asked", ">CPU: player", ">floor", ">threads", ">of floor", ">of threads")
	for name, c := range r.measured("scale/") {
		quotient := func(to server) string {
			if q, ok := c.ratio(to, cpuOfFrame); ok {
				return times(q)
			}
			return "-"
		}
		row := append([]string{name}, each(c, rate, count)...)
		row = append(row, show(c, player, c.ofAsked, percent))
		row = append(row, each(c, cpuOfFrame, rounded)...)
		p.row(append(row, quotient(floor), quotient(threads))...)
	}
	p.section("\nThe p99 interval error, memory, how often the loop is woken, and what the clients' process uses of a core.\n")
	p.table("p99 error", ">player", ">floor", ">threads", ">RSS: player", ">floor", ">threads", ">wakes/s", ">clients")
	for name, c := range r.measured("scale/") {
		row := append([]string{name}, each(c, intervalP99, duration)...)
		row = append(row, each(c, rss, memory)...)
		p.row(append(row, show(c, player, loopWakes, count), show(c, player, clientShare, percent))...)
	}
	p.section(`
### A plain start

A server that is started plainly gives itself timer slack. It takes turns with a server that inherits 250 ms of slack,
which the unit used to set, and with the bare loop.
`)
	p.table("cell", "start", ">CPU", ">us/frame", ">wakes/s of all threads")
	for name, c := range r.measured("plain/") {
		for _, s := range []struct {
			server
			start string
		}{{player, "plain"}, {inherits, "250 ms inherited"}, {floor, "bare loop"}} {
			p.row(name, s.start, show(c, s.server, cpuShare, percent), show(c, s.server, cpuOfFrame, rounded), show(c, s.server, wakes, count))
		}
	}
	p.encrypted(r)
}

// encrypted shows what TLS costs beside the same cells without it.
func (p *page) encrypted(r *results) {
	p.section("\n### TLS\n\nThe same clients without and with TLS. The memory of a client is the difference between the two cells.\n")
	p.table("cell", "", ">CPU", ">us/frame", ">p99 error", ">RSS")
	row := func(name, how string, c *cellResult) {
		if len(c.Runs) > 0 {
			p.row(name, how, show(c, player, cpuShare, percent), show(c, player, cpuOfFrame, rounded),
				show(c, player, intervalP99, duration), show(c, player, rss, memory))
		}
	}
	for name, c := range r.measured("tls/") {
		row(name, "plain", r.find("scale/"+name))
		row(name, "TLS", c)
	}
}

// exchanges shows request and reply, and a server with nothing to do.
func (p *page) exchanges(r *results) {
	p.section("\n## Request and reply, and no clients\n\nEach client has one request outstanding; a reply has 807 bytes.\n")
	p.table("clients", "server", ">rounds/s", ">round", ">p99", ">CPU", ">rounds/s and core", ">clients' CPU")
	for name, c := range r.measured("request/") {
		for _, s := range c.servers() {
			get := func(f func(run) float64, format func(float64) string) string { return show(c, s, f, format) }
			perCore := func(r run) float64 { return rate(r) / max(cpuShare(r), 1e-9) }
			p.row(name, string(s), get(rate, count), get(round, duration), get(roundP99, duration),
				get(cpuShare, percent), get(perCore, count), get(clientShare, percent))
			name = ""
		}
	}
	p.text("\n")
	if c := r.find("idle"); len(c.Runs) > 0 {
		p.text("- No clients: %s voluntary context switches of all threads in %v, %s of RSS.\n",
			show(c, player, switches, count), idleWindow, show(c, player, rss, memory))
	}
	if c := r.find("start"); len(c.Runs) > 0 {
		p.text("- From exec to the first reply: %s.\n", show(c, player, startTime, duration))
	}
	if c := r.find("binary"); len(c.Runs) > 0 {
		p.text("- The binary: %s.\n", show(c, player, fileSize, memory))
	}
}

func (p *page) isolation(r *results) {
	p.section(`
## Isolation

25 well clients on loopback at 50 Hz: alone; beside 25 that ask for 50 Hz on the 1.9 Mbps link; beside one that
does not read; beside one that sends commands as fast as the server takes them; and with devices that have news
2500 times a second.
`)
	p.groups(r, "isolation/")
	p.section(`
The paper's fifty clients, the server held to 10 % of one core (in periods of 100 ms) and 32 MiB by a control
group.
`)
	p.groups(r, "small-cpu/")
}

// groups is a table of cells with a row for each group of clients.
func (p *page) groups(r *results, prefix string) {
	p.table("cell", "clients", ">frames/s", ">closed", ">mean error", ">p99 error", ">latency", ">age", ">CPU", ">RSS")
	for name, c := range r.measured(prefix) {
		for j, g := range c.Groups {
			took := func(f func(load.GroupResult) time.Duration) string {
				if g.Task == load.Deaf {
					return "" // it has no frames
				}
				return show(c, player, func(r run) float64 { return float64(f(r.Load.Groups[j])) }, duration)
			}
			cpu, size := show(c, player, cpuShare, percent), show(c, player, rss, memory)
			if j > 0 {
				name, cpu, size = "", "", ""
			}
			p.row(name, fmt.Sprintf("%d %s", g.Clients, g.Name), show(c, player, framesPerSecond(j), rounded),
				show(c, player, func(r run) float64 { return float64(r.Load.Groups[j].Closed) }, count),
				took(func(g load.GroupResult) time.Duration { return g.WorstMean }),
				took(func(g load.GroupResult) time.Duration { return g.Interval.P99 }),
				took(func(g load.GroupResult) time.Duration { return g.Latency.Mean }),
				took(func(g load.GroupResult) time.Duration { return g.AgeMean }), cpu, size)
		}
	}
}

// paper shows the experiments of the paper, and some on a faster link.
func (p *page) paper(r *results) {
	intro := `
## The paper's 54 experiments

Section 5 of the Player paper; cells are clients x rate / bytes. The paper reports a mean within 50 us of the
target for all cells but those listed below their table. Full links have their own section above.
`
	for _, l := range []struct{ prefix, title string }{
		{"paper/loopback/", "Loopback"}, {"paper/Ethernet/", "Ethernet, 10 Mbps"}, {"paper/802.11/", "802.11, 1.9 Mbps"},
		{"wireless5/", "A faster wireless link, 5 Mbps (not in the paper)"},
	} {
		p.section(intro + "\n### " + l.title + "\n")
		p.table("cell", ">frames/s", ">closed", ">mean error", ">p99", ">max", ">latency", ">age", ">p99", ">CPU us/frame")
		var claims []string
		for name, c := range r.measured(l.prefix) {
			line := func(name string, c *cellResult) {
				get := func(f func(run) float64, format func(float64) string) string { return show(c, player, f, format) }
				p.row(name, get(rate, rounded), get(closed, count), get(worstMean, duration), get(intervalP99, duration),
					get(intervalMax, duration), get(latency, duration), get(ageMean, duration), get(ageP99, duration), get(cpuOfFrame, rounded))
			}
			line(name, c)
			if served := r.find(fleetGoal); c.Name == fullest && len(served.Runs) > 0 {
				line(name+" by a fleet's bridge", served)
			}
			if c.Claim != "" && c.Claim != held {
				claims = append(claims, fmt.Sprintf("- %s in the paper: %s\n", name, c.Claim))
			}
			if c.Claim == held && !c.fits() {
				claims = append(claims, fmt.Sprintf("- %s in the paper: %s, though it asks for %.1f Mbps\n",
					name, held, c.wireTime().Seconds()*float64(c.asked()*c.Link.Rate)/1e6))
			}
		}
		if p.head == "" { // the table has rows
			intro = ""
		}
		p.head = ""
		if len(claims) > 0 {
			p.text("%s", "\n"+strings.Join(claims, ""))
		}
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
			if run.NotCounted != "" {
				note("system calls not counted: "+run.NotCounted, c.Name)
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
		p.list(reason, slices.Compact(reasons[reason]))
	}
	if left > 0 {
		p.text("- not chosen: %s\n", plural(left, "cell"))
	}
}
