package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"player/codec/peertext"
	"player/formats/logfile"
	"player/formats/ros/bag"
	"player/tools"
)

// exportLog writes the tables of a log as files into a directory and their paths
// to stdout, or without a directory the tables to stdout. Into a file named .mcap it
// writes the messages that viewers draw, and with inROS the folder becomes a bag of ROS 2. Files that
// exist are errors unless replace. Progress and damage of the log go to stderr.
func exportLog(ctx context.Context, path, to string, replace bool, inROS *bag.Options, stdout, stderr io.Writer) error {
	ctx, stop := tools.UntilSignal(ctx)
	defer stop()
	files := tools.Files{Context: ctx, Replace: replace}
	isLog := func(name string) error {
		if sameFile(name, path) {
			return fmt.Errorf("%s is the log itself", path)
		}
		return nil
	}
	work := tools.NewWork("player: "+path, true, stderr)
	progress := work.Done
	var s *logfile.Summary
	var err error
	inFolder := func(name string) (io.Writer, error) {
		if err := isLog(filepath.Join(to, name)); err != nil {
			return nil, err
		}
		return files.CreateIn(to, name)
	}
	switch {
	case inROS != nil:
		inROS.Name, err = filepath.Abs(to)
		if err == nil {
			s, err = bag.Export(path, *inROS, inFolder, progress)
		}
	case to == "":
		s, err = logfile.ExportTo(stdout, path, progress)
	case filepath.Ext(to) == ".mcap":
		if err = isLog(to); err == nil {
			s, err = logfile.ExportMCAP(path, func() (io.Writer, error) { return files.Create(to) }, progress)
		}
	default:
		s, err = logfile.ExportFiles(path, inFolder, progress)
	}
	work.End()
	if err := files.Close(err); err != nil {
		return err
	}
	for _, name := range files.Names() {
		fmt.Fprintln(stdout, name)
	}
	if s.Damage != nil {
		fmt.Fprintf(stderr, "player: %s: %s\n", path, peertext.Lines(fmt.Sprint(s.Damage)))
	}
	return nil
}

// sameFile reports whether both paths are of one file.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
