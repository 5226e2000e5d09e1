package logging

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/e2e/must"
)

func TestPriorities(t *testing.T) {
	file := newFile(t)
	lines := func() []string {
		t.Helper()
		log, text := newLog(t, file, true)
		log = log.With(zap.Int("robot", 1))
		log.Debug("a")
		log.Info("b")
		log.Warn("c", zap.String("long", strings.Repeat("x", 2*maxLine)))
		log.Error("d")
		return strings.Split(strings.TrimSpace(text()), "\n")
	}

	t.Setenv("JOURNAL_STREAM", "8:1234") // the stream of another program, of which stderr was redirected
	for _, line := range lines() {
		if !strings.HasPrefix(line, "{") {
			t.Errorf("not in the journal: %s", line)
		}
	}

	var stat unix.Stat_t
	must.Do(t, unix.Fstat(int(file.Fd()), &stat))
	t.Setenv("JOURNAL_STREAM", fmt.Sprintf("%d:%d", stat.Dev, stat.Ino))
	got := lines()[4:]
	for i, want := range []string{"<7>{", "<6>{", "<4>{", "<3>{"} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) || !strings.Contains(got[i], `"robot":1`) {
			t.Errorf("line %d of %q, want %s", i, got, want)
		}
	}
}
