package recording

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/devices/stage"
	"player/e2e/acceptance"
	"player/e2e/needs"
	testports "player/e2e/ports"
	"player/e2e/programs"
	product "player/server"
)

// simulated is how long the robots drive. The paper's tests took two minutes, which .ci/nightly does.
var simulated = flag.Duration("scenario.time", 20*time.Second, "how long the scenario runs")

// patience is how long the test waits for an event, on a machine that also compiles
// other things.
const patience = 3 * time.Minute

const (
	world = "../building.world"
	ports = 16 // of the script, from its -port on
	page  = 15 // of them, that of the map
	dash  = 7  // that of the dashboard
)

// place is where a robot belongs, in the frame of the leader, m: as formation.cpp has
// it.
var place = map[string]stage.Vec{"left": {X: -0.9, Y: 0.52}, "right": {X: -0.9, Y: -0.52}}

func TestMain(m *testing.M) {
	// Under nohup, and in the background of a shell, these are ignored. The script
	// would inherit that.
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	os.Exit(m.Run())
}

// needTools skips the test without the tools of the scenario. In CI it fails.
func needTools(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"bash", "c++", "javac", "java", "python3", "wish", "Xvfb"} {
		needs.Program(t, tool)
	}
}

// run is a running script.
type run struct {
	*programs.Program
	directory string
	port      int
	token     string // in the environment of the script and of all that it starts
}

// start starts the script and waits until it has started everything.
func start(t *testing.T, args ...string) *run {
	t.Helper()
	needTools(t)
	r := &run{directory: t.TempDir(), port: testports.Free(t, ports)}
	r.token = fmt.Sprintf("PLAYER_SCENARIO=%d.%d", os.Getpid(), rand.Uint64())
	script := exec.Command("../run", append(args, "-port", strconv.Itoa(r.port), "-out", r.directory)...)
	// Without a display it makes one, as in CI.
	environment := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "DISPLAY=") })
	script.Env = append(environment, r.token)
	r.Program = programs.Start(t, script)
	t.Cleanup(func() {
		r.End(t, syscall.SIGTERM)
		if t.Failed() {
			for _, name := range []string{"server", "internet", "logger", "experimenter", "mapper", "formation"} {
				text := r.log(name)
				t.Logf("%s.log:\n%s", name, text[max(0, len(text)-2000):])
			}
		}
	})
	r.await(t, "everything is started", func() bool { return r.Printed("the output:") })
	return r
}

// log returns the output of a program.
func (r *run) log(name string) string {
	text, _ := os.ReadFile(filepath.Join(r.directory, name+".log")) // there is none yet
	return string(text)
}

// await waits for an event while the script runs.
func (r *run) await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(*simulated + patience); !ok(); time.Sleep(50 * time.Millisecond) {
		if !r.Alive() {
			t.Fatalf("the script has ended: %v", r.Cmd.ProcessState)
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// ended waits for the end of the script, and checks its exit code and that none
// of its processes is left.
func (r *run) ended(t *testing.T, code int) {
	t.Helper()
	if got := r.Code(t); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	if left := r.processes(t); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// processes returns the command lines of all processes of the script, by their ids.
func (r *run) processes(t *testing.T) map[int]string {
	t.Helper()
	found := map[int]string{}
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range environments {
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(r.token)) {
			continue // it has ended, or belongs to somebody else
		}
		id, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline")) // it has ended
		found[id] = string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
	}
	return found
}

// get returns a page of this computer.
func get(t *testing.T, port int, path string) []byte {
	t.Helper()
	client := http.Client{Timeout: patience}
	reply, err := client.Get(fmt.Sprintf("http://localhost:%d%s", port, path))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, reply.Status, err)
	}
	return body
}

// The scenario of the paper's section 2, on one computer: docs/SCENARIO.md.
func TestScenario(t *testing.T) {
	acceptance.Only(t)
	r := start(t)
	truth := filepath.Join(r.directory, "truth.csv")
	r.await(t, "the robots have driven long enough", func() bool {
		tracks, err := ReadTruth(truth) // fails while a line is being written
		return err == nil && len(tracks) == 3 && duration(tracks["leader"]) >= simulated.Seconds()
	})
	drawn := filepath.Join(r.directory, "page.png")
	if err := os.WriteFile(drawn, get(t, r.port+page, "/map.png"), 0o666); err != nil {
		t.Fatal(err)
	}
	if text := get(t, r.port+page, "/"); !bytes.Contains(text, []byte(`src="map.png"`)) {
		t.Errorf("the map's page is %s", text)
	}
	var now serverStatus
	if text := get(t, r.port+dash, "/status"); json.Unmarshal(text, &now) != nil {
		t.Fatalf("the status is %s", text)
	}
	nothingClosed(t, r)

	r.Signal(t, syscall.SIGINT)
	r.ended(t, 0)

	tracks, err := ReadTruth(truth)
	if err != nil {
		t.Fatal(err)
	}
	checkClients(t, now)
	checkTruth(t, tracks, filepath.Join(r.directory, "simulator.csv"))
	checkFormation(t, tracks)
	known, err := ReadMap(drawn)
	if err != nil {
		t.Fatal(err)
	}
	checkMap(t, known)
}

// serverStatus is the part of /status that the test needs (docs/STATUS.md).
type serverStatus struct {
	Robots []struct {
		Name      string
		Commander *string
		Clients   []struct {
			Name   string
			Frames uint64
		}
	}
}

func duration(track Track) float64 {
	if len(track) == 0 {
		return 0
	}
	return track[len(track)-1].Time - track[0].Time
}

// nothingClosed checks that no program has complained, and no connection has ended.
func nothingClosed(t *testing.T, r *run) {
	t.Helper()
	for name, want := range map[string]string{"internet": "forwarding\n", "logger": "", "experimenter": "", "mapper": ""} {
		if text := r.log(name); text != want {
			t.Errorf("%s: %s", name, text)
		}
	}
	for line := range strings.Lines(r.log("server")) {
		for _, bad := range []string{`"level":"warn"`, `"level":"error"`, product.LogDisconnected} {
			if strings.Contains(line, bad) {
				t.Errorf("server: %s", line)
			}
		}
	}
}

// checkClients checks the names of each server's clients, and that all of them were
// served until the end: the slowest at half of the robots' rate.
func checkClients(t *testing.T, now serverStatus) {
	t.Helper()
	robot, camera := []string{"", "experimenter", "mapper"}, []string{"logger", "mapper"}
	want := map[string][]string{"leader": robot, "left": robot, "right": robot, "wall laser": {"mapper"},
		"overhead leader": camera, "overhead left": camera, "overhead right": camera}
	if len(now.Robots) != len(want) {
		t.Errorf("%d servers, want %d", len(now.Robots), len(want))
	}
	for _, r := range now.Robots {
		var names []string
		for _, c := range r.Clients {
			names = append(names, c.Name)
			if c.Frames < uint64(5*simulated.Seconds()) {
				t.Errorf("%s: %q has got %d frames in %v", r.Name, c.Name, c.Frames, *simulated)
			}
		}
		if slices.Sort(names); !slices.Equal(names, want[r.Name]) {
			t.Errorf("the clients of %s are %q, want %q", r.Name, names, want[r.Name])
		}
		if drives := want[r.Name][0] == ""; drives != (r.Commander != nil) {
			t.Errorf("%s is driven: %v, want %v", r.Name, r.Commander != nil, drives)
		}
	}
}

// checkTruth compares the logger's data of the cameras with the simulator's own
// record, and checks that no robot has touched anything.
func checkTruth(t *testing.T, tracks map[string]Track, simulator string) {
	t.Helper()
	text, err := os.ReadFile(simulator)
	if err != nil {
		t.Fatal(err)
	}
	ways := map[string][]stage.Vec{}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		f := strings.Split(line, ",")
		if i == 0 {
			continue
		}
		x, errX := strconv.ParseFloat(f[2], 64)
		y, errY := strconv.ParseFloat(f[3], 64)
		if errX != nil || errY != nil {
			t.Fatalf("%s:%d: %s", simulator, i+1, line)
		}
		ways[f[1]] = append(ways[f[1]], stage.Vec{X: x, Y: y})
		if stalled, bumped := f[7], f[8]; stalled != "0" || bumped != "0" {
			t.Errorf("a robot has touched something: %s", line)
		}
	}
	// The simulator writes ten lines a second, in which a robot drives up to 0.04 m.
	const near = 0.03
	for name, track := range tracks {
		if n := float64(len(track)); n < 9*duration(track) {
			t.Errorf("%s: %v positions in %v s", name, n, duration(track))
		}
		off := 0
		for _, s := range track {
			if !slices.ContainsFunc(ways[name], func(v stage.Vec) bool { return math.Hypot(v.X-s.X, v.Y-s.Y) < near }) {
				off++
			}
		}
		if off > 0 {
			t.Errorf("%s: %d of %d logged positions are not on its true way", name, off, len(track))
		}
	}
}

// checkFormation checks that the robots patrol, and how well they keep their places.
func checkFormation(t *testing.T, tracks map[string]Track) {
	t.Helper()
	const settling = 8.0 // s: they start out of place
	leader := tracks["leader"]
	way := 0.0
	for i, s := range leader[1:] {
		way += math.Hypot(s.X-leader[i].X, s.Y-leader[i].Y)
	}
	t.Logf("the leader has driven %.1f m in %.0f s", way, duration(leader))
	if way < 0.15*duration(leader) {
		t.Errorf("the leader has driven %.1f m in %.0f s", way, duration(leader))
	}
	for name, belongs := range place {
		var errors []float64
		for _, l := range leader {
			f, ok := tracks[name].At(l.Time)
			if !ok || l.Time < leader[0].Time+settling {
				continue
			}
			sin, cos := math.Sincos(l.Heading * math.Pi / 180)
			x, y := l.X+belongs.X*cos-belongs.Y*sin, l.Y+belongs.X*sin+belongs.Y*cos
			errors = append(errors, math.Hypot(f.X-x, f.Y-y))
		}
		if len(errors) == 0 {
			t.Fatalf("nothing is known about %s", name)
		}
		slices.Sort(errors)
		mean := 0.0
		for _, e := range errors {
			mean += e / float64(len(errors))
		}
		most := errors[len(errors)*95/100]
		t.Logf("%s: formation error %.3f m in the mean, 95 %% below %.3f m, the largest %.3f m", name, mean, most, errors[len(errors)-1])
		if mean > 0.10 || most > 0.25 {
			t.Errorf("%s: formation error %.3f m in the mean, 95 %% below %.3f m; want 0.10 and 0.25", name, mean, most)
		}
	}
}

// checkMap compares the map with the floor plan from which the world was made.
func checkMap(t *testing.T, m Map) {
	t.Helper()
	w, err := stage.Load(world)
	if err != nil {
		t.Fatal(err)
	}
	plan := w.Plan()
	// wall reports whether the plan has a wall within a distance.
	wall := func(x, y, within float64) bool {
		column, row := int((x-plan.Origin.X)/plan.Resolution), int((y-plan.Origin.Y)/plan.Resolution)
		reach := int(within / plan.Resolution)
		for r := max(0, row-reach); r <= min(row+reach, plan.Height-1); r++ {
			for c := max(0, column-reach); c <= min(column+reach, plan.Width-1); c++ {
				if plan.Wall(c, r) {
					return true
				}
			}
		}
		return false
	}
	const near = 0.1 // m, two cells of the map
	columns, rows := m.Size()
	walls, right, free, blocked := 0, 0, 0, 0
	for row := range rows {
		for column := range columns {
			x, y := m.Center(column, row)
			switch m.At(column, row) {
			case Wall:
				if walls++; wall(x, y, near) {
					right++
				}
			case Free:
				if free++; wall(x, y, 0) {
					blocked++
				}
			}
		}
	}
	// Of the walls, those along the corridor can be seen from it.
	seen, visible := 0, 0
	for r := 1; r < plan.Height-1; r++ {
		for c := 1; c < plan.Width-1; c++ {
			if !plan.Wall(c, r) || plan.Wall(c-1, r) && plan.Wall(c+1, r) && plan.Wall(c, r-1) && plan.Wall(c, r+1) {
				continue
			}
			x, y := plan.Origin.X+(float64(c)+0.5)*plan.Resolution, plan.Origin.Y+(float64(r)+0.5)*plan.Resolution
			if math.Abs(x) < 2.85 && math.Abs(y) < 1.35 {
				continue // in a room
			}
			visible++
			column, row := int(math.Floor(x/CellSize))+columns/2, rows/2-1-int(math.Floor(y/CellSize))
			for k := range 25 {
				if m.At(column+k%5-2, row+k/5-2) == Wall {
					seen++
					break
				}
			}
		}
	}
	t.Logf("map: %d wall cells, %d of them at a wall; %d free cells, %d of them in a wall; %d of %d pieces of wall along the corridor are in it",
		walls, right, free, blocked, seen, visible)
	if float64(right) < 0.95*float64(walls) {
		t.Errorf("only %d of %d wall cells are at a wall", right, walls)
	}
	if float64(blocked) > 0.02*float64(free) {
		t.Errorf("%d of %d free cells are in a wall", blocked, free)
	}
	// In 20 s they see the south and, by the laser, the north; in two minutes all.
	want := 0.4
	if *simulated >= 100*time.Second {
		want = 0.8
	}
	if float64(seen) < want*float64(visible) {
		t.Errorf("%d of %d pieces of wall along the corridor are in the map, want %v of them", seen, visible, want)
	}
}

// If one program ends, the others end, and the script fails.
func TestOneEndsAll(t *testing.T) {
	acceptance.Only(t)
	r := start(t)
	r.await(t, "the logger runs", func() bool {
		_, err := os.Stat(filepath.Join(r.directory, "truth.csv"))
		return err == nil
	})
	for id, line := range r.processes(t) {
		if strings.Contains(line, "logger.py") {
			if err := syscall.Kill(id, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.ended(t, 1)
	if !r.Printed("logger has ended") {
		t.Errorf("the script reports %s", r.Output.String())
	}
}

// Missing programs are named before anything is built, all of them; without the window no
// display is needed.
func TestMissingToolsAreNamed(t *testing.T) {
	t.Parallel()
	needs.Programs(t)
	path, bash := t.TempDir(), ""
	for _, tool := range []string{"bash", "env", "mktemp", "mkdir", "dirname", "cat", "java"} {
		found, err := exec.LookPath(tool)
		if err != nil {
			found, err = exec.LookPath("true") // java is not run
		}
		if err == nil {
			err = os.Symlink(found, filepath.Join(path, tool))
		}
		if err != nil {
			t.Fatal(err)
		}
		if tool == "bash" {
			bash = found
		}
	}
	for _, tt := range []struct{ flag, want string }{
		{"-f", "missing: go c++ javac python3 wish Xvfb;"},
		{"-headless", "missing: go c++ javac python3;"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		cmd := exec.Command(bash, "../run", tt.flag, "-out", out)
		cmd.Env = []string{"PATH=" + path}
		text, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(text), tt.want) {
			t.Errorf("%s: %v, %s, want %q", tt.flag, err, text, tt.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: the output directory was made", tt.flag)
		}
	}
}
