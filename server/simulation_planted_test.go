package server

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"player/e2e/must"
	"player/e2e/needs"
)

// The simulation finds faults: ten that were fixed are brought back, one at a time, and it must find at least nine.
//
//	go test ./server -run '^TestPlantedFaults$' -planted 200 -timeout 2h -v

var (
	simPlanted = flag.Int("planted", 0, "how many seeds TestPlantedFaults simulates with each fault, at most; 0: it only checks them")
	simFound   = flag.String("found", "", "a file for the failures of TestSimulation, which goes on after them")
	simUntil   = flag.String("until", "", "with -found: the judges whose failures end TestSimulation")
)

// plant is a fault that was fixed, and the line that brings it back.
type plant struct {
	name     string // what a user sees
	fixed    string // the commit that fixed it
	file     string
	old, new string    // old is in the file once
	also     [2]string // old and new of a second line, of a fault that two mechanisms prevent; empty: there is none
	judges   string    // that can find it; the failures of others do not count
}

var plants = []plant{
	{
		name: "an emergency stop waits behind a request whose hardware is set up", fixed: "d12fbcd7",
		file: "server/session/receive.go",
		old:  "for range stops {", new: "for range 0 * stops {",
		judges: "simRobot.expectHeld simRobot.watchStop simRobot.checkStop",
	},
	{
		name: "a command and its end that come together do not stop what they take over", fixed: "d40e368f",
		file: "server/session/receive.go",
		old:  "\t\tsl.command = sl.device.Commands()\n\t\treturn\n", new: "\t\treturn\n",
		also:   [2]string{"!sl.isNewest() && !(spec.Wheels && s.control.IsCommander(s)):", "!sl.isNewest():"},
		judges: "simRobot.checkCommander simClient.expectObeyed history.end",
	},
	{
		name: "a command that waits for a setup is as young as the newest input of its client", fixed: "c6ff3374",
		file: "server/session/input.go",
		old:  "heard = i.pieces[first].at", new: "heard = i.pieces[len(i.pieces)-1].at",
		judges: "simRobot.checkMotion",
	},
	{
		name: "after a pause of the server, a client that has vanished in it is stopped late", fixed: "9251f7cf",
		file: "server/liveness.go",
		old:  "paused := now-s.moversChecked > 2*liveness.MoverCheck", new: "paused := false",
		judges: "simRobot.expectHalt",
	},
	{
		name: "the clients of all networks wait for each other", fixed: "eccf3fd6",
		file: "server/networks.go",
		old:  "name := n.name(local, remote)", new: "name := n.name(netip.IPv4Unspecified(), netip.IPv4Unspecified())",
		judges: "simClient.onTime",
	},
	{
		name: "a Kobuki that is not heard is sent no stop until its next report", fixed: "4e5c51ff",
		file: "devices/kobuki/driver.go",
		old:  "now >= d.at+overdue", new: "now < 0",
		judges: "simRobot.expectHeld simRobot.expectStop simRobot.expectHalt simClient.expectObeyed",
	},
	{
		name: "a frame overtakes the reply to the request that has opened its devices", fixed: "00ae6bbc",
		file: "server/frame.go",
		old:  "if c.flush(now); c.closed {", new: "if c.closed {",
		judges: "simClient.block simClient.clock simClient.reply",
	},
	{
		name: "a client by TLS that connects in a reload stays at a robot that is gone", fixed: "3c4c3124",
		file: "server/tls.go",
		old:  "if s.reload != nil {", new: "if false {",
		judges: "simRobot.watchGone sim.life simLog.Write",
	},
	{
		name: "a Kobuki that restarts has another pose", fixed: "4abd536f",
		file: "devices/kobuki/driver.go",
		old:  "|| d.IsUp() && !d.begun(r)", new: "|| d.IsUp()",
		judges: "emulatedBase.shown",
	},
	{
		name: "a program of ROS that subscribes again gets more messages than it has asked for", fixed: "0ae63d20",
		file: "visitors/outbox.go",
		old:  "newer.frames = append(newer.frames, &frame{name: p.name, due: p.due.Add(min(0, period-f.period))})", new: "_ = p",
		judges: "simProgram.data",
	},
}

// leastFound is how many of the plants the simulation must find.
const leastFound = 9

func TestPlantedFaults(t *testing.T) {
	root := must.Get(filepath.Abs(".."))(t)
	simulation := ""
	for _, path := range must.Get(filepath.Glob("simulation_*_test.go"))(t) {
		simulation += string(must.Get(os.ReadFile(path))(t))
	}
	overlays := make([]map[string]string, len(plants))
	for i, p := range plants {
		path := filepath.Join(root, p.file)
		text := string(must.Get(os.ReadFile(path))(t))
		for _, line := range [][2]string{{p.old, p.new}, p.also} {
			if n := strings.Count(text, line[0]); line[0] != "" && n != 1 {
				t.Errorf("%s: %q is in %s %d times", p.name, line[0], p.file, n)
			}
			text = strings.Replace(text, line[0], line[1], 1)
		}
		for judge := range strings.FieldsSeq(p.judges) {
			if _, method, _ := strings.Cut(judge, "."); !strings.Contains(simulation, ") "+method+"(") {
				t.Errorf("%s: the simulation has no judge %s", p.name, judge)
			}
		}
		overlays[i] = map[string]string{path: text}
	}
	if *simPlanted == 0 || t.Failed() {
		return
	}
	needs.Programs(t)
	all := make([]findings, len(plants))
	var without findings
	t.Run("simulate", func(t *testing.T) {
		t.Run("without", func(t *testing.T) {
			t.Parallel()
			without = runPlanted(t, nil, *simPlanted, "")
		})
		for i, p := range plants {
			t.Run(p.fixed, func(t *testing.T) {
				t.Parallel()
				all[i] = runPlanted(t, overlays[i], *simPlanted, p.judges)
			})
		}
	})
	found, table := 0, &strings.Builder{}
	for i, p := range plants {
		f, without := all[i].by(p.judges), without.by(p.judges)
		row := "no | | | |"
		if f != nil && (without == nil || without.Seed > f.Seed) {
			found++
			why, _, _ := strings.Cut(f.Why, "\n")
			row = fmt.Sprintf("yes | %d | %.2f | %s | %s |", f.Seed, f.Simulated.Hours(), f.Judge, why)
		}
		fmt.Fprintf(table, "| %s | %s\n", p.name, row)
	}
	t.Logf("%d of %d planted faults were found, in at most %d seeds each:\n\n"+
		"| fault | found | seed | simulated hours | judge | what it says |\n|---|---|---|---|---|---|\n%s", found, len(plants), *simPlanted, table)
	t.Logf("without a fault, %d seeds have these failures: %+v", *simPlanted, without)
	if found < leastFound {
		t.Errorf("%d of %d faults are found, at least %d are wanted", found, len(plants), leastFound)
	}
}

// finding is a failure of the simulation.
type finding struct {
	Seed      uint64
	Simulated time.Duration // by then, with the seeds before
	Judge     string
	Why       string
}

type findings []finding

// by returns the first finding of some judges, nil if there is none.
func (all findings) by(judges string) *finding {
	i := slices.IndexFunc(all, func(f finding) bool { return slices.Contains(strings.Fields(judges), f.Judge) })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// isComplete reports whether the judges of -until have found something.
func (all findings) isComplete() bool { return all.by(*simUntil) != nil }

func (all findings) save(path string) error {
	b, err := json.Marshal(all)
	return cmp.Or(err, os.WriteFile(path, b, 0o600))
}

// judge returns the name of the function that has called sim.fail, with its type: "simRobot.checkMotion".
func judge() string {
	var caller [1]uintptr
	runtime.Callers(3, caller[:])
	frame, _ := runtime.CallersFrames(caller[:]).Next()
	_, name, _ := strings.Cut(strings.NewReplacer("(*", "", ")", "").Replace(frame.Function), "/server.")
	parts := strings.Split(name, ".")
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// runPlanted runs TestSimulation with other files, by their paths, and returns its failures until the first of one of
// the judges. Nothing in the clone changes.
func runPlanted(t *testing.T, files map[string]string, seeds int, judges string) (all findings) {
	folder := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range files {
		overlay.Replace[path] = filepath.Join(folder, filepath.Base(path))
		must.Do(t, os.WriteFile(overlay.Replace[path], []byte(text), 0o600))
	}
	planted, found := filepath.Join(folder, "overlay.json"), filepath.Join(folder, "found.json")
	must.Do(t, os.WriteFile(planted, must.Get(json.Marshal(overlay))(t), 0o600))
	output, err := exec.Command("go", "test", "-vet=off", "-count=1", "-timeout", "1h", "-overlay", planted, ".",
		"-run", "^TestSimulation$", "-seeds", fmt.Sprint(seeds), "-found", found, "-until", judges).CombinedOutput()
	b, missing := os.ReadFile(found)
	if missing != nil {
		t.Fatalf("%v:\n%s", err, output)
	}
	must.Do(t, json.Unmarshal(b, &all))
	return all
}
