package tools

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"player/e2e/must"
)

// folder returns a folder with files, links and a directory.
func folder(t *testing.T) (path func(name string) string, text func(name string) string) {
	t.Helper()
	dir := t.TempDir()
	path = func(name string) string { return filepath.Join(dir, name) }
	for name, to := range map[string]string{"link": "precious", "dangling": "none", "device": "/dev/null"} {
		must.Do(t, os.Symlink(to, path(name)))
	}
	for _, name := range []string{"precious", "old"} {
		must.Do(t, os.WriteFile(path(name), []byte("longer than what is written"), 0o600))
	}
	return path, func(name string) string {
		text, err := os.ReadFile(path(name))
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
}

// A file is replaced only on demand, and nothing behind a symbolic link is.
func TestCreate(t *testing.T) {
	for _, replace := range []bool{false, true} {
		path, text := folder(t)
		old := "old exists: -f replaces it"
		if replace {
			old = ""
		}
		for name, want := range map[string]string{"new": "", "old": old, "device": "", "link": "link is a symbolic link", "dangling": "no such file", ".": "directory"} {
			file, err := Create(path(name), replace)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
			if err != nil {
				continue
			}
			if _, err := file.WriteString("text"); err != nil {
				t.Error(err)
			}
			file.Close()
			if got := text(name); name != "device" && got != "text" {
				t.Errorf("%s has %q", name, got)
			}
		}
		if got := text("precious"); got != "longer than what is written" {
			t.Errorf("the file behind the link: %q", got)
		}
		if _, err := os.Lstat(path("none")); err == nil {
			t.Error("a file was created behind a link")
		}
	}
}

// After any failure the old file stays and nothing else is left.
func TestAtomicFile(t *testing.T) {
	path, text := folder(t)
	before := names(t, path("."))
	failed := errors.New("failed")
	if _, err := createAtomic(t.Context(), path("old"), false); err == nil || !strings.Contains(err.Error(), "old exists: -f replaces it") {
		t.Error(err)
	}
	for _, name := range []string{"link", "dangling", "device", "."} {
		if _, err := createAtomic(t.Context(), path(name), true); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, name := range []string{"old", "new"} {
		w := must.Get(createAtomic(t.Context(), path(name), true))(t)
		if _, err := w.Write([]byte("te")); err != nil {
			t.Error(err)
		}
		if err := w.Close(failed); !errors.Is(err, failed) {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	interrupted := must.Get(createAtomic(ctx, path("new"), false))(t)
	cancel()
	if _, err := interrupted.Write([]byte("te")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := interrupted.Close(nil); !errors.Is(err, context.Canceled) { // its writer did not notice
		t.Error(err)
	}
	if got := names(t, path(".")); !slices.Equal(got, before) || text("old") != "longer than what is written" {
		t.Errorf("%q are left, were %q; old is %q", got, before, text("old"))
	}

	late := must.Get(createAtomic(t.Context(), path("late"), false))(t)
	must.Do(t, os.WriteFile(path("late"), []byte("of another user"), 0o600))
	if err := late.Close(nil); err == nil || text("late") != "of another user" {
		t.Errorf("%v, %q", err, text("late"))
	}
	w := must.Get(createAtomic(t.Context(), path("old"), true))(t)
	_, wrote := w.Write([]byte("text"))
	if err := w.Close(wrote); err != nil || text("old") != "text" {
		t.Errorf("%v, %q", err, text("old"))
	}
	if _, err := os.Stat(path("old" + unfinished)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Folders are made for files, and removed with them, unless they have other files.
func TestCreateIn(t *testing.T) {
	path, _ := folder(t)
	before := names(t, path("."))
	for _, name := range []string{"a", strings.Repeat("x", 255)} { // the second is too long with .part
		f := Files{Context: t.Context()}
		_, err := f.CreateIn(path("new/deep"), name)
		if (err == nil) != (name == "a") {
			t.Error(err)
		}
		if err := f.Close(errors.New("failed")); err == nil {
			t.Error("no error")
		}
		if got := names(t, path(".")); !slices.Equal(got, before) {
			t.Errorf("%q are left, were %q", got, before)
		}
	}
	f := Files{Context: t.Context()}
	if _, err := f.CreateIn(path("old"), "a"); err == nil {
		t.Error("a folder that is a file: no error")
	}
	for _, name := range []string{"a", "b"} {
		if _, err := f.CreateIn(path("new/deep")+"/", name); err != nil {
			t.Error(err)
		}
	}
	must.Do(t, os.WriteFile(path("new/of another user"), nil, 0o600))
	if err := f.Close(errors.New("failed")); err == nil || !slices.Equal(names(t, path("new")), []string{"of another user"}) {
		t.Errorf("%v, %q are left", err, names(t, path("new")))
	}
	f = Files{Context: t.Context()}
	if _, err := f.CreateIn(path("new/deep"), "a"); err != nil {
		t.Error(err)
	}
	if err := f.Close(nil); err != nil || !slices.Equal(names(t, path("new/deep")), []string{"a"}) {
		t.Errorf("%v, %q", err, names(t, path("new/deep")))
	}
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
