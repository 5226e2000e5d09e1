package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
)

// The servers of a workshop listen on ports from firstPort to lastPort, below those
// that the kernel gives to connections.
const firstPort, lastPort = 21000, 32000

// ports gives each server of a workshop ports of its own: between the search and the
// server's start nobody else of this program finds the same ones free.
type ports struct{ given atomic.Int64 }

// newPorts begins anywhere: another program may look at the same time.
func newPorts() *ports {
	p := &ports{}
	p.given.Store(rand.Int64N(lastPort - firstPort))
	return p
}

// free returns the first of n ports in a row that nobody listens on.
func (p *ports) free(n int) (first int, err error) {
	for range (lastPort - firstPort) / n {
		end := int(p.given.Add(int64(n)))
		first = firstPort + (end-n)%(lastPort-firstPort-n)
		if areFree(first, n) {
			return first, nil
		}
	}
	return 0, fmt.Errorf("there are no %d free ports in a row from %d to %d", n, firstPort, lastPort)
}

// areFree reports whether nobody listens on n ports. It does not listen itself: a program
// that is started at that moment would have a copy of the socket until it is executed.
func areFree(first, n int) bool {
	for port := first; port < first+n; port++ {
		if conn, err := net.Dial("tcp", loopbackAddress(port)); err == nil {
			conn.Close()
			return false
		}
	}
	return true
}
