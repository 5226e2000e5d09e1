package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"player/bench/load"
	"player/bench/rig"
	"player/bench/stats"
	"player/e2e/must"
)

const ms = time.Millisecond

// cellNamed is a cell of the suite.
func cellNamed(t *testing.T, name string) cell {
	t.Helper()
	for _, c := range cells() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no cell %s", name)
	return cell{}
}

// measured is a made-up run: all frames, on time.
func measured(c cell, s server) run {
	window := 10 * time.Second
	frames := 10 * c.asked()
	if !c.fits() {
		frames = int(window / c.wireTime())
	}
	if c.asked() == 0 {
		frames = 1000 // requests, or clients on the server's machine
	}
	var groups []load.GroupResult
	for _, g := range c.Groups {
		groups = append(groups, load.GroupResult{
			Name: g.Name, Clients: g.Clients, Frames: frames / len(c.Groups), Jain: 1,
			WorstMean: 3 * time.Microsecond, Interval: load.Dist{P50: ms / 10, P99: ms, Max: 2 * ms},
			AgeMean: c.ageFloor() + 5*ms, AgeP99: 2*c.ageFloor() + 5*ms,
			IntervalCDF: []stats.Point{{Value: 0, Share: 0.5}, {Value: ms, Share: 1}},
		})
	}
	return run{
		Server:  s,
		Reader:  &reader{Runtime: "cc 12", Frames: 25000, P50: 20000, P99: 21000, Max: 25000, Window: window},
		Parsed:  54321,
		Inside:  &load.Dist{P50: ms / 10, P99: ms / 5, P999: ms / 4, Max: ms},
		Load:    &load.Result{Window: window, CPU: time.Second, Groups: groups},
		Calls:   map[string]uint64{"write": uint64(frames), "read": 100, "epoll_wait": uint64(frames / 5), "other": 7},
		Usage:   rig.Usage{CPU: time.Duration(frames) * 6 * time.Microsecond, RSS: 10 * mib, Anonymous: 2 * mib, Voluntary: 100},
		Traffic: rig.Traffic{Bytes: uint64(frames * (c.Size + rig.Header))},
	}
}

func resultsOf(t *testing.T, names ...string) *results {
	r := &results{Machine: machine{CPU: "Abacus 3000", Cores: 2, Kernel: "6.0", Go: "go1.26", OS: "linux/amd64"}}
	for _, name := range names {
		c := cellNamed(t, name)
		result := cellResult{cell: c, Commit: "abc", Window: 10 * time.Second}
		for _, s := range c.servers() {
			result.Runs = append(result.Runs, measured(c, s))
		}
		r.put(result)
	}
	return r
}

func rendered(t *testing.T, r *results) string {
	t.Helper()
	var b strings.Builder
	must.Do(t, r.report(&b, "plots/"))
	return b.String()
}

// has checks that the report has lines, or parts of lines.
func has(t *testing.T, report string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(report, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}

// judge is the verdict of the target whose goal contains a text.
func judge(t *testing.T, r *results, goal string) verdict {
	t.Helper()
	for _, target := range targets() {
		if strings.Contains(target.Goal, goal) {
			return target.Judge(r)
		}
	}
	t.Fatalf("no target %q", goal)
	return verdict{}
}

func TestReportShowsCells(t *testing.T) {
	r := resultsOf(t, "healthy/commands", "healthy/mixed-readers", "paper/Ethernet/50x50Hz/807", fullest, "paper/loopback/1x1Hz/85",
		"scale/50x50Hz", "request/1")
	r.find("healthy/mixed-readers").Runs[0].Calls = nil
	r.find("paper/loopback/1x1Hz/85").Runs[0].Stolen = 0.04
	text := rendered(t, r)
	has(t, text,
		"| CPU time for a frame, 50 clients at 50 Hz | 6.0 us | 6.0 us | 6.0 us |",
		"| frames per second, 10,000 clients at 10 Hz | - | - | - |",
		"| mean age of data, 50 clients on a full 1.9 Mbps network | 101 ms | 101 ms | 101 ms |",
		"The least possible mean age is 95.57 ms.",
		"Abacus 3000, 2 cores, Linux 6.0",
		"- 7 cells, 1 run of 10s, at commit abc; other guests of the host used 0.0 % of the processors\n",
		"| commands | clients | player | 2500 | 0 | 100 us | 1.00 ms | 15.00 ms | 1.5 % | 6.0 |",
		"| mixed-readers | slow | player | 1250 | 0 | 100 us | 1.00 ms | 15.00 ms |  |  |",
		"| commands | player | 1.20 | 1.00 | 0.00 | 0.20 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 |",
		"| mixed-readers | player | not counted |",
		"| Ethernet/50x50Hz/807 | player | 1432 | 2500 | 0 |",
		"| 802.11/50x50Hz/807 | threads | 272 | 2500 | 0 | 101 ms | 95.57 ms | 196 ms | 1.0000 | 100.0 % | 0 |",
		"- 50x50Hz/807 in the paper: mean within 50 us, though it asks for 17.5 Mbps\n",
		"- 50x50Hz/807 in the paper: all closed within seconds, no data\n",
		"| 1x1Hz/85 | 1.0 | 0 |",
		"| 50x50Hz | 2500 | 2500 | 2500 | 100.0 % | 6.0 | 6.0 | 6.0 | 1.00x | 1.00x |",
		"](plots/figure3.svg)",
		"- not chosen: ",
	)
	if strings.Contains(text, "### A faster") || strings.Contains(text, "## Isolation") {
		t.Error("there is a section without cells")
	}
	if strings.Contains(text, "%!") {
		t.Error("a format is wrong")
	}
}

// The page in docs is the page that the suite writes of the kept results.
func TestPageInDocs(t *testing.T) {
	r := must.Get(readResults("results", machine{}))(t)
	var b bytes.Buffer
	must.Do(t, r.report(&b, "../bench/results/"))
	if page, err := os.ReadFile("../docs/BENCHMARKS.md"); err != nil || !bytes.Equal(page, b.Bytes()) {
		t.Errorf("docs/BENCHMARKS.md is not the report of bench/results (%v): go run ./bench -run '^$' -out bench/results -report docs/BENCHMARKS.md -f", err)
	}
}

// A tree with changes is no commit that anybody could measure again.
func TestResultsAreOfCommits(t *testing.T) {
	r := must.Get(readResults("results", machine{}))(t)
	for _, c := range r.Cells {
		if c.changed() {
			t.Errorf("%s was measured at %s", c.Name, c.Commit)
		}
	}
}

// A target is reached, or targets.go says why it is not.
func TestMissedTargetsHaveReasons(t *testing.T) {
	r := must.Get(readResults("results", machine{}))(t)
	for _, goal := range r.unexplained() {
		t.Errorf("bench/results miss %q, and the target has no reason", goal)
	}
	made := resultsOf(t, "isolation/alone", "scale/50x50Hz")
	made.find("isolation/alone").Runs[0].Load.Groups[0].Closed = 1
	if got := made.unexplained(); !slices.Equal(got, []string{"Isolation: no client closed"}) {
		t.Errorf("without a reason: %q", got)
	}
	has(t, rendered(t, made), "\n- **Isolation: no client closed**: no reason is known.\n",
		"\n- **50 x 50 Hz: CPU a frame at most 0.5 times threads'**: three quarters of")
}

// The page is read also in an editor.
func TestReportFitsThePage(t *testing.T) {
	var names []string
	for _, c := range cells() {
		if c.Kind == frames || c.Kind == library || c.Kind == parser {
			names = append(names, c.Name)
		}
	}
	r := resultsOf(t, names...)
	for i := range r.Cells {
		for j := range r.Cells[i].Runs {
			r.Cells[i].Runs[j].NotCounted = "tracepoints of system calls: operation not permitted"
			for k := range r.Cells[i].Runs[j].Load.Groups {
				g := &r.Cells[i].Runs[j].Load.Groups[k]
				g.WorstMean, g.Interval.P99, g.Latency.Mean, g.AgeMean, g.AgeP99 = 123*ms, 123*ms, 123*ms, 12345*ms, 12345*ms
			}
		}
	}
	for i, l := range strings.Split(rendered(t, r), "\n") {
		if len(l) > pageWidth && !strings.HasPrefix(l, "![") {
			t.Errorf("line %d has %d bytes: %s", i+1, len(l), l)
		}
	}
}

// The failure of one server stays visible when the others went well.
func TestFailedRunsAreNamed(t *testing.T) {
	c := cellResult{cell: cellNamed(t, "scale/50x50Hz"), Runs: []run{{Server: player, Error: "no reply"}, {Server: floor, Load: &load.Result{Groups: []load.GroupResult{{}}}}}}
	if got := c.settled(); got.NotRun != "" || len(got.Runs) != 2 {
		t.Errorf("one of two failed: %+v", got)
	}
	c.Runs[1] = run{Server: floor, Error: "no reply either"}
	if got := c.settled(); got.NotRun != "no reply" || got.Runs != nil {
		t.Errorf("both failed: %+v", got)
	}
}

// A cell that could not be measured is never shown as passed.
func TestReportOfCellsNotRun(t *testing.T) {
	r := resultsOf(t, "paper/loopback/1x1Hz/85")
	c := cellNamed(t, "paper/802.11/50x50Hz/807")
	r.put(cellResult{cell: c, NotRun: "network namespaces need root"})
	text := rendered(t, r)
	if !strings.Contains(text, "- network namespaces need root: paper/802.11/50x50Hz/807\n") {
		t.Error("the reason is missing")
	}
	if strings.Contains(text, "| 50x50Hz/807 |") || strings.Contains(text, "| 802.11/50x50Hz/807 |") {
		t.Error("it has a row of figures")
	}
	if !strings.Contains(text, "| Full networks: no client closed | - | not measured |") {
		t.Error("its target is judged")
	}
}

func TestTargets(t *testing.T) {
	r := resultsOf(t, "paper/802.11/50x50Hz/807", "paper/802.11/50x10Hz/807", "paper/802.11/50x1Hz/807", "scale/50x50Hz", "scale/50x10Hz",
		"scale/10000x10Hz", "paper/loopback/50x50Hz/807", "healthy/readers", "healthy/commands", "request/1")
	expect := func(begins string, reached bool, got string) {
		t.Helper()
		if v := judge(t, r, begins); v.Reached != reached || v.Open || !strings.Contains(v.Got, got) {
			t.Errorf("%s: %+v, want reached %v and %q", begins, v, reached, got)
		}
	}
	open := func(begins string) {
		t.Helper()
		if v := judge(t, r, begins); !v.Open {
			t.Errorf("%s was not measured, but is judged: %+v", begins, v)
		}
	}
	expect("Full networks: mean age", true, "2 of 2; 1.05x in")
	expect("Full networks: at least 97 %", true, "100.0 %")
	expect("50 x 1 Hz on 1.9", true, "1.01x")
	expect("50 x 50 Hz: CPU a frame at most 1.25", true, "1.00x")
	expect("50 x 50 Hz: CPU a frame at most 0.5", false, "1.00x")
	expect("RSS at most 2 KiB", true, "0.00 KiB")
	expect("Request/reply: at least", true, "1 of 1; 1.00x")
	open("Ready to serve")
	tight := r.find("paper/802.11/50x10Hz/807")
	tight.Runs[0].Load.Groups[0].Closed = 34
	tight.Runs[0].Load.Groups[0].Jain = 0.5
	tight.Runs[0].Traffic.Bytes /= 2
	expect("Full networks: no client closed", false, "1 of 2; 34 in paper/802.11/50x10Hz/807")
	expect("Full networks: Jain", false, "0.5000 in")
	expect("Full networks: at least 97 %", false, "50.0 % in")

	// Medians count, but a connection that was closed once was closed.
	c := r.find("paper/loopback/50x50Hz/807")
	for range 4 {
		c.Runs = append(c.Runs, measured(c.cell, player))
	}
	c.Runs[4].Load.Groups[0].Interval.P99 = time.Second
	expect("They fit, loopback: p99", true, "1.00 ms")
	c.Runs[4].Load.Groups[0].Closed = 1
	expect("Cells that fit their network: no client closed", false, "1 of 2; 1 in")
	c.Runs[4].Load.Groups[0].Closed = 0

	// A client without frames has no errors of time either.
	expect("They fit: every frame came", true, "2 of 2; 0.0")
	c.Runs[4].Load.Groups[0].Frames -= 500
	expect("They fit: every frame came", false, "1 of 2; 10.0")
	c.Runs[4].Load.Groups[0].Bad = 1
	expect("Everywhere: no frame of a wrong size", false, "; 1 in")

	// Nor does a server that fails close anybody.
	c.Runs[4] = run{Server: player, Error: "panic"}
	expect("Cells that fit their network: no client closed", false, "1 of 2; a failed run in paper/loopback/50x50Hz/807")

	// 10,000 clients: the target, or as good as the floor.
	big := r.find("scale/10000x10Hz")
	expect("10,000 x 10 Hz: 99.9 %", true, "100000 /s; floor 100000 /s")
	big.Runs[0].Load.Groups[0].Frames /= 2
	big.Runs[0].Load.Groups[0].Interval.P99 = 50 * ms
	expect("10,000 x 10 Hz: 99.9 %", false, "50000 /s; floor 100000 /s")
	expect("10,000 x 10 Hz: p99", false, "50.00 ms; floor 1.00 ms")
	big.Runs[1].Load.Groups[0].Frames /= 3
	big.Runs[1].Load.Groups[0].Interval.P99 = 60 * ms
	expect("10,000 x 10 Hz: 99.9 %", true, "50000 /s; floor 33333 /s")
	expect("10,000 x 10 Hz: p99", true, "50.00 ms; floor 60.00 ms")
}

// Each target names cells that there are.
func TestEveryTargetIsJudged(t *testing.T) {
	var names []string
	for _, c := range cells() {
		names = append(names, c.Name)
	}
	r := resultsOf(t, names...)
	for i := range r.Cells {
		for j := range r.Cells[i].Runs {
			for k := range r.Cells[i].Runs[j].Load.Groups {
				r.Cells[i].Runs[j].Load.Groups[k].Round.Mean = ms
			}
		}
	}
	for _, target := range targets() {
		if v := target.Judge(r); v.Open {
			t.Errorf("%q is open, and all cells have results", target.Goal)
		}
	}
}

func TestHealthyTargets(t *testing.T) {
	r := resultsOf(t, "healthy/readers", "healthy/commands")
	for _, says := range []string{"1.3 system calls", "1.4 times floor's", "100 us above floor's"} {
		if v := judge(t, r, says); !v.Reached || v.Open {
			t.Errorf("%+v", v)
		}
	}
	busy := &r.find("healthy/commands").Runs[0]
	busy.Calls["ioctl"] = 25000
	busy.Usage.CPU *= 2
	busy.Load.Groups[0].Interval.P50 += ms / 5
	for says, got := range map[string]string{
		"1.3 system calls":     "1 of 2; 2.20 in healthy/commands",
		"1.4 times floor's":    "1 of 2; 2.00x in healthy/commands",
		"100 us above floor's": "1 of 2; 200 us in healthy/commands",
	} {
		if v := judge(t, r, says); v.Reached || v.Got != got {
			t.Errorf("%+v, want %q", v, got)
		}
	}
	busy.Calls = nil
	if v := judge(t, r, "1.3 system calls"); v.Got != "1 of 1; 1.20 in healthy/readers" {
		t.Errorf("calls that were not counted: %+v", v)
	}

	// Clients that were stopped may lack frames, others may not.
	r.put(cellResult{cell: cellNamed(t, "healthy/hiccup"), Runs: []run{measured(cellNamed(t, "healthy/hiccup"), player)}})
	r.find("healthy/hiccup").Runs[0].Load.Groups[0].Frames -= 350
	if v := judge(t, r, "every frame came"); !v.Reached || !strings.HasPrefix(v.Got, "2 of 2") {
		t.Errorf("%+v", v)
	}
	r.find("healthy/commands").Runs[0].Load.Groups[0].Frames -= 350
	if v := judge(t, r, "every frame came"); v.Reached {
		t.Errorf("%+v", v)
	}
}

// Failed runs do not count, but are named.
func TestFailedRuns(t *testing.T) {
	r := resultsOf(t, "paper/loopback/50x50Hz/807")
	c := r.find("paper/loopback/50x50Hz/807")
	c.Runs = append(c.Runs, run{Server: player, Error: "server: exit status 2: panic"})
	if _, ok := c.median(player, rate); !ok || len(c.of(player)) != 1 {
		t.Error("the good run is lost")
	}
	if !strings.Contains(rendered(t, r), "- player: server: exit status 2: panic: paper/loopback/50x50Hz/807") {
		t.Error("the failure is missing")
	}
}

func TestResultsAreKept(t *testing.T) {
	dir := t.TempDir()
	r := resultsOf(t, "paper/loopback/1x1Hz/85", "scale/50x50Hz")
	must.Do(t, r.write(dir))
	again, err := readResults(dir, r.Machine)
	if err != nil || rendered(t, &again) != rendered(t, r) {
		t.Errorf("the report of what was read differs (%v)", err)
	}
	other, err := readResults(dir, machine{CPU: "another"})
	if err != nil || rendered(t, &other) != rendered(t, r) {
		t.Errorf("the report of another machine's results differs (%v)", err)
	}
	before := must.Get(os.ReadFile(filepath.Join(dir, file)))(t)
	o := options{run: regexp.MustCompile("^binary$"), out: dir, runs: 1, window: time.Second, report: filepath.Join(dir, "report.md")}
	if err := suite(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("measuring into another machine's results: %v", err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the results of another machine were changed (%v)", err)
	}
	if none, err := readResults(t.TempDir(), r.Machine); err != nil || len(none.Cells) != 0 {
		t.Errorf("an empty directory: %v", err)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, file), []byte("nonsense"), 0o644))
	if _, err := readResults(dir, r.Machine); err == nil {
		t.Error("nonsense was read")
	}
}

func TestPutKeepsTheOrderOfTheSuite(t *testing.T) {
	r := resultsOf(t, "scale/50x50Hz", "paper/loopback/1x1Hz/85")
	r.put(cellResult{cell: cell{Name: "a cell that is no more"}})
	r.put(cellResult{cell: cellNamed(t, "scale/50x50Hz"), NotRun: "replaced"})
	if len(r.Cells) != 2 || r.Cells[0].Name != "paper/loopback/1x1Hz/85" || r.Cells[1].NotRun != "replaced" {
		t.Errorf("%d cells, first %s", len(r.Cells), r.Cells[0].Name)
	}
}

func TestFigure3(t *testing.T) {
	dir := t.TempDir()
	for _, r := range []*results{
		{}, // nothing measured
		resultsOf(t, "paper/802.11/1x1Hz/807", "paper/802.11/50x50Hz/807", "paper/802.11/50x10Hz/807"),
	} {
		must.Do(t, r.drawFigure3(dir))
		text, err := os.ReadFile(filepath.Join(dir, figure3))
		if err != nil || !strings.Contains(string(text), "</svg>") {
			t.Error(err)
		}
	}
}

func TestTrim(t *testing.T) {
	r := measured(cellNamed(t, "paper/802.11/50x50Hz/807"), player)
	plotted := cellNamed(t, "paper/802.11/50x50Hz/807")
	plotted.trim(&r, true)
	if r.Load.Groups[0].IntervalCDF == nil {
		t.Error("what the figure shows is gone")
	}
	plotted.trim(&r, false)
	if r.Load.Groups[0].IntervalCDF != nil {
		t.Error("a further run keeps its distributions")
	}
	var points []stats.Point
	for i := range 1000 {
		points = append(points, stats.Point{Value: time.Duration(i), Share: float64(i+1) / 1000})
	}
	if kept := thin(points); len(kept) > 210 || kept[len(kept)-1].Share != 1 || kept[0].Value != 0 {
		t.Errorf("%d points kept", len(kept))
	}
}

func TestDuration(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00 us", 1234: "1.23 us", 56_789: "57 us", 1_234_567: "1.23 ms", 123_456_789: "123 ms", 12_345e6: "12.3 s", -3_000_000: "-3.00 ms"} {
		if got := duration(v); got != want {
			t.Errorf("%g is written %q, want %q", v, got, want)
		}
	}
}
