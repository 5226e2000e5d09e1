package server

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A line that stays busy costs one search for its holder, not one for each try.
func TestHoldersAreRemembered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "line")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	other := exec.Command("sleep", "60")
	other.Stdin = file
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	h := holders{}
	const begin = time.Hour
	name := fmt.Sprintf(": process %d (", other.Process.Pid)
	if got := h.of(path, begin); !strings.HasPrefix(got, name) {
		t.Errorf("it is held by %q, want %q", got, name)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // it was killed
	for _, tt := range []struct {
		after time.Duration
		path  string
		want  string
	}{
		{time.Second, path, name},
		{holderAge - 1, path, name},
		{time.Second, path + "2", ""},
		{holderAge, path, ""},
		{holderAge + time.Second, path, ""},
	} {
		if got := h.of(tt.path, begin+tt.after); !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s after %v: held by %q, want %q", filepath.Base(tt.path), tt.after, got, tt.want)
		}
	}
}
