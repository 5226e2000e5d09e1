package waiting

import (
	"bytes"
	"sync"
	"testing"
	"time"
)

// Patience is how long a test waits for an event that must come: long enough for a slow
// host on which many tests run, as only a test that fails waits for so long.
const Patience = time.Minute

// pause is between two checks of a condition. A shorter one takes the processor from the
// program that is waited for.
const pause = 2 * time.Millisecond

// Until polls until ok, and fails after Patience.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !ok(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// Receive returns the next value of a channel, and ends the test if there is none within Patience.
func Receive[T any](t testing.TB, from <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(Patience):
		t.Fatalf("waited in vain: %s", what)
	}
	return v
}

// Output collects the output of a process while a test reads it.
type Output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
