package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"player/bench/load"
	"player/bench/rig"
	"player/bench/stats"
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

// measured is a run as it could have been: all frames, on time.
func measured(c cell, s server) run {
	window := 10 * time.Second
	frames := 10 * c.asked()
	if !c.fits() {
		frames = int(window / c.wireTime())
	}
	return run{
		Server: s,
		Load: &load.Result{Window: window, CPU: time.Second, Groups: []load.GroupResult{{
			Name: "clients", Clients: c.Groups[0].Clients, Frames: frames, Jain: 1,
			WorstMean: 3 * time.Microsecond, Interval: load.Dist{P99: ms, Max: 2 * ms},
			AgeMean: c.ageFloor() + 5*ms, AgeP99: 2*c.ageFloor() + 5*ms,
			IntervalCDF: []stats.Point{{Value: 0, Share: 0.5}, {Value: ms, Share: 1}},
			AgeCDF:      []stats.Point{{Value: 10 * ms, Share: 0.5}, {Value: 100 * ms, Share: 1}},
		}}},
		Usage:   rig.Usage{CPU: time.Duration(frames) * 6 * time.Microsecond, RSS: 10 * mib, Voluntary: 100},
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
	if err := r.report(&b, "plots/"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReportShowsCells(t *testing.T) {
	r := resultsOf(t, "paper/Ethernet/50x50Hz/807", "paper/802.11/50x50Hz/807", "paper/loopback/1x1Hz/85", "scale/50x50Hz")
	r.Cells[0].Runs[0].Stolen = 0.04
	text := rendered(t, r)
	for _, want := range []string{
		"Abacus 3000, 2 cores, Linux 6.0",
		"- 4 cells: one run of 10s, at commit abc; other guests of the host took 4.0 % of the processors\n",
		"| 50x50Hz/807 | mean within 50 us (asks for 17.5 Mbps) | 1 x 10s | 1432 of 2500 |",
		"| 50x50Hz/807 | all closed within seconds, no data | 1 x 10s | 272 of 2500 | 0 |",
		"| 101 ms | 196 ms | 95.57 ms | 1.0000 | 100.0 % | 0 | 6.0 |",
		"| 1x1Hz/85 | mean within 50 us | 1 x 10s | 1.0 | 0 |",
		"| 50x50Hz | 1 x 10s | 2500 | 2500 | 2500 | 100.0 % | 0 | 6.0 | 6.0 | 6.0 | 1.00x | 1.00x |",
		"](plots/figure3.svg)",
		"- not chosen: ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	if strings.Contains(text, "### A faster") {
		t.Error("there is a table without cells")
	}
	if strings.Contains(text, "%!") {
		t.Error("a format is wrong")
	}
}

// A cell that could not be measured is never shown as passed.
// A server that failed where the others did not must not vanish.
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

func TestReportOfCellsNotRun(t *testing.T) {
	r := resultsOf(t, "paper/loopback/1x1Hz/85")
	c := cellNamed(t, "paper/802.11/50x50Hz/807")
	r.put(cellResult{cell: c, NotRun: "network namespaces need root"})
	text := rendered(t, r)
	if !strings.Contains(text, "- network namespaces need root: paper/802.11/50x50Hz/807\n") {
		t.Error("the reason is not told")
	}
	if strings.Contains(text, "| 50x50Hz/807 |") {
		t.Error("it has a row of figures")
	}
	if !strings.Contains(text, "| Cells that do not fit: nobody closed | not measured |") {
		t.Error("its target is judged")
	}
}

func TestTargets(t *testing.T) {
	r := resultsOf(t, "paper/802.11/50x50Hz/807", "paper/802.11/50x10Hz/807", "scale/50x50Hz", "scale/50x10Hz", "scale/10000x10Hz", "paper/loopback/50x50Hz/807")
	judge := func(begins string) verdict {
		t.Helper()
		for _, target := range targets() {
			if strings.HasPrefix(target.says, begins) {
				return target.judge(r)
			}
		}
		t.Fatalf("no target %q", begins)
		return verdict{}
	}
	expect := func(begins string, reached bool, got string) {
		t.Helper()
		if v := judge(begins); v.Reached != reached || v.Open || !strings.Contains(v.Got, got) {
			t.Errorf("%s: %+v, want reached %v and %q", begins, v, reached, got)
		}
	}
	expect("Cells that do not fit: mean age", true, "2 of 2 cells; worst 1.05x")
	expect("Cells that do not fit: link", true, "100.0 %")
	expect("CPU a frame, 50 x 50 Hz, at most 1.25", true, "1.00x")
	expect("CPU a frame, 50 x 50 Hz, at most 0.5", false, "1.00x")
	expect("RSS at most 2 KiB", true, "0.00 KiB")
	if v := judge("Ready to serve"); !v.Open {
		t.Errorf("what was not measured is judged: %+v", v)
	}
	tight := r.find("paper/802.11/50x10Hz/807")
	tight.Runs[0].Load.Groups[0].Closed = 34
	tight.Runs[0].Load.Groups[0].Jain = 0.5
	tight.Runs[0].Traffic.Bytes /= 2
	expect("Cells that do not fit: nobody closed", false, "1 of 2 cells; worst 34 in paper/802.11/50x10Hz/807")
	expect("Cells that do not fit: Jain", false, "worst 0.5000")
	expect("Cells that do not fit: link", false, "worst 50.0 %")

	// Medians count, but a connection that was closed once was closed.
	c := r.find("paper/loopback/50x50Hz/807")
	for range 4 {
		c.Runs = append(c.Runs, measured(c.cell, player))
	}
	c.Runs[4].Load.Groups[0].Interval.P99 = time.Second
	expect("Cells that fit, loopback: p99", true, "1.00 ms")
	c.Runs[4].Load.Groups[0].Closed = 1
	expect("Cells that fit the link: nobody closed", false, "0 of 1 cells; worst 1")
	c.Runs[4].Load.Groups[0].Closed = 0

	// A client that had nothing has no errors of time either.
	expect("Cells that fit: every frame came", true, "1 of 1 cells; worst 0.0")
	c.Runs[4].Load.Groups[0].Frames -= 500
	expect("Cells that fit: every frame came", false, "0 of 1 cells; worst 10.0")
	c.Runs[4].Load.Groups[0].Bad = 1
	expect("Everywhere: no frame of a wrong size", false, "worst 1")

	// Nor does a server that fails close anybody.
	c.Runs[4] = run{Server: player, Error: "panic"}
	expect("Cells that fit the link: nobody closed", false, "0 of 1 cells; worst a failed run in paper/loopback/50x50Hz/807; 1 have fewer than 5 runs")
}

// Runs that failed count for nothing but are told.
func TestFailedRuns(t *testing.T) {
	r := resultsOf(t, "paper/loopback/50x50Hz/807")
	c := r.find("paper/loopback/50x50Hz/807")
	c.Runs = append(c.Runs, run{Server: player, Error: "server: exit status 2: panic"})
	if _, ok := c.median(player, rate); !ok || len(c.of(player)) != 1 {
		t.Error("the good run is lost")
	}
	if !strings.Contains(rendered(t, r), "- player: server: exit status 2: panic: paper/loopback/50x50Hz/807") {
		t.Error("the failure is not told")
	}
}

func TestResultsAreKept(t *testing.T) {
	dir := t.TempDir()
	r := resultsOf(t, "paper/loopback/1x1Hz/85", "scale/50x50Hz")
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	again, err := readResults(dir, r.Machine)
	if err != nil || rendered(t, &again) != rendered(t, r) {
		t.Errorf("the report of what was read differs (%v)", err)
	}
	other, err := readResults(dir, machine{CPU: "another"})
	if err != nil || rendered(t, &other) != rendered(t, r) {
		t.Errorf("the report of another machine's results differs (%v)", err)
	}
	before, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
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
	if err := os.WriteFile(filepath.Join(dir, file), []byte("nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
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

func TestPlots(t *testing.T) {
	dir := t.TempDir()
	for _, r := range []*results{
		{}, // nothing measured
		resultsOf(t, "paper/802.11/1x1Hz/807", "paper/802.11/50x50Hz/807", "paper/802.11/50x10Hz/807", "scale/50x50Hz", "scale/500x50Hz"),
	} {
		if err := r.plots(dir); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{figure3, agePlot, scalePlot} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || !strings.Contains(string(text), "</svg>") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestTrim(t *testing.T) {
	r := measured(cellNamed(t, "paper/802.11/50x50Hz/807"), player)
	r.Load.Groups[0].Each = make([]load.ClientResult, 50)
	plotted := cellNamed(t, "paper/802.11/50x50Hz/807")
	plotted.trim(&r, true)
	if g := r.Load.Groups[0]; g.IntervalCDF == nil || g.AgeCDF == nil || g.Each == nil {
		t.Error("what the plots show is gone")
	}
	plotted.trim(&r, false)
	if g := r.Load.Groups[0]; g.IntervalCDF != nil || g.AgeCDF != nil || g.Each != nil {
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
	for v, want := range map[float64]string{0: "0.00 us", 1234: "1.23 us", 56_789: "57 us", 1_234_567: "1.23 ms", 123_456_789: "123 ms", -3_000_000: "-3.00 ms"} {
		if got := duration(v); got != want {
			t.Errorf("%g is written %q, want %q", v, got, want)
		}
	}
}
