package hub

import (
	"slices"
	"testing"

	"player/fleet/bridge"
)

// A node leads a bucket only if it was ready for it in the last looks, all of them.
func TestSteady(t *testing.T) {
	t.Parallel()
	looks := map[follower]int{}
	look := func(ready ...string) []string {
		buckets := []bridge.Led{{Leader: "a", Ready: slices.Clone(ready)}, {Leader: "a"}}
		return steady(looks, buckets)[0].Ready
	}
	for range steadyLooks - 1 {
		if got := look("b", "c"); len(got) > 0 {
			t.Fatalf("%v could lead too early", got)
		}
	}
	if got := look("b"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("%v could lead, want b", got)
	}
	for range steadyLooks - 1 {
		if got := look("b", "c"); !slices.Equal(got, []string{"b"}) {
			t.Errorf("%v could lead, want b: c was not ready in between", got)
		}
	}
	if got := look("b", "c"); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("%v could lead, want b and c", got)
	}
}
