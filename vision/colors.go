package main

import (
	"io/fs"
	"os"

	"go.uber.org/zap"

	"player/vision/blobs"
)

// watched is a file of colours that may be changed while it is in use.
type watched struct {
	path string
	log  *zap.Logger

	read   fs.FileInfo // the file that was read last; nil: none
	latest *blobs.Finder
}

// finder returns a finder of the colours in the file. One that cannot be read any more, or has
// mistakes, is logged, and those before are looked for.
func (w *watched) finder() (*blobs.Finder, error) {
	now, err := os.Stat(w.path)
	if err == nil && w.read != nil && os.SameFile(now, w.read) && now.ModTime().Equal(w.read.ModTime()) && now.Size() == w.read.Size() {
		return w.latest, nil
	}
	if err != nil && w.latest != nil { // an editor may be about to write it
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

func read(path string) (*blobs.Finder, error) {
	colors, err := blobs.ReadColors(path)
	if err != nil {
		return nil, err
	}
	return blobs.NewFinder(colors)
}
