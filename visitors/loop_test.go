package visitors

import (
	"testing"
	"time"
)

func TestOnLoopEnds(t *testing.T) {
	ended := func(func(time.Duration)) bool { return false }
	if _, err := OnLoop(t.Context(), Confine(ended, 0), func(int, time.Duration) bool { return true }); err != ErrEnded {
		t.Errorf("error %v", err)
	}
}
