package slack

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"player/e2e/must"
)

// A thread with a large timer slack has the kernel's until it restores its own; a smaller
// one is left alone.
func TestTakeBack(t *testing.T) {
	runtime.LockOSThread() // never unlocked: the thread ends with the test
	want := func(when string, ns int) {
		t.Helper()
		if has, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || has != ns {
			t.Errorf("%s: slack %d ns, want %d: %v", when, has, ns, err)
		}
	}
	for _, tt := range []struct{ has, taken int }{{77_000_000, Default}, {1000, 1000}} {
		must.Do(t, unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(tt.has), 0, 0, 0))
		undo := TakeBack()
		want("taken back", tt.taken)
		undo()
		want("undone", tt.has)
	}
}
