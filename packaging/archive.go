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

// file is a file to install. Usually it belongs to root, and only root may write it.
type file struct {
	path  string // without a leading slash; with one behind it, it is a directory
	data  []byte
	mode  int64  // permissions; 0: 0644
	conf  bool   // the administrator may change it
	link  string // where a symbolic link leads; empty: it is none
	owner int64  // number of its user and group in a tarball; 0: root
}

func (f file) permissions() int64 {
	if f.mode == 0 {
		return 0o644
	}
	return f.mode
}

// tarball packs and compresses files and their directories, with "./" before their paths.
func tarball(files []file, at time.Time) ([]byte, error) {
	files = withDirectories(files)
	for i := range files {
		files[i].path = "./" + files[i].path
	}
	return plainTarball(files, at)
}

// withDirectories returns files and the directories above them.
func withDirectories(files []file) []file {
	files = slices.Clone(files)
	for _, dir := range directories(files) {
		files = append(files, file{path: dir, mode: 0o755})
	}
	return files
}

// plainTarball packs and compresses files without their directories and without "./", as pip
// and npm want them.
func plainTarball(files []file, at time.Time) ([]byte, error) {
	packed, err := pack(files, at)
	if err != nil {
		return nil, err
	}
	return compress(packed)
}

// pack packs files, sorted, with one time for all.
func pack(files []file, at time.Time) ([]byte, error) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	for _, f := range files {
		h := &tar.Header{Name: f.path, Size: int64(len(f.data)), Mode: f.permissions(), ModTime: at, Uid: int(f.owner), Gid: int(f.owner), Format: tar.FormatUSTAR}
		if f.owner == 0 {
			h.Uname, h.Gname = "root", "root"
		}
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
	return packed.Bytes(), nil
}

// directories returns those above files, each once and with a slash behind it.
func directories(files []file) (dirs []string) {
	for _, f := range files {
		for dir := path.Dir(strings.TrimSuffix(f.path, "/")); dir != "."; dir = path.Dir(dir) {
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
