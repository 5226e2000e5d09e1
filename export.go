package main

import (
	"fmt"
	"os"
	"time"

	"player/logfile"
)

// exportLog writes the tables of a log into a directory; empty: to standard
// output. It returns the exit code.
func exportLog(path, directory string) int {
	var s *logfile.Summary
	var files []string
	var err error
	if directory == "" {
		s, err = logfile.ExportTo(os.Stdout, path, progress(path))
	} else {
		s, files, err = logfile.ExportFiles(directory, path, progress(path))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "player:", err)
		return exitUsage
	}
	for _, file := range files {
		fmt.Println(file)
	}
	if s.Damage != nil {
		fmt.Fprintf(os.Stderr, "player: %s: %v\n", path, s.Damage)
	}
	return 0
}

// progress tells on standard error, once a second, how far it has come.
func progress(path string) logfile.Progress {
	next := time.Now().Add(time.Second)
	return func(done, total int64) {
		if now := time.Now(); now.After(next) {
			next = now.Add(time.Second)
			fmt.Fprintf(os.Stderr, "player: %s: %d %%\n", path, done*100/max(total, 1))
		}
	}
}
