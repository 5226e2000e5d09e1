package main

import (
	"fmt"
	"io/fs"
	"os"

	"go.uber.org/zap"

	"player/vision/blobs"
)

// watched is a file of colours that may be changed while it is in use.
type watched struct {
	path string
	log  *zap.Logger

	seen   fs.FileInfo // the file at the latest picture; nil: none
	read   fs.FileInfo // the file that was read last; nil: none
	latest *blobs.Finder
}

// finder returns a finder of the colours in the file. One that cannot be read any more, or has
// mistakes, is logged, and those before are looked for.
func (w *watched) finder() (*blobs.Finder, error) {
	now, err := os.Stat(w.path)
	if same(now, w.read) {
		return w.latest, nil
	}
	// An editor may be about to write it: it is read when it is the same for two pictures.
	whole := err == nil && same(now, w.seen)
	if w.seen = now; !whole && w.latest != nil {
		return w.latest, nil
	}
	var finder *blobs.Finder
	if err == nil {
		finder, err = read(w.path)
	}
	w.read = now
	switch {
	case err == nil:
		if w.latest != nil {
			w.log.Info("the colours have changed", zap.String("file", w.path))
		}
		w.latest = finder
	case w.latest == nil:
		return nil, err
	default:
		w.log.Warn("the colours are those of before", zap.Error(err))
	}
	return w.latest, nil
}

// same reports whether a file is there, and has not been written in between.
func same(a, b fs.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

func read(path string) (*blobs.Finder, error) {
	colors, err := blobs.ReadColors(path)
	if err != nil {
		return nil, err
	}
	if len(colors) == 0 {
		return nil, fmt.Errorf("%s has no color ( name ... )", path)
	}
	return blobs.NewFinder(colors)
}
