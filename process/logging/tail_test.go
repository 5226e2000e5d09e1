package logging

import (
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/zap"
)

func TestTail(t *testing.T) {
	log, _ := newLog(t, newFile(t), false)
	tail := TailOf(log)
	if lines, last := tail.After(0); len(lines) != 0 || last != 0 {
		t.Errorf("%q, %d", lines, last)
	}
	log.With(zap.String("robot", "<b>\n\x1b[31m")).Warn("lost", zap.Duration("after", 1500000000))
	log.Debug("not logged")
	log.Info("second")
	lines, last := tail.After(0)
	if len(lines) != 2 || last != 2 {
		t.Fatalf("%q, %d", lines, last)
	}
	type line struct{ Level, TS, Msg, Robot, After string }
	var got line
	err := json.Unmarshal(lines[0], &got)
	if want := (line{"warn", got.TS, "lost", "<b>\n\x1b[31m", "1.5s"}); err != nil || got != want || !strings.HasPrefix(got.TS, "20") {
		t.Errorf("%s: %+v, %v", lines[0], got, err)
	}
	for n, want := range []int{2, 1, 0, 2} { // 3 is a number of another run
		if lines, last := tail.After(uint64(n)); len(lines) != want || last != 2 {
			t.Errorf("after %d: %q, %d", n, lines, last)
		}
	}
}

func TestTailIsBounded(t *testing.T) {
	var tail Tail
	for range 3 * tailLines {
		tail.add([]byte("{}"))
	}
	if lines, last := tail.After(0); len(lines) != tailLines || last != 3*tailLines {
		t.Errorf("%d lines, the last is %d", len(lines), last)
	}
	if lines, _ := tail.After(3*tailLines - 7); len(lines) != 7 {
		t.Errorf("%d lines", len(lines))
	}
	long := []byte(strings.Repeat("x", maxLine))
	for range 3 * tailLines {
		tail.add(long)
	}
	if lines, _ := tail.After(0); len(lines) != tailSize/maxLine {
		t.Errorf("%d long lines", len(lines))
	}
}
