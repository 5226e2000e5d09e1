package main

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"player/logfile"
)

// progressPeriod is how often work on a log reports its progress.
const progressPeriod = time.Second

// exportLog writes the tables of a log as files into a directory and their paths
// to stdout, or without a directory the tables to stdout. Into a file named .mcap it
// writes what viewers draw. Progress, and what is damaged in the log, goes to stderr.
func exportLog(path, to string, stdout, stderr io.Writer) error {
	progress := progress(path, stderr)
	var s *logfile.Summary
	var files []string
	var err error
	switch {
	case to == "":
		s, err = logfile.ExportTo(stdout, path, progress)
	case filepath.Ext(to) == ".mcap":
		files = []string{to}
		s, err = logfile.ExportMCAP(to, path, progress)
	default:
		s, files, err = logfile.ExportFiles(to, path, progress)
	}
	if err != nil {
		return err
	}
	for _, file := range files {
		fmt.Fprintln(stdout, file)
	}
	if s.Damage != nil {
		fmt.Fprintf(stderr, "player: %s: %v\n", path, s.Damage)
	}
	return nil
}

// progress returns a function that reports the progress of work on a log to stderr.
func progress(path string, stderr io.Writer) logfile.Progress {
	next := time.Now().Add(progressPeriod)
	return func(done, total int64) {
		if now := time.Now(); now.After(next) {
			next = now.Add(progressPeriod)
			fmt.Fprintf(stderr, "player: %s: %d %%\n", path, done*100/max(total, 1))
		}
	}
}
