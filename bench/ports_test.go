package main

import "testing"

// Ports are not given twice when the range begins again, whatever rows were asked for.
func TestPortsBeginAgain(t *testing.T) {
	var p ports
	p.given.Store(lastPort - firstPort - 60)
	given := map[int]bool{}
	for _, n := range []int{50, 5, 50, 5, 104, 5} {
		first, err := p.free(n)
		if err != nil || first < firstPort || first+n > lastPort {
			t.Fatalf("%d ports from %d: %v", n, first, err)
		}
		for port := first; port < first+n; port++ {
			if given[port] {
				t.Fatalf("port %d is given twice", port)
			}
			given[port] = true
		}
	}
}
