package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"path"
	"slices"
	"strings"
	"time"
)

// file is a file to install. It belongs to root, and only root may write it.
type file struct {
	path string // without a leading slash
	data []byte
	mode int64  // permissions; 0: 0644
	conf bool   // the administrator may change it
	link string // where a symbolic link leads; empty: it is none
}

func (f file) permissions() int64 {
	if f.mode == 0 {
		return 0o644
	}
	return f.mode
}

// tarball packs files and their directories, sorted, with one time for all.
func tarball(files []file, at time.Time) ([]byte, error) {
	files = slices.Clone(files)
	for _, dir := range directories(files) {
		files = append(files, file{path: dir, mode: 0o755})
	}
	for i := range files {
		files[i].path = "./" + files[i].path
	}
	return plainTarball(files, at)
}

// plainTarball packs files without their directories and without "./", as pip and npm want
// them.
func plainTarball(files []file, at time.Time) ([]byte, error) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	for _, f := range files {
		h := &tar.Header{Name: f.path, Size: int64(len(f.data)), Mode: f.permissions(), ModTime: at, Uname: "root", Gname: "root", Format: tar.FormatUSTAR}
		if strings.HasSuffix(f.path, "/") {
			h.Typeflag = tar.TypeDir
		}
		if f.link != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, f.link
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return compress(packed.Bytes())
}

// directories returns those above files, each once and with a slash behind it.
func directories(files []file) (dirs []string) {
	for _, f := range files {
		for dir := path.Dir(f.path); dir != "."; dir = path.Dir(dir) {
			if !slices.Contains(dirs, dir+"/") {
				dirs = append(dirs, dir+"/")
			}
		}
	}
	return dirs
}

// compress packs one file as gzip -9n does: without a name and a time.
func compress(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = zip.Write(data)
	err = errors.Join(err, zip.Close())
	return packed.Bytes(), err
}
