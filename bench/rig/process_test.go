package rig

import (
	"os"
	"testing"

	"player/e2e/must"
)

func TestUsageOfOurselves(t *testing.T) {
	before := must.Get(UsageOf(os.Getpid()))(t)
	x := 0
	for i := range 200_000_000 { // some tenths of a second
		x ^= i
	}
	after := must.Get(UsageOf(os.Getpid()))(t)
	u := after.Sub(before)
	if u.CPU <= 0 || u.RSS <= 0 || u.Peak < u.RSS {
		t.Errorf("%+v after %d", u, x)
	}
	if u.Busiest > u.Voluntary {
		t.Errorf("one thread was woken %d times, all of them %d", u.Busiest, u.Voluntary)
	}
	first := must.Get(Stolen())(t)
	if later, err := Stolen(); err != nil || later < first {
		t.Errorf("stolen %v, then %v, %v", first, later, err)
	}
	if _, err := UsageOf(1 << 30); err == nil {
		t.Error("a process that does not exist has used something")
	}
}
