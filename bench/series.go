package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"player/bench/rig"
)

// A series measures all cells at one commit, each as often and as long as its figures need, within three quarters of an hour.

const (
	seriesWindow = 3 * time.Second
	// quotedRuns is the runs of cells whose medians other pages quote, and of cells that are compared by small ratios.
	quotedRuns = 3
	// restful is the share of all processors that other programs may use when a series begins.
	restful  = 0.1
	restTime = 2 * time.Second
)

// seriesRuns is how often a series measures each server in the cell.
func (c cell) seriesRuns() int {
	switch c.family() {
	case "healthy", "request", "isolation", "strangers": // a p99 of 150 frames is the second worst
		return quotedRuns
	case "kinds", "fleet", "population", "peers": // they differ by more than their runs do
		return 1
	}
	if c.quoted() {
		return quotedRuns
	}
	return 1
}

// seriesLength is how long a run of the cell is in a series, unless the cell's own window or least says otherwise.
func (c cell) seriesLength() time.Duration {
	if len(c.servers()) > 1 && c.Kind == frames && !c.fits() {
		return queueWindow
	}
	return seriesWindow
}

// beginSeries refuses a series whose results would not be worth the time, and drops results of other commits. Cells
// that were measured at this commit stay, so that an interrupted series goes on.
func (r *results) beginSeries(ctx context.Context, o options) error {
	tree := commit(ctx)
	if of := (&cellResult{Commit: tree}); of.changed() {
		return fmt.Errorf("a series measures a commit, not %q", tree)
	}
	if os.Geteuid() != 0 {
		return errors.New("a series needs root: for networks, control groups and the counters of system calls")
	}
	share, err := rig.Busy(restTime)
	switch {
	case err != nil:
		return err
	case share > restful:
		return fmt.Errorf("other programs use %s of the processors: a series needs the computer for itself", percent(share))
	}
	r.keep(tree)
	for _, tool := range absent() {
		fmt.Fprintln(os.Stderr, "without", tool, "its cells are not measured")
	}
	return nil
}

// absent are programs that cells need and that are not installed.
func absent() (missing []string) {
	tools := []string{"ffmpeg"}
	for _, l := range languages() {
		tools = append(tools, l.Tool)
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			missing = append(missing, tool)
		}
	}
	if noTornado() != nil {
		missing = append(missing, "python3-tornado")
	}
	return missing
}

// keep drops the results of all other commits.
func (r *results) keep(commit string) {
	r.Cells = slices.DeleteFunc(r.Cells, func(c cellResult) bool { return c.Commit != commit })
}

// seriesCells are the chosen cells that have no results yet.
func (r *results) seriesCells(chosen []cell) []cell {
	return slices.DeleteFunc(chosen, func(c cell) bool { return r.find(c.Name).Runs != nil })
}
