package main

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	testports "player/e2e/ports"
)

// The servers of a workshop listen on ports from firstPort to lastPort, below those
// that the kernel gives to connections.
const firstPort, lastPort = 21000, 32000

// ports gives each server of a workshop ports of its own: between the search and the
// server's start no other part of this program finds the same ones free.
type ports struct{ given atomic.Int64 }

// newPorts begins anywhere: another program may search at the same time.
func newPorts() *ports {
	p := &ports{}
	p.given.Store(rand.Int64N(lastPort - firstPort))
	return p
}

// free returns the first of n ports in a row without a listener.
func (p *ports) free(n int) (first int, err error) {
	for range (lastPort - firstPort) / n {
		first = firstPort + (int(p.given.Add(int64(n)))-n)%(lastPort-firstPort)
		if first+n <= lastPort && testports.AreFree(first, n) {
			return first, nil
		}
	}
	return 0, fmt.Errorf("there are no %d free ports in a row from %d to %d", n, firstPort, lastPort)
}
