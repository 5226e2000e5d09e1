// Package sweep is player sweep: one experiment with many seeds of a simulated world.
package sweep

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"player/devices/stage"
	"player/formats/textfile"
	"player/tools"
)

const (
	// startLimit is how long a server may take until it serves: a large world
	// is drawn in seconds.
	startLimit = 30 * time.Second
	// endLimit is how long a server, or an interrupted program, may take to end.
	endLimit = 5 * time.Second
	// maxOutput is how much of a program's output is kept, bytes from its end.
	maxOutput = 4 << 10
	// firstPort and ports are the range of the servers' ports: below the ports that the kernel gives to connections, and
	// apart from the ports of the project's tests (e2e/ports).
	firstPort, ports = 10000, 3000
	// attempts is how often a run searches for ports. It needs a second attempt if another program begins to listen on a
	// port between the search and the start of the server; more in a row are no accident.
	attempts = 5
)

// Command returns player sweep of a version of the program.
func Command(version string) tools.Command {
	return tools.Command{
		Name: "sweep", Args: "[flags] WORLD -- PROGRAM [ARGUMENT ...]", Summary: "try a world with many seeds",
		Run: func(ctx context.Context, args []string, _ io.Writer, stderr *os.File) error {
			return run(ctx, args, stderr, version)
		},
	}
}

// sweep has the user's settings.
type sweep struct {
	world   string
	program []string
	path    string // of the table
	player  string // this program
	origin  row    // its columns are in each result
	robots  int    // ports of a server

	lock  sync.Mutex
	rows  map[int]row
	taken map[int]bool // the first ports of the servers that run
}

// row is the result of a run, by column.
type row map[string]string

func run(ctx context.Context, args []string, stderr *os.File, version string) error {
	flags := tools.NewFlags("sweep")
	seeds := flags.String("seeds", "1-10", "")
	jobs := flags.Int("jobs", runtime.NumCPU(), "")
	s := &sweep{rows: map[int]row{}, taken: map[int]bool{}}
	flags.StringVar(&s.path, "o", "sweep.csv", "")
	if i := slices.Index(args, "--"); i >= 0 {
		args, s.program = args[:i], args[i+1:]
	}
	rest, err := tools.ParseSome(flags, args, 1, 1, "a world, as player sweep room -- python3 wander.py")
	if err != nil {
		return err
	}
	if len(s.program) == 0 {
		return errors.New("sweep needs a program behind --, as player sweep room -- python3 wander.py")
	}
	first, last, err := seedsOf(*seeds)
	if err != nil {
		return err
	}
	s.world = rest[0]
	world, err := stage.Load(s.world)
	if err != nil {
		return err
	}
	s.robots = len(world.Instances())
	if slices.ContainsFunc(world.Robots(), func(r *stage.Robot) bool { return r.Port != 0 }) {
		return errors.New(s.world + " has robots with a port: leave the ports out, for many servers run side by side")
	}
	if s.player, err = os.Executable(); err != nil {
		return err
	}
	if s.origin, err = originOf(s.world, world.Source(), s.program, version); err != nil {
		return err
	}
	release, err := lock(s.path)
	if err != nil {
		return err
	}
	defer release()
	if err := s.resume(); err != nil {
		return err
	}
	if err := writable(s.path); err != nil { // before runs are in vain
		return err
	}
	ctx, stop := tools.UntilSignal(ctx)
	defer stop()
	return s.runAll(ctx, first, last, max(1, *jobs), stderr)
}

// seedsOf reads "7" or "1-100".
func seedsOf(text string) (first, last int, err error) {
	from, to, both := strings.Cut(text, "-")
	if !both {
		to = from
	}
	first, err = strconv.Atoi(from)
	if err == nil {
		last, err = strconv.Atoi(to)
	}
	if err != nil || first < 0 || last < first {
		return 0, 0, fmt.Errorf("-seeds %s: write one seed or the first and the last, as 1-100", text)
	}
	return first, last, nil
}

// runAll runs the seeds that have no result yet, so many at a time.
func (s *sweep) runAll(ctx context.Context, first, last, jobs int, stderr io.Writer) error {
	seeds := make(chan int)
	begin, done, missing := time.Now(), 0, 0
	for seed := first; seed <= last; seed++ {
		if s.rows[seed] == nil {
			missing++
		}
	}
	var failures []error
	var unwritten error // why the table lacks the newest results
	var wait sync.WaitGroup
	for range min(jobs, missing, sideBySide(s.robots)) {
		wait.Go(func() {
			for seed := range seeds {
				result, err := s.one(ctx, seed)
				s.lock.Lock()
				if ctx.Err() != nil && err != nil { // by the interruption
					s.lock.Unlock()
					continue
				}
				if done++; err != nil {
					failures = append(failures, fmt.Errorf("seed %d: %w", seed, err))
				} else {
					s.rows[seed] = result
					unwritten = s.write()
				}
				each := time.Since(begin) / time.Duration(done)
				failed := ""
				if failures != nil {
					failed = fmt.Sprintf(" (%d failed)", len(failures))
				}
				fmt.Fprintf(stderr, "\rsweep: %d of %d%s, %v to go   ", done, missing, failed, (each * time.Duration(missing-done)).Round(time.Second))
				s.lock.Unlock()
			}
		})
	}
	for seed := first; seed <= last && ctx.Err() == nil; seed++ {
		if s.rows[seed] != nil { // of an earlier sweep
			continue
		}
		select {
		case seeds <- seed:
		case <-ctx.Done():
		}
	}
	close(seeds)
	wait.Wait()
	if missing > 0 {
		fmt.Fprintln(stderr)
	}
	if unwritten != nil {
		failures = append(failures, fmt.Errorf("results are lost: %w", unwritten))
	}
	if ctx.Err() != nil && done < missing {
		failures = append(failures, fmt.Errorf("interrupted: the same command goes on; %s has %d results", s.path, len(s.rows)))
	}
	if failures != nil {
		return tools.Failure{Err: errors.Join(failures...)}
	}
	return nil
}

// one runs the world and the program with a seed. Another program may listen on a port before the
// server does: then it tries others.
func (s *sweep) one(ctx context.Context, seed int) (result row, err error) {
	for range attempts {
		if result, err = s.try(ctx, seed); !errors.Is(err, errPortTaken) {
			break
		}
	}
	return result, err
}

// errPortTaken is the result of a server if another program listens on its port.
var errPortTaken = errors.New("its port was taken by another program")

// try makes one attempt, with the first ports that are free.
func (s *sweep) try(ctx context.Context, seed int) (row, error) {
	port, err := s.takePorts()
	if err != nil {
		return nil, err
	}
	defer s.returnPorts(port)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	var printed tail
	log := serverLog{serving: make(chan struct{})}
	server := exec.CommandContext(ctx, s.player, "-stage", s.world, "-seed", strconv.Itoa(seed), "-bind", "127.0.0.1", "-gp", strconv.Itoa(port), "-http", "off")
	server.Stderr = &log
	politely(server)
	if err := server.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	var end error
	go func() { end = server.Wait(); close(ended) }()
	defer func() {
		_ = server.Process.Signal(syscall.SIGTERM) // fails if it has ended
		select {
		case <-ended:
		case <-time.After(endLimit):
			_ = server.Process.Kill()
			<-ended
		}
	}()
	select {
	case <-log.serving: // a connection may be to the server of another user
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(startLimit):
		return nil, fmt.Errorf("the server does not serve after %v", startLimit)
	case <-ended:
		switch {
		case log.served: // and has come to its quit_time
		case bytes.Contains(log.bytes, []byte(syscall.EADDRINUSE.Error())):
			return nil, fmt.Errorf("the server: %w: %s", errPortTaken, bytes.TrimSpace(log.bytes))
		default:
			return nil, fmt.Errorf("the server: it has ended: %s", bytes.TrimSpace(log.bytes))
		}
	}
	begin := time.Now()
	program := exec.CommandContext(ctx, s.program[0], s.program[1:]...)
	program.Env = append(os.Environ(), "PLAYER_SEED="+strconv.Itoa(seed), "PLAYER_PORT="+strconv.Itoa(port), "PLAYER_ADDRESS="+address)
	var errs tail
	program.Stdout, program.Stderr = &printed, &errs
	politely(program)
	if err := program.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", s.program[0], err, bytes.TrimSpace(errs.bytes))
	}
	select {
	case <-ended:
		if end != nil { // nil: at quit_time
			return nil, fmt.Errorf("the server: %w: %s", end, bytes.TrimSpace(log.bytes))
		}
	default:
	}
	result := maps.Clone(s.origin)
	for _, word := range strings.Fields(lastLine(string(printed.bytes))) {
		name, value, ok := strings.Cut(word, "=")
		if _, taken := s.origin[name]; ok && taken {
			return nil, fmt.Errorf("%s: the result %s has the name of a column that the table has anyway: rename it", s.program[0], word)
		} else if ok {
			result[name] = value
		}
	}
	result["seed"], result["seconds"] = strconv.Itoa(seed), strconv.FormatFloat(time.Since(begin).Seconds(), 'f', 2, 64)
	return result, nil
}

// politely lets a program, with its children, end itself when the context does. The program
// does not outlive this process, however that ends: the kernel signals it when the thread
// that started it ends, and Go keeps its threads.
func politely(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = endLimit
}

// sideBySide returns how many servers with n ports each have room at the same time, wherever
// the others are: each of them excludes fewer than 2 n first ports for a new server.
func sideBySide(n int) int { return (ports-1)/(2*n) + 1 }

// takePorts returns the first of a server's ports: no program listens there, and no other server
// of this sweep has one of them, even if it does not listen yet.
func (s *sweep) takePorts() (int, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for i, from := 0, rand.IntN(ports); i < ports; i++ {
		first := firstPort + (from+i)%ports
		if s.room(first) {
			s.taken[first] = true
			return first, nil
		}
	}
	return 0, fmt.Errorf("there are no %d free ports side by side", s.robots)
}

func (s *sweep) room(first int) bool {
	for other := range s.taken {
		if first < other+s.robots && other < first+s.robots {
			return false
		}
	}
	for port := first; port < first+s.robots; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}

func (s *sweep) returnPorts(first int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.taken, first)
}

// tail keeps the end of the bytes written to it.
type tail struct{ bytes []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.bytes = append(t.bytes, p...)
	t.bytes = t.bytes[max(0, len(t.bytes)-maxOutput):]
	return len(p), nil
}

// serverLog keeps the end of a server's log.
type serverLog struct {
	tail
	serving chan struct{} // closed when the server logs that it serves
	served  bool          // it is closed
}

// Write implements io.Writer.
func (l *serverLog) Write(p []byte) (int, error) {
	n, err := l.tail.Write(p)
	if !l.served && bytes.Contains(l.bytes, []byte(`"msg":"serving"`)) {
		l.served = true
		close(l.serving)
	}
	return n, err
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// resume reads the results of an earlier sweep, if there are any.
func (s *sweep) resume() error {
	data, err := textfile.Read(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	table, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(table) == 0 || table[0][0] != "seed" {
		return fmt.Errorf("%s is no table of a sweep: name another file with -o", s.path)
	}
	for _, values := range table[1:] {
		result := row{}
		for i, value := range values {
			result[table[0][i]] = value
		}
		seed, err := strconv.Atoi(result["seed"])
		if err != nil {
			return fmt.Errorf("%s: %q is no seed", s.path, result["seed"])
		}
		if err := s.origin.matches(result); err != nil {
			return fmt.Errorf("%s: seed %d %w: move the table away, or name another one with -o", s.path, seed, err)
		}
		s.rows[seed] = result
	}
	return nil
}

// write replaces the table, in the order of the seeds, and its plot.
func (s *sweep) write() error {
	names := []string{}
	for _, result := range s.rows {
		for name := range result {
			if name != "seed" && name != "seconds" && s.origin[name] == "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	names = slices.Concat([]string{"seed", "seconds"}, names, originColumns)
	table := [][]string{}
	for _, result := range s.rows {
		values := make([]string, len(names))
		for i, name := range names {
			values[i] = result[name]
		}
		table = append(table, values)
	}
	slices.SortFunc(table, func(a, b []string) int {
		return cmp.Or(cmp.Compare(len(a[0]), len(b[0])), cmp.Compare(a[0], b[0])) // numbers without zeros in front
	})
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.WriteAll(append([][]string{names}, table...)) // to memory
	return errors.Join(replace(s.path, text.Bytes()), replace(s.path+".svg", []byte(plot(names, table))))
}

// writable reports why a file and its plot could not be written.
func writable(path string) error {
	for _, part := range []string{path + ".part", path + ".svg.part"} {
		file, err := os.Create(part)
		if err != nil {
			return err
		}
		if err := errors.Join(file.Close(), os.Remove(part)); err != nil {
			return err
		}
	}
	return nil
}

// replace writes a file that is complete at all times.
func replace(path string, data []byte) error {
	if err := os.WriteFile(path+".part", data, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}
