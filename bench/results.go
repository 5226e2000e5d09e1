package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"player/bench/stats"
)

// results is all measurements on one machine.
type results struct {
	Machine machine
	Cells   []cellResult // in the order of the suite
}

// cellResult is the runs of one cell.
type cellResult struct {
	cell
	Commit string        `json:"commit"`
	Taken  time.Time     `json:"taken"`
	Window time.Duration `json:"window_ns"`
	NotRun string        `json:"not_run,omitempty"` // why
	Runs   []run         `json:"runs,omitempty"`
}

// file is where results are kept in the output directory: JSON, the machine in the first
// line, and then each cell in a line of its own.
const file = "results.jsonl"

// readResults reads earlier results, so that single cells can be measured again.
func readResults(dir string, m machine) (results, error) {
	r := results{Machine: m}
	text, err := os.Open(filepath.Join(dir, file))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	defer text.Close()
	lines := json.NewDecoder(text)
	for err = lines.Decode(&r.Machine); err == nil; {
		var c cellResult
		if err = lines.Decode(&c); err == nil {
			r.Cells = append(r.Cells, c)
		}
	}
	if err == io.EOF {
		return r, nil
	}
	return r, fmt.Errorf("%s: %w", text.Name(), err)
}

func (r *results) write(dir string) error {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	err := lines.Encode(r.Machine)
	for _, c := range r.Cells {
		err = errors.Join(err, lines.Encode(c))
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, file), text.Bytes(), 0o644)
}

// put replaces the result of a cell and drops cells that are no longer in the
// suite.
func (r *results) put(c cellResult) {
	r.Cells = slices.DeleteFunc(r.Cells, func(o cellResult) bool { return o.Name == c.Name })
	r.Cells = append(r.Cells, c)
	order := map[string]int{}
	for i, c := range cells() {
		order[c.Name] = i + 1
	}
	r.Cells = slices.DeleteFunc(r.Cells, func(o cellResult) bool { return order[o.Name] == 0 })
	slices.SortFunc(r.Cells, func(a, b cellResult) int { return order[a.Name] - order[b.Name] })
}

// measured returns the cells that were measured and whose names begin with a prefix,
// with the rest of their names.
func (r *results) measured(prefix string) iter.Seq2[string, *cellResult] {
	return func(yield func(string, *cellResult) bool) {
		for i := range r.Cells {
			c := &r.Cells[i]
			if name, ok := strings.CutPrefix(c.Name, prefix); ok && c.NotRun == "" && !yield(name, c) {
				return
			}
		}
	}
}

// find returns the result of a cell, one without runs if it was not measured.
func (r *results) find(name string) *cellResult {
	for rest, c := range r.measured(name) {
		if rest == "" {
			return c
		}
	}
	return &cellResult{}
}

// of returns the runs of one server that went well.
func (c *cellResult) of(s server) []run {
	return slices.DeleteFunc(slices.Clone(c.Runs), func(r run) bool { return r.Server != s || r.Error != "" })
}

// changed reports whether the cell was measured in a tree that is no commit.
func (c *cellResult) changed() bool {
	return c.Commit == "" || strings.HasSuffix(c.Commit, withChanges)
}

// settled is the cell as not run if no run went well.
func (c cellResult) settled() cellResult {
	if slices.ContainsFunc(c.Runs, func(r run) bool { return r.Error == "" }) || len(c.Runs) == 0 {
		return c
	}
	c.NotRun, c.Runs = c.Runs[0].Error, nil
	return c
}

// median returns the median of a figure over the runs of one server; ok is
// false if there are none, or if one of them has no number.
func (c *cellResult) median(s server, figure func(run) float64) (m float64, ok bool) {
	var values []float64
	for _, r := range c.of(s) {
		values = append(values, figure(r))
	}
	return stats.Median(values), len(values) > 0 && !slices.ContainsFunc(values, math.IsNaN)
}

// trim removes from a run the values that no report shows: the distributions of cells without a
// plot.
func (c cell) trim(r *run, first bool) {
	if r.Load == nil {
		return
	}
	for i := range r.Load.Groups {
		g := &r.Load.Groups[i]
		if !first || c.Network != wireless || c.Size != large {
			g.IntervalCDF = nil
		}
		g.IntervalCDF = thin(g.IntervalCDF)
	}
}

// thin keeps the points of a distribution that a plot can show: those that differ
// by half a percent, and both ends.
func thin(points []stats.Point) []stats.Point {
	var kept []stats.Point
	for i, p := range points {
		p.Share = float64(int(p.Share*1e4+0.5)) / 1e4
		if i == 0 || i == len(points)-1 || p.Share-kept[len(kept)-1].Share >= 0.005 {
			kept = append(kept, p)
		}
	}
	return kept
}
