package built

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"player/e2e/must"
)

// A folder is filled once for the same sources, again when one has changed, and again when it
// could not be filled.
func TestFolder(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	source := filepath.Join(t.TempDir(), "source")
	filled := 0
	ask := func(failure error) string {
		t.Helper()
		folder, err := Folder("test", []string{filepath.Dir(source)}, []string{"sh"}, func(folder string) error {
			filled++
			return errors.Join(os.WriteFile(filepath.Join(folder, "program"), nil, 0o600), failure)
		})
		if !errors.Is(err, failure) {
			t.Fatal(err)
		}
		return folder
	}
	write := func(text string) {
		t.Helper()
		must.Do(t, os.WriteFile(source, []byte(text), 0o600))
	}
	write("one")
	broken := errors.New("it does not compile")
	ask(broken)
	first := ask(nil)
	if again := ask(nil); again != first || filled != 2 {
		t.Errorf("%s after %s, filled %d times", again, first, filled)
	}
	write("two")
	second := ask(nil)
	if second == first || filled != 3 || !exists(filepath.Join(second, "program")) {
		t.Errorf("%s after %s, filled %d times", second, first, filled)
	}
	write("one")
	if again := ask(nil); again != first || filled != 3 {
		t.Errorf("%s after %s, filled %d times", again, first, filled)
	}
}

// Two clones share a folder, and a page that changes does not fill it again.
func TestClonesShareAFolder(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	filled := 0
	for _, page := range []string{"one", "two"} {
		clone := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(clone, "source.c"), nil, 0o600))
		must.Do(t, os.WriteFile(filepath.Join(clone, "README.md"), []byte(page), 0o600))
		t.Chdir(clone)
		must.Get(Folder("test", []string{"."}, []string{"sh"}, func(string) error { filled++; return nil }))(t)
	}
	if filled != 1 {
		t.Errorf("filled %d times", filled)
	}
}

// A folder is filled again when a compiler has changed that another program of its name runs.
func TestCompilerChanges(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	first, second := t.TempDir(), t.TempDir()
	t.Setenv("PATH", first+string(filepath.ListSeparator)+second)
	must.Do(t, os.WriteFile(filepath.Join(first, "compiler"), nil, 0o700))
	filled := 0
	for i, text := range []string{"old", "newer"} {
		must.Do(t, os.WriteFile(filepath.Join(second, "compiler"), []byte(text), 0o700))
		for range 2 {
			_, err := Folder("test", nil, []string{"compiler"}, func(string) error { filled++; return nil })
			if must.Do(t, err); filled != i+1 {
				t.Errorf("filled %d times for %d compilers", filled, i+1)
			}
		}
	}
}
