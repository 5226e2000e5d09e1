// Bench measures the server as it is shipped, in a process of its own: the
// experiments of the Player paper (section 5) and more. docs/BENCHMARKS.md is
// its newest report.
package main

import (
	"bytes"
	"context"
	_ "embed" // usage
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"time"

	"player/bench/load"
	"player/tools"
)

// loadVerb is the first argument with which this program starts itself as the clients; the
// spec is on standard input.
const loadVerb = "load"

const (
	defaultWindow = 10 * time.Second
	paperWindow   = 2 * time.Minute
	// overhead is the time of a run apart from warm-up and window, for the
	// time left. Setting up the counters of system calls takes another.
	overhead = 200 * time.Millisecond
)

//go:embed usage.txt
var usage string

type options struct {
	run    *regexp.Regexp
	window time.Duration
	runs   int
	out    string
	report string
	list   bool
	series bool
	pages  bool
}

func parseOptions(args []string, help io.Writer) (options, error) {
	var o options
	var pattern string
	var full, replace bool
	fs := tools.NewFlags("bench")
	fs.StringVar(&pattern, "run", "", "")
	fs.DurationVar(&o.window, "cell", defaultWindow, "")
	fs.BoolVar(&full, "full", false, "")
	fs.IntVar(&o.runs, "n", 1, "")
	fs.StringVar(&o.out, "out", filepath.Join("bench", "out"), "")
	fs.StringVar(&o.report, "report", "", "")
	fs.BoolVar(&replace, "f", false, "")
	fs.BoolVar(&o.list, "list", false, "")
	fs.BoolVar(&o.series, "series", false, "")
	fs.BoolVar(&o.pages, "pages", false, "")
	if _, err := tools.Parse(fs, args, 0); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(help, usage)
		}
		return o, err
	}
	switch {
	case o.series && (full || o.runs != 1 || o.window != defaultWindow):
		return o, errors.New("-series has its own windows and numbers of runs")
	case full:
		o.window = paperWindow
	}
	if o.report == "" {
		o.report = filepath.Join(o.out, "report.md")
	} else if _, err := os.Lstat(o.report); err == nil && !replace {
		return o, fmt.Errorf("%s exists: -f replaces it", o.report)
	}
	var err error
	switch o.run, err = regexp.Compile(pattern); {
	case err != nil:
		return o, fmt.Errorf("-run: %w", err)
	case o.window <= 0:
		return o, fmt.Errorf("-cell %v: must be positive", o.window)
	case o.pages && (o.series || pattern != ""):
		return o, errors.New("-pages measures nothing: it takes the results of -out")
	case o.runs < 1:
		return o, fmt.Errorf("-n %d: must be positive", o.runs)
	}
	return o, nil
}

// chosen returns the cells to measure.
func (o options) chosen() []cell {
	return slices.DeleteFunc(cells(), func(c cell) bool { return !o.run.MatchString(c.Name) })
}

// windowOf is how long a run of the cell is measured.
func (o options) windowOf(c cell) time.Duration {
	if c.Window > 0 {
		return c.Window
	}
	window := o.window
	if o.series {
		window = c.seriesLength()
	}
	return max(window, c.least())
}

// runsOf is how often each server is measured in the cell.
func (o options) runsOf(c cell) int {
	if o.series {
		return c.seriesRuns()
	}
	return o.runs
}

// all is how long all runs of the cell will take.
func (o options) all(c cell) time.Duration {
	return o.takes(c) * time.Duration(o.runsOf(c)*len(c.servers()))
}

// takes is how long a run will take.
func (o options) takes(c cell) time.Duration {
	switch c.Kind {
	case inside, library:
		return o.windowOf(c) + overhead
	case frames:
		d := warmup + o.windowOf(c) + overhead
		if c.Calls {
			d += overhead
		}
		return d
	case idle:
		return idleSettle + idleWindow
	}
	return overhead
}

// asChild does the work of a child if this program has started itself. Otherwise it
// returns.
func asChild(args []string) {
	switch {
	case len(args) > 0 && args[0] == loadVerb:
		exit(load.Main(os.Stdin, os.Stdout))
	case len(args) > 0 && args[0] == strangersVerb:
		exit(beStrangers(args[1:]))
	case len(args) > 0 && args[0] == cameraVerb:
		exit(writePictures(os.Stdout))
	case len(args) > 0 && args[0] == publishVerb:
		exit(publish(args[1:]))
	case len(args) > 0 && args[0] == awakeVerb:
		exit(stayAwake())
	}
}

func main() {
	asChild(os.Args[1:])
	o, err := parseOptions(os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		exit(fmt.Errorf("%w (-h shows all flags)", err))
	case o.list:
		o.printList(os.Stdout)
		return
	}
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, restore) // a second signal kills at once
	exit(suite(ctx, o))
}

// printList prints the chosen cells, and how long each takes.
func (o options) printList(w io.Writer) {
	left := time.Duration(0)
	for _, c := range o.chosen() {
		left += o.all(c)
		fmt.Fprintf(w, "%6.1fs  %s\n", o.all(c).Seconds(), c.Name)
	}
	fmt.Fprintf(w, "%6.1fs  in all: %v\n", left.Seconds(), left.Round(time.Minute))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// suite measures the chosen cells and writes results, figure 3 and report. When
// ctx ends it writes the results so far.
func suite(ctx context.Context, o options) error {
	here := thisMachine()
	r, err := readResults(o.out, here)
	if err != nil {
		return err
	}
	if o.pages {
		return r.publish(ctx)
	}
	if chosen := o.chosen(); len(chosen) > 0 {
		if r.Machine != here {
			return fmt.Errorf("%s has the results of another machine (%s, Linux %s, %s): choose another directory with -out", o.out, r.Machine.CPU, r.Machine.Kernel, r.Machine.Go)
		}
		if o.series {
			if err := r.beginSeries(ctx, o); err != nil {
				return err
			}
			chosen = r.seriesCells(chosen)
		}
		if err := r.measure(ctx, o, chosen); err != nil {
			return err
		}
	}
	if err := errors.Join(r.write(o.out), r.drawFigure3(o.out)); err != nil {
		return err
	}
	var page bytes.Buffer
	// The report may be elsewhere than its figure.
	plots, err := filepath.Rel(filepath.Dir(o.report), o.out)
	if err == nil {
		err = r.report(&page, filepath.ToSlash(plots)+"/")
	}
	if err == nil {
		err = os.WriteFile(o.report, page.Bytes(), 0o644)
	}
	if err == nil {
		fmt.Println(o.report)
	}
	if ctx.Err() != nil {
		err = errors.Join(err, errors.New("interrupted"))
	}
	return err
}

// measure runs the cells and adds their results.
func (r *results) measure(ctx context.Context, o options, chosen []cell) error {
	w, err := build(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	p := &progress{cells: len(chosen)}
	for _, c := range chosen {
		p.left += o.all(c)
	}
	tree := commit(ctx)
	fmt.Fprintf(os.Stderr, "%s at commit %s, until %s\n", plural(len(chosen), "cell"), tree, time.Now().Add(p.left).Format("15:04"))
	for len(chosen) > 0 && ctx.Err() == nil {
		end := slices.IndexFunc(chosen, func(c cell) bool { return c.family() != chosen[0].family() })
		if end < 0 {
			end = len(chosen)
		}
		var family []cellResult
		for _, c := range chosen[:end] {
			family = append(family, cellResult{cell: c, Commit: tree, Taken: time.Now().UTC().Truncate(time.Second), Window: o.windowOf(c)})
		}
		for again := true; again && ctx.Err() == nil; {
			again = false
			for i := range family {
				if c := &family[i]; ctx.Err() == nil && len(c.Runs) < o.runsOf(c.cell)*len(c.servers()) {
					w.round(ctx, o, p, c)
					again = true
				}
			}
		}
		for _, c := range family {
			if len(c.Runs) == o.runsOf(c.cell)*len(c.servers()) { // not interrupted
				r.put(c.settled())
			}
		}
		if err := r.write(o.out); err != nil { // a computer may fail in 40 minutes
			return err
		}
		chosen = chosen[end:]
	}
	return nil
}

// round measures every server in a cell once. Servers take turns, and so do the cells of
// a family, which are compared: a disturbance hits all alike. On a shared host processors
// can be half as fast for minutes.
func (w *workshop) round(ctx context.Context, o options, p *progress, to *cellResult) {
	for _, s := range to.servers() {
		p.say(to.Name)
		measured, err := w.measure(ctx, s, to.cell, to.Window)
		p.left -= o.takes(to.cell)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			measured.Error = err.Error()
		}
		to.trim(&measured, len(to.of(s)) == 0)
		to.Runs = append(to.Runs, measured)
	}
}

// progress prints the cell under way on standard error, and how long the rest will take.
type progress struct {
	left  time.Duration
	cells int             // to be measured
	cell  string          // named last
	known map[string]bool // have begun
}

func (p *progress) say(cell string) {
	if cell == p.cell {
		return
	}
	p.cell = cell
	if p.known == nil {
		p.known = map[string]bool{}
	}
	p.known[cell] = true
	fmt.Fprintf(os.Stderr, "%d/%d %s (%v left)\n", len(p.known), p.cells, cell, p.left.Round(time.Second))
}
