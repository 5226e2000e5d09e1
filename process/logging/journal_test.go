package logging

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"
)

func TestPriorities(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := func() []string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	write := func() {
		t.Helper()
		log := New(file, Auto, true).With(zap.Int("robot", 1))
		log.Debug("a")
		log.Info("b")
		log.Warn("c", zap.String("long", strings.Repeat("x", 2*maxLine)))
		log.Error("d")
		if err := log.Sync(); err != nil {
			t.Fatal(err)
		}
	}

	t.Setenv("JOURNAL_STREAM", "8:1234") // the stream of another program, of which stderr was redirected
	write()
	for _, line := range lines() {
		if !strings.HasPrefix(line, "{") {
			t.Errorf("not in the journal: %s", line)
		}
	}

	var stat unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &stat); err != nil {
		t.Fatal(err)
	}
	t.Setenv("JOURNAL_STREAM", fmt.Sprintf("%d:%d", stat.Dev, stat.Ino))
	write()
	got := lines()[4:]
	for i, want := range []string{"<7>{", "<6>{", "<4>{", "<3>{"} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) || !strings.Contains(got[i], `"robot":1`) {
			t.Errorf("line %d of %q, want %s", i, got, want)
		}
	}
}
