package bridge

import "fmt"

// Groups is how many groups the robots of a fleet are in. The leases of each group have a
// bucket of their own, and the buckets have different leaders, so that the loss of a node
// stops the robots of one group at most. A cluster of NATS has three nodes nearly always,
// and with more groups one node would lead several. It is a constant, because bridges that
// differed in it would give one lease twice.
const Groups = 3

// GroupOf returns the number of a robot's group, from 0.
func GroupOf(robot string) int { return int(weight("group", robot) % Groups) }

// Bucket returns the name of the bucket that has the leases of a group. The name of a fleet
// comes last, so that no fleet has the bucket of another one.
func Bucket(fleet string, group int) string { return fmt.Sprintf("player%d_%s", group+1, fleet) }

// Led is a bucket's leader, and its other candidates.
type Led struct {
	Leader string   // a node; empty: none, or it is not known
	Ready  []string // other nodes that could lead it at once
}

// Spread returns a bucket that should get another leader, and which, or false if the leaders
// are spread as evenly as they can be. Nothing is moved until all leaders are known.
func Spread(buckets []Led) (number int, to string, ok bool) {
	leads := map[string]int{}
	for _, b := range buckets {
		if b.Leader == "" {
			return 0, "", false
		}
		leads[b.Leader]++
	}
	for i, b := range buckets {
		for _, node := range b.Ready {
			if leads[node]+1 < leads[b.Leader] {
				return i, node, true
			}
		}
	}
	return 0, "", false
}
