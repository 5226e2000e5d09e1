package rig

import (
	"os"
	"testing"
)

func TestUsageOfOurselves(t *testing.T) {
	before, err := UsageOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	x := 0
	for i := range 200_000_000 { // some tenths of a second
		x ^= i
	}
	after, err := UsageOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	u := after.Sub(before)
	if u.CPU <= 0 || u.RSS <= 0 || u.Peak < u.RSS {
		t.Errorf("%+v after %d", u, x)
	}
	if u.Busiest > u.Voluntary {
		t.Errorf("one thread was woken %d times, all of them %d", u.Busiest, u.Voluntary)
	}
	first, err := Stolen()
	if err != nil {
		t.Fatal(err)
	}
	if later, err := Stolen(); err != nil || later < first {
		t.Errorf("stolen %v, then %v, %v", first, later, err)
	}
	if _, err := UsageOf(1 << 30); err == nil {
		t.Error("a process that does not exist has used something")
	}
}
