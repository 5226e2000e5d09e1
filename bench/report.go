package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"player/bench/load"
	"player/bench/stats"
)

// pageWidth is the longest line of the page in bytes.
const pageWidth = 120

// report writes the page. plots is the directory of the plots, with a slash.
func (r *results) report(w io.Writer, plots string) error {
	p := &page{results: r}
	p.summary()
	p.healthy()
	p.networks()
	p.scale()
	p.others()
	p.fleets()
	p.robots()
	p.paper(plots)
	p.runs()
	_, err := io.WriteString(w, strings.Join(p.blocks, "\n\n")+"\n")
	return err
}

// page is the report: prose, tables and lists with an empty line between them.
type page struct {
	*results
	blocks []string
}

func (p *page) write(block string) { p.blocks = append(p.blocks, strings.TrimSpace(block)) }

// section is a text and a table with a line for each row, if there are rows.
func (p *page) section(rows []row, text string, columns ...figure) {
	if len(rows) == 0 {
		return
	}
	p.write(text)
	head, rule := make([]string, len(columns)), make([]string, len(columns))
	for i, f := range columns {
		head[i], rule[i] = f.head, "---:"
		if f.left {
			rule[i] = "---"
		}
	}
	lines := tableLine(head...) + tableLine(rule...)
	for _, w := range rows {
		shown := make([]string, len(columns))
		for i, f := range columns {
			shown[i] = w.show(f)
		}
		lines += tableLine(shown...)
	}
	p.write(lines)
}

// tableLine is a line of a table.
func tableLine(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

var (
	cellName   = words("cell", func(w row) string { return w.Name })
	cellOnce   = words("cell", row.once)
	serverName = words("server", func(w row) string { return string(w.Server) })
	frameLabel = words("frames", func(w row) string { return w.Label })
	askedRate  = figure{head: "of", text: func(w row) string { return fmt.Sprint(w.asked()) }}
	leastShown = figure{head: "least", text: func(w row) string { return duration(float64(w.ageFloor())) }}
)

// comparison is a line of a table with a column for each server: a figure in a cell.
type comparison struct {
	what, cell string
	figure     figure
}

// sideBySide writes a table of comparisons.
func (p *page) sideBySide(servers []server, lines ...comparison) {
	// The names by which visitors know the servers.
	names := map[server]string{player: "Player", floor: "bare loop", threads: "goroutines",
		bridge: "JSON bridge in Python", rosbridge: "Player, -rosbridge"}
	head, rule := []string{""}, []string{"---"}
	for _, s := range servers {
		head, rule = append(head, names[s]), append(rule, "---:")
	}
	table := tableLine(head...) + tableLine(rule...)
	for _, l := range lines {
		shown := []string{l.what}
		for _, s := range servers {
			shown = append(shown, p.row(l.cell).at(s).show(l.figure))
		}
		table += tableLine(shown...)
	}
	p.write(table)
}

func (p *page) summary() {
	p.write(`
# Benchmarks

This page shows how fast the server is. Player, built as it is shipped (static, stripped), is compared with two other
servers, which send the same frames of 807 bytes to the same clients: "floor" is a bare epoll loop that does nothing
else, and "threads" has two goroutines for each client. Smaller figures are better, except frames per second. The suite
in bench/ writes this page from its results. [The last section](#machine-and-runs) names the commit of each result; a
later version may differ. [The parts](benchmarks/parts.md) shows where the time goes, and the speed of single packages.

## In short`)
	p.sideBySide(everyone(), []comparison{
		{"CPU time for a frame, 50 clients at 50 Hz", "scale/50x50Hz", cpuOfFrame.written(micros)},
		{"frames per second, 10,000 clients at 10 Hz", "scale/10000x10Hz", frameCount},
		{"memory with 50 clients", "scale/50x50Hz", rss},
		{"of it anonymous", "scale/50x50Hz", anonymous},
		{"memory for each further client", "scale/10000x10Hz", growth},
		{"request and reply, one client", "request/1", roundMean},
		{"wakes in ten seconds without clients", "idle", switches},
		{"mean age of data, 50 clients on a full 1.9 Mbps network", fullest, age},
	}...)
	p.write(`
- **CPU time**: sending is most of the work, so the server should cost little more than a loop that does nothing
  else.
- **Frames per second**: 100,000 are asked for; the machine's two cores serve and receive them.
- **Memory**: a small robot computer can serve many clients. The memory that is not anonymous is pages of the program's
  file, which the kernel takes back when memory is short.
- **Request and reply**: the time until a program that asks for data has it.
- **Wakes**: a server without clients lets the processor sleep.
- **Age**: the clients ask for nine times what the network carries. A server that queues frames delivers old data;
  Player waits and sends the newest. The least possible mean age is 95.57 ms.`)
	p.peers()
	p.write(`
## Targets

The measured column shows how many cells reach the target, and the worst of them.`)
	table := tableLine("target", "reached", "measured") + tableLine("---", "---", "---")
	var reasons []string
	for _, t := range targets() {
		reached := "**no**"
		v := t.Judge(p.results)
		if !v.Open && !v.Reached {
			reasons = append(reasons, wrapped("**"+t.Goal+"**: "+cmp.Or(t.Why, "no reason is known."))...)
		}
		switch {
		case v.Open:
			reached, v.Got = "-", "not measured"
		case v.Reached:
			reached = "yes"
		}
		table += tableLine(t.Goal, reached, v.Got)
	}
	p.write(table)
	if reasons != nil {
		p.write("These targets are missed, and that is accepted:")
		p.list(reasons)
	}
}

func (p *page) healthy() {
	rows := byServer(p.rows("healthy/"))
	p.section(byGroup(rows), `
## Healthy networks

Fifty clients at 50 Hz on loopback. The cells differ in the clients' other work:

- readers: none.
- may-drive: they may drive, and send nothing.
- commands: each sends ten commands a second.
- delayed-acks: the same in reply to frames, and their kernel delays acknowledgements.
- hiccup: all of them stop once, for 150 ms.
- mixed-readers: half of them read only every 300 ms.`,
		cellName, words("clients", func(w row) string { return w.Groups[w.Group].Name }), serverName,
		frameRate, closedClients, intervalP50, intervalP99, age, cpuShare.ofCell(), cpuOfFrame.ofCell())
	// Where they were not counted, the row says so in its second column.
	counted := func(w row) bool {
		return !slices.ContainsFunc(w.of(w.Server), func(r run) bool { return r.Calls == nil })
	}
	columns := []figure{cellName, serverName, allCalls.when(counted, "not counted")}
	var known []string
	for _, kind := range callKinds {
		known = append(known, kind.calls...)
		columns = append(columns, callsOf(false, kind.calls...).as(kind.name).when(counted, ""))
	}
	p.section(rows, `
System calls of the server for each frame. "sum" leaves out the calls that read input of clients: the reads, and
for each of them the wait that reports it. The kernel counts them (perf_event_open) in the same runs, which makes a
call about 0.1 us slower. A read and a call of "timer" for each tick serve the schedule.`,
		append(columns, callsOf(true, known...).as("other").when(counted, ""))...)
}

func (p *page) networks() {
	var all []row
	for name, c := range p.measured("") {
		if full(c) || name == dueAtOnce {
			all = append(all, p.row(name).named(strings.TrimPrefix(name, "paper/")))
		}
	}
	p.section(byServer(all), `
## Full networks

The clients of these cells ask for more than the network carries, except fifty at 1 Hz, whose frames are due all at
once. "Of" is how many frames a second they ask for, "least" the least possible mean age, "p99" the age that 99 % of the
time is not exceeded, "drops" the packets that the network's queue lost. Jain's index is 1 if all clients get as many
frames.`,
		cellName, serverName, frameRate, askedRate, closedClients, age, leastShown, ageP99, jain, networkUsed, queueDrops)

	all = nil
	for _, w := range p.rows("compact/") {
		plain := strings.Replace("paper/"+w.Name, "paper/"+wireless5.Name, "wireless5", 1)
		all = append(all, p.row(plain).named(w.Name).labelled("plain"), w.labelled("compact"))
	}
	for _, tt := range []struct{ cell, prefix, label string }{
		{autoCell, "auto/", "auto"}, {beamsCell, "beams/", "20 readings"}, {directCell, "relay/direct/", "direct"},
		{relayCell, "relay/", "relay"}, {fleetCell, "fleet/", "fleet"},
	} {
		all = append(all, p.row(tt.cell).named(strings.TrimPrefix(tt.cell, tt.prefix)).labelled(tt.label))
	}
	stamped := func(w row) bool { return !w.stampless() }
	p.section(ran(all), `
## Compact frames and the relay

Full networks with plain and with compact frames ([BANDWIDTH](BANDWIDTH.md)). The data is from a robot that drives
through an office, with noise of 5 mm on its ranges; "auto" is compact while the server finds the network full. "20
readings" is the laser alone, one reading in 9 degrees in units of 5 cm. The relay is a second server on the wired side,
"fleet" a bridge and NATS there ([FLEET](FLEET.md)).`,
		cellName, frameLabel, frameRate, askedRate, closedClients,
		age.when(stamped, "-"), leastShown.when(func(w row) bool { return !w.Relay && w.Monitors == 0 }, "-"),
		ageP99.when(stamped, "-"), jain, networkUsed, cpuOfFrame.as("CPU us/frame"))
}

func (p *page) scale() {
	rows := p.rows("scale/")
	costOf := func(head string, s server) figure {
		t := target{figure: cpuOfFrame, bound: atMostTimes(0, onServer(s))}
		return figure{head: head, text: func(w row) string {
			if quotient, ok := t.value(w); ok {
				return times(quotient)
			}
			return "-"
		}}
	}
	p.section(rows, `
## Scale

Loopback, 807 bytes. CPU time is in us for each frame. "Of floor" and "of threads" are Player's CPU time divided by
theirs.`,
		cellName.as("frames/s"), frameCount.as("player"), frameCount.on(floor, "floor"), frameCount.on(threads, "threads"),
		ofAsked, cpuOfFrame.as("CPU: player"), cpuOfFrame.on(floor, "floor"),
		cpuOfFrame.on(threads, "threads"), costOf("of floor", floor), costOf("of threads", threads))
	p.section(rows, `
The p99 interval error, memory, how often the loop is woken, and the clients' process's share of a core.`,
		cellName.as("p99 error"), intervalP99.as("player"), intervalP99.on(floor, "floor"), intervalP99.on(threads, "threads"),
		rss.as("RSS: player"), rss.on(floor, "floor"), rss.on(threads, "threads"), loopWakes.written(count), clientShare)
	p.section(slices.DeleteFunc(slices.Clone(rows), func(w row) bool { return !w.has(anonymous) }), `
Memory again: RSS, and the part of it that is a process's own, "anonymous". The rest is pages of the program's file,
which the kernel takes back when memory is short, and which processes of one file share.`,
		cellName.as("memory"), rss.as("RSS: player"), anonymous.as("anonymous"), rss.on(floor, "RSS: floor"),
		anonymous.on(floor, "anonymous"), rss.on(threads, "RSS: threads"), anonymous.on(threads, "anonymous"))
	var all []row
	for _, w := range p.rows("tls/") {
		all = append(all, p.row("scale/"+w.Name).named(w.Name).labelled("plain"), w.labelled("TLS"))
	}
	p.section(ran(all), `
### TLS

The same clients without and with TLS. The memory of a client is the difference between the two cells.`,
		cellName, words("", func(w row) string { return w.Label }), cpuShare, cpuOfFrame,
		intervalP99, rss, anonymous)
	p.section(p.rows(kindsPrefix), `
## Kinds of devices

Fifty clients at 50 Hz on loopback read one device that the manual of 2001 does not have: a position of a satellite
receiver, four channels, two joints, or 1081 readings of a ranger. Ten read eight lasers of a robot that drives, in
plain frames of all scans and in compact ones.`,
		cellName.as("devices"), frameRate, closedClients, bytesOfFrame, cpuOfFrame, cpuShare, intervalP99, rss, anonymous)
	p.section(byServer(p.rows("request/")), `
## Request and reply, and no clients

Each client has one request outstanding; a reply has 807 bytes.`,
		cellOnce.as("clients"), serverName, frameCount.as("rounds/s"), roundMean, roundP99,
		cpuShare, ofCore, clientShare.as("clients' CPU"))
	var list []string
	for _, tt := range []struct{ cell, text string }{
		{"idle", "- No clients: " + p.row("idle").show(switches) + " voluntary context switches of all threads in 10s, " +
			p.row("idle").show(rss) + " of RSS" + p.ofThem(p.row("idle")) + "."},
		{"start", "- From exec to the first reply: " + p.row("start").show(startTime) + "."},
		{"binary", "- The binary: " + p.row("binary").show(fileSize) + "."},
	} {
		if p.row(tt.cell).Runs != nil {
			list = append(list, tt.text)
		}
	}
	p.list(list)
}

// ofThem is a clause about the anonymous part of a cell's memory, empty if it was not measured.
func (p *page) ofThem(w row) string {
	if !w.has(anonymous) {
		return ""
	}
	return ", of which " + w.show(anonymous) + " are anonymous"
}

// others are the cells in which other programs use the server at the same time.
func (p *page) others() {
	reads := func(w row) bool { return w.Groups[w.Group].Task != load.Deaf }
	timed := func(w row) bool { return reads(w) && !w.stampless() }
	columns := []figure{
		cellOnce, words("clients", func(w row) string {
			return fmt.Sprint(w.Groups[w.Group].Clients, " ", w.Groups[w.Group].Name)
		}),
		frameRate, closedClients, worstMean.when(reads, ""),
		intervalP99.when(reads, ""), latency.when(timed, ""), age.when(timed, ""), cpuShare.ofCell(), rss.ofCell(),
	}
	p.section(byGroup(p.rows("isolation/")), `
## Isolation

25 healthy clients ("well") on loopback at 50 Hz, next to a disturbance:

- alone: none.
- sick-network: 25 clients that ask for 50 Hz on the network of 1.9 Mbps.
- deaf-client: a client that does not read.
- command-flood: a client that sends commands as fast as the server takes them.
- 2500Hz-device: devices that have new data 2500 times a second.`, columns...)
	p.section(byGroup(p.rows("neighbours/")), `
### Networks next to each other

A server on three networks: a radio of 1.9 Mbps, a wired network, and the robot itself, where one program connects by
TLS. All clients ask for 50 Hz. The clients on the radio, "far", get as much as it carries; the others must
not notice.`, columns...)
	p.section(byGroup(p.rows("small-cpu/")), `
The paper's fifty clients, the server held to 10 % of one core (in periods of 100 ms) and 32 MiB by a control
group. In the line "whole" it has 64 MiB, simulates a robot with sonars, a laser and noise, serves the dashboard in one
browser, and ten programs read it at 10 Hz.`, columns...)
	p.section(p.rows("strangers/"), `
## Strangers

Two healthy clients, one that reads 50 frames a second and one that always has a request outstanding, while strangers
flood the server ([SECURITY](SECURITY.md#input)). The server has one core; the clients and the strangers share the rest.

- malformed, commands, asked-frames, open-close: 12 strangers send malformed messages, commands, requests for frames, or
  requests that open and close a device, as fast as the server takes them.
- connections: 500 connect and leave again and again.
- pages: 60 connections to the dashboard send GET after GET.
- half-requests: 128 send half a request and wait.
- browsers, viewers: 20 browsers show the robot, or 20 Foxglove viewers.`,
		cellName.as("strangers"), intervalP99.as("reads: p99 error"), intervalMax, asksP50,
		asksP99, asksMax, cpuShare.as("server's CPU"))
	p.section(p.rows(viewersPrefix), `
## Viewers

The cost of a viewer for the server. One client reads 50 frames a second; in addition there are pages of browsers that
show a robot at 20 Hz, Foxglove viewers (-foxglove) or programs of ROS (-rosbridge) that have subscribed to all topics,
or clients at 10 Hz. The devices have new data 10 times a second. The server has one core.`,
		cellName.as("viewers"), cpuShare.as("server's CPU"), figure{head: "for each viewer", text: row.ofEachViewer}, rss,
		intervalP99.as("the client's p99 error"))
	p.section(p.rows(picturesPrefix), `
## Pictures

How much the pictures of a camera, 640x480 at 30 Hz, delay one client that reads 50 frames a second. The camera is a
program that writes a prepared picture of 30 kB again and again, or (encoder) ffmpeg, which draws and compresses. In
"source" and "encoder" a page asks once a second, so that the camera runs; in the other cells three viewers get every
picture. In "elsewhere" another program serves the same viewers, which shows the share of the machine itself. No
processor is reserved; viewers have the lowest priority, and the camera's program the one that the server gives it.`,
		cellName.as("load"), intervalP50.as("the client's median error"), intervalP99, cpuShare.as("server's CPU"))
}

func (p *page) fleets() {
	columns := func(first, second string) []figure {
		return []figure{
			cellName.as(first), frameCount, dropped, ageP50, ageP99,
			cpuShare.as("CPU: robots"), cpuShare.as(second).ofProcess(bridgeOf), cpuShare.as("NATS").ofProcess(natsOf),
			rss.as("RSS: robots"), rss.as(second).ofProcess(bridgeOf), rss.as("NATS").ofProcess(natsOf),
		}
	}
	p.section(p.rows("fleet/"), `
## A fleet

100 simulated robots in one server, and 10000 monitors, each of which reads the laser of one robot at 10 Hz. "Dropped"
is frames that were asked for and did not come. CPU is shares of one core.

- direct: the monitors are connected to the robots.
- 100x100: they are connected to NATS, which a bridge feeds ([FLEET](FLEET.md)), 100 monitors on each connection.
- 10000x1: the same, each with a connection of its own.
- 802.11: the paper's worst cell, 50 monitors of all devices at 50 Hz. The radio of 1.9 Mbps carries one copy, to a
  bridge on the wired side.`, columns("monitors", "bridge")...)
	p.section(p.rows("nats/"), `
The same 10000 monitors, each with a connection of its own, of plain NATS: a program publishes as much as a bridge, or
less, and is in the column of the bridge. No client reads the robots.`, columns("published", "program")...)
	text := `
## Populations

1000 simulated robots with 16 sonars, each a Player server on its own port of one process: without clients, and while
10 clients read the position and the sonars of one robot each at 10 Hz. All robots are simulated in real time while
there is a client; none of them drives.`
	if p.rows("population/100 with") != nil {
		text += ` In the last line 100 have noisy sonars
and a noisy laser, 99 clients read one robot each at 10 Hz, and the error is a client's that reads the last robot at
50 Hz.`
	}
	served := func(w row) bool { return w.Kind != idle }
	p.section(p.rows("population/"), text, cellName.as("robots"), rss, peak,
		figure{head: "CPU", text: func(w row) string {
			if served(w) {
				return w.show(cpuShare)
			}
			return w.show(idleShare)
		}}, frameCount.as("frames a second").when(served, ""), intervalP99.when(served, ""))
}

// robots are the cells about the inside of the robot, and about the programs that read robots.
func (p *page) robots() {
	p.section(byServer(p.rows("real-time/")), `
## Real time

The age of data inside the robot. It begins just before the last byte of the hardware's packet is written to a
pseudo-terminal, and ends when the client's read returns the frame. The hardware is emulated; a real line and its
adapter add their own time. One client on loopback has a request outstanding and wants only new data, so new data leaves
at once ([PROTOCOL 8.2](PROTOCOL.md#8.2)). Floor sends a frame for each whole packet and does nothing else: it shows the
share of the machine itself. All programs run on one processor, and so do the kernel's workers that carry bytes through
pseudo-terminals. A loop of the lowest class keeps the processor awake, because a host may take milliseconds to wake a
virtual processor.`,
		cellName.as("hardware"), serverName, insideP50, insideP99, insideP999, insideMax)
	p.section(slices.DeleteFunc(p.rows("clients/"), func(w row) bool { return w.Kind != library }), `
## Clients

One program in each language reads 50 robots at 50 Hz: 2500 frames a second of 807 bytes, all seven devices, decoded.
CPU time is the program's, with its runtime and its system calls; its share is of one core. The interval is
the time between two frames of one robot, ideally 20 ms. [CLIENTS.md](CLIENTS.md) has the libraries.`,
		words("language", func(w row) string { return w.Language().Name }), words("runtime", row.runtime),
		words("reads by", func(w row) string { return w.Language().Way }), readerRate, readerAsked,
		readerCPU, readerShare, rss, readerP50, readerP99)
	if w := p.row(parserCell); w.Runs != nil {
		p.write("Python's parser alone, without sockets and asyncio, decodes " + w.show(parsed) + " of these frames a second.")
	}
}

func (p *page) paper(plots string) {
	if p.rows("paper/") != nil || p.rows("wireless5/") != nil {
		p.write(`
## The paper's 54 experiments

Section 5 of the Player paper; cells are clients x rate / bytes. The paper reports a mean within 50 us of the
target for all cells except the cells that are listed below their table. Full networks have their own section above.`)
	}
	for _, tt := range []struct{ prefix, title string }{
		{"paper/loopback/", "Loopback"}, {"paper/Ethernet/", "Ethernet, 10 Mbps"}, {"paper/802.11/", "802.11, 1.9 Mbps"},
		{"wireless5/", "A faster wireless network, 5 Mbps (not in the paper)"},
	} {
		rows := p.rows(tt.prefix)
		all := slices.Clone(rows)
		if i := slices.IndexFunc(all, func(w row) bool { return w.cellResult.Name == fullest }); i >= 0 {
			all = slices.Insert(all, i+1, p.row(fleetCell).named("50x50Hz/807 by a fleet's bridge"))
		}
		p.section(ran(all), "### "+tt.title, cellName, frameRate, closedClients,
			worstMean, intervalP99.as("p99"), intervalMax, latency, age,
			ageP99, cpuOfFrame.as("CPU us/frame"))
		p.list(claims(rows))
	}
	p.write("![The paper's figure 3: time between frames of 807 bytes on 802.11](" + plots + figure3 + ")")
}

// list writes lines, if there are any.
func (p *page) list(lines []string) {
	if len(lines) > 0 {
		p.write(strings.Join(lines, "\n"))
	}
}

func (p *page) runs() {
	m := p.Machine
	p.write(fmt.Sprintf(`
## Machine and runs

[BENCHMARKING.md](BENCHMARKING.md) describes the measurements, and how to repeat them.

Machine: %s, %d cores, Linux %s, %s, %s.`, m.CPU, m.Cores, m.Kernel, m.OS, m.Go))
	p.list(p.batches())
	if missing := p.missing(); missing != nil {
		p.write("## Not run, or failed")
		p.list(missing)
	}
}

// claims are the paper's reports of cells that differ from its report of most.
func claims(rows []row) (lines []string) {
	for _, w := range rows {
		switch claim := fmt.Sprintf("- %s in the paper: %s", w.Name, w.Claim); {
		case w.Claim != "" && w.Claim != paperMean:
			lines = append(lines, claim)
		case w.Claim == paperMean && !w.fits():
			asked := w.wireTime().Seconds() * float64(w.asked()*w.Network.Rate)
			lines = append(lines, fmt.Sprintf("%s, though it asks for %.1f Mbps", claim, asked/1e6))
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
		lines = append(lines, fmt.Sprintf("- %s, %s of %v, at commit %s; other guests of the host used %s of the processors",
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

// missing are the lines of a list of the cells that were not measured, and why.
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
