package hub

import (
	"slices"
	"testing"

	"player/fleet/bridge"
)

// A node leads a bucket only if it was ready for it in the last samples, all of them.
func TestSteady(t *testing.T) {
	t.Parallel()
	samples := map[follower]int{}
	sample := func(ready ...string) []string {
		buckets := []bridge.Led{{Leader: "a", Ready: slices.Clone(ready)}, {Leader: "a"}}
		return steady(samples, buckets)[0].Ready
	}
	for range steadySamples - 1 {
		if got := sample("b", "c"); len(got) > 0 {
			t.Fatalf("%v could lead too early", got)
		}
	}
	if got := sample("b"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("%v could lead, want b", got)
	}
	for range steadySamples - 1 {
		if got := sample("b", "c"); !slices.Equal(got, []string{"b"}) {
			t.Errorf("%v could lead, want b: c was not ready in between", got)
		}
	}
	if got := sample("b", "c"); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("%v could lead, want b and c", got)
	}
}
