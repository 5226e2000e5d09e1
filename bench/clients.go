package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"player/bench/load"
)

// The client libraries are measured by a program in each language that reads many
// robots (docs/CLIENTS.md).
const (
	library kind = "library" // a language's program reads robots
	parser  kind = "parser"  // Python's parser decodes frames in memory
)

const (
	robots    = 50
	robotRate = 50 // Hz, of the clients' frames and of the robots' data
	// buildLimit is how long a program may take to build and to connect.
	buildLimit = 2 * time.Minute
	// parserCell is in addition to the languages' cells.
	parserCell = "clients/python-parser"
)

// language is one client library.
type language struct {
	Folder string // below clients/
	Name   string
	Tool   string // without it the language is left out
	Way    string // how the program reads many robots
}

func languages() []language {
	return []language{
		{"go", "Go", "go", "goroutines"},
		{"c", "C", "cc", "poll"},
		{"cpp", "C++", "c++", "threads"},
		{"java", "Java", "javac", "threads"},
		{"tcl", "Tcl", "tclsh", "event loop"},
		{"python", "Python", "python3", "asyncio"},
		{"javascript", "JavaScript", "node", "promises"},
	}
}

// clientCells are the languages, each with all robots, and Python's parser alone.
func clientCells() []cell {
	var all []cell
	for _, l := range languages() {
		all = append(all, cell{Name: "clients/" + l.Folder, Kind: library, Size: large, Device: robotRate})
	}
	return append(all, cell{Name: parserCell, Kind: parser, Size: large})
}

// Language is a cell's language.
func (c cell) Language() language {
	for _, l := range languages() {
		if c.Name == "clients/"+l.Folder {
			return l
		}
	}
	return language{}
}

// reader is the result that a language's program prints at its end.
type reader struct {
	Runtime string        `json:"runtime"`
	Frames  int           `json:"frames"`
	P50     int64         `json:"p50_us"` // of the time between two frames of one robot
	P99     int64         `json:"p99_us"`
	Max     int64         `json:"max_us"`
	Window  time.Duration `json:"window_ns"` // added here: as measured
}

// measureLibrary has a language's program read robots of one server. The usage is
// the program's.
func (w *workshop) measureLibrary(ctx context.Context, r *run, c cell, window time.Duration) (err error) {
	l := c.Language()
	if _, err := exec.LookPath(l.Tool); err != nil {
		return err
	}
	p, err := w.startRobots(ctx, robots, fmt.Sprintf("rate %d drive %q", c.Device, w.drive()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := p.awaitListening(ctx); err != nil {
		return fmt.Errorf("%w: %s", err, last(p.said.Bytes()))
	}
	ctx, cancel := context.WithTimeout(ctx, buildLimit+w.warmup+window)
	defer cancel()
	program := exec.CommandContext(ctx, filepath.Join(w.root, "clients", l.Folder, "speed.sh"),
		"127.0.0.1", strconv.Itoa(p.port), strconv.Itoa(robots), fmt.Sprint(w.warmup.Seconds()), fmt.Sprint(window.Seconds()))
	build := filepath.Join(w.clients, l.Folder)
	if err := os.MkdirAll(build, 0o755); err != nil {
		return err
	}
	program.Env = append(os.Environ(), "BUILD="+build)
	program.SysProcAttr = apart()
	var said bytes.Buffer
	program.Stderr = &said
	in, err := program.StdinPipe()
	if err != nil {
		return err
	}
	out, err := program.StdoutPipe()
	if err != nil {
		return err
	}
	if err := program.Start(); err != nil {
		return err
	}
	length, readErr := r.follow(out, meters{pids: []int{program.Process.Pid}}, &r.Reader, func(edge string) {
		if edge == load.End {
			_ = in.Close() // the program ends when its input does
		}
	})
	_ = in.Close() // it is open after an error
	if err := program.Wait(); err != nil {
		return fmt.Errorf("clients/%s/speed.sh: %w: %s", l.Folder, err, last(said.Bytes()))
	}
	if readErr == nil {
		r.Reader.Window = length
	}
	return readErr
}

// startRobots starts a server with all seven devices, of a pattern, on each of n ports.
func (w *workshop) startRobots(ctx context.Context, n int, pattern string) (*process, error) {
	port, err := w.ports.free(n)
	if err != nil {
		return nil, err
	}
	var config strings.Builder
	for i := range n {
		fmt.Fprintf(&config, "driver ( name \"testpattern\" %s provides [", pattern)
		for _, device := range []string{"laser", "sonar", "position", "gripper", "misc", "vision", "ptz"} {
			fmt.Fprintf(&config, " \"%d:%s:0\"", port+i, device)
		}
		config.WriteString(" ] )\n")
	}
	file := filepath.Join(w.dir, "robots.cfg")
	if err := os.WriteFile(file, []byte(config.String()), 0o644); err != nil {
		return nil, err
	}
	p := &process{port: port}
	p.prepare(ctx, w.path(player), "-gp", strconv.Itoa(port), "-max-per-address", strconv.Itoa(math.MaxInt32), file)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the robots: %w", err)
	}
	return p, nil
}

// measureParser returns how many frames a second Python's parser decodes.
func (w *workshop) measureParser(ctx context.Context) (float64, error) {
	program := exec.CommandContext(ctx, "python3", "-B", "-c", "import measure; print(measure.measure(measure.DEVICES, 1))")
	program.Dir = filepath.Join(w.root, "clients", "python")
	out, err := program.Output()
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}
