package bridge

import (
	"fmt"
	"slices"
	"testing"
)

func TestGroups(t *testing.T) {
	t.Parallel()
	var robots [Groups]int
	for i := range 300 {
		robots[GroupOf(fmt.Sprint("r", i))]++
	}
	for group, n := range robots {
		if n < 70 || n > 130 {
			t.Errorf("of 300 robots, group %d has %d", group, n)
		}
	}
	names := map[string]bool{}
	for _, fleet := range []string{"lab", "1_lab", "2", "lab_1"} {
		for group := range Groups {
			names[Bucket(fleet, group)] = true
		}
	}
	if len(names) != 4*Groups {
		t.Errorf("of four fleets, some have one bucket: %v", names)
	}
}

// From any leaders, moves end with leaders that are spread: no node leads two buckets more than another one.
func TestSpread(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ nodes, lost int }{{1, 0}, {2, 0}, {3, 0}, {3, 1}, {5, 0}, {5, 2}} {
		var alive []string
		for i := range c.nodes - c.lost {
			alive = append(alive, fmt.Sprint("n", i))
		}
		for start := range len(alive) * len(alive) * len(alive) {
			buckets := make([]Led, Groups)
			for i := range buckets {
				buckets[i].Leader = alive[start%len(alive)]
				start /= len(alive)
			}
			move := func() bool {
				for i := range buckets {
					buckets[i].Ready = slices.DeleteFunc(slices.Clone(alive), func(n string) bool { return n == buckets[i].Leader })
				}
				i, to, ok := Spread(buckets)
				if ok {
					buckets[i].Leader = to
				}
				return ok
			}
			moves := 0
			for move() {
				if moves++; moves > Groups {
					t.Fatalf("%d nodes: the moves do not end: %v", len(alive), buckets)
				}
			}
			leads := map[string]int{}
			for _, b := range buckets {
				leads[b.Leader]++
			}
			for _, n := range alive {
				if most := (Groups + len(alive) - 1) / len(alive); leads[n] > most || leads[n] < Groups/len(alive) {
					t.Fatalf("%d nodes: %v", len(alive), buckets)
				}
			}
		}
	}
	if _, _, ok := Spread([]Led{{Leader: "a", Ready: []string{"b"}}, {Leader: "a", Ready: []string{"b"}}, {}}); ok {
		t.Error("a leader is moved while another bucket has none")
	}
}
