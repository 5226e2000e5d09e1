package main

import (
	_ "embed" // targets
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"player/bench/load"
)

// target is a goal for the server: in words, and as a question to the results.
type target struct {
	Goal string // at most 62 characters: the report's lines have 120
	// cells is a name of selections, a prefix that ends in a slash, or one cell.
	cells string
	// figure is that of the page (row.figure), the median of the runs. "most FIGURE" is
	// the largest of all runs, for what must never happen; "FIGURE / OTHER" and
	// "FIGURE - OTHER" are against another one (row.other).
	figure string
	bound  string // "<= 5 ms"
	// also changes the bound: "or FACTOR OTHER" allows that much, too, "plus FACTOR
	// OTHER" allows it in addition. "as NAME" shows the other one under a name.
	also string
}

//go:embed targets.txt
var targetLines string

// targets are all goals, in the order of the report.
func targets() (all []target) {
	for line := range strings.Lines(targetLines) {
		if f := append(strings.Split(strings.TrimSpace(line), " | "), ""); len(f) > 4 {
			all = append(all, target{f[0], f[1], f[2], f[3], f[4]})
		}
	}
	return all
}

// selections are the cells that targets are about.
var selections = map[string]func(*cellResult) bool{
	"fitting":          func(c *cellResult) bool { return ofPaper(c) && c.fits() },
	"fitting-loopback": func(c *cellResult) bool { return ofPaper(c) && c.fits() && c.Network == loopback },
	"full":             full,
	"frames":           func(c *cellResult) bool { return c.Kind == frames },
	"libraries":        func(c *cellResult) bool { return c.Kind == library },
	"counting":         func(c *cellResult) bool { return c.Calls },
	"compact-or-relay": func(c *cellResult) bool { return c.Drive || c.Wire > 0 },
	"by-nats":          func(c *cellResult) bool { return c.Robots > 0 && c.Monitors > 0 && c.Plain == nil },
	"near-clients":     func(c *cellResult) bool { return strings.HasPrefix(c.Name, "neighbours/") && !c.Groups[0].far() },
	// A client that does not run may get fewer frames.
	"unheld": func(c *cellResult) bool { return strings.HasPrefix(c.Name, "healthy/") && c.Hold == 0 },
	// Other clients send as fast as they can.
	"streaming": func(c *cellResult) bool {
		return c.Kind == frames && !slices.ContainsFunc(c.Groups, func(g group) bool { return g.Task == load.Request || g.Task == load.Flood })
	},
}

func ofPaper(c *cellResult) bool {
	return c.Kind == frames && (strings.HasPrefix(c.Name, "paper/") || strings.HasPrefix(c.Name, "wireless5/"))
}

func full(c *cellResult) bool { return ofPaper(c) && !c.fits() }

// has reports whether the target is about a cell.
func (t target) has(c *cellResult) bool {
	if chosen, ok := selections[t.cells]; ok {
		return chosen(c)
	}
	return c.Name == t.cells || strings.HasSuffix(t.cells, "/") && strings.HasPrefix(c.Name, t.cells)
}

// of returns the target's figure in a cell. ok is false if it was not measured.
func (t target) of(w row) (v float64, ok bool) {
	if name, most := strings.CutPrefix(t.figure, "most "); most {
		return w.most(w.figure(name).of)
	}
	f := strings.Fields(t.figure)
	v, ok = w.value(f[0])
	if len(f) == 1 {
		return v, ok
	}
	other, known := w.other(f[0], f[2])
	if f[1] == "-" {
		return v - other, ok && known
	}
	return v / other, ok && known && other > 0
}

// other is a figure of another server in the cell, of another cell, or the least age.
func (w row) other(figure, name string) (v float64, ok bool) {
	switch s := server(name); s {
	case "least":
		return float64(w.ageFloor()), true
	case floor, threads:
		w.Server = s
	default:
		w = w.results.row(name, name, "")
	}
	return w.value(figure)
}

// most is the largest value over the runs. A failed run is worse than any value.
func (w row) most(f func(run) float64) (worst float64, ok bool) {
	worst = math.Inf(-1)
	for _, r := range w.Runs {
		switch {
		case r.Server != player:
		case r.Error != "":
			worst, ok = math.Inf(1), true
		default:
			worst, ok = max(worst, f(r)), true
		}
	}
	return worst, ok
}

// verdict is the outcome for one target.
type verdict struct {
	Got     string
	Reached bool
	Open    bool // not measured
}

// Judge compares the worst cell with the bound.
func (t target) Judge(r *results) verdict {
	bound := strings.Fields(t.bound)
	sign, limit := 1.0, quantity(bound[1:])
	if bound[0] == ">=" {
		sign = -1
	}
	shown := ""
	figure := strings.Fields(strings.TrimPrefix(t.figure, "most "))
	write := r.row("", "", "").figure(figure[0]).write
	if len(figure) > 1 && figure[1] == "/" {
		write = times
	}
	if also := strings.Fields(t.also); len(also) > 0 {
		other, ok := r.row(t.cells, "", "").other(figure[0], also[2])
		if !ok {
			return verdict{Open: true}
		}
		if more := quantity(also[1:2]) * other; also[0] == "plus" {
			limit += more
		} else {
			limit = sign * max(sign*limit, sign*more)
		}
		if len(also) > 3 {
			shown = "; " + also[4] + " " + write(other)
		}
	}
	var worst float64
	var where string
	measured, missed := 0, 0
	for name := range r.measured("") {
		w := r.row(name, name, "")
		if !t.has(w.cellResult) {
			continue
		}
		v, ok := t.of(w)
		if !ok {
			continue
		}
		if measured++; sign*v > sign*limit {
			missed++
		}
		if where == "" || sign*v > sign*worst {
			worst, where = v, name
		}
	}
	got := write(worst) + shown
	if where != t.cells {
		got = fmt.Sprintf("%d of %d; %s in %s", measured-missed, measured, got, where)
	}
	return verdict{Open: measured == 0, Reached: missed == 0, Got: got}
}

// quantity is a number with its unit: that of figures are ns, bytes and shares of one.
func quantity(words []string) float64 {
	n, err := strconv.ParseFloat(words[0], 64)
	if err != nil {
		panic(err)
	}
	if len(words) > 1 {
		n *= map[string]float64{"us": 1e3, "ms": 1e6, "%": 0.01, "KiB": kib, "MiB": mib}[words[1]]
	}
	return n
}

const (
	mib = 1 << 20
	kib = 1 << 10
)

// memoryOfClient is the memory in bytes that a further client takes: the slope
// from 50 to 10,000 clients. It is no number if one of them was not measured.
func (r *results) memoryOfClient(s server) float64 {
	few, many := r.find("scale/50x10Hz"), r.find("scale/10000x10Hz")
	a, ok1 := few.median(s, rss)
	b, ok2 := many.median(s, rss)
	if !ok1 || !ok2 {
		return math.NaN()
	}
	return (b - a) / float64(many.Groups[0].Clients-few.Groups[0].Clients)
}

// How figures are written. Durations are in ns.

func duration(v float64) string {
	d := time.Duration(v)
	switch abs := max(d, -d); {
	case abs < 10*time.Microsecond:
		return fmt.Sprintf("%.2f us", v/1e3)
	case abs < time.Millisecond:
		return fmt.Sprintf("%.0f us", v/1e3)
	case abs < 100*time.Millisecond:
		return fmt.Sprintf("%.2f ms", v/1e6)
	case abs >= 10*time.Second:
		return fmt.Sprintf("%.1f s", v/1e9)
	}
	return fmt.Sprintf("%.0f ms", v/1e6)
}

// count writes a number; infinity stands for a failed run.
func count(v float64) string {
	if math.IsInf(v, 1) {
		return "a failed run"
	}
	return fmt.Sprintf("%.0f", v)
}

// rounded has as many decimals as matter.
func rounded(v float64) string {
	if math.IsInf(v, 1) {
		return count(v)
	}
	if v < 100 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func micros(v float64) string    { return rounded(v) + " us" }
func times(v float64) string     { return fmt.Sprintf("%.2fx", v) }
func ratio(v float64) string     { return fmt.Sprintf("%.2f", v) }
func percent(v float64) string   { return fmt.Sprintf("%.1f %%", 100*v) }
func index(v float64) string     { return fmt.Sprintf("%.4f", v) }
func perSecond(v float64) string { return fmt.Sprintf("%.0f /s", v) }
func memory(v float64) string    { return fmt.Sprintf("%.1f MiB", v/mib) }
func kibibytes(v float64) string { return fmt.Sprintf("%.2f KiB", v/kib) }
