// Trials measures programs that drive to a point: how many of them arrive from random
// places at random goals, in which time, and how near they come to a wall. It serves
// worlds in step and writes two tables, of all trials and of all worlds.
//
//	go run ./bench/trials -o trials.csv
//
// The programs are examples/goto with a device goto that sees with the laser and one with the sonars, and the programs
// of -also.
// A program gets "-addr HOST:PORT -step -n ROUNDS -- X Y" and
// prints "arrived=1 time=12.3" at the end, or "arrived=0". A COMMAND with {x} gets the values in
// braces instead: {host}, {port}, {rounds}, {x} and {y}.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"player/client/simulation"
	"player/devices/stage"
	files "player/simulation/worlds"
)

const (
	robot = "r0" // of each world
	// rounds are how long a program has: five simulated minutes.
	rounds = 3000
	// apart is the least distance from start to goal, m.
	apart = 2
	// room is how far starts and goals are from walls, m, so that the robot can turn there;
	// gap is the width of the ways between them: a door of 0.8 m is one.
	room, gap = 0.5, 0.4
	// away is how far goals are from other robots and things, m.
	away = 1
	// arrival is how far from the goal the robot may truly be, m: the tolerance of the
	// programs, and the rounding of the odometry.
	arrival = 0.07
	// firstPort and ports are where the servers are, like the servers of player sweep: below the ports
	// that the kernel gives to connections. A port may be used, so there are some attempts.
	firstPort, ports, attempts = 10000, 3000, 10
	// limit is how long a server may take to start or to end, and a request.
	limit = 30 * time.Second
	// trialLimit is how long a program may compute for a trial.
	trialLimit = 5 * time.Minute
)

func main() {
	n := flag.Int("n", 100, "trials in each world")
	first := flag.Int("first", 0, "`seed` of the first trial and its random draws")
	worlds := flag.String("worlds", "room,cave,office", "`worlds`, each with a robot named "+robot)
	out := flag.String("o", "", "`file` for the table of all trials")
	player := flag.String("player", "", "`program` to serve the worlds; by default it is built")
	drive := flag.String("goto", "", "`program` that drives; by default it is built")
	also := flag.String("also", "", "further programs: `NAME=COMMAND,...`")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, *first, *n, strings.Split(*worlds, ","), *out, *player, *drive, *also); err != nil {
		log.Fatal("trials: ", err)
	}
}

// program drives the robot.
type program struct {
	name    string
	command []string
}

// trial is a line of the table.
type trial struct {
	world, program string
	seed           int
	arrived        bool
	time           float64 // simulated seconds
	way            float64 // m
	nearest        float64 // m from the hull to a wall
	stalled        float64 // simulated seconds
}

func run(ctx context.Context, first, n int, worlds []string, out, player, drive, also string) error {
	dir, err := os.MkdirTemp("", "trials")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	const example = "player/examples/goto"
	for name, built := range map[string]*string{path.Dir(path.Dir(example)): &player, example: &drive} {
		if *built != "" {
			continue
		}
		*built = filepath.Join(dir, path.Base(name))
		if text, err := exec.CommandContext(ctx, "go", "build", "-o", *built, name).CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %w: %s", name, err, text)
		}
	}
	programs := []program{{"laser", []string{drive}}, {"sonar", []string{drive, "-device", "goto:1"}}}
	for _, text := range strings.FieldsFunc(also, func(r rune) bool { return r == ',' }) {
		name, command, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("-also %s: write NAME=COMMAND", text)
		}
		programs = append(programs, program{name, strings.Fields(command)})
	}
	if err := os.CopyFS(dir, files.Files); err != nil {
		return err
	}
	var all []trial
	for _, name := range worlds {
		s, err := serve(ctx, dir, player, name)
		if err != nil {
			return err
		}
		done, err := s.trials(ctx, first, n, programs)
		if err := errors.Join(err, s.stop()); err != nil {
			return fmt.Errorf("%s: %w: %s", name, err, s.log.String())
		}
		if err := s.measure(done); err != nil {
			return err
		}
		all = append(all, done...)
	}
	if out != "" {
		if err := write(out, all); err != nil {
			return err
		}
	}
	return summarise(os.Stdout, all, worlds, programs)
}

// server serves a world.
type server struct {
	world         *stage.World
	name          string
	address, page string
	truth         string
	log           bytes.Buffer
	process       *exec.Cmd
	ended         chan error
	clear         []float64 // m from each cell of the plan to a wall, up to room
	part          []int32   // cells of one part of the plan are connected by gaps
}

// serve starts a server for a world in step.
func serve(ctx context.Context, dir, player, name string) (*server, error) {
	s := &server{name: name, truth: filepath.Join(dir, name+".truth")}
	path := filepath.Join(dir, name+"-in-step.world")
	config := filepath.Join(dir, name+".cfg")
	err := errors.Join(os.WriteFile(path, []byte("lockstep 1\nspeedup 0\ninclude \""+name+".world\"\n"), 0o666),
		os.WriteFile(config, []byte(`driver ( name "stage" world "`+filepath.Base(path)+`" )
driver ( name "goto" requires ["position:0" "laser:0"] provides ["goto:0"] )
driver ( name "goto" requires ["position:0" "sonar:0"] provides ["goto:1"] )
`), 0o666))
	if err != nil {
		return nil, err
	}
	if s.world, err = stage.Load(path); err != nil {
		return nil, err
	}
	s.survey()
	for range attempts {
		if err = s.start(ctx, player, config); err == nil {
			return s, nil
		}
	}
	return nil, err
}

// start starts the server on ports that may turn out to be used.
func (s *server) start(ctx context.Context, player, config string) error {
	port := firstPort + rand.IntN(ports)
	s.page, s.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), net.JoinHostPort("127.0.0.1", strconv.Itoa(port+1))
	s.log.Reset()
	s.process = exec.CommandContext(ctx, player, "-bind", "127.0.0.1", "-gp", strconv.Itoa(port+1), "-http", s.page, "-truth", s.truth, "-f", config)
	s.process.Stderr = &s.log
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := s.process.Start(); err != nil {
		return err
	}
	s.ended = make(chan error, 1)
	go func() { s.ended <- s.process.Wait() }()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if len(s.ended) > 0 {
			return fmt.Errorf("the server of %s does not start: %s", s.name, s.log.String())
		}
		if c, err := net.Dial("tcp", s.page); err == nil {
			return c.Close()
		}
	}
	return fmt.Errorf("the server of %s does not start: %w: %s", s.name, cmp.Or(s.stop(), errors.New("too slow")), s.log.String())
}

// stop ends the server, which completes the truth.
func (s *server) stop() error {
	_ = s.process.Process.Signal(syscall.SIGTERM) // fails if it has ended
	select {
	case err := <-s.ended:
		return err
	case <-time.After(limit):
		return errors.Join(errors.New("the server does not end"), s.process.Process.Kill())
	}
}

// trials makes the same trials with each program.
func (s *server) trials(ctx context.Context, first, n int, programs []program) (done []trial, err error) {
	for seed := first; seed < first+n; seed++ {
		for _, p := range programs {
			t, err := s.trial(ctx, seed, p)
			if err != nil {
				return nil, fmt.Errorf("%s, seed %d: %w", p.name, seed, err)
			}
			done = append(done, t)
		}
	}
	return done, nil
}

// trial lets a program drive from a random place to another one.
func (s *server) trial(ctx context.Context, seed int, p program) (t trial, err error) {
	ctx, cancel := context.WithTimeout(ctx, trialLimit)
	defer cancel()
	random, world := rand.New(rand.NewPCG(uint64(seed), 1)), simulation.At(s.page)
	var at simulation.Mover
	var x, y float64
	for {
		at = simulation.Mover{Name: robot, Heading: random.Float64() * 360}
		at.X, at.Y = s.draw(random)
		x, y = s.draw(random)
		if math.Hypot(x-at.X, y-at.Y) < apart || s.part[s.cell(x, y)] != s.part[s.cell(at.X, at.Y)] {
			continue
		}
		state, err := world.Order(ctx, simulation.Order{Seed: new(uint64(seed)), Move: []simulation.Mover{at}})
		if errors.Is(err, simulation.ErrRefused) {
			continue // something stands there
		}
		if err != nil {
			return t, err
		}
		if !slices.ContainsFunc(state.Movers, func(m simulation.Mover) bool { return m.Name != robot && math.Hypot(x-m.X, y-m.Y) < away }) {
			break
		}
	}
	// The odometry begins where the robot stands.
	sin, cos := math.Sincos(-at.Heading * math.Pi / 180)
	dx, dy := x-at.X, y-at.Y
	goalX, goalY := fmt.Sprintf("%.3f", dx*cos-dy*sin), fmt.Sprintf("%.3f", dx*sin+dy*cos)
	args := slices.Concat(p.command[1:], []string{"-addr", s.address, "-step", "-n", strconv.Itoa(rounds), "--", goalX, goalY})
	if slices.Contains(p.command, "{x}") {
		host, port, _ := net.SplitHostPort(s.address) // made of both
		names := strings.NewReplacer("{host}", host, "{port}", port, "{rounds}", strconv.Itoa(rounds), "{x}", goalX, "{y}", goalY)
		args = strings.Fields(names.Replace(strings.Join(p.command[1:], " ")))
	}
	program := exec.CommandContext(ctx, p.command[0], args...)
	var problems bytes.Buffer
	program.Stderr = &problems
	text, err := program.Output()
	if err != nil {
		return t, fmt.Errorf("%w: %s", err, problems.String())
	}
	state, err := world.State(ctx)
	if err != nil {
		return t, err
	}
	end, _ := state.Mover(robot)
	t = trial{world: s.name, program: p.name, seed: seed, way: math.Hypot(dx, dy)}
	result := strings.TrimSpace(string(text))
	if _, err := fmt.Sscanf(result[strings.LastIndexByte(result, '\n')+1:], "arrived=%t time=%g", &t.arrived, &t.time); err != nil {
		return t, fmt.Errorf("the last line of %s is not arrived=1 time=12.3: %q", p.command[0], result)
	}
	if t.arrived && math.Hypot(x-end.X, y-end.Y) > arrival {
		return t, fmt.Errorf("the robot says that it is at (%.2f, %.2f), and is at (%.2f, %.2f)", x, y, end.X, end.Y)
	}
	return t, nil
}

// survey finds out where there is room.
func (s *server) survey() {
	plan := s.world.Plan()
	reach := int(room/plan.Resolution) + 1
	s.clear, s.part = make([]float64, plan.Width*plan.Height), make([]int32, plan.Width*plan.Height)
	for i := range s.clear {
		s.clear[i] = room
	}
	for y := range plan.Height {
		for x := range plan.Width {
			if !plan.Wall(x, y) {
				continue
			}
			for v := max(y-reach, 0); v <= min(y+reach, plan.Height-1); v++ {
				for u := max(x-reach, 0); u <= min(x+reach, plan.Width-1); u++ {
					i := v*plan.Width + u
					s.clear[i] = min(s.clear[i], plan.Resolution*math.Hypot(float64(u-x), float64(v-y)))
				}
			}
		}
	}
	for i, count := 0, int32(0); i < len(s.part); i++ {
		if s.part[i] != 0 || s.clear[i] < gap {
			continue
		}
		count++
		s.part[i] = count
		for open := []int{i}; len(open) > 0; {
			at := open[len(open)-1]
			open = open[:len(open)-1]
			for _, next := range []int{at - 1, at + 1, at - plan.Width, at + plan.Width} {
				if next >= 0 && next < len(s.part) && s.part[next] == 0 && s.clear[next] >= gap {
					s.part[next] = count
					open = append(open, next)
				}
			}
		}
	}
}

// cell returns the cell of the plan at a place, m.
func (s *server) cell(x, y float64) int {
	plan := s.world.Plan()
	return int((y-plan.Origin.Y)/plan.Resolution)*plan.Width + int((x-plan.Origin.X)/plan.Resolution)
}

// draw returns a place with room.
func (s *server) draw(random *rand.Rand) (x, y float64) {
	plan := s.world.Plan()
	for {
		x = plan.Origin.X + random.Float64()*float64(plan.Width)*plan.Resolution
		y = plan.Origin.Y + random.Float64()*float64(plan.Height)*plan.Resolution
		if s.clear[s.cell(x, y)] >= room {
			return x, y
		}
	}
}

// measure completes trials from the truth of the server that made them.
func (s *server) measure(done []trial) error {
	file, err := os.Open(s.truth)
	if err != nil {
		return err
	}
	defer file.Close()
	nearest, stalled, last := math.Inf(1), 0.0, math.Inf(1)
	at := -1 // of done
	keep := func() {
		if at >= 0 && at < len(done) {
			done[at].nearest, done[at].stalled = nearest, stalled
		}
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		words := strings.Split(lines.Text(), ",")
		if len(words) < 9 || words[1] != robot {
			continue
		}
		var v [9]float64
		for i := range v {
			v[i], _ = strconv.ParseFloat(words[i], 64) // the name is no number
		}
		if v[0] < last { // time begins anew: the next trial
			keep()
			at, nearest, stalled = at+1, math.Inf(1), 0
		}
		last = v[0]
		nearest = min(nearest, s.distance(v[2], v[3], v[4]))
		stalled += v[7] / 10
	}
	keep()
	if at+1 != len(done) {
		return fmt.Errorf("%s: the truth has %d trials of %d", s.name, at+1, len(done))
	}
	return lines.Err()
}

// distance returns how far the hull of a Pioneer 2-DX is from the nearest wall, up to room.
func (s *server) distance(x, y, heading float64) float64 {
	const front, rear, half = 0.18, -0.26, 0.19 // m from the centre of rotation
	plan := s.world.Plan()
	sin, cos := math.Sincos(heading * math.Pi / 180)
	best := float64(room)
	reach := int((room-rear)/plan.Resolution) + 1
	cx, cy := int((x-plan.Origin.X)/plan.Resolution), int((y-plan.Origin.Y)/plan.Resolution)
	for j := max(cy-reach, 0); j <= min(cy+reach, plan.Height-1); j++ {
		for i := max(cx-reach, 0); i <= min(cx+reach, plan.Width-1); i++ {
			if !plan.Wall(i, j) {
				continue
			}
			dx := plan.Origin.X + (float64(i)+0.5)*plan.Resolution - x
			dy := plan.Origin.Y + (float64(j)+0.5)*plan.Resolution - y
			ahead, left := dx*cos+dy*sin, dy*cos-dx*sin
			best = min(best, math.Hypot(max(rear-ahead, 0, ahead-front), max(0, math.Abs(left)-half)))
		}
	}
	return best
}

// write writes all trials as a table.
func write(path string, all []trial) error {
	lines := [][]string{{"world", "program", "seed", "arrived", "time_s", "distance_m", "nearest_wall_m", "stalled_s"}}
	for _, t := range all {
		arrived := "0"
		if t.arrived {
			arrived = "1"
		}
		lines = append(lines, []string{t.world, t.program, strconv.Itoa(t.seed), arrived, fmt.Sprintf("%.1f", t.time), fmt.Sprintf("%.2f", t.way), fmt.Sprintf("%.2f", t.nearest), fmt.Sprintf("%.1f", t.stalled)})
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(csv.NewWriter(file).WriteAll(lines), file.Close())
}

// summarise prints a table of the worlds.
func summarise(out io.Writer, all []trial, worlds []string, programs []program) error {
	_, err := fmt.Fprintf(out, "| world | program | arrived | time, median | 95 %% | median speed | nearest wall, median | least | stalled |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, w := range worlds {
		for _, p := range programs {
			var times, speeds, walls []float64
			trials, stalls := 0, 0
			for _, t := range all {
				if t.world != w || t.program != p.name {
					continue
				}
				trials++
				walls = append(walls, t.nearest)
				if t.stalled > 0 {
					stalls++
				}
				if t.arrived {
					times, speeds = append(times, t.time), append(speeds, t.way/t.time)
				}
			}
			_, err = fmt.Fprintf(out, "| %s | %s | %d of %d | %.1f s | %.1f s | %.2f m/s | %.2f m | %.2f m | %d |\n", w, p.name, len(times), trials,
				quantile(times, 0.5), quantile(times, 0.95), quantile(speeds, 0.5), quantile(walls, 0.5), quantile(walls, 0), stalls)
		}
	}
	return err
}

// quantile returns the value below which a share of the values is, or 0 without values.
func quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.SortFunc(values, cmp.Compare)
	return values[int(share*float64(len(values)-1)+0.5)]
}
