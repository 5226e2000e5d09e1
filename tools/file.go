package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Create creates a file that a user has named. An existing file is an error, unless replace
// (-f) has it emptied; a pipe or a device is written to. A file behind a symbolic link,
// which another user may have made, is neither created nor emptied.
func Create(path string, replace bool) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // follows no link
	if !errors.Is(err, fs.ErrExist) {
		return file, err
	}
	there, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if there.Mode().IsRegular() {
		switch named, err := os.Lstat(path); {
		case err != nil:
			return nil, err
		case !os.SameFile(named, there):
			return nil, fmt.Errorf("%s is a symbolic link: name the file itself", path)
		case !replace:
			return nil, fmt.Errorf("%s exists: -f replaces it", path)
		}
		return os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	}
	return os.OpenFile(path, os.O_WRONLY, 0)
}

// unfinished ends the name of an atomicFile until it is complete.
const unfinished = ".part"

// atomicFile is a file that gets its name only when it is complete: after any failure the
// old file is still there, and no incomplete file has the name.
type atomicFile struct {
	ctx     context.Context
	file    *os.File
	path    string
	replace bool
}

// createAtomic begins a file that a user has named. An existing one is an error, as for
// Create. Writing fails when ctx ends.
func createAtomic(ctx context.Context, path string, replace bool) (*atomicFile, error) {
	w := &atomicFile{ctx: ctx, path: path, replace: replace}
	err := w.free()
	if err == nil {
		w.file, err = Create(path+unfinished, replace)
	}
	return w, err
}

// free returns an error if the name belongs to a file that must not be replaced, or to
// something other than a file.
func (w *atomicFile) free() error {
	switch there, err := os.Lstat(w.path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !there.Mode().IsRegular():
		return fmt.Errorf("%s exists and is no file", w.path)
	case !w.replace:
		return fmt.Errorf("%s exists: -f replaces it", w.path)
	}
	return nil
}

// Write implements io.Writer.
func (w *atomicFile) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.file.Write(p)
}

// Close gives the file its name. With the error of its writer, or after the end of ctx, it
// removes the file, and also returns that error.
func (w *atomicFile) Close(err error) error {
	err = errors.Join(err, w.file.Close(), w.ctx.Err())
	if err == nil {
		err = w.free()
	}
	if err == nil {
		err = os.Rename(w.file.Name(), w.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(w.file.Name()))
	}
	return nil
}

// Files are files that appear together: all of them complete, or none.
type Files struct {
	Context context.Context // its end is an error of Write
	Replace bool            // files that exist (-f)
	files   []*atomicFile
	folders []string // that CreateIn has made, parents first
}

// Create begins one more file.
func (f *Files) Create(path string) (*atomicFile, error) {
	w, err := createAtomic(f.Context, path, f.Replace)
	if err == nil {
		f.files = append(f.files, w)
	}
	return w, err
}

// CreateIn begins one more file in a folder. The folder is made if it is missing, and
// removed if the files are.
func (f *Files) CreateIn(folder, name string) (*atomicFile, error) {
	if err := f.make(filepath.Clean(folder)); err != nil {
		return nil, err
	}
	return f.Create(filepath.Join(folder, name))
}

// make makes a folder, and those that it is in.
func (f *Files) make(folder string) error {
	err := os.Mkdir(folder, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return nil // if it is no folder, creating a file in it fails
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err := f.make(filepath.Dir(folder)); err != nil {
			return err
		}
		err = os.Mkdir(folder, 0o777)
	}
	if err == nil {
		f.folders = append(f.folders, folder)
	}
	return err
}

// Close gives the files their names, or with the error of their writer removes them. It
// returns the first error.
func (f *Files) Close(err error) error {
	for _, w := range f.files {
		if closed := w.Close(err); err == nil {
			err = closed
		}
	}
	if err != nil {
		for _, folder := range slices.Backward(f.folders) {
			_ = os.Remove(folder) // unless another program has put a file there
		}
	}
	return err
}

// Names returns the paths of the files, in the order of Create.
func (f *Files) Names() (names []string) {
	for _, w := range f.files {
		names = append(names, w.path)
	}
	return names
}
